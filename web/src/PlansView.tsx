// SPDX-License-Identifier: Apache-2.0
// What a search found: its proof, time against memory, and every plan with what it loses on.
import type { SearchDocument } from './data';
import type { Run } from './run';
import { gpuHours } from './Headline';
import { bytes, digits, percent, range, seconds, signed, words } from './units';

export interface PlansProps { search: SearchDocument; runs: Run[]; why: string; shown: number; onShow: (plan: number) => void }

const planWords = (plan: Record<string, unknown>) => Object.entries(plan)
  .filter(([, value]) => typeof value !== 'object').map(([key, value]) => `${words(key)} ${value}`).join(', ');

// What takes longer than in the best plan, the largest first; and what is shorter.
export function losses(best: Run, plan: Run): string {
  const all = Object.keys(best.document.time).map((key): [string, number] => (
    [words(key.slice(0, -2)), plan.document.time[key]! - best.document.time[key]!]));
  const least = best.document.step.time_s * 0.001;
  const told = all.filter(([, time]) => Math.abs(time) >= least).sort((a, b) => b[1] - a[1]);
  return told.length === 0 ? 'nothing by 0.1 %' : told.map(([kind, time]) => `${kind} ${signed(seconds, time)}`).join(', ');
}

// Time to the right, memory upwards; the front is a staircase, as all above and right of it loses.
function Front({ search, shown, onShow }: PlansProps) {
  const front = search.pareto, plans = search.plans;
  const all = [...front, ...plans];
  if (all.length === 0) return null;
  const GiB = 2 ** 30, width = 640, height = 300, left = 64, top = 12, wide = width - left - 16, tall = height - top - 44;
  const reach = (values: number[]): [number, number] => {
    const low = Math.min(...values), high = Math.max(...values), room = (high - low) * 0.08 || high * 0.05 || 1;
    return [Math.max(0, low - room), high + room];
  };
  const [x0, x1] = reach(all.map(({ step_time_s }) => step_time_s)), [y0, y1] = reach(all.map(({ peak_bytes }) => peak_bytes / GiB));
  const x = (time: number) => left + (time - x0) / (x1 - x0) * wide;
  const y = (size: number) => top + tall - (size / GiB - y0) / (y1 - y0) * tall;
  const ticks = (from: number, to: number) => Array.from({ length: 5 }, (_, i) => from + (to - from) * (i + 0.5) / 5);
  const stairs = [...front].sort((a, b) => a.step_time_s - b.step_time_s)
    .map(({ step_time_s, peak_bytes }, i) => (i === 0 ? `M${x(step_time_s)} ${y(peak_bytes)}` : `H${x(step_time_s)}V${y(peak_bytes)}`)).join('');
  return (
    <svg class="front" viewBox={`0 0 ${width} ${height}`} role="img"
      aria-label={`Step time against memory: ${front.length} plans of which none is both faster and smaller, and the ${plans.length} fastest`}>
      {ticks(x0, x1).map((time) => <><path class="grid" d={`M${x(time)} ${top}V${top + tall}`} /><text x={x(time)} y={height - 26} text-anchor="middle">{seconds(time)}</text></>)}
      {ticks(y0, y1).map((size) => <><path class="grid" d={`M${left} ${y(size * GiB)}H${left + wide}`} /><text x={left - 6} y={y(size * GiB) + 4} text-anchor="end">{bytes(size * GiB)}</text></>)}
      <text x={left + wide / 2} y={height - 6} text-anchor="middle">step time; upwards the memory of the fullest GPU</text>
      <path class="step" d={stairs} />
      {front.map(({ step_time_s, peak_bytes, plan }) => (
        <circle cx={x(step_time_s)} cy={y(peak_bytes)} r={4}><title>{`${seconds(step_time_s)}, ${bytes(peak_bytes)}: ${planWords(plan)}`}</title></circle>
      ))}
      {plans.map(({ step_time_s, peak_bytes, plan }, i) => (
        <circle class={i === shown ? 'plan picked' : 'plan'} cx={x(step_time_s)} cy={y(peak_bytes)} r={5} onClick={() => onShow(i)}>
          <title>{`plan ${i + 1}: ${seconds(step_time_s)}, ${bytes(peak_bytes)}: ${planWords(plan)}`}</title>
        </circle>
      ))}
    </svg>
  );
}

function proofWords({ proof, space, interrupted }: SearchDocument): string {
  const counts = `${digits(space.enumerated)} plans: ${digits(space.pruned_by_memory)} cannot fit, ${digits(space.pruned_by_bound)} cannot be faster, ` +
    `${digits(space.evaluated)} were searched with ${digits(space.simulated)} simulations.`;
  const proved = proof.optimal ? 'The best plan is optimal: no plan in the space simulates faster.'
    : proof.lower_bound_s === null ? '' : `No plan in the space is faster than ${seconds(proof.lower_bound_s)}: a gap of ${percent(proof.gap ?? 0)}.`;
  return `${proved} ${counts}${interrupted ? ' The search was stopped before it ended.' : ''}`;
}

export function PlansView(props: PlansProps) {
  const { search, runs, why, shown, onShow } = props;
  return (
    <>
      <h2 id="plans-title">Plans</h2>
      <p>{proofWords(search)}</p>
      <div class="scroll" tabIndex={0} role="region" aria-label="The fastest plans">
        <table class="plans">
          <thead><tr><th>plan</th><th>step</th><th>80 %</th><th>slower</th><th>MFU</th><th>memory</th><th>GPU-hours*</th><th class="n">degrees</th><th class="n">recomputes</th><th class="n">loses on</th></tr></thead>
          <tbody>
            {search.plans.map((plan, i) => {
              const run = runs[i]!;
              return (
                <tr class={i === shown ? 'picked' : ''}>
                  <th scope="row"><button type="button" class="link" aria-pressed={i === shown} onClick={() => onShow(i)}>{plan.rank}</button></th>
                  <td>{seconds(plan.step_time_s)}</td>
                  <td>{range(plan.time_low_s, plan.time_high_s)}</td>
                  <td>{i === 0 ? '' : percent(plan.step_time_s / search.plans[0]!.step_time_s - 1)}</td>
                  <td>{percent(plan.mfu)}</td>
                  <td>{bytes(plan.peak_bytes)}</td>
                  <td>{digits(gpuHours(run.document))}</td>
                  <td class="n wide">{run.given.plan_words}</td>
                  <td class="n narrow">{plan.recompute.words}</td>
                  <td class="n wide">{i === 0 ? 'the best plan' : losses(runs[0]!, run)}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      <p class="soft small">* per billion tokens. Loses on: how much longer each part of the step is than in plan 1.</p>
      <h3>Time against memory</h3>
      <Front {...props} />
      <ul class="key">
        <li><i class="load2" />none is both faster and smaller</li>
        <li><i class="accent" />in the table</li>
      </ul>
      {why && <><h3>Why</h3><pre class="changes" tabIndex={0}>{why.replace(/^\s*Why\n/, '').trimEnd()}</pre></>}
    </>
  );
}

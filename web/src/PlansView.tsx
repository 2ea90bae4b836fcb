// SPDX-License-Identifier: Apache-2.0
// What a search found: its proof, time against memory, and every plan, best first, with what it loses on.
import { linear } from './axes';
import { Chips } from './Chips';
import type { ListedPlan, SearchDocument } from './data';
import { gpuHours } from './Headline';
import { Plot } from './Plot';
import type { Run } from './run';
import { bytes, digits, percent, range, seconds, signed, ticked, words } from './units';

export interface PlansProps {
  search: SearchDocument;
  runs: Run[];
  why: { name: string; words: string }[];
  shown: number;
  onShow: (plan: number) => void;
}

// The plans that people can configure, as the terminal has them; of a page without such, all.
const listed = ({ configurable, plans }: SearchDocument): ListedPlan[] =>
  configurable.length > 0 ? configurable : plans;

const planWords = (plan: Record<string, unknown>) =>
  Object.entries(plan)
    .filter(([, value]) => typeof value !== 'object')
    .map(([key, value]) => `${words(key)} ${value}`)
    .join(', ');

// What takes longer than in the best plan, the largest first; and what is shorter.
export function losses(best: Run, plan: Run): string {
  const all = Object.keys(best.document.time).map((key): [string, number] => [
    words(key.slice(0, -2)),
    plan.document.time[key]! - best.document.time[key]!,
  ]);
  const least = best.document.step.time_s * 0.001;
  const told = all.filter(([, time]) => Math.abs(time) >= least).sort((a, b) => b[1] - a[1]);
  return told.length === 0
    ? 'nothing by 0.1 %'
    : told.map(([kind, time]) => `${kind} ${signed(seconds, time)}`).join(', ');
}

// Time to the right, memory upwards; the front is a staircase, as all above and right of it loses.
function Front({ search, runs, shown, onShow }: PlansProps) {
  const { pareto } = search,
    plans = listed(search);
  const all = [...pareto, ...plans],
    size = ticked(bytes),
    capacity = runs[0]!.document.memory.capacity_bytes;
  if (all.length === 0) return <p class="soft">No plan to draw.</p>;
  const x = linear({ name: 'step time', values: all.map(({ step_time_s }) => step_time_s), text: seconds });
  const y = linear({
    name: 'memory of the fullest GPU',
    values: [...all.map(({ peak_bytes }) => peak_bytes / size.unit), capacity / size.unit],
    text: size.tick,
  });
  const sorted = [...pareto].sort((a, b) => a.step_time_s - b.step_time_s);
  return (
    <Plot
      x={x}
      y={y}
      most={720}
      shape={1.45}
      label={
        `Step time against memory: ${pareto.length} plans of which none is both faster and smaller, ` +
        `and the ${plans.length} fastest`
      }
    >
      {(at) => {
        const left = (time: number) => at.x(time),
          top = (held: number) => at.y(held / size.unit),
          full = top(capacity);
        const stairs = sorted
          .map((one, i) =>
            i === 0
              ? `M${left(one.step_time_s)} ${top(one.peak_bytes)}`
              : `H${left(one.step_time_s)}V${top(one.peak_bytes)}`,
          )
          .join('');
        return (
          <>
            <path class="capacity" d={`M${at.left} ${full}H${at.right}`} />
            <text x={at.right - 4} y={full - 5} text-anchor="end">
              {bytes(capacity)} are there
            </text>
            <path class="front-line" d={stairs} />
            {pareto.map(({ step_time_s, peak_bytes, plan }) => (
              <circle class="front-dot" cx={left(step_time_s)} cy={top(peak_bytes)} r={4}>
                <title>{`${seconds(step_time_s)}, ${bytes(peak_bytes)}: ${planWords(plan)}`}</title>
              </circle>
            ))}
            {plans
              .map(({ step_time_s, peak_bytes }, i) => [i, step_time_s, peak_bytes] as const)
              .reverse()
              .map(([i, time, held]) => (
                <g class={i === shown ? 'plan picked' : 'plan'} onClick={() => onShow(i)}>
                  <circle cx={left(time)} cy={top(held)} r={9} />
                  <text x={left(time)} y={top(held) + 4} text-anchor="middle">
                    {i + 1}
                  </text>
                  <title>{`plan ${i + 1}: ${seconds(time)}, ${bytes(held)}: ${runs[i]?.given.plan_words ?? ''}`}</title>
                </g>
              ))}
          </>
        );
      }}
    </Plot>
  );
}

function proofWords({ proof, space, interrupted }: SearchDocument): string {
  const counts =
    `${digits(space.enumerated)} plans: ${digits(space.pruned_by_memory)} cannot fit, ` +
    `${digits(space.pruned_by_bound)} cannot be faster, ` +
    `${digits(space.evaluated)} were searched with ${digits(space.simulated)} simulations.`;
  const proved = proof.optimal
    ? 'The best plan is optimal: no plan in the space simulates faster.'
    : proof.lower_bound_s === null
      ? ''
      : `No plan in the space is faster than ${seconds(proof.lower_bound_s)}: a gap of ${percent(proof.gap ?? 0)}.`;
  return `${proved} ${counts}${interrupted ? ' The search was stopped before it ended.' : ''}`;
}

// The terminal's words with true minuses, and with percentages that no end of a line cuts.
const typeset = (said: string) => said.replace(/(?<=[ (])-(?=\d)/g, '\u2212').replace(/ %/g, '\u00a0%');

const wordsOf = (run: Run, plan: ListedPlan) =>
  `${run.given.plan_words}, recomputes ${plan.recompute.words.replaceAll(', ', '; ')}`;

const isLess = (time: number, than: number) => (than - time) / than > 5e-4;

// The plan that the proof is of, where it is not the first of the list.
function Finer({ search }: { search: SearchDocument }) {
  const finest = search.plans[0],
    first = listed(search)[0];
  if (!finest || !first || !isLess(finest.step_time_s, first.step_time_s)) return null;
  return (
    <p>
      {`The proof is of a plan of ${seconds(finest.step_time_s)} `}
      {`(${signed(percent, finest.step_time_s / first.step_time_s - 1)}), in which layers differ as few `}
      {`frameworks can be told: ${planWords(finest.plan)}, recomputes `}
      {`${finest.recompute.words.replaceAll(', ', '; ')}. The list has plans that they can be told.`}
    </p>
  );
}

function PlanCard({ search, runs, shown, onShow, number }: PlansProps & { number: number }) {
  const plans = listed(search);
  const plan = plans[number]!,
    run = runs[number]!,
    best = plans[0]!,
    finer = search.configurable[number]?.finer_step_time_s ?? plan.step_time_s,
    { capacity_bytes } = run.document.memory;
  return (
    <li class={number === shown ? 'plan-card picked' : 'plan-card'}>
      <button
        type="button"
        class="rank"
        aria-pressed={number === shown}
        aria-label={`Plan ${plan.rank}`}
        onClick={() => onShow(number)}
      >
        {plan.rank}
      </button>
      <p class="plan-figures">
        <b>{seconds(plan.step_time_s)}</b>
        {number > 0 && <span>{signed(percent, plan.step_time_s / best.step_time_s - 1)}</span>}
        <span class="soft">80 %: {range(plan.time_low_s, plan.time_high_s)}</span>
        <span>MFU {percent(plan.mfu)}</span>
        <span class="memory">
          <span class="meter">
            <i
              style={{ width: `${Math.min(1, plan.peak_bytes / capacity_bytes) * 100}%`, background: 'var(--load2)' }}
            />
          </span>{' '}
          {bytes(plan.peak_bytes)}, {percent(plan.peak_bytes / capacity_bytes)} full
        </span>
        <span class="soft">{digits(gpuHours(run.document))} GPU-hours per billion tokens</span>
      </p>
      <Chips words={wordsOf(run, plan)} beside={number === 0 ? undefined : wordsOf(runs[0]!, best)} />
      <p class="loses">
        {number === 0 ? (
          'the best plan'
        ) : (
          <>
            <span class="soft">loses on</span> {losses(runs[0]!, run)}
          </>
        )}
        {isLess(finer, plan.step_time_s) && (
          <span class="soft">; layers that differ more finely: {signed(percent, finer / plan.step_time_s - 1)}</span>
        )}
      </p>
    </li>
  );
}

export function PlansView(props: PlansProps) {
  const { search, why } = props;
  return (
    <>
      <h2 id="plans-title">Plans</h2>
      <p>{proofWords(search)}</p>
      <Finer search={search} />
      <div class="plans-grid">
        <div>
          <h3>Time against memory</h3>
          <Front {...props} />
          <ul class="key">
            <li>
              <i class="load2" />
              none is both faster and smaller
            </li>
            <li>
              <i class="accent" />
              in the list
            </li>
          </ul>
        </div>
        <div class="plans-list">
          <h3>Best first</h3>
          <ol class="plans" aria-label="Plans, best first">
            {listed(search).map((_, number) => (
              <PlanCard {...props} number={number} />
            ))}
          </ol>
          <p class="soft small">
            What a plan has otherwise than plan 1 is outlined. Loses on: how much longer each part of the step is than
            in plan 1.
          </p>
        </div>
        {why.length > 0 && (
          <div class="why">
            <h3>Why</h3>
            <dl>
              {why.map(({ name, words: said }) => (
                <div>
                  <dt>{name}</dt>
                  <dd>{typeset(said)}</dd>
                </div>
              ))}
            </dl>
          </div>
        )}
      </div>
    </>
  );
}

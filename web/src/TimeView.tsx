// SPDX-License-Identifier: Apache-2.0
// Where the time went: of the step, and of every stage.
import { causes, colour, ofKind } from './palette';
import type { Run } from './run';
import { Key, Stack, type Part, type StackRow } from './Stack';
import { percent, seconds, words } from './units';

const partOf: Record<string, string> = { compute_s: 'forward', bubble_s: '', other_s: 'other', optimizer_s: 'optimizer',
  recompute_s: 'recompute', tensor_comm_s: 'tensor_comm', context_comm_s: 'context_comm', expert_comm_s: 'expert_comm',
  pipeline_comm_s: 'pipeline_comm', data_comm_s: 'data_comm', offload_s: 'offload' };
const idle = (dark: boolean) => (dark ? '#5b6472' : '#c3c9d2');

function stepParts(run: Run, dark: boolean): Part[] {
  return Object.entries(run.document.time).filter(([, value]) => value > 0).map(([key, value]) => (
    { name: words(key.slice(0, -2)), value, colour: partOf[key] ? ofKind(partOf[key]!, dark) : idle(dark) }));
}

// Passes of each stage's rank by kind, its bubble by cause, and what is left: waits for
// communication of its own.
function stageRows(run: Run, dark: boolean): StackRow[] {
  const { timeline, bubbles } = run, step = run.document.step.time_s;
  return run.document.pipeline.stages.map(({ stage, bubble_s }) => {
    const number = timeline.lanes.findIndex((lane) => lane.stage === stage && lane.name === 'compute');
    const lane = timeline.lanes[number], passes = new Map<string, number>(), idles = new Map<string, number>();
    if (lane)
      for (let i = lane.first; i < lane.end; ++i) {
        const kind = timeline.kind(i);
        passes.set(kind, (passes.get(kind) ?? 0) + (timeline.finish[i]! - timeline.start[i]!) / 1e12);
      }
    bubbles.within(number, -Infinity, Infinity, (i) => {
      for (const [cause, time] of bubbles.parts(i)) idles.set(cause, (idles.get(cause) ?? 0) + time / 1e12);
    });
    const parts = [...passes].map(([kind, value]): Part => ({ name: words(kind), value, colour: ofKind(kind, dark) }));
    const rest = step - parts.reduce((sum, { value }) => sum + value, 0) - bubble_s;
    if (rest > step * 1e-9) parts.push({ name: 'waits for its own communication', value: rest, colour: ofKind('data_comm', dark) });
    for (const [cause, pair] of Object.entries(causes))
      if (idles.has(cause)) parts.push({ name: `bubble: ${cause}`, value: idles.get(cause)!, colour: colour(pair, dark) });
    return { name: `stage ${stage}`, parts, note: `bubble ${seconds(bubble_s)}, ${percent(bubble_s / step)}` };
  });
}

function CauseTable({ run }: { run: Run }) {
  const { bubbles } = run, sums = new Map<string, number>();
  for (let i = 0; i < bubbles.size; ++i)
    for (const [cause, time] of bubbles.parts(i)) sums.set(cause, (sums.get(cause) ?? 0) + time / 1e12);
  const all = [...sums.values()].reduce((sum, time) => sum + time, 0);
  if (all === 0) return null;
  const stages = run.document.pipeline.stages.length;
  return (
    <table>
      <caption>Bubble by cause, mean stage</caption>
      <tbody>
        {[...sums].sort((a, b) => b[1] - a[1]).map(([cause, time]) => (
          <tr><th class="n" scope="row">{cause}</th><td>{seconds(time / stages)}</td><td>{percent(time / stages / run.document.step.time_s)}</td></tr>
        ))}
      </tbody>
    </table>
  );
}

export function TimeView({ runs, names, dark }: { runs: Run[]; names: string[]; dark: boolean }) {
  const longest = Math.max(...runs.map(({ document }) => document.step.time_s));
  const rows = runs.map((run) => stageRows(run, dark));
  const parts = new Map(rows.flat().flatMap((row) => row.parts).map((part) => [part.name, part]));
  const stepRows = runs.map((run, i) => (
    { name: runs.length > 1 ? names[i]!.slice(0, 1) : 'step', parts: stepParts(run, dark), note: seconds(run.document.step.time_s) }));
  const kinds = [...new Set(runs.flatMap((run) => stepParts(run, dark).map(({ name }) => name)))];
  return (
    <>
      <h2 id="time-title">Where the time went</h2>
      <h3>The step, on the rank that ends last</h3>
      <Stack rows={stepRows} total={longest} text={seconds} label="Exposed time of the step" />
      <div class="scroll" tabIndex={0} role="region" aria-label="Exposed time by kind">
        <table class="parts">
          <thead><tr><th class="n">exposed</th>{runs.map((_, i) => <><th>{runs.length > 1 ? names[i]!.slice(0, 1) : 'time'}</th><th>of the step</th></>)}</tr></thead>
          <tbody>
            {kinds.map((kind) => (
              <tr>
                <th class="n" scope="row"><i class="dot" style={{ background: stepRows.flatMap((row) => row.parts).find(({ name }) => name === kind)!.colour }} />{kind}</th>
                {runs.map(({ document }) => {
                  const value = document.time[`${kind.replaceAll(' ', '_')}_s`]!;
                  return <><td>{seconds(value)}</td><td>{percent(value / document.step.time_s)}</td></>;
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <h3>Every stage</h3>
      <p class="soft small">Passes hold the communication inside them.</p>
      <Key parts={[...parts.values()]} />
      {runs.map((run, i) => (
        <>
          {runs.length > 1 && <h4>{names[i]}</h4>}
          <Stack rows={rows[i]!} total={longest} text={seconds} label={`Time of every stage of ${names[i]}`} />
          <CauseTable run={run} />
        </>
      ))}
    </>
  );
}

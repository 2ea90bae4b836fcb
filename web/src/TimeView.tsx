// SPDX-License-Identifier: Apache-2.0
// Where the time went: of the step, and of every stage.
import { Advice } from './Advice';
import { EvidenceView } from './Evidence';
import { causes, colour, ofKind } from './palette';
import type { Run } from './run';
import type { RunDocument } from './data';
import { Key, Stack, type Part, type StackRow } from './Stack';
import { percent, seconds, words } from './units';

function stepParts(run: Run, dark: boolean): Part[] {
  return Object.entries(run.document.time)
    .filter(([, value]) => value > 0)
    .map(([key, value]) => {
      const kind = key.slice(0, -'_s'.length);
      return { name: words(kind), value, colour: ofKind(kind, dark) };
    });
}

// Passes of each stage's rank by kind, its bubble by cause, and what is left: waits for
// communication of its own.
function stageRows(run: Run, dark: boolean): StackRow[] {
  const { timeline } = run,
    step = run.document.step.time_s;
  return run.document.pipeline.stages.map((of) => {
    const { stage, bubble_s } = of;
    const number = timeline.lanes.findIndex((lane) => lane.stage === stage && lane.name === 'compute');
    const lane = timeline.lanes[number],
      passes = new Map<string, number>();
    if (lane)
      for (let i = lane.first; i < lane.end; ++i) {
        const kind = timeline.kind(i);
        passes.set(kind, (passes.get(kind) ?? 0) + (timeline.finish[i]! - timeline.start[i]!) / 1e12);
      }
    const parts = [...passes].map(([kind, value]): Part => ({ name: words(kind), value, colour: ofKind(kind, dark) }));
    const rest = step - parts.reduce((sum, { value }) => sum + value, 0) - bubble_s;
    if (rest > step * 1e-9)
      parts.push({ name: 'waits for its own communication', value: rest, colour: ofKind('data_comm', dark) });
    for (const [cause, pair] of Object.entries(causes))
      parts.push({ name: `bubble: ${cause}`, value: ofCause(of, cause), colour: colour(pair, dark) });
    return { name: `stage ${stage}`, parts, note: `bubble ${seconds(bubble_s)}, ${percent(bubble_s / step)}` };
  });
}

type Stage = RunDocument['pipeline']['stages'][number];
const ofCause = ({ bubble_by_cause }: Stage, cause: string) => bubble_by_cause?.[`${cause.replace('-', '_')}_s`] ?? 0;

// The mean stage's, the largest first.
function CauseTable({ runs, names }: { runs: Run[]; names: string[] }) {
  const means = Object.keys(causes)
    .map((cause) => ({
      cause,
      times: runs.map(
        ({
          document: {
            pipeline: { stages },
          },
        }) => stages.reduce((sum, stage) => sum + ofCause(stage, cause), 0) / stages.length,
      ),
    }))
    .filter(({ times }) => times.some((time) => time > 0))
    .sort((a, b) => b.times[0]! - a.times[0]!);
  if (means.length === 0) return null;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Bubble by cause">
      <table class="causes">
        <caption>Bubble of the mean stage, by cause</caption>
        <thead>
          <tr>
            <th class="n">cause</th>
            {runs.map((_, i) => (
              <>
                <th>{runs.length > 1 ? names[i]!.slice(0, 1) : 'idle'}</th>
                <th>of the step</th>
              </>
            ))}
            <th class="n wide">what would help</th>
          </tr>
        </thead>
        <tbody>
          {means.map(({ cause, times }) => (
            <tr>
              <th class="n" scope="row">
                {cause}
              </th>
              {runs.map(({ document }, i) => (
                <>
                  <td>{seconds(times[i]!)}</td>
                  <td>{percent(times[i]! / document.step.time_s)}</td>
                </>
              ))}
              <td class="n wide">
                <Advice text={runs[0]!.given.remedies[cause]} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function TimeView({ runs, names, dark }: { runs: Run[]; names: string[]; dark: boolean }) {
  const longest = Math.max(...runs.map(({ document }) => document.step.time_s));
  const rows = runs.map((run) => stageRows(run, dark));
  const parts = new Map(
    rows
      .flat()
      .flatMap((row) => row.parts)
      .map((part) => [part.name, part]),
  );
  const stepRows = runs.map((run, i) => ({
    name: runs.length > 1 ? names[i]!.slice(0, 1) : 'step',
    parts: stepParts(run, dark),
    note: seconds(run.document.step.time_s),
  }));
  const kinds = [...new Set(runs.flatMap((run) => stepParts(run, dark).map(({ name }) => name)))];
  return (
    <>
      <h2 id="time-title">Where the time went</h2>
      <h3>The step, on the rank that ends last</h3>
      <Stack rows={stepRows} total={longest} text={seconds} label="Exposed time of the step" />
      <div class="scroll" tabIndex={0} role="region" aria-label="Exposed time by kind">
        <table class="parts">
          <thead>
            <tr>
              <th class="n">exposed</th>
              {runs.map((_, i) => (
                <>
                  <th>{runs.length > 1 ? names[i]!.slice(0, 1) : 'time'}</th>
                  <th>of the step</th>
                </>
              ))}
            </tr>
          </thead>
          <tbody>
            {kinds.map((kind) => (
              <tr>
                <th class="n" scope="row">
                  <i
                    class="dot"
                    style={{
                      background: stepRows.flatMap((row) => row.parts).find(({ name }) => name === kind)!.colour,
                    }}
                  />
                  {kind}
                </th>
                {runs.map(({ document }) => {
                  const value = document.time[`${kind.replaceAll(' ', '_')}_s`]!;
                  return (
                    <>
                      <td>{seconds(value)}</td>
                      <td>{percent(value / document.step.time_s)}</td>
                    </>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <h3>Every stage</h3>
      <p class="soft small">Passes hold the communication inside them.</p>
      <Key
        parts={[...parts.values()].filter(({ name }) =>
          rows.flat().some((row) => row.parts.some((part) => part.name === name && part.value > 0)),
        )}
      />
      {runs.map((_, i) => (
        <>
          {runs.length > 1 && <h4>{names[i]}</h4>}
          <Stack rows={rows[i]!} total={longest} text={seconds} label={`Time of every stage of ${names[i]}`} />
        </>
      ))}
      <CauseTable runs={runs} names={names} />
      <EvidenceView runs={runs} names={names} />
    </>
  );
}

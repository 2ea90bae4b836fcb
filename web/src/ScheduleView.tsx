// SPDX-License-Identifier: Apache-2.0
// One pipeline schedule: its figures, and every stage. Times are in the unit they were given in.
import { useMemo } from 'preact/hooks';
import { Advice } from './Advice';
import type { ScheduleData } from './data';
import { causes, colour, ofKind } from './palette';
import type { Drawn } from './run';
import { Key, Stack } from './Stack';
import { digits, percent } from './units';

export function ScheduleHeadline({ data: { schedule } }: { data: ScheduleData }) {
  const figures: [name: string, value: string, note: string][] = [
    ['Makespan', digits(schedule.makespan), 'from the first start to the last end, in the unit given'],
    ['Longest stage', digits(schedule.span), 'its own first start to last end'],
    ['Bubble', percent(schedule.bubble_fraction), 'of the mean stage'],
    ['Bubble of the busiest', percent(schedule.bubble_fraction_max_stage), 'stage'],
    [
      'In flight',
      digits(Math.max(...schedule.stages.map(({ peak_in_flight }) => peak_in_flight))),
      'full-stage activations at most',
    ],
  ];
  return (
    <dl class="figures">
      {figures.map(([name, value, note]) => (
        <div class="figure">
          <dt>{name}</dt>
          <dd>
            <span class="value">{value}</span>
            <span class="note">{note}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

// Idle time of each stage by cause, in the unit given: its bubbles together.
function idleByCause({ bubbles, timeline }: Drawn, unit: number): Map<string, number>[] {
  const stages: Map<string, number>[] = [];
  for (let i = 0; i < bubbles.size; ++i) {
    const of = (stages[timeline.lanes[bubbles.lane[i]!]!.stage] ??= new Map());
    for (const [cause, time] of bubbles.parts(i)) of.set(cause, (of.get(cause) ?? 0) + time / unit);
  }
  return stages;
}

interface StagesProps {
  data: ScheduleData;
  run: Drawn;
  dark: boolean;
}

export function ScheduleStages({ data: { schedule, unit, remedies }, run, dark }: StagesProps) {
  const work = ofKind('forward', dark),
    idle = useMemo(() => idleByCause(run, unit), [run]);
  const means = Object.entries(causes)
    .map(([cause, pair]) => ({
      cause,
      colour: colour(pair, dark),
      mean: idle.reduce((sum, of) => sum + (of?.get(cause) ?? 0), 0) / schedule.stages.length,
    }))
    .filter(({ mean }) => mean > 0);
  return (
    <>
      <h2 id="stages-title">Every stage</h2>
      <Key
        parts={[
          { name: 'work', colour: work },
          ...means.map(({ cause, colour }) => ({ name: `idle: ${cause}`, colour })),
        ]}
      />
      <Stack
        total={schedule.makespan}
        text={digits}
        label="Work and idle time of every stage"
        rows={schedule.stages.map((stage, i) => ({
          name: `stage ${i}`,
          parts: [
            { name: 'work', value: stage.work, colour: work },
            ...means.map(({ cause, colour }) => ({ name: cause, value: idle[i]?.get(cause) ?? 0, colour })),
          ],
          note: `idle ${digits(stage.idle)}, ${digits(stage.peak_in_flight)} in flight`,
        }))}
      />
      {means.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label="Bubble by cause">
          <table class="causes">
            <caption>Bubble of the mean stage, by cause</caption>
            <thead>
              <tr>
                <th class="n">cause</th>
                <th>idle</th>
                <th>of the makespan</th>
                <th class="n wide">what would help</th>
              </tr>
            </thead>
            <tbody>
              {[...means]
                .sort((a, b) => b.mean - a.mean)
                .map(({ cause, mean }) => (
                  <tr>
                    <th class="n" scope="row">
                      {cause}
                    </th>
                    <td>{digits(mean)}</td>
                    <td>{percent(mean / schedule.makespan)}</td>
                    <td class="n wide">
                      <Advice text={remedies[cause]} />
                    </td>
                  </tr>
                ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

// SPDX-License-Identifier: Apache-2.0
// One pipeline schedule: its figures, and every stage. Times are in the unit they were given in.
import type { ScheduleData } from './data';
import { ofKind } from './palette';
import { Key, Stack } from './Stack';
import { digits, percent } from './units';

export function ScheduleHeadline({ data: { schedule } }: { data: ScheduleData }) {
  const figures: [name: string, value: string, note: string][] = [
    ['Makespan', digits(schedule.makespan), 'from the first start to the last end, in the unit given'],
    ['Longest stage', digits(schedule.span), 'its own first start to last end'],
    ['Bubble', percent(schedule.bubble_fraction), 'of the mean stage'],
    ['Bubble of the busiest', percent(schedule.bubble_fraction_max_stage), 'stage'],
    ['In flight', digits(Math.max(...schedule.stages.map(({ peak_in_flight }) => peak_in_flight))), 'full-stage activations at most'],
  ];
  return (
    <dl class="figures">
      {figures.map(([name, value, note]) => (
        <div class="figure"><dt>{name}</dt><dd><span class="value">{value}</span><span class="note">{note}</span></dd></div>
      ))}
    </dl>
  );
}

export function ScheduleStages({ data: { schedule }, dark }: { data: ScheduleData; dark: boolean }) {
  const work = ofKind('forward', dark), idle = ofKind('other', dark);
  return (
    <>
      <h2 id="stages-title">Every stage</h2>
      <Key parts={[{ name: 'work', colour: work }, { name: 'idle', colour: idle }]} />
      <Stack total={schedule.makespan} text={digits} label="Work and idle time of every stage"
        rows={schedule.stages.map((stage, i) => ({
          name: `stage ${i}`,
          parts: [{ name: 'work', value: stage.work, colour: work }, { name: 'idle', value: stage.idle, colour: idle }],
          note: `idle ${digits(stage.idle)}, ${digits(stage.peak_in_flight)} in flight`,
        }))} />
    </>
  );
}

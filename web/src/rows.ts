// SPDX-License-Identifier: Apache-2.0
// Where lanes stand: compute lanes tall, the streams beside them low, all of them inside a height
// unless the reader asks for more.
import type { Row } from './paint';
import type { Timeline } from './timeline';

export interface Group { stage: number; rank: number; top: number; height: number }

export interface Rows { rows: Row[]; groups: Group[]; height: number }

const unit = 22, stream = 0.4, between = 0.3;

export function weightOf(timeline: Timeline, hidden: ReadonlySet<string>): number {
  let weight = 0, last = -1;
  for (const { stage, name } of timeline.lanes) {
    if (hidden.has(name)) continue;
    weight += (name === 'compute' ? 1 : stream) + (stage !== last ? between : 0);
    last = stage;
  }
  return weight;
}

export const natural = (timeline: Timeline, hidden: ReadonlySet<string>) => weightOf(timeline, hidden) * unit;

export function rowsOf(timeline: Timeline, hidden: ReadonlySet<string>, height: number, tall: number): Rows {
  const size = Math.min(unit, height / Math.max(1, weightOf(timeline, hidden))) * tall;
  const rows: Row[] = [], groups: Group[] = [];
  let top = 0;
  timeline.lanes.forEach(({ stage, rank, name }, lane) => {
    if (hidden.has(name)) return;
    const row = size * (name === 'compute' ? 1 : stream);
    if (groups.at(-1)?.stage !== stage) {
      top += size * between;
      groups.push({ stage, rank, top, height: 0 });
    }
    rows.push({ lane, top, height: row });
    top += row;
    groups.at(-1)!.height = top - groups.at(-1)!.top;
  });
  return { rows, groups, height: top };
}

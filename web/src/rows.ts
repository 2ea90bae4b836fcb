// SPDX-License-Identifier: Apache-2.0
// Where lanes stand: compute lanes tall, the streams beside them low, all of them inside a height
// unless the reader asks for more. Streams that would be lower than two pixels are folded away, so
// that the height is left to the stages; these may become lower than a pixel (paint.ts).
import type { Row } from './paint';
import type { Timeline } from './timeline';

export interface Group {
  stage: number;
  rank: number;
  top: number;
  height: number;
}

export interface Rows {
  rows: Row[];
  ofLane: Map<number, Row>;
  groups: Group[];
  height: number;
  folded: boolean;
}

const unit = 22,
  stream = 0.32,
  between = 0.25;

const isCompute = (name: string) => name === 'compute';

function weightOf(timeline: Timeline, shown: (name: string) => boolean): number {
  let weight = 0,
    last = -1;
  for (const { stage, name } of timeline.lanes) {
    if (!shown(name)) continue;
    weight += (isCompute(name) ? 1 : stream) + (stage !== last ? between : 0);
    last = stage;
  }
  return Math.max(1, weight);
}

export const natural = (timeline: Timeline, hidden: ReadonlySet<string>) =>
  weightOf(timeline, (name) => !hidden.has(name)) * unit;

// How much taller than what fits rows must be for all streams to be seen.
export const unfolded = (timeline: Timeline, hidden: ReadonlySet<string>, height: number) =>
  3 / stream / Math.min(unit, height / weightOf(timeline, (name) => !hidden.has(name)));

// A lane whose bars run beside each other is painted half by half, if it is high enough.
export const halves = (timeline: Timeline, row: Row): Row[] =>
  timeline.lanes[row.lane]!.pairs && row.height >= 4
    ? [1, 2].map((side) => ({ ...row, side, top: row.top + ((side - 1) * row.height) / 2, height: row.height / 2 }))
    : [row];

export function rowsOf(timeline: Timeline, hidden: ReadonlySet<string>, height: number, tall: number): Rows {
  const sizeOf = (shown: (name: string) => boolean) => Math.min(unit, height / weightOf(timeline, shown)) * tall;
  const asked = (name: string) => !hidden.has(name),
    folded = sizeOf(asked) * stream < 2 && !hidden.has('compute');
  const shown = folded ? isCompute : asked,
    size = sizeOf(shown);
  const rows: Row[] = [],
    groups: Group[] = [];
  let top = 0;
  timeline.lanes.forEach(({ stage, rank, name }, lane) => {
    if (!shown(name)) return;
    const row = size * (isCompute(name) ? 1 : stream);
    if (groups.at(-1)?.stage !== stage || groups.at(-1)?.rank !== rank) {
      if (groups.at(-1)?.stage !== stage) top += size * between;
      groups.push({ stage, rank, top, height: 0 });
    }
    rows.push({ lane, top, height: row, compute: isCompute(name), side: 0 });
    top += row;
    groups.at(-1)!.height = top - groups.at(-1)!.top;
  });
  return { rows, ofLane: new Map(rows.map((row) => [row.lane, row])), groups, height: top, folded };
}

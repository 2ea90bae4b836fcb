// SPDX-License-Identifier: Apache-2.0
// The timeline as it was simulated: bars by lane and start, messages between them. Times are
// picoseconds.
import { columnsOf, summed } from './columns';
import type { PackedTimeline } from './data';

export interface Lane {
  stage: number;
  rank: number;
  name: string;
  first: number;
  end: number; // its bars
  pairs: boolean; // some of them run beside each other
}

type Four = [Float64Array, Float64Array, Float64Array, Float64Array];

export class Timeline {
  readonly lanes: Lane[] = [];
  readonly start: Float64Array;
  readonly finish: Float64Array;
  readonly sort: Int32Array;
  readonly microbatch: Int32Array;
  readonly from: Float64Array;
  readonly to: Float64Array;
  readonly sorts: PackedTimeline['sorts'];
  readonly microbatches: number;
  readonly end: number;
  // Passes that run beside each other share their lane's height: 1 the upper half, 2 the lower one.
  readonly side: Uint8Array;
  private readonly reach: Float64Array; // the latest finish of a lane's bars up to this one

  constructor(packed: PackedTimeline) {
    this.sorts = packed.sorts;
    const [sort, microbatch, gap, duration] = columnsOf(packed.slices) as Four;
    this.sort = Int32Array.from(sort);
    this.microbatch = Int32Array.from(microbatch);
    this.start = new Float64Array(gap.length);
    this.finish = new Float64Array(gap.length);
    this.side = new Uint8Array(gap.length);
    this.reach = new Float64Array(gap.length);
    let at = 0,
      end = 0,
      most = 0;
    for (const [stage, rank, name, slices] of packed.lanes) {
      const lane: Lane = { stage, rank, name, first: at, end: at + slices, pairs: false };
      this.lanes.push(lane);
      for (let time = 0, batch = 0, reach = 0, stop = at + slices; at < stop; ++at) {
        batch = this.microbatch[at]! += batch;
        this.start[at] = time + gap[at]!;
        this.finish[at] = time = this.start[at]! + duration[at]!;
        this.reach[at] = reach = Math.max(reach, time);
        if (name === 'compute') this.pairUp(lane, at);
        if (time > end) end = time;
        if (batch >= most) most = batch + 1;
      }
    }
    this.end = end;
    this.microbatches = most;
    const [from, over] = columnsOf(packed.arrows) as [Float64Array, Float64Array];
    this.from = summed(from);
    this.to = over.map((ahead, i) => this.from[i]! + ahead);
  }

  // Beside the bar before it, if that is another microbatch's and not over yet.
  private pairUp(lane: Lane, at: number): void {
    const before = at - 1;
    if (before < lane.first || this.start[at]! >= this.finish[before]!) return;
    if (this.microbatch[at]! === this.microbatch[before]!) return;
    this.side[before] ||= 1;
    this.side[at] = 3 - this.side[before]!;
    lane.pairs = true;
  }

  get size() {
    return this.start.length;
  }

  laneOf(slice: number): number {
    let low = 0,
      high = this.lanes.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.lanes[middle]!.first <= slice) low = middle;
      else high = middle;
    }
    return low;
  }

  kind(slice: number): string {
    return this.sorts[this.sort[slice]!]![0];
  }

  // That each rank sends; that it computes.
  bytes(slice: number): number {
    return this.sorts[this.sort[slice]!]![5];
  }
  flops(slice: number): number {
    return this.sorts[this.sort[slice]!]![6];
  }
  steps(slice: number): number {
    return this.sorts[this.sort[slice]!]![7] ?? -1;
  } // of a pass; -1: not told

  name(slice: number): string {
    const [, before, after, , bare] = this.sorts[this.sort[slice]!]!;
    const microbatch = this.microbatch[slice]!;
    return microbatch < 0 || bare ? before + after : `${before} m${microbatch}${after}`;
  }

  // The first bar of a lane that may end after `time`: all before it do not.
  after(lane: Lane, time: number): number {
    let low = lane.first,
      high = lane.end;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.reach[middle]! <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // The bar of a lane at `time`, or within `slack` of it; the shortest of several; of those beside
  // each other that of this side. -1: none.
  at(lane: Lane, time: number, slack: number, side: number): number {
    let found = -1,
      best = Infinity;
    for (let i = this.after(lane, time - slack); i < lane.end && this.start[i]! <= time + slack; ++i) {
      if (this.finish[i]! < time - slack || this.side[i]! + side === 3) continue;
      const away = Math.max(this.start[i]! - time, time - this.finish[i]!, 0);
      const rank = away * 1e6 + this.finish[i]! - this.start[i]!;
      if (rank < best) {
        best = rank;
        found = i;
      }
    }
    return found;
  }
}

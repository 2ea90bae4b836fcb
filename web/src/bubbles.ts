// SPDX-License-Identifier: Apache-2.0
// Idle intervals as objects, and what the step as a whole waited for.
import { columnsOf, summed } from './columns';
import type { PackedAwaited, PackedTimeline } from './data';
import type { Timeline } from './timeline';

// Something that was waited for; `slice` and `lane` are -1 where it is not drawn.
export interface Awaited {
  slice: number;
  lane: number;
  stage: number;
  rank: number;
  on: string;
  name: string;
  start: number;
  finish: number;
}

export interface PathStep {
  lane: number;
  slice: number;
  start: number;
  finish: number;
}

class AwaitedList {
  private readonly entry: Float64Array; // slice + 1, or -1 - i: the i-th of `others`
  private readonly sort: Float64Array;
  private readonly start: Float64Array;
  private readonly duration: Float64Array;

  // `ends`: where lists end; none: all is one.
  constructor(
    private readonly timeline: Timeline,
    private readonly packed: PackedAwaited,
    ends?: Float64Array,
  ) {
    const [sort, start, duration] = columnsOf(packed.others) as [Float64Array, Float64Array, Float64Array];
    this.sort = sort;
    this.start = summed(start);
    this.duration = duration;
    const [differences, more] = columnsOf(packed.entries) as [Float64Array, Float64Array];
    const written = summed(differences);
    this.entry = new Float64Array(more.reduce((sum, count) => sum + count + 1, 0));
    // What was behind an entry last time; others stand below slices.
    const behind = new Float64Array(sort.length + timeline.size + 1);
    let at = 0,
      others = 0,
      list = 0,
      begin = 0;
    const add = (entry: number) => {
      for (; ends && ends[list]! <= at; ++list) begin = ends[list]!;
      if (at > begin) behind[sort.length + this.entry[at - 1]!] = entry;
      this.entry[at++] = entry;
    };
    for (let i = 0; i < written.length; ++i) {
      add(written[i] === 0 ? -1 - others++ : written[i]!);
      for (let count = more[i]!; count > 0; --count) add(behind[sort.length + this.entry[at - 1]!]!);
    }
  }

  get size() {
    return this.entry.length;
  }

  at(i: number): Awaited {
    const { timeline } = this,
      slice = Math.max(-1, this.entry[i]! - 1);
    if (slice >= 0) {
      const lane = timeline.laneOf(slice),
        { stage, rank, name } = timeline.lanes[lane]!;
      return {
        slice,
        lane,
        stage,
        rank,
        on: name,
        name: timeline.name(slice),
        start: timeline.start[slice]!,
        finish: timeline.finish[slice]!,
      };
    }
    const other = -1 - this.entry[i]!;
    const [stage, rank, on, name] = this.packed.sorts[this.sort[other]!]!;
    const start = this.start[other]!;
    return { slice: -1, lane: -1, stage, rank, on, name, start, finish: start + this.duration[other]! };
  }
}

type Six = [Float64Array, Float64Array, Float64Array, Float64Array, Float64Array, Float64Array];

export class Bubbles {
  readonly lane: Float64Array;
  readonly start: Float64Array;
  readonly finish: Float64Array;
  readonly until: Float64Array; // the bar it waits to begin; -1: none
  private readonly number: Float64Array;
  private readonly shares: Float64Array[];
  private readonly causes: string[];
  private readonly awaited: AwaitedList;
  private readonly chainFrom: Float64Array; // where each chain begins, and one more
  private readonly ofLane = new Map<number, [first: number, end: number]>();

  constructor(timeline: Timeline, { idle }: PackedTimeline) {
    this.causes = idle.causes;
    const [lane, gap, duration, cause, until, links] = columnsOf(idle.intervals) as Six;
    this.lane = summed(lane);
    this.start = new Float64Array(gap.length);
    this.finish = new Float64Array(gap.length);
    this.until = summed(until).map((following) => following - 1);
    this.number = cause;
    this.shares = columnsOf(idle.by_cause);
    this.chainFrom = new Float64Array(links.length + 1);
    let end = 0; // of the bubble before, in the same lane
    for (let i = 0; i < links.length; ++i) {
      this.chainFrom[i + 1] = this.chainFrom[i]! + links[i]!;
      const row = this.lane[i]!,
        known = this.ofLane.get(row);
      if (known) known[1] = i + 1;
      else {
        this.ofLane.set(row, [i, i + 1]);
        end = 0;
      }
      this.start[i] = end + gap[i]!;
      this.finish[i] = end = this.start[i]! + duration[i]!;
    }
    this.awaited = new AwaitedList(timeline, idle.chain, this.chainFrom.subarray(1));
  }

  get size() {
    return this.lane.length;
  }
  cause(i: number): string {
    return this.causes[this.number[i]!]!;
  }
  length(i: number): number {
    return this.finish[i]! - this.start[i]!;
  }

  // Picoseconds by cause, the largest first.
  parts(i: number): [cause: string, time: number][] {
    return this.shares
      .map((share, cause): [string, number] => [this.causes[cause]!, share[i]!])
      .filter(([, time]) => time > 0)
      .sort((a, b) => b[1] - a[1]);
  }

  chain(i: number): Awaited[] {
    const chain: Awaited[] = [];
    for (let at = this.chainFrom[i]!; at < this.chainFrom[i + 1]!; ++at) chain.push(this.awaited.at(at));
    return chain;
  }

  // Of the chain, what took a hundredth of it or more; all of it where nothing did.
  told(i: number): Awaited[] {
    const chain = this.chain(i),
      long = chain.filter(({ start, finish }) => finish - start >= this.length(i) / 100);
    return long.length > 0 ? long : chain;
  }
  mainly(i: number): Awaited | undefined {
    return this.told(i)[0];
  }

  within(lane: number, from: number, to: number, visit: (bubble: number) => void): void {
    const [first, end] = this.ofLane.get(lane) ?? [0, 0];
    let low = first,
      high = end;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.finish[middle]! <= from) low = middle + 1;
      else high = middle;
    }
    for (; low < end && this.start[low]! < to; ++low) visit(low);
  }

  at(lane: number, time: number): number {
    let found = -1;
    this.within(lane, time, time + 1, (bubble) => {
      found = bubble;
    });
    return found;
  }

  // The bubble that this bar ended; -1: none.
  before(slice: number): number {
    return this.until.indexOf(slice);
  }

  longest(most: number): number[] {
    return Array.from(this.lane.keys())
      .sort((a, b) => this.length(b) - this.length(a) || a - b)
      .slice(0, most);
  }
}

export function pathOf(timeline: Timeline, { path }: PackedTimeline): PathStep[] {
  const list = new AwaitedList(timeline, path.steps),
    spans = columnsOf(path.spans)[0]!;
  const steps: PathStep[] = [];
  let time = path.begin;
  for (let i = 0; i < list.size; ++i) {
    const { slice, lane } = list.at(i),
      start = time;
    time += spans[i]!;
    steps.push({ lane, slice, start, finish: time });
  }
  return steps;
}

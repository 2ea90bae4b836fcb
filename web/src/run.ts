// SPDX-License-Identifier: Apache-2.0
// What was simulated, unpacked.
import { Bubbles, pathOf, type PathStep } from './bubbles';
import type { PackedTimeline, Run as Given, RunDocument } from './data';
import { Passes } from './passes';
import { Timeline } from './timeline';

// What timelines show, whatever was simulated.
export class Drawn {
  readonly timeline: Timeline;
  readonly bubbles: Bubbles;
  readonly path: PathStep[];
  readonly passes: Passes;
  private arrows: Map<number, number[]> | null = null;

  // `waits`: parts of what the step as a whole waits for, and their shares of it.
  constructor(
    packed: PackedTimeline,
    readonly name: string,
    readonly remedies: Record<string, string> = {},
    readonly waits: { kind: string; share: number }[] = [],
  ) {
    this.timeline = new Timeline(packed);
    this.bubbles = new Bubbles(this.timeline, packed);
    this.path = pathOf(this.timeline, packed);
    this.passes = new Passes(packed.passes);
  }

  // Messages that leave a bar or arrive with it.
  arrowsOf(slice: number): number[] {
    if (!this.arrows) {
      this.arrows = new Map();
      const { from, to } = this.timeline;
      for (let i = 0; i < from.length; ++i)
        for (const end of [from[i]!, to[i]!]) {
          const list = this.arrows.get(end);
          if (list) list.push(i);
          else this.arrows.set(end, [i]);
        }
    }
    return this.arrows.get(slice) ?? [];
  }
}

const nameOf = ({ scenario }: RunDocument): string =>
  scenario.name || (scenario.model.name ?? scenario.model.base ?? 'model');

export class Run extends Drawn {
  constructor(readonly given: Given) {
    super(
      given.timeline,
      nameOf(given.document),
      given.remedies,
      given.document.critical_path.map(({ kind, seconds }) => ({ kind, share: seconds / given.document.step.time_s })),
    );
  }

  get document() {
    return this.given.document;
  }
}

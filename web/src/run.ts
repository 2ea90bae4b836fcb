// SPDX-License-Identifier: Apache-2.0
// One simulated step, unpacked.
import { Bubbles, pathOf, type PathStep } from './bubbles';
import type { Run as Given } from './data';
import { Timeline } from './timeline';

export class Run {
  readonly timeline: Timeline;
  readonly bubbles: Bubbles;
  readonly path: PathStep[];
  private arrows: Map<number, number[]> | null = null;

  constructor(readonly given: Given) {
    this.timeline = new Timeline(given.timeline);
    this.bubbles = new Bubbles(this.timeline, given.timeline);
    this.path = pathOf(this.timeline, given.timeline);
  }

  get document() { return this.given.document; }
  get name(): string {
    const { scenario } = this.document;
    return scenario.name || `${scenario.model.name ?? scenario.model.base ?? 'model'}`;
  }

  // Messages that leave a bar or arrive with it.
  arrowsOf(slice: number): number[] {
    if (!this.arrows) {
      this.arrows = new Map();
      const { from, to } = this.timeline;
      for (let i = 0; i < from.length; ++i)
        for (const end of [from[i]!, to[i]!]) {
          const list = this.arrows.get(end);
          if (list) list.push(i); else this.arrows.set(end, [i]);
        }
    }
    return this.arrows.get(slice) ?? [];
  }
}

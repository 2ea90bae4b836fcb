// SPDX-License-Identifier: Apache-2.0
// What goes on inside passes, once per kind of pass.
import { columnsOf } from './columns';
import type { PackedTimeline } from './data';

export interface PassStep {
  part: string;
  what: string;
  start: number;
  finish: number;
} // picoseconds since the pass begins

// Runs of one kernel together.
export interface StepSum {
  part: string;
  what: string;
  runs: number;
  time: number;
}

export const isComm = (part: string) => part.endsWith(' comm');
export const nameOfStep = ({ part, what }: { part: string; what: string }) =>
  what || (isComm(part) ? part : part === 'optimizer' || part.startsWith('waiting') ? part : `${part}, element-wise`);

export class Passes {
  private readonly made = new Map<number, PassStep[]>();
  constructor(private readonly packed: PackedTimeline['passes']) {}

  of(pass: number): PassStep[] {
    const table = this.packed?.bodies[pass];
    if (!table) return [];
    let steps = this.made.get(pass);
    if (!steps) {
      const [name, gap, duration] = columnsOf(table) as [Float64Array, Float64Array, Float64Array];
      steps = [];
      for (let i = 0, end = 0; i < name.length; ++i) {
        const [part, what] = this.packed!.names[name[i]!]!,
          start = end + gap[i]!;
        end = start + duration[i]!;
        steps.push({ part, what, start, finish: end });
      }
      this.made.set(pass, steps);
    }
    return steps;
  }

  // The longest together first.
  sums(pass: number): StepSum[] {
    const sums = new Map<string, StepSum>();
    for (const { part, what, start, finish } of this.of(pass)) {
      const known = sums.get(`${part}\n${what}`);
      if (known) {
        ++known.runs;
        known.time += finish - start;
      } else {
        sums.set(`${part}\n${what}`, { part, what, runs: 1, time: finish - start });
      }
    }
    return [...sums.values()].sort((a, b) => b.time - a.time);
  }
}

// Of the palette: attention stands out from products, and these from what memory limits.
export const kindOfStep = ({ part, what }: { part: string; what: string }): string => {
  if (isComm(part)) return part.replace(' ', '_');
  if (part === 'recompute') return 'recompute';
  if (part === 'optimizer') return 'optimizer';
  if (part.startsWith('waiting')) return 'bubble';
  if (!what) return 'other';
  if (part === 'forward') return 'forward';
  return part === 'weight gradient' ? 'backward_weight' : 'backward_input';
};

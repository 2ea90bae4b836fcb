// SPDX-License-Identifier: Apache-2.0
// A sweep: its points, and the best of those that agree on some axes.
import type { SweepData } from './data';
import { rowsOf } from './transposed';
import { bytes, digits, percent, seconds, ticked, words } from './units';

export type Value = string | number | boolean | null;

export interface Point {
  id: string;
  axes: Record<string, Value>;
  status: string;
  reason: string | null;
  plan: Record<string, unknown> | null;
  alerts?: string | null; // names of those raised, joined by ';'; of no sweep without rules
  [figure: string]: unknown;
}

// `less` is better; `tick` is what an axis says of so many `unit`s.
export interface Figure {
  key: string;
  name: string;
  text: (value: number) => string;
  less: boolean;
  unit: number;
  tick: (value: number) => string;
}

const known: Record<string, Omit<Figure, 'key' | 'unit' | 'tick'>> = {
  step_time_s: { name: 'step time', text: seconds, less: true },
  tokens_per_s: { name: 'tokens per second', text: digits, less: false },
  tokens_per_s_per_gpu: { name: 'tokens per second and GPU', text: digits, less: false },
  mfu: { name: 'MFU', text: percent, less: false },
  hfu: { name: 'HFU', text: percent, less: false },
  peak_bytes: { name: 'memory of the fullest GPU', text: bytes, less: true },
  bubble_fraction: { name: 'bubble', text: percent, less: true },
  gpus: { name: 'GPUs', text: digits, less: true },
};

function figureOf(key: string): Figure {
  if (known[key]) return { key, ...known[key]!, ...ticked(known[key]!.text) };
  const ending = /_(s|bytes|fraction)$/.exec(key);
  const text = { s: seconds, bytes, fraction: percent }[ending?.[1] ?? ''] ?? digits;
  return { key, name: words(ending ? key.slice(0, ending.index) : key), text, ...ticked(text), less: ending !== null };
}

export const nameOfValue = (value: Value) =>
  value === null ? 'none' : typeof value === 'number' ? String(Number(value.toPrecision(6))) : String(value);

// "cluster.nodes" is "nodes", unless another axis ends so too.
export function shortNames(axes: string[]): Map<string, string> {
  const last = (name: string) => name.slice(name.lastIndexOf('.') + 1);
  return new Map(
    axes.map((name) => [
      name,
      axes.filter((other) => last(other) === last(name)).length > 1 ? name : words(last(name)),
    ]),
  );
}

export class Sweep {
  readonly points: Point[];
  readonly axes: { name: string; values: Value[] }[];
  readonly figures: Figure[];
  readonly short: Map<string, string>;

  constructor({ sweep }: SweepData) {
    this.points = rowsOf<Point>(sweep.points);
    const named = sweep.sweep.axes ?? [];
    this.axes =
      named.length > 0
        ? named
        : Object.keys(this.points[0]?.axes ?? {}).map((name) => ({
            name,
            values: [...new Set(this.points.map(({ axes }) => axes[name]!))],
          }));
    const ok = this.points.filter(({ status }) => status === 'ok');
    const numbers = (key: string) => ok.some((point) => typeof point[key] === 'number');
    const keys = [...Object.keys(known), ...Object.keys(this.points[0] ?? {}).filter((key) => !known[key])];
    this.figures = keys.filter(numbers).map(figureOf);
    this.short = shortNames(this.axes.map(({ name }) => name));
  }

  // `fixed`: what axes must be. The best by the figure of those that are fine, and of all others how many there are.
  best(points: Iterable<Point>, { key, less }: Figure): Point | null {
    let found: Point | null = null;
    for (const point of points) {
      const value = point[key];
      if (point.status !== 'ok' || typeof value !== 'number') continue;
      if (found === null || (less ? value < (found[key] as number) : value > (found[key] as number))) found = point;
    }
    return found;
  }

  // Points by the values of some axes, as indices into their values: "2,0".
  grouped(axes: number[], fixed: Map<string, Value>): Map<string, Point[]> {
    const index = axes.map((axis) => new Map(this.axes[axis]!.values.map((value, i) => [value, i])));
    const groups = new Map<string, Point[]>();
    for (const point of this.points) {
      if ([...fixed].some(([name, value]) => point.axes[name] !== value)) continue;
      const key = axes.map((axis, n) => index[n]!.get(point.axes[this.axes[axis]!.name]!) ?? -1).join();
      const group = groups.get(key);
      if (group) group.push(point);
      else groups.set(key, [point]);
    }
    return groups;
  }
}

export const statusWords: Record<string, string> = {
  ok: 'ok',
  'does-not-fit': 'does not fit',
  invalid: 'invalid',
  'no-plan': 'no plan',
};

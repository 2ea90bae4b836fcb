// SPDX-License-Identifier: Apache-2.0
// Axes of pictures: where a value stands, and where ticks do.
import { tickStep } from './chart';

export interface Axis {
  name: string;
  at: (value: number) => number; // 0 at its begin, 1 at its end
  ticks: number[];
  text: (value: number) => string;
}

interface Given {
  name: string;
  values: number[];
  text: (value: number) => string;
  most?: number;
}

// From below the least to above the greatest, or from zero.
export function linear({ name, values, text, most = 6, zero = false }: Given & { zero?: boolean }): Axis {
  const low = Math.min(...values),
    high = Math.max(...values),
    room = (high - low) * 0.06 || Math.abs(high) * 0.05 || 1;
  const from = zero ? Math.min(0, low) : low - room,
    to = high + room,
    step = tickStepOf(to - from, most),
    ticks: number[] = [];
  for (let n = Math.ceil(from / step); n * step <= to; ++n) ticks.push(n * step);
  return { name, text, ticks, at: (value) => (value - from) / (to - from) };
}

// Steps of 1, 2, 5 × 10^n of any size; those of a timeline are whole.
function tickStepOf(span: number, most: number): number {
  const unit = 10 ** Math.floor(Math.log10(span) - 6);
  return tickStep(span / unit, most) * unit;
}

// Of positive values; ticks at powers of ten, and at twice and five times these where there is room.
export function logarithmic({ name, values, text, most = 7 }: Given): Axis {
  const low = Math.log10(Math.min(...values)),
    high = Math.log10(Math.max(...values)),
    room = (high - low) * 0.05 || 0.1;
  const from = low - room,
    to = high + room;
  for (const mantissas of [[1, 2, 5], [1, 3], [1]]) {
    const ticks: number[] = [];
    for (let power = Math.floor(from); power <= to; ++power)
      for (const mantissa of mantissas) {
        const value = mantissa * 10 ** power,
          at = Math.log10(value);
        if (at >= from && at <= to) ticks.push(value);
      }
    if (ticks.length <= most || mantissas.length === 1) {
      const every = Math.ceil(ticks.length / most);
      return {
        name,
        text,
        ticks: ticks.filter((_, i) => i % every === 0),
        at: (value) => (Math.log10(value) - from) / (to - from),
      };
    }
  }
  throw new Error('no ticks');
}

// Names side by side.
export function ordinal(name: string, names: string[], most = 12): Axis {
  const every = Math.ceil(names.length / most);
  return {
    name,
    ticks: names.map((_, i) => i).filter((i) => i % every === 0),
    text: (i) => names[i]!,
    at: (i) => (i + 0.5) / names.length,
  };
}

// SPDX-License-Identifier: Apache-2.0
// Quantities as the terminal writes them: three significant digits and a fitting unit.

type Scale = readonly [name: string, size: number, from: number];

const sizes: Scale[] = [
  ['B', 1, 0],
  ['KiB', 2 ** 10, 2 ** 10],
  ['MiB', 2 ** 20, 2 ** 20],
  ['GiB', 2 ** 30, 2 ** 30],
  ['TiB', 2 ** 40, 2 ** 40],
  ['PiB', 2 ** 50, 2 ** 50],
];
const times: Scale[] = [
  ['ps', 1e-12, 0],
  ['ns', 1e-9, 1e-9],
  ['us', 1e-6, 1e-6],
  ['ms', 1e-3, 1e-3],
  ['s', 1, 1],
  ['min', 60, 200],
  ['h', 3600, 12000],
  ['days', 86400, 259200],
  ['years', 31536000, 63072000],
];
const decimal = (unit: string): Scale[] =>
  ['', 'k', 'M', 'G', 'T', 'P', 'E', 'Z'].map((prefix, i) => [prefix + unit, 1000 ** i, i === 0 ? 0 : 1000 ** i]);
const bandwidths = decimal('B/s');

const places = (size: number) => (size < 9.995 ? 2 : size < 99.95 ? 1 : 0);

// A bare number: "12.3", "1,024".
export function digits(value: number): string {
  const size = Math.abs(value);
  return size < 99.95 ? String(Number(value.toPrecision(3))) : Math.round(value).toLocaleString('en-US');
}

function brief(scales: Scale[], value: number): string {
  let scale = value === 0 ? scales.find(([, size]) => size === 1)! : scales[0]!;
  for (const larger of scales) if (value !== 0 && Math.abs(value) >= larger[2]) scale = larger;
  const number = value / scale[1];
  return `${value === 0 ? '0' : number.toFixed(places(Math.abs(number)))} ${scale[0]}`;
}

export const bytes = (value: number) => brief(sizes, value);
export const seconds = (value: number) => brief(times, value);
// On axes ticks are round numbers: of seconds, of GiB, or of what is written anyway.
export function ticked(text: (value: number) => string): { unit: number; tick: (value: number) => string } {
  if (text === seconds)
    return { unit: 1, tick: (value) => (value >= 99.95 ? `${digits(value)} s` : seconds(value).replace(/\.0+ /, ' ')) };
  if (text === bytes) return { unit: 2 ** 30, tick: (value) => `${digits(value)} GiB` };
  return { unit: 1, tick: text };
}
// Of a schedule whose times have no unit: how many picoseconds one of them is drawn as.
let bare = 0;
export function withoutUnit(picosecondsOfOne: number): void {
  bare = picosecondsOfOne;
}

export const picoseconds = (value: number) => (bare > 0 ? digits(value / bare) : brief(times, value / 1e12));
export const flops = (value: number) => brief(decimal('FLOP'), value);
export const flopsPerSecond = (value: number) => brief(decimal('FLOP/s'), value);
export const bandwidth = (value: number) => brief(bandwidths, value);
export const watts = (value: number) => brief(decimal('W'), value);
export const wattHours = (value: number) => brief(decimal('Wh'), value);
const sums: Scale[] = [
  ['', 1, 0],
  ['k ', 1e3, 1e3],
  ['M ', 1e6, 1e6],
  ['bn ', 1e9, 1e9],
];
// Amounts of a currency: "12.3 M USD".
export const money = (currency: string | undefined) => (value: number) =>
  (value < 0 ? '\u2212' : '') +
  brief(
    sums.map(([name, size, from]) => [name + (currency ?? ''), size, from] as const),
    Math.abs(value),
  ).trimEnd();
export const percent = (share: number) => `${(share * 100).toFixed(1)} %`;

// A difference, its sign always written; a true minus.
export function signed(text: (value: number) => string, value: number): string {
  return value < 0 ? `\u2212${text(-value)}` : `+${text(value)}`;
}

export function range(low: number, high: number): string {
  const [a, b] = [seconds(low), seconds(high)];
  const unit = b.slice(b.indexOf(' '));
  return `${a.endsWith(unit) ? a.slice(0, -unit.length) : a} to ${b}`;
}

// A time on an axis whose ticks are `step` apart, both in picoseconds.
export function tick(time: number, step: number): string {
  if (bare > 0) return String(Number((time / bare).toPrecision(9)));
  const size = Math.max(Math.abs(time), step);
  const [unit, scale] =
    size >= 1e12 ? ['s', 1e12] : size >= 1e9 ? ['ms', 1e9] : size >= 1e6 ? ['us', 1e6] : ['ns', 1e3];
  const after = Math.max(0, Math.ceil(-Math.log10(step / scale) - 1e-9));
  return `${(time / scale).toFixed(Math.min(after, 9))} ${unit}`;
}

// "1 set", "1,024 sets".
export const counted = (count: number, noun: string) => `${digits(count)} ${noun}${count === 1 ? '' : 's'}`;

export const words = (kind: string) => kind.replaceAll('_', ' ');

// SPDX-License-Identifier: Apache-2.0
// Values of scenarios as people read them.
import { bandwidth, bytes, flopsPerSecond, money, seconds, watts } from './units';

const units: Record<string, (value: number) => string> = {
  s: seconds,
  B: bytes,
  'B/s': bandwidth,
  'FLOP/s': flopsPerSecond,
  W: watts,
  USD: money('USD'),
};

export function quantity(value: unknown, unit?: string): string {
  if (value === null || value === undefined) return 'not set';
  if (typeof value === 'number')
    return unit && units[unit] ? units[unit](value) : value.toLocaleString('en-US', { maximumSignificantDigits: 6 });
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

// SPDX-License-Identifier: Apache-2.0
// What is said of an option of a purchase in more than one place.
import type { PurchaseData, PurchaseOption } from './data';
import { percent } from './units';

// A probability as the terminal writes it: none is quite certain.
export const chance = (probability: number) =>
  probability > 0.999 ? 'over 99.9 %' : probability < 0.001 ? 'under 0.1 %' : percent(probability);

// Where nothing may fail, a goodput of one is an assumption and no figure.
export const assumed = ({ workloads }: PurchaseOption) =>
  (workloads ?? []).every(({ goodput }) => !goodput || (goodput.mtbf_s === null && goodput.share === 1));

// Whether no forecast tells the option from the one that is named first.
export const isTied = ({ recommended }: PurchaseData['purchase'], name: string) =>
  recommended?.tie === true && (name === recommended.name || (recommended.ties ?? []).includes(name));

// Whether it may be bought, and why.
export const standing = (purchase: PurchaseData['purchase'], { name }: PurchaseOption) =>
  isTied(purchase, name)
    ? `a tie${name === purchase.recommended?.name ? ', by a hair' : ''}`
    : name === purchase.recommended?.name
      ? 'recommended'
      : purchase.pareto.includes(name)
        ? 'on the front'
        : 'yes';

// What an option falls short of, the worst first.
export function binding({ binding: name, shortfalls, no_plan }: PurchaseOption): string {
  if (no_plan) return `plan (${no_plan})`;
  if (shortfalls && shortfalls.length > 0)
    return shortfalls
      .map(({ what, excess }) => (excess > 0 && what !== 'plan' ? `${what} (${percent(excess)} over)` : what))
      .join(', ');
  return name ?? '';
}

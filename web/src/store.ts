// SPDX-License-Identifier: Apache-2.0
// What the reader looks at: shared by all timelines of the page, so that they move together.
import { useEffect, useState } from 'preact/hooks';
import type { Mode } from './palette';
import type { View } from './paint';

export type Selection = { run: number; slice: number } | { run: number; bubble: number };

export interface Look {
  view: View;
  whole: View;
  mode: Mode;
  dark: boolean;
  query: string;
  hiddenLanes: ReadonlySet<string>;
  fadedKinds: ReadonlySet<string>;
  path: boolean;
  tall: number; // rows, as a multiple of what fits
  selected: Selection | null;
}

export class Store<T extends object> {
  private readonly listeners = new Set<() => void>();
  constructor(public value: T) {}

  set(change: Partial<T>): void {
    this.value = { ...this.value, ...change };
    for (const listener of this.listeners) listener();
  }
  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

export function useStore<T extends object>(store: Store<T>): T {
  const [, turn] = useState(0);
  useEffect(() => store.subscribe(() => turn((n) => n + 1)), [store]);
  return store.value;
}

// `view` moved and scaled about `at` (0: its left end, 1: its right), inside `whole`.
export function zoomed({ view, whole }: Pick<Look, 'view' | 'whole'>, factor: number, at: number): View {
  const span = Math.min(whole.to - whole.from, Math.max(1000, (view.to - view.from) * factor));
  return inside(view.from + (view.to - view.from) * at - span * at, span, whole);
}

export function inside(from: number, span: number, whole: View): View {
  const start = Math.max(whole.from, Math.min(from, whole.to - span));
  return { from: start, to: start + span };
}

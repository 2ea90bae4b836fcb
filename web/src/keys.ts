// SPDX-License-Identifier: Apache-2.0
// Which keys do what: those that all pages share, and those of a timeline.

export type Keys = [keys: string[], what: string][];

export const pageKeys: Keys = [
  [['?'], 'this list'],
  [['/'], 'search'],
  [['Tab'], 'from one control to the next'],
  [['Enter'], 'press it; on the name of a column: sort by it'],
  [['Esc'], 'close, or pick nothing'],
];

export const timelineKeys: Keys = [
  [['Wheel'], 'scroll the page'],
  [['Ctrl', 'Wheel'], 'zoom where it points'],
  [['Shift', 'Wheel'], 'move through time; so does dragging'],
  [['W'], 'zoom in'],
  [['S'], 'zoom out'],
  [['A'], 'earlier; also \u2190'],
  [['D'], 'later; also \u2192'],
  [['0'], 'the whole step'],
  [['.'], 'next bar'],
  [[','], 'bar before'],
  [['\u2191'], 'lane above, in the timeline'],
  [['\u2193'], 'lane below, in the timeline'],
  [['b'], 'next bubble'],
  [['B'], 'bubble before'],
  [['Enter'], 'close in on what is picked; so does a double click'],
  [['c'], 'critical path'],
  [['['], 'lower lanes'],
  [[']'], 'taller lanes'],
];

// Whether what is typed there is text, or turns a control.
export const takesKeys = (target: EventTarget | null) =>
  target instanceof HTMLInputElement || target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement;

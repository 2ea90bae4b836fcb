// SPDX-License-Identifier: Apache-2.0
// Colours, told apart by all kinds of colour vision (after Paul Tol's schemes), for light and dark.

export type Mode = 'pass' | 'microbatch';

const kinds: Record<string, [light: string, dark: string]> = {
  forward: ['#2a72b5', '#4d97dc'],
  compute: ['#2a72b5', '#4d97dc'],
  backward: ['#e2802f', '#ee9348'],
  backward_input: ['#e2802f', '#ee9348'],
  backward_weight: ['#d6ac2b', '#e0bd50'],
  recompute: ['#57b8e0', '#7accf0'],
  optimizer: ['#12907f', '#34b3a1'],
  tensor_comm: ['#a3476f', '#cc7099'],
  context_comm: ['#8f5fa8', '#b386cb'],
  expert_comm: ['#c4626f', '#dd8390'],
  pipeline_comm: ['#7d8431', '#a9b058'],
  data_comm: ['#514a9d', '#8078cf'],
  offload: ['#8d6b4f', '#b58f70'],
  bubble: ['#c3c9d2', '#5b6472'],
  other: ['#7a7f87', '#949aa3'],
};

// Turns of hue that neighbours in time do not share.
const cycle: [light: string, dark: string][] = [
  ['#2a72b5', '#4d97dc'],
  ['#e2802f', '#ee9348'],
  ['#12907f', '#34b3a1'],
  ['#a3476f', '#cc7099'],
  ['#d6ac2b', '#e0bd50'],
  ['#514a9d', '#8078cf'],
  ['#57b8e0', '#7accf0'],
  ['#7d8431', '#a9b058'],
];

export const hues = cycle.length;

export const causes: Record<string, [light: string, dark: string]> = {
  'warm-up': ['#9db6d3', '#5d7da3'],
  drain: ['#c9a7d8', '#8a679c'],
  imbalance: ['#e6b873', '#a77f40'],
  communication: ['#b3b95f', '#7c823a'],
  host: ['#b0a08c', '#86765f'],
  straggler: ['#dd7b74', '#a8524c'],
};

export const memoryKinds: Record<string, [light: string, dark: string]> = {
  weights: ['#2a72b5', '#4d97dc'],
  gradients: ['#e2802f', '#ee9348'],
  optimizer: ['#12907f', '#34b3a1'],
  activations: ['#d6ac2b', '#e0bd50'],
  temporary: ['#a3476f', '#cc7099'],
  communication: ['#514a9d', '#8078cf'],
  framework: ['#7a7f87', '#949aa3'],
  cache: ['#c3c9d2', '#5b6472'],
};

export const colour = (pair: [string, string] | undefined, dark: boolean) => (pair ?? kinds.other!)[dark ? 1 : 0];
export const ofKind = (kind: string, dark: boolean) => colour(kinds[kind], dark);
export const ofMicrobatch = (microbatch: number, dark: boolean) =>
  microbatch < 0 ? ofKind('other', dark) : colour(cycle[microbatch % cycle.length], dark);

export interface Rgb {
  r: number;
  g: number;
  b: number;
}

export function rgb(hex: string): Rgb {
  const n = parseInt(hex.slice(1), 16);
  return { r: n >> 16, g: (n >> 8) & 255, b: n & 255 };
}

export const mixed = (a: Rgb, b: Rgb, share: number): Rgb => ({
  r: a.r + (b.r - a.r) * share,
  g: a.g + (b.g - a.g) * share,
  b: a.b + (b.b - a.b) * share,
});

// As a pixel of an ImageData on a little-endian machine.
export const pixel = ({ r, g, b }: Rgb) =>
  ((255 << 24) | (Math.round(b) << 16) | (Math.round(g) << 8) | Math.round(r)) >>> 0;

// Ink that can be read on a colour.
export const inkOn = ({ r, g, b }: Rgb) => (0.299 * r + 0.587 * g + 0.114 * b > 140 ? '#10141a' : '#ffffff');

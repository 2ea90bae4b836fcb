// SPDX-License-Identifier: Apache-2.0
// The memory of a stage by kind.
import type { StageMemory } from './data';

export const memoryKindsInOrder = [
  'weights',
  'gradients',
  'optimizer',
  'activations',
  'temporary',
  'communication',
  'framework',
  'cache',
] as const;
export type MemoryKind = (typeof memoryKindsInOrder)[number];
export const nameOfMemory = (kind: MemoryKind) =>
  kind === 'cache' ? 'cached by the allocator' : kind === 'optimizer' ? 'optimizer state' : kind;
export const memoryNames = memoryKindsInOrder.map((kind): [MemoryKind, string] => [kind, nameOfMemory(kind)]);

// At the peak; the cache is what the allocator holds beyond what is allocated.
export const atPeak = (stage: StageMemory): Record<MemoryKind, number> => {
  const known =
    stage.weights +
    stage.gradients +
    stage.optimizer +
    stage.activations +
    stage.temporary +
    stage.communication +
    stage.framework;
  return { ...stage, cache: Math.max(0, stage.peak - known) };
};

// SPDX-License-Identifier: Apache-2.0
// What the program gives the page: report/page.cpp. Names are those of the documents of --json.
import type { Column } from './columns';

export interface StageMemory {
  weights: number; gradients: number; optimizer: number; activations: number; temporary: number;
  communication: number; framework: number; peak: number; peak_allocated: number; peak_reserved: number;
}

export interface Link { name: string; kind: string; alike: number; utilisation: number }

export interface RunDocument {
  scenario: any;
  step: {
    time_s: number; time_low_s: number; time_high_s: number; tokens: number; tokens_per_s: number;
    tokens_per_s_per_gpu: number; tflops_per_gpu: number; mfu: number; hfu: number; microbatches: number;
  };
  time: Record<string, number>;
  pipeline: { bubble_fraction: number; stages: any[] };
  memory: {
    fits: boolean; host_fits: boolean; capacity_bytes: number; peak_bytes: number; peak_stage: number;
    host_bytes: number; host_capacity_bytes: number; nvme_bytes: number; nvme_capacity_bytes: number;
    stages: StageMemory[];
  };
  critical_path: { kind: string; seconds: number }[];
  network: { links: Link[]; slowed: { what: string; by: string; link: string; lost_s: number }[] };
  validated: { regime: string[]; rows: number; datasets: number; outside: string[] } | null;
}

// Per entry its bar + 1, less that of the entry before; 0: not drawn, the next of the others.
export interface PackedAwaited {
  slice: Column;
  sorts: [stage: number, rank: number, lane: string, name: string][];
  sort: Column; start: Column; duration: Column;
}

export interface PackedIdle {
  causes: string[];
  lane: Column; gap: Column; duration: Column; cause: Column; until: Column; links: Column;
  by_cause: Column[];
  chain: PackedAwaited;
}

export interface PackedTimeline {
  lanes: [stage: number, rank: number, name: string, slices: number][];
  sorts: [kind: string, before: string, after: string, chunk: number, bare: boolean][];
  sort: Column; microbatch: Column; gap: Column; duration: Column;
  from: Column; over: Column;
  bytes: Column;
  flops?: Column;
  idle: PackedIdle;
  path: { begin: number; spans: Column; steps: PackedAwaited };
  memory: { stage: number; time: Column; activations: Column; temporary: Column; peak: number; slice: number }[];
}

export interface FabricPlan {
  nodes: number; endpoints: number; switches: number; cables: number; bisection: number; hops: number;
  tiers: { name: string; switches: number; cables_down: number }[];
}

export interface Run {
  document: RunDocument;
  fabric: FabricPlan | null;  // of more than one node
  plan_words: string;
  warnings: string[];
  timeline: PackedTimeline;
}

export type Data =
  | { kind: 'simulate'; runs: Run[]; changes?: string[] };

export const data: Data = JSON.parse(document.getElementById('data')!.textContent!);

// SPDX-License-Identifier: Apache-2.0
// What the program gives the page: report/page/page.cpp. Names are those of the documents of --json.
import type { Table } from './columns';
import type { Transposed } from './transposed';

export interface StageMemory {
  weights: number;
  gradients: number;
  optimizer: number;
  activations: number;
  temporary: number;
  communication: number;
  framework: number;
  peak: number;
  peak_allocated: number;
  peak_reserved: number;
}

export interface Link {
  name: string;
  kind: string;
  alike: number;
  utilisation: number;
}

export interface Alert {
  figure: string;
  condition: string;
  state: 'raised' | 'quiet' | 'not_simulated';
  certain: boolean;
  words: string;
  meaning: string;
  reason: string | null;
}

interface ByEvidence {
  measured_s: number;
  interpolated_s: number;
  scaled_s: number;
  physics_s: number;
}

// Of the critical path; all sum to the step.
export interface Evidence extends ByEvidence {
  kinds: (ByEvidence & { kind: string })[];
  measurements: { kind: string; evidence: string; seconds: number; what: string; command: string | null }[];
}

// A whole training of so many tokens.
export interface WholeRun {
  tokens: number;
  days: number | null;
  days_low: number | null;
  days_high: number | null;
  gpu_hours: number | null;
  currency?: string;
  capital: number | null;
  capital_full: number | null;
}

export interface RunDocument {
  scenario: any;
  model?: { parameters: number; active_parameters: number };
  run?: WholeRun;
  step: {
    time_s: number;
    time_low_s: number;
    time_high_s: number;
    tokens: number;
    tokens_per_s: number;
    tokens_per_s_per_gpu: number;
    useful_tokens_per_s: number;
    tflops_per_gpu: number;
    mfu: number;
    hfu: number;
    microbatches: number;
  };
  time: Record<string, number>;
  pipeline: {
    bubble_fraction: number;
    stages: { stage: number; busy_s: number; bubble_s: number; bubble_by_cause: Record<string, number> | null }[];
  };
  memory: {
    fits: boolean;
    host_fits: boolean;
    capacity_bytes: number;
    peak_bytes: number;
    peak_stage: number;
    host_bytes: number;
    host_capacity_bytes: number;
    nvme_bytes: number;
    nvme_capacity_bytes: number;
    stages: StageMemory[];
  };
  critical_path: { kind: string; seconds: number }[];
  evidence?: Evidence;
  network: { links: Link[]; slowed: { what: string; by: string; link: string; lost_s: number }[] };
  validated: { regime: string[]; rows: number; datasets: number; outside: string[] } | null;
  alerts?: Alert[];
}

// Tables as report/page/page_parts.hpp and report/page/page_idle.cpp write them.
export interface PackedAwaited {
  entries: Table;
  sorts: [stage: number, rank: number, lane: string, name: string][];
  others: Table;
}

export interface PackedTimeline {
  lanes: [stage: number, rank: number, name: string, slices: number][];
  sorts: [
    kind: string,
    before: string,
    after: string,
    chunk: number,
    bare: boolean,
    bytes: number,
    flops: number,
    steps?: number,
  ][];
  slices: Table;
  arrows: Table;
  passes?: { names: [part: string, what: string][]; bodies: Table[] };
  idle: { causes: string[]; intervals: Table; by_cause: Table; chain: PackedAwaited };
  path: { begin: number; spans: Table; steps: PackedAwaited };
  links: { name: string; samples: Table }[];
  memory: { stage: number; samples: Table; peak: number; slice: number }[];
}

export interface FabricPlan {
  nodes: number;
  endpoints: number;
  switches: number;
  cables: number;
  bisection: number;
  hops: number;
  tiers: { name: string; switches: number; cables_down: number }[];
}

export interface Run {
  document: RunDocument;
  fabric: FabricPlan | null; // of more than one node
  plan_words: string;
  warnings: string[];
  remedies: Record<string, string>; // by cause of idle time
  command?: string[]; // that forecasts it, word by word
  timeline: PackedTimeline;
}

// A key whose value is one word or number.
export interface Key {
  path: string;
  type: 'whole' | 'choice' | 'yes_no' | 'text';
  what: string;
  choices: string[];
  least?: number;
  most?: number;
}

// What differs between two scenarios, and what each part of that does alone.
export interface Compared {
  changes: { path: string; from: unknown; to: unknown; unit?: string }[];
  effects: { of: string; step_time_s: number | null; peak_bytes: number | null; reason: string | null }[];
}

interface Ranked {
  plan: Record<string, unknown>;
  step_time_s: number;
  peak_bytes: number;
}

export interface ListedPlan extends Ranked {
  rank: number;
  time_low_s: number;
  time_high_s: number;
  mfu: number;
  recompute: { words: string };
}

export interface SearchDocument {
  plans: ListedPlan[]; // which the search found and proved
  // Plans of alike layers, as frameworks take them, with the step of finer plans of their degrees.
  configurable: (ListedPlan & { finer_step_time_s: number })[];
  pareto: Ranked[];
  space: {
    enumerated: number;
    pruned_by_memory: number;
    pruned_by_bound: number;
    evaluated: number;
    simulated: number;
  };
  proof: { optimal: boolean; lower_bound_s: number | null; gap: number | null };
  interrupted: boolean;
}

export interface ScheduleData {
  kind: 'schedule';
  name: string;
  schedule: {
    makespan: number;
    span: number;
    bubble_fraction: number;
    bubble_fraction_max_stage: number;
    stages: { work: number; idle: number; peak_in_flight: number }[];
  };
  unit: number; // picoseconds of one of the units that times were given in
  remedies: Record<string, string>; // by cause of idle time
  timeline: PackedTimeline;
}

// Fractions; of memory after `memory_`.
export interface Errors {
  mape: number | null;
  median: number | null;
  p90: number | null;
  worst: number | null;
  worst_id: string | null;
  memory_rows?: number;
  memory_mape: number | null;
  memory_p90: number | null;
  memory_worst: number | null;
}

export interface ValidationRow {
  id: string;
  status: 'ok' | 'unsupported';
  reason: string | null;
  measured_s: number | null;
  predicted_s: number | null;
  error: number | null;
  low_s: number | null;
  high_s: number | null;
  time_counts: boolean;
  device_fitted: boolean;
  measured_flops_per_gpu: number | null;
  predicted_flops_per_gpu: number | null;
  relative_error: number | null;
  measured_bytes: number | null;
  predicted_bytes: number | null;
  memory_error: number | null;
  memory_kind: string | null;
  groups: string[]; // one of each cause
  assumed: string[]; // what the source does not state
}

interface Outcome {
  forecast_fits: number;
  forecast_does_not_fit: number;
}

export interface ValidationData {
  kind: 'validate';
  validation: Errors & {
    datasets: (Errors & {
      name: string;
      added: string | null;
      rows: Transposed;
      coverage: number | null;
      coverage_left_out: number | null;
      devices_not_fitted: (Errors & { rows: number }) | null;
      relative: (Errors & { rows: number }) | null;
    })[];
    cohorts: (Errors & { added: string | null; datasets: number; rows: number; supported: number })[];
    devices_not_fitted: (Errors & { rows: number }) | null;
    coverage: number | null;
    coverage_left_out: number | null;
    outcomes: { ran: Outcome; out_of_memory: Outcome };
    passes: (Errors & { kind: string; rows: number })[];
    causes: Record<string, (Errors & { group: string; rows: number; datasets: number })[]>;
    rows: number;
    unsupported: number;
  };
}

export interface SweepData {
  kind: 'sweep';
  sweep: {
    sweep: { name?: string; mode?: string; axes?: { name: string; values: (string | number | boolean | null)[] }[] };
    points: Transposed;
  };
}

type Maybe = number | null | undefined;

interface PurchaseWorkload {
  name: string;
  plan: Record<string, unknown>;
  global_batch: number;
  step_time_s: number;
  mfu: number;
  days: number;
  goodput?: { share: number; mtbf_s?: number | null; stalls: number; lost_work: number; restarts: number };
  outside: string[];
}

export interface PurchaseOption {
  name: string;
  gpus: number;
  feasible: boolean;
  binding: string | null;
  shortfalls?: { what: string; excess: number }[];
  no_plan?: string | null; // why a workload's keys allow no plan
  plan: Record<string, unknown> | null;
  days: Maybe;
  days_low?: Maybe;
  days_high?: Maybe;
  days_until_done?: Maybe;
  total_cost: Maybe;
  total_cost_low?: Maybe;
  total_cost_high?: Maybe;
  energy_wh: Maybe;
  deadline_probability?: Maybe;
  workloads?: PurchaseWorkload[];
  what_if?: { what: string; days: number; total_cost: number }[];
  price_source?: string | null;
  price_estimated?: boolean;
  [figure: string]: unknown; // other costs, …_cost
}

export interface PurchaseData {
  kind: 'purchase';
  purchase: {
    name?: string;
    currency?: string;
    options: PurchaseOption[];
    pareto: string[];
    warnings?: string[];
    recommended: {
      name: string;
      reason: string;
      margin?: Maybe;
      second?: string | null;
      uncertainty?: Maybe;
      tie?: boolean;
      ties?: string[];
    } | null;
    sensitivity: { parameter: string; change: number; recommended: string | null; total_cost?: Maybe }[];
    what_if?: { option: string; change: string; days: number; total_cost: number }[];
  };
}

export type Data =
  | ScheduleData
  | ValidationData
  | SweepData
  | PurchaseData
  | { kind: 'simulate'; runs: Run[]; keys?: Key[]; compared?: Compared }
  // A run for each listed plan.
  | { kind: 'search'; runs: Run[]; keys?: Key[]; search: SearchDocument; why: { name: string; words: string }[] };

export const data: Data = JSON.parse(document.getElementById('data')!.textContent!);

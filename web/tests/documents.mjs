// SPDX-License-Identifier: Apache-2.0
// Sample answers of sweeps, purchases and validations, as their pages are given them.

export const transposed = (rows) => ({
  rows: rows.length,
  columns: Object.fromEntries(
    Object.keys(rows[0]).map((key) => {
      const values = rows.map((row) => row[key]);
      const objects = values.some((value) => value?.constructor === Object);
      return [key, objects ? transposed(values.map((value) => value ?? {})) : values];
    }),
  ),
});

const pipelines = [1, 2, 4, 8, 16],
  tensors = [1, 2, 4, 8],
  nodes = [16, 32, 64, 128, 256];

// A step is work over GPUs, longer by its bubble; what has few parts does not fit.
export function sweepPoints(values = { nodes, pipelines, tensors }) {
  const points = [];
  for (const node of values.nodes)
    for (const pipeline of values.pipelines)
      for (const tensor of values.tensors) {
        const gpus = 8 * node,
          replicas = gpus / pipeline / tensor,
          microbatches = 1536 / replicas;
        const axes = { 'cluster.nodes': node, 'plan.pipeline': pipeline, 'plan.tensor': tensor };
        const id = `${node}-${pipeline}-${tensor}`,
          none = {
            step_time_s: null,
            tokens_per_s: null,
            mfu: null,
            peak_bytes: null,
            gpus,
            bubble_fraction: null,
            plan: null,
          };
        if (microbatches < 1) {
          points.push({
            id,
            axes,
            status: 'invalid',
            reason: 'training.global_batch: 1536 sequences are too few for <b>so many</b> replicas',
            ...none,
          });
          continue;
        }
        const bubble = (pipeline - 1) / (microbatches + pipeline - 1),
          time = ((40 * 1024) / gpus / (1 - bubble)) * (1 + 0.04 * Math.log2(tensor));
        const bytes = 2 ** 30 * (10 + 640 / pipeline / tensor),
          fits = bytes < 75 * 2 ** 30;
        points.push({
          id,
          axes,
          status: fits ? 'ok' : 'does-not-fit',
          reason: fits ? null : 'stage 0 needs more memory',
          step_time_s: time,
          tokens_per_s: (1536 * 2048) / time,
          mfu: (0.5 * 40 * 1024) / gpus / time,
          peak_bytes: bytes,
          gpus,
          bubble_fraction: bubble,
          plan: { tensor, pipeline, schedule: '1f1b' },
        });
      }
  return points;
}

export const sweep = (points = sweepPoints()) => ({
  kind: 'sweep',
  sweep: {
    stepcast: '0.1.0',
    sweep: {
      name: 'GPT-3 <175B> over nodes',
      mode: 'simulate',
      axes: ['cluster.nodes', 'plan.pipeline', 'plan.tensor'].map((name) => ({
        name,
        values: [...new Set(points.map(({ axes }) => axes[name]))],
      })),
    },
    points: transposed(points),
  },
});

const option = (name, gpus, days, capital, energy, rent, more = {}) => ({
  name,
  gpus,
  nodes: gpus / 8,
  feasible: true,
  binding: null,
  shortfalls: [],
  plan: { tensor: 4, pipeline: 2, schedule: '1f1b' },
  step_time_s: 3.21,
  mfu: 0.412,
  goodput: 0.953,
  days,
  days_low: days * 0.9,
  days_high: days * 1.12,
  days_until_done: days + 90,
  capital,
  capital_full: capital * 8,
  energy_cost: energy,
  rent_cost: rent,
  support_cost: 1e5,
  staff_cost: 2e5,
  storage_cost: 0,
  total_cost: capital + energy + rent + 3e5,
  total_cost_low: (capital + energy + rent) * 0.9,
  total_cost_high: (capital + energy + rent) * 1.1,
  cost_per_trillion_tokens: (capital + energy + rent) / 15,
  power_w: gpus * 1275,
  energy_wh: gpus * 1275 * days * 24,
  racks: gpus / 32,
  deadline_probability: days < 150 ? 0.99 : 0.31,
  workloads: [
    {
      name: 'llama3-70b',
      weight: 1,
      plan: { tensor: 4 },
      global_batch: 2048,
      tokens: 15e12,
      step_time_s: 3.21,
      mfu: 0.412,
      days,
      goodput: { share: 0.953, stalls: 0.012, lost_work: 0.021, restarts: 0.014 },
      outside: ['more than 1,024 GPUs'],
    },
  ],
  what_if: [{ what: 'oversubscription 2:1', days: days * 1.04, total_cost: (capital + energy + rent) * 1.03 }],
  price_source: 'a dealer, 2024-03',
  price_estimated: true,
  ...more,
});

export const purchase = () => ({
  kind: 'purchase',
  purchase: {
    stepcast: '0.1.0',
    name: 'Llama-3 70B by autumn',
    currency: 'USD',
    options: [
      option('h100-2048', 2048, 71, 9.8e6, 0.42e6, 0),
      option('b200-1024', 1024, 66, 10.9e6, 0.36e6, 0),
      option('rented/128', 1024, 142, 0, 0, 8.7e6),
      option('rented/256', 2048, 72, 0, 0, 8.9e6),
      option('a100-1024 <kept>', 1024, 402, 2.1e6, 0.9e6, 0, {
        feasible: false,
        binding: 'deadline',
        shortfalls: [{ what: 'deadline', excess: 1.01 }],
      }),
      option('tiny', 8, null, null, null, null, {
        feasible: false,
        binding: 'plan',
        plan: null,
        workloads: [],
        what_if: [],
        days_low: null,
        days_high: null,
        total_cost: null,
        total_cost_low: null,
        total_cost_high: null,
        energy_wh: null,
        shortfalls: [{ what: 'plan', excess: 0 }],
      }),
    ],
    pareto: ['h100-2048', 'b200-1024', 'rented/256', 'rented/128'],
    recommended: {
      name: 'rented/128',
      reason:
        'rented/128 costs least: 9.00 M USD in 142 days. rented/256 costs 2.2 % more, which is inside what the forecasts may be off: a tie.',
      margin: 0.022,
      second: 'rented/256',
      uncertainty: 0.14,
      tie: true,
      ties: ['rented/256'],
    },
    sensitivity: ['price', 'efficiency', 'energy_price', 'failure_rate'].flatMap((parameter) =>
      [-0.2, 0.2].map((change) => ({
        parameter,
        change,
        recommended: parameter === 'price' && change < 0 ? 'h100-2048' : 'rented/128',
        total_cost: 9e6 + change * { price: 9e6, efficiency: -8e6, energy_price: 1e5, failure_rate: 0 }[parameter],
      })),
    ),
  },
});

// Runs of two papers, off by up to a fifth, one of them on a device that nothing is fitted to, and two that are not
// supported.
export function validation() {
  const rows = (set, count) =>
    Array.from({ length: count }, (_, i) => {
      const measured = (set === 'paper_a' ? 1 : 3) * (1 + i * 1.7),
        error = (((i * 7) % 40) - 19.5) / 100;
      return {
        id: `gpt-${i}`,
        status: 'ok',
        reason: null,
        measured_s: measured,
        predicted_s: measured * (1 + error),
        error,
        low_s: measured * 0.8,
        high_s: measured * 1.3,
        time_counts: true,
        device_fitted: set === 'paper_a' || i > 0,
        measured_flops_per_gpu: null,
        predicted_flops_per_gpu: null,
        relative_error: null,
        measured_bytes: 1e10 * (1 + i / 10),
        predicted_bytes: 1.05e10 * (1 + i / 10),
        memory_error: 0.05,
        memory_kind: 'allocated',
        out_of_memory: false,
        predicted_fits: true,
        passes: [],
        regime: ['a100'],
        groups: [
          set === 'paper_a' ? 'A100' : 'H100',
          'bf16',
          'tp+pp',
          '8-64',
          'dense',
          set === 'paper_a' ? 'Ampere dense' : 'Hopper dense',
        ],
        assumed: i % 3 === 0 ? ['vocabulary 50,257'] : [],
      };
    });
  const out = {
    ...rows('paper_b', 1)[0],
    id: 'moe',
    status: 'unsupported',
    reason: 'mixture of <experts>',
    predicted_s: null,
    error: null,
    low_s: null,
    high_s: null,
    predicted_bytes: null,
    memory_error: null,
    groups: ['', '', '', '', '', ''],
  };
  const errors = {
    mape: 0.123,
    median: -0.02,
    p90: 0.18,
    worst: 0.195,
    worst_id: 'gpt-39',
    memory_rows: 20,
    memory_mape: 0.05,
    memory_p90: 0.06,
    memory_worst: 0.07,
  };
  const set = (name, list, added, devices_not_fitted) => ({
    name,
    added,
    rows: transposed(list),
    ...errors,
    coverage: 0.8,
    coverage_left_out: 0.75,
    devices_not_fitted,
    relative: null,
  });
  const group = (name) => ({ group: name, rows: 20, datasets: 1, ...errors });
  return {
    kind: 'validate',
    validation: {
      datasets: [
        set('paper_a', rows('paper_a', 20), null, null),
        set('paper_b', [...rows('paper_b', 20), out, { ...out, id: 'moe2' }], '2026-11', { rows: 1, ...errors }),
      ],
      cohorts: [
        { added: null, datasets: 1, rows: 20, supported: 20, ...errors },
        { added: '2026-11', datasets: 1, rows: 22, supported: 20, ...errors },
      ],
      devices_not_fitted: { rows: 1, ...errors },
      ...errors,
      coverage: 0.8,
      coverage_left_out: 0.75,
      outcomes: {
        ran: { forecast_fits: 39, forecast_does_not_fit: 1 },
        out_of_memory: { forecast_fits: 0, forecast_does_not_fit: 2 },
      },
      passes: [{ kind: 'layer.forward', rows: 5, ...errors }],
      causes: {
        device: [group('A100'), group('H100')],
        precision: [group('bf16')],
        parallelism: [group('tp+pp')],
        scale: [group('8-64')],
        model: [group('dense')],
        regime: [group('Ampere dense'), group('Hopper dense')],
      },
      rows: 42,
      unsupported: 2,
    },
  };
}

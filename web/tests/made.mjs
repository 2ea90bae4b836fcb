// SPDX-License-Identifier: Apache-2.0
// Pages made here rather than by the program: of any size, and with names no scenario would have.
import { readFileSync } from 'node:fs';

function packed(values) {
  const bytes = [];
  for (let value of values) {
    value = value >= 0 ? value * 2 : -value * 2 - 1;
    for (; value >= 128; value = Math.floor(value / 128)) bytes.push(128 + (value % 128));
    bytes.push(value);
  }
  return Buffer.from(bytes).toString('base64').replace(/=+$/, '');
}

const table = (...columns) => ({ columns: columns.map(packed) });

const differences = (values) => values.map((value, i) => value - (i > 0 ? values[i - 1] : 0));

const awaited = (slices) => ({
  entries: table(
    differences(slices.map((slice) => slice + 1)),
    slices.map(() => 0),
  ),
  sorts: [],
  others: table([], [], []),
});

// 1F1B by its rules: a forward takes 1 ms, a backward 2 ms, messages nothing. Between two passes of
// a stage that are not back to back lies a bubble.
export function run({ stages, microbatches, name = 'made', streams = 1 }) {
  const ms = 1e9,
    done = new Map(),
    passes = Array.from({ length: stages }, () => []);
  const order = Array.from({ length: stages }, (_, s) => {
    const list = [],
      ahead = Math.min(stages - s, microbatches);
    for (let m = 0; m < ahead; ++m) list.push(['F', m]);
    for (let m = ahead; m < microbatches; ++m) list.push(['B', m - ahead], ['F', m]);
    for (let m = microbatches - ahead; m < microbatches; ++m) list.push(['B', m]);
    return list;
  });
  const at = new Array(stages).fill(0),
    free = new Array(stages).fill(0);
  for (let moved = true; moved;) {
    moved = false;
    for (let s = 0; s < stages; ++s)
      for (; at[s] < order[s].length; ++at[s]) {
        const [pass, m] = order[s][at[s]];
        const needs =
          pass === 'F'
            ? s > 0
              ? done.get(`F${s - 1},${m}`)
              : 0
            : s + 1 < stages
              ? done.get(`B${s + 1},${m}`)
              : done.get(`F${s},${m}`);
        if (needs === undefined) break;
        const start = Math.max(free[s], needs),
          end = start + (pass === 'F' ? 1 : 2) * ms;
        passes[s].push([pass === 'F' ? 0 : 1, m, start, end]);
        done.set(`${pass}${s},${m}`, end);
        free[s] = end;
        moved = true;
      }
  }
  const end = Math.max(...free),
    lanes = [],
    sort = [],
    microbatch = [],
    gap = [],
    duration = [];
  const idle = { lane: [], gap: [], duration: [], cause: [], until: [], links: [] },
    chain = [];
  for (let s = 0; s < stages; ++s)
    for (let stream = 0; stream < streams; ++stream) {
      lanes.push([s, s * 8, ['compute', 'tensor', 'data', 'context'][stream], passes[s].length]);
      let time = 0,
        last = 0,
        idled = 0;
      const bubble = (from, to, cause, until) => {
        if (stream > 0 || to <= from) return;
        idle.lane.push(lanes.length - 1);
        idle.gap.push(from - idled);
        idle.duration.push(to - from);
        idle.cause.push(cause);
        idle.until.push(until);
        idle.links.push(until > 0 ? 1 : 0);
        if (until > 0) chain.push(until - 1);
        idled = to;
      };
      for (const [pass, m, start, stop] of passes[s]) {
        bubble(time, start, time === 0 ? 0 : 1, sort.length + 1);
        sort.push(stream === 0 ? pass : 2);
        microbatch.push(m - last);
        gap.push(start - time);
        duration.push(stop - start);
        last = m;
        time = stop;
      }
      bubble(time, end, 1, 0);
    }
  const slices = sort.length,
    seconds = end / 1e12,
    GiB = 2 ** 30;
  const bubbles = free.map((_, s) => seconds - passes[s].reduce((sum, [, , from, to]) => sum + (to - from) / 1e12, 0));
  const stage = {
    weights: 4 * GiB,
    gradients: 8 * GiB,
    optimizer: 16 * GiB,
    activations: 4 * GiB,
    temporary: 2 * GiB,
    communication: 2 * GiB,
    framework: 2 * GiB,
    peak: 40 * GiB,
    peak_allocated: 34 * GiB,
    peak_reserved: 36 * GiB,
  };
  const document = {
    stepcast: '0.1.0',
    scenario: {
      name,
      model: { base: 'toy-1b', layers: stages },
      cluster: {
        node: {
          base: 'toy-node',
          gpus: 8,
          device: { base: 'toy-gpu' },
          nvlink: { kind: 'nvswitch', bandwidth: 300e9 },
          nics: { count: 8, bandwidth: 25e9 },
        },
        gpus: stages * 8,
        fabric: { base: 'toy-fabric' },
      },
      training: { sequence_length: 1000, global_batch: microbatches, precision: 'bf16' },
      plan: { pipeline: stages },
    },
    step: {
      time_s: seconds,
      time_low_s: seconds * 0.9,
      time_high_s: seconds * 1.15,
      tokens: 1e6,
      tokens_per_s: 1e6 / seconds,
      tokens_per_s_per_gpu: 1e6 / seconds / stages / 8,
      tflops_per_gpu: 123.456,
      mfu: 0.3954,
      hfu: 0.4123,
      microbatches,
    },
    time: { compute_s: seconds * 0.7, tensor_comm_s: seconds * 0.1, bubble_s: seconds * 0.2, other_s: 0 },
    pipeline: {
      bubble_fraction: bubbles[0] / seconds,
      stages: bubbles.map((bubble_s, i) => ({
        stage: i,
        busy_s: seconds - bubble_s,
        bubble_s,
        bubble_by_cause: { warm_up_s: bubble_s / 2, drain_s: bubble_s / 2 },
      })),
    },
    memory: {
      fits: true,
      host_fits: true,
      capacity_bytes: 80 * GiB,
      peak_bytes: 40 * GiB,
      peak_stage: 0,
      host_bytes: 0,
      host_capacity_bytes: 0,
      nvme_bytes: 0,
      nvme_capacity_bytes: 0,
      stages: bubbles.map(() => stage),
    },
    critical_path: [
      { kind: 'compute', seconds: seconds * 0.8 },
      { kind: 'bubble', seconds: seconds * 0.2 },
    ],
    evidence: {
      measured_s: 0,
      interpolated_s: seconds * 0.7,
      scaled_s: seconds * 0.1,
      physics_s: seconds * 0.2,
      kinds: [
        { kind: 'products', measured_s: 0, interpolated_s: seconds * 0.7, scaled_s: seconds * 0.1, physics_s: 0 },
        { kind: 'host', measured_s: 0, interpolated_s: 0, scaled_s: 0, physics_s: seconds * 0.2 },
      ],
      measurements: [
        {
          kind: 'products',
          evidence: 'scaled',
          seconds: seconds * 0.1,
          what: 'forward product, 8 x 16 x 32, in bf16',
          command: 'tools/measure_kernels.py --product forward,1,8,16,32',
        },
      ],
    },
    network: {
      links: [
        { name: 'nic0.0:out', kind: 'nic', alike: 8, utilisation: 0.6 },
        { name: 'gpu0.nvlink:in', kind: 'nvlink', alike: 16, utilisation: 0.1 },
      ],
      slowed: [],
    },
    validated: null,
  };
  return {
    document,
    plan_words: `pipeline ${stages} (1f1b)`,
    warnings: [],
    remedies: { 'warm-up': 'more microbatches', drain: 'more microbatches' },
    fabric: {
      nodes: stages,
      endpoints: stages * 8,
      switches: 12,
      cables: stages * 16,
      bisection: 1e11,
      hops: 3,
      tiers: [
        { name: 'leaf', switches: 8, cables_down: stages * 8 },
        { name: 'spine', switches: 4, cables_down: stages * 8 },
      ],
    },
    timeline: {
      lanes,
      sorts: [
        ['forward', 'forward', '', 0, false, 0, 2e11],
        ['backward', 'backward', '', 0, false, 0, 4e11],
        ['tensor_comm', 'reduce', '', -1, false, 1e6, 0],
      ],
      slices: table(sort, microbatch, gap, duration),
      arrows: table([], []),
      links: [{ name: 'nic0.0:out', samples: table([0, 1e9, 1e9], [5e5, 1e6, 0]) }],
      memory: [
        {
          stage: 0,
          samples: table(
            ...[
              [0, 1e9, 2e9],
              [0, 4 * GiB, GiB],
              [0, 2 * GiB, 0],
            ].map(differences),
          ),
          peak: 1,
          slice: 0,
        },
      ],
      idle: {
        causes: ['warm-up', 'drain'],
        intervals: table(
          differences(idle.lane),
          idle.gap,
          idle.duration,
          idle.cause,
          differences(idle.until),
          idle.links,
        ),
        by_cause: table(...[0, 1].map((cause) => idle.duration.map((time, i) => (idle.cause[i] === cause ? time : 0)))),
        chain: awaited(chain),
      },
      path: {
        begin: 0,
        spans: table(passes[0].map(([, , from, to]) => to - from)),
        steps: awaited(passes[0].map((_, i) => i)),
      },
    },
    slices,
  };
}

const template = readFileSync(new URL('../../report/page/template.html', import.meta.url), 'utf8');

export const page = (data) =>
  template.replace('@STEPCAST_DATA@', () => JSON.stringify(data).replaceAll('<', '\\u003c'));

// SPDX-License-Identifier: Apache-2.0
// Memory of one device over the step, by kind, and how full every stage gets.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { columnsOf, summed } from './columns';
import { atPeak, memoryKindsInOrder, nameOfMemory, type MemoryKind } from './memory';
import { colour, memoryKinds } from './palette';
import type { Run } from './run';
import { Key, Stack } from './Stack';
import type { Look, Store } from './store';
import { plotOver, stepped } from './plot';
import { bytes, percent, picoseconds } from './units';

const GiB = 2 ** 30;
const kinds = memoryKindsInOrder,
  nameOf = nameOfMemory;
type Kind = MemoryKind;

interface Samples {
  time: Float64Array;
  values: Record<Kind, Float64Array | number>;
  peakAt: number;
  slice: number;
}

// With one more at the end of the step, as the last one holds until then.
function held(samples: Float64Array, end = samples.at(-1) ?? 0): Float64Array {
  const longer = new Float64Array(samples.length + 1);
  longer.set(samples);
  longer[samples.length] = Math.max(end, samples.at(-1) ?? 0);
  return longer;
}

function samplesOf(run: Run, stage: number): Samples | null {
  const packed = run.given.timeline.memory.find((one) => one.stage === stage);
  const fixed = run.document.memory.stages[stage];
  if (!packed || !fixed) return null;
  const { weights, gradients, optimizer, communication, framework } = fixed;
  const [time, activations, temporary] = columnsOf(packed.samples).map(summed) as [
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  return {
    time: held(time, run.timeline.end),
    peakAt: packed.peak,
    slice: packed.slice,
    values: {
      weights,
      gradients,
      optimizer,
      communication,
      framework,
      cache: atPeak(fixed).cache,
      activations: held(activations),
      temporary: held(temporary),
    },
  };
}

const valueAt = (values: Float64Array | number, i: number) => (typeof values === 'number' ? values : values[i]!);

// Cumulative, the whole first, so that each fill covers the upper part of the one before.
function stacked({ time, values }: Samples, top: number): uPlot.AlignedData {
  const sums = new Float64Array(time.length),
    columns: Float64Array[] = [];
  for (const kind of kinds) {
    for (let i = 0; i < sums.length; ++i) sums[i] += valueAt(values[kind], i) / GiB;
    columns.push(sums.slice());
  }
  return [time, ...columns.reverse(), new Float64Array(time.length).fill(top / GiB)] as unknown as uPlot.AlignedData;
}

interface PlotProps {
  run: Run;
  stage: number;
  most: number;
  dark: boolean;
  store: Store<Look>;
  label: string;
}

function Plot({ run, stage, most, dark, store, label }: PlotProps) {
  const host = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState<number | null>(null);
  const samples = useMemo(() => samplesOf(run, stage), [run, stage]);
  const capacity = run.document.memory.capacity_bytes;
  useEffect(() => {
    if (!samples) return;
    return plotOver(host.current!, store, {
      height: 260,
      most: (most / GiB) * 1.06,
      label: (value) => `${value} GiB`,
      series: [
        ...[...kinds]
          .reverse()
          .map((kind): uPlot.Series => ({
            paths: stepped,
            width: 0,
            points: { show: false },
            fill: colour(memoryKinds[kind], dark),
          })),
        {
          stroke: getComputedStyle(host.current!).getPropertyValue('--bad'),
          width: 1.5,
          dash: [6, 4],
          points: { show: false },
        },
      ],
      data: () => stacked(samples, capacity),
      onCursor: setAt,
    });
  }, [samples, most, dark]);
  if (!samples) return <p class="soft">No samples of this stage.</p>;
  const sample = at ?? samples.peakAt;
  const total = kinds.reduce((sum, kind) => sum + valueAt(samples.values[kind], sample), 0);
  return (
    <figure class="plot">
      <div ref={host} class="plot-host" role="img" aria-label={label} />
      <figcaption class="soft small">
        {`${at === null ? 'At the peak' : 'At'} ${picoseconds(samples.time[sample]!)}: `}
        {`${bytes(total)} of ${bytes(capacity)} (dashed): `}
        {kinds
          .filter((kind) => valueAt(samples.values[kind], sample) > 0)
          .map((kind) => `${nameOf(kind)} ${bytes(valueAt(samples.values[kind], sample))}`)
          .join(', ')}
        .
      </figcaption>
    </figure>
  );
}

function Peak({ run, stage }: { run: Run; stage: number }) {
  const { memory } = run.document,
    held = memory.stages[stage];
  if (!held) return null;
  const samples = samplesOf(run, stage),
    { timeline } = run;
  const during = samples && samples.slice >= 0 ? timeline.name(samples.slice) : '';
  const largest = [...kinds]
    .map((kind) => [kind, atPeak(held)[kind]] as const)
    .filter(([, value]) => value > 0)
    .sort((a, b) => b[1] - a[1]);
  return (
    <p>
      Stage {stage} peaks at <b>{bytes(held.peak)}</b>, {percent(held.peak / memory.capacity_bytes)} of{' '}
      {bytes(memory.capacity_bytes)}
      {samples && `, at ${picoseconds(samples.time[samples.peakAt]!)}${during ? ` in ${during}` : ''}`}:{' '}
      {largest.map(([kind, value]) => `${nameOf(kind)} ${bytes(value)} (${percent(value / held.peak)})`).join(', ')}.
    </p>
  );
}

export function MemoryView({
  runs,
  names,
  store,
  dark,
}: {
  runs: Run[];
  names: string[];
  store: Store<Look>;
  dark: boolean;
}) {
  const [stage, setStage] = useState(runs[0]!.document.memory.peak_stage);
  const stages = Math.max(...runs.map(({ document }) => document.memory.stages.length));
  const most = Math.max(...runs.map(({ document: { memory } }) => Math.max(memory.capacity_bytes, memory.peak_bytes)));
  const colours = kinds.map((kind) => ({ name: nameOf(kind), colour: colour(memoryKinds[kind], dark) }));
  return (
    <>
      <div class="title-row">
        <h2 id="memory-title">Memory of one GPU</h2>
        <div class="tools">
          <label class="soft">
            stage{' '}
            <select value={stage} onChange={(event) => setStage(Number(event.currentTarget.value))}>
              {Array.from({ length: stages }, (_, i) => (
                <option value={i}>
                  {i}
                  {i === runs[0]!.document.memory.peak_stage ? ' (fullest)' : ''}
                </option>
              ))}
            </select>
          </label>
        </div>
      </div>
      {runs.map((run, i) => (
        <>
          {runs.length > 1 && <h3>{names[i]}</h3>}
          <Peak run={run} stage={stage} />
          <Plot
            run={run}
            stage={stage}
            most={most}
            dark={dark}
            store={store}
            label={`Memory of stage ${stage} of ${names[i]} over time, by kind`}
          />
        </>
      ))}
      <h3>Every stage at its peak</h3>
      <Key parts={colours} />
      {runs.map((run, i) => (
        <>
          {runs.length > 1 && <h4>{names[i]}</h4>}
          <Stack
            total={most}
            text={bytes}
            label={`Memory of every stage of ${names[i]}`}
            rows={run.document.memory.stages.map((held, number) => ({
              name: `stage ${number}`,
              parts: kinds.map((kind) => ({
                name: nameOf(kind),
                value: atPeak(held)[kind],
                colour: colour(memoryKinds[kind], dark),
              })),
              note: `${bytes(held.peak)}, ${percent(held.peak / run.document.memory.capacity_bytes)}`,
              mark: run.document.memory.capacity_bytes,
            }))}
          />
          <Outside run={run} />
        </>
      ))}
    </>
  );
}

// What a node keeps off its devices.
function Outside({
  run: {
    document: { memory },
  },
}: {
  run: Run;
}) {
  const tiers: [string, number, number][] = [
    ['Host memory', memory.host_bytes, memory.host_capacity_bytes],
    ['NVMe', memory.nvme_bytes, memory.nvme_capacity_bytes],
  ];
  return (
    <>
      {tiers
        .filter(([, held]) => held > 0)
        .map(([name, held, capacity]) => (
          <p class={held > capacity ? 'bad' : ''}>
            {name} per node: {bytes(held)} of {bytes(capacity)}
            {held > capacity && ': DOES NOT FIT'}
          </p>
        ))}
    </>
  );
}

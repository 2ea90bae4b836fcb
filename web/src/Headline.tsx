// SPDX-License-Identifier: Apache-2.0
// The answer in a few figures.
import type { ComponentChildren } from 'preact';
import { Alerts } from './Alerts';
import type { RunDocument } from './data';
import type { Run } from './run';
import { bytes, digits, money, percent, range, seconds, signed } from './units';

// GPU-hours that a billion tokens take.
export const gpuHours = ({ step, scenario }: RunDocument) =>
  (1e9 / step.useful_tokens_per_s / 3600) * scenario.cluster.gpus;

const baseName = (of: any): string => of?.name ?? of?.base ?? '';

const billions = (count: number) => `${digits(count / 1e9)} billion`;

export function setting({ scenario, model: counted }: RunDocument): string {
  const { cluster, model, training } = scenario;
  const node = baseName(cluster.node),
    fabric = baseName(cluster.fabric);
  const size = counted
    ? ` (${billions(counted.parameters)} parameters` +
      (counted.active_parameters < counted.parameters ? `, ${billions(counted.active_parameters)} active)` : ')')
    : '';
  return (
    `${baseName(model) || 'model'}${size} on ${digits(cluster.gpus)} GPUs (${node}${fabric ? `, ${fabric}` : ''}), ` +
    `sequence ${digits(training.sequence_length)}, batch ${digits(training.global_batch)}, ${training.precision}`
  );
}

interface Figure {
  name: string;
  value: (document: RunDocument) => number;
  text: (value: number) => string;
  unit?: string;
  note?: (document: RunDocument) => ComponentChildren;
  bad?: (document: RunDocument) => boolean;
  only?: (document: RunDocument) => boolean; // where it is known
  difference?: 'share' | 'points' | 'none';
}

const figures: Figure[] = [
  {
    name: 'Step time',
    value: ({ step }) => step.time_s,
    text: seconds,
    note: ({ step }) => (step.time_low_s < step.time_high_s ? `80 %: ${range(step.time_low_s, step.time_high_s)}` : ''),
  },
  {
    name: 'Throughput',
    value: ({ step }) => step.tokens_per_s,
    text: digits,
    unit: 'tokens/s',
    note: ({ step }) =>
      (step.useful_tokens_per_s < step.tokens_per_s ? `${digits(step.useful_tokens_per_s)} useful; ` : '') +
      `${digits(step.tokens_per_s_per_gpu)} per GPU`,
  },
  {
    name: 'MFU',
    value: ({ step }) => step.mfu,
    text: percent,
    difference: 'points',
    note: ({ step }) => `HFU ${percent(step.hfu)}, ${digits(step.tflops_per_gpu)} TFLOP/s per GPU`,
  },
  {
    name: 'Bubble',
    value: ({ pipeline }) => pipeline.bubble_fraction,
    text: percent,
    difference: 'points',
    note: ({ step }) => `${digits(step.microbatches)} microbatches`,
  },
  {
    name: 'Memory',
    value: ({ memory }) => memory.peak_bytes,
    text: bytes,
    bad: ({ memory }) => !memory.fits || !memory.host_fits,
    note: ({ memory }) =>
      memory.fits
        ? (memory.host_fits ? 'fits: ' : 'host memory does not fit; ') +
          `${percent(memory.peak_bytes / memory.capacity_bytes)} of ${bytes(memory.capacity_bytes)}`
        : `DOES NOT FIT in ${bytes(memory.capacity_bytes)}`,
  },
  {
    name: 'Whole training',
    value: ({ run }) => run?.days ?? 0,
    text: digits,
    unit: 'days',
    only: ({ run }) => run?.days != null,
    note: ({ run }) =>
      run &&
      `${digits(run.tokens / 1e9)} billion tokens; ` +
        (run.days_low != null && run.days_high != null
          ? `80 %: ${digits(run.days_low)} to ${digits(run.days_high)} days; `
          : '') +
        (run.gpu_hours != null ? `${digits(run.gpu_hours)} GPU-hours` : '') +
        (run.capital != null ? `; ${money(run.currency)(run.capital)} of the hardware` : ''),
  },
  {
    name: 'Cost',
    value: gpuHours,
    text: digits,
    unit: 'GPU-hours',
    note: ({ step }) =>
      `per billion ${step.useful_tokens_per_s < step.tokens_per_s ? 'useful ' : ''}tokens; ` +
      `${digits((step.useful_tokens_per_s * 86400) / 1e9)} billion a day`,
  },
];

function difference({ value, text, difference: kind }: Figure, a: RunDocument, b: RunDocument): string {
  const change = value(b) - value(a);
  if (kind === 'points') return `${change < 0 ? '\u2212' : '+'}${(Math.abs(change) * 100).toFixed(1)} points`;
  return value(a) > 0 ? `${signed(text, change)} (${signed(percent, change / value(a))})` : '';
}

export function Headline({ runs, letters }: { runs: Run[]; letters: string }) {
  const several = runs.length > 1;
  return (
    <>
      {runs.map((run, i) => (
        <p class="setting">
          {several && <b>{letters[i]} </b>}
          {setting(run.document)}
          <br />
          <span class="soft">{run.given.plan_words}</span>
        </p>
      ))}
      <dl class="figures">
        {figures
          .filter(({ only }) => !only || runs.every(({ document }) => only(document)))
          .map((figure) => (
            <div class="figure">
              <dt>{figure.name}</dt>
              {runs.map(({ document }, i) => (
                <dd class={figure.bad?.(document) ? 'bad' : ''}>
                  <span class="value">
                    {several && <small>{letters[i]} </small>}
                    {figure.text(figure.value(document))}
                    {figure.unit && <small> {figure.unit}</small>}
                  </span>
                  <span class="note">{figure.note?.(document)}</span>
                  {i > 0 && <span class="change">{difference(figure, runs[0]!.document, document)}</span>}
                </dd>
              ))}
            </div>
          ))}
      </dl>
      <Alerts runs={runs} letters={letters} />
      {runs.map(
        ({ document: { validated } }, i) =>
          validated && (
            <p class="soft small">
              {several && `${letters[i]}: `}Held against {validated.rows} measured runs from {validated.datasets} data
              set{validated.datasets === 1 ? '' : 's'} of {validated.regime.join(', ')}
              {validated.outside.length > 0 && `; outside: ${validated.outside.join('; ')}`}
            </p>
          ),
      )}
      {runs.some(({ given }) => given.warnings.length > 0) && (
        <ul class="warnings" aria-label="Warnings">
          {runs.flatMap(({ given }, i) =>
            given.warnings.map((warning) => (
              <li>
                {several && `${letters[i]}: `}
                {warning}
              </li>
            )),
          )}
        </ul>
      )}
    </>
  );
}

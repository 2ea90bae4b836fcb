// SPDX-License-Identifier: Apache-2.0
// Mean absolute errors: of data sets, of groups by cause, and of sets that joined together.
import { useMemo } from 'preact/hooks';
import { DataTable, type Column } from './DataTable';
import type { Errors, ValidationData, ValidationRow } from './data';
import { rowsOf } from './transposed';
import { counted, digits, percent, signed } from './units';

export const share = (value: number | null | undefined) => (value == null ? '' : percent(value));
export const signedShare = (value: number | null | undefined) => (value == null ? '' : signed(percent, value));

interface Bar {
  name: string;
  mape: number | null;
  note: string;
  onPick?: () => void;
  picked?: boolean;
}

// A long name may be broken behind its underscores.
const broken = (name: string) =>
  name.split('_').map((part, i) =>
    i > 0 ? (
      <>
        _<wbr />
        {part}
      </>
    ) : (
      part
    ),
  );

// Mean absolute errors as bars.
export function Bars({ bars, label, short }: { bars: Bar[]; label: string; short?: boolean }) {
  const shown = bars.filter(({ mape }) => mape !== null),
    most = Math.max(...shown.map(({ mape }) => mape!), 0.01);
  return (
    <div class={short ? 'bars short' : 'bars'} role="region" tabIndex={0} aria-label={`${label}, bars`}>
      {shown.map(({ name, mape, note, onPick, picked }) => (
        <div class={picked ? 'bar-row picked' : 'bar-row'}>
          <span>
            {onPick ? (
              <button type="button" class="link" aria-pressed={picked} onClick={onPick}>
                {broken(name)}
              </button>
            ) : (
              name
            )}
          </span>
          <span class="meter">
            <i style={{ width: `${(mape! / most) * 100}%`, background: 'var(--load2)' }} />
          </span>
          <b>{share(mape)}</b>
          <span class="soft">{note}</span>
        </div>
      ))}
    </div>
  );
}

// Every data set, the furthest off first.
export function SetBars({
  validation,
  set,
  onSet,
}: {
  validation: ValidationData['validation'];
  set: string;
  onSet: (set: string) => void;
}) {
  const bars = validation.datasets.filter(({ mape }) => mape !== null).sort((a, b) => b.mape! - a.mape!);
  const without = validation.datasets.filter(({ mape }) => mape === null);
  return (
    <>
      <Bars
        label="Error of each data set"
        bars={bars.map(({ name, mape, median, rows }) => ({
          name,
          mape,
          note: `median ${signedShare(median)}, ${counted(rows.rows, 'row')}`,
          picked: set === name,
          onPick: () => onSet(set === name ? '' : name),
        }))}
      />
      {without.length > 0 && (
        <p class="soft small">Without a step time that counts: {without.map(({ name }) => name).join(', ')}.</p>
      )}
    </>
  );
}

// Mean absolute error of each group as a bar, over the whole of the data.
export function CauseBars({
  cause,
  groups,
}: {
  cause: string;
  groups: ({ group: string; rows: number; datasets: number } & Errors)[];
}) {
  const shown = groups.filter(({ mape }) => mape !== null);
  const most = Math.max(...shown.map(({ mape }) => mape!), 0.01);
  const columns: Column<(typeof groups)[number]>[] = [
    { name: cause, text: ({ group }) => group, value: ({ group }) => group, words: true },
    { name: 'mean abs', text: ({ mape }) => share(mape), value: ({ mape }) => mape },
    {
      name: '',
      text: ({ mape }) => (
        <span class="meter wide">
          <i style={{ width: `${((mape ?? 0) / most) * 100}%`, background: 'var(--load2)' }} />
        </span>
      ),
      words: true,
    },
    { name: 'median', text: ({ median }) => signedShare(median), value: ({ median }) => median },
    { name: 'p90', text: ({ p90 }) => share(p90), value: ({ p90 }) => p90 },
    { name: 'worst', text: ({ worst }) => share(worst), value: ({ worst }) => worst },
    { name: 'rows', text: ({ rows }) => digits(rows), value: ({ rows }) => rows },
    { name: 'data sets', text: ({ datasets }) => digits(datasets), value: ({ datasets }) => datasets },
    {
      name: 'memory rows',
      text: ({ memory_rows }) => (memory_rows ? digits(memory_rows) : ''),
      value: ({ memory_rows }) => memory_rows ?? 0,
    },
    { name: 'mean abs', text: ({ memory_mape }) => share(memory_mape), value: ({ memory_mape }) => memory_mape },
  ];
  return (
    <DataTable
      key={cause}
      label={`Error by ${cause}`}
      columns={columns}
      rows={groups}
      sorted={{ column: 0, down: false }}
    />
  );
}

export function Sets({ validation }: { validation: ValidationData['validation'] }) {
  type Set = (typeof validation.datasets)[number];
  const supported = useMemo(
    () =>
      new Map(
        validation.datasets.map((set) => [
          set.name,
          rowsOf<ValidationRow>(set.rows).filter(({ status }) => status === 'ok').length,
        ]),
      ),
    [validation],
  );
  const of = (name: string, value: (set: Set) => number | null, text: (value: number) => string): Column<Set> => ({
    name,
    value,
    text: (set) => {
      const shown = value(set);
      return shown === null ? '' : text(shown);
    },
  });
  return (
    <DataTable
      label="Errors by data set"
      rows={validation.datasets}
      size={200}
      columns={[
        { name: 'data set', text: ({ name }) => name, value: ({ name }) => name, words: true },
        { name: 'added', text: ({ added }) => added ?? 'first', value: ({ added }) => added ?? '', words: true },
        {
          name: 'rows run',
          text: (set) => `${supported.get(set.name)} of ${set.rows.rows}`,
          value: (set) => set.rows.rows,
        },
        of('mean abs', ({ mape }) => mape, percent),
        of(
          'median',
          ({ median }) => median,
          (value) => signed(percent, value),
        ),
        of('p90', ({ p90 }) => p90, percent),
        of('worst', ({ worst }) => worst, percent),
        of('in 80 %', ({ coverage }) => coverage, percent),
        of('left out', ({ coverage_left_out }) => coverage_left_out, percent),
        of('memory', ({ memory_mape }) => memory_mape, percent),
        of('worst', ({ memory_worst }) => memory_worst, percent),
        { name: 'worst row', text: ({ worst_id }) => worst_id ?? '', words: true },
      ]}
    />
  );
}

// Data sets that joined at the same time: the mean of each such group.
export function Cohorts({ cohorts }: { cohorts: ValidationData['validation']['cohorts'] }) {
  return (
    <DataTable
      label="Errors by time of joining"
      rows={cohorts}
      columns={[
        { name: 'joined', text: ({ added }) => added ?? 'first', words: true },
        { name: 'data sets', text: ({ datasets }) => digits(datasets) },
        { name: 'rows run', text: ({ supported, rows }) => `${digits(supported)} of ${digits(rows)}` },
        { name: 'mean abs', text: ({ mape }) => share(mape) },
        { name: 'median', text: ({ median }) => signedShare(median) },
        { name: 'p90', text: ({ p90 }) => share(p90) },
        { name: 'worst', text: ({ worst }) => share(worst) },
        { name: 'memory', text: ({ memory_mape }) => share(memory_mape) },
      ]}
    />
  );
}

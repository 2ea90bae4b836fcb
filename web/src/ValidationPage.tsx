// SPDX-License-Identifier: Apache-2.0
// Forecasts beside measurements: every row as a dot, errors by cause and by data set.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { logarithmic, type Axis } from './axes';
import { Choice, DataTable, Figures, matches, Search, type Column } from './DataTable';
import type { ValidationData, ValidationRow } from './data';
import { Mark } from './Mark';
import { Plot } from './Plot';
import { rowsOf } from './transposed';
import { bytes, counted, digits, seconds, ticked } from './units';
import { Bars, CauseBars, Cohorts, SetBars, Sets, share, signedShare } from './ValidationErrors';

export type Row = ValidationRow & { set: string };

export function validationRows({ validation }: ValidationData): Row[] {
  return validation.datasets.flatMap(({ name, rows }) =>
    rowsOf<ValidationRow>(rows).map((row) => ({ ...row, set: name })),
  );
}

const counts = (row: Row) => row.status === 'ok' && row.time_counts && row.device_fitted && row.error !== null;

type Shown = {
  what: string;
  measured: (row: Row) => number | null;
  predicted: (row: Row) => number | null;
  error: (row: Row) => number | null;
  text: (value: number) => string;
};
const times: Shown = {
  what: 'step time',
  measured: (row) => (row.time_counts && row.device_fitted ? row.measured_s : null),
  predicted: (row) => row.predicted_s,
  error: (row) => row.error,
  text: seconds,
};
const memory: Shown = {
  what: 'memory of the fullest GPU',
  measured: (row) => (row.device_fitted ? row.measured_bytes : null),
  predicted: (row) => row.predicted_bytes,
  error: (row) => row.memory_error,
  text: bytes,
};

interface ScatterProps {
  rows: Row[];
  all: Row[];
  of: Shown;
  groupOf: (row: Row) => string;
  groups: string[];
  dark: boolean;
  picked: Row | null;
  onPick: (row: Row) => void;
}

// Predicted over measured, and the band of a tenth about what is right.
function Scatter({ rows, all, of, groupOf, groups, dark, picked, onPick }: ScatterProps) {
  const drawn = (list: Row[]) =>
    list.filter((row) => row.status === 'ok' && (of.measured(row) ?? 0) > 0 && (of.predicted(row) ?? 0) > 0);
  const { unit, tick } = ticked(of.text);
  const values = drawn(all).flatMap((row) => [of.measured(row)! / unit, of.predicted(row)! / unit]);
  if (values.length === 0) return null;
  const axis = (name: string): Axis => logarithmic({ name, values, text: tick });
  const x = axis(`measured ${of.what}`),
    y = axis('predicted'),
    low = Math.min(...values) / 2,
    high = Math.max(...values) * 2;
  const shown = drawn(rows);
  return (
    <figure class="scatter">
      <figcaption>
        {of.what}: {digits(shown.length)} runs
      </figcaption>
      <Plot
        x={x}
        y={y}
        most={620}
        shape={1.08}
        label={`Predicted against measured ${of.what} of ${shown.length} runs; the band is a tenth to both sides`}
      >
        {(at) => (
          <>
            <clipPath id={`clip-${of.what[0]}`}>
              <rect x={at.left} y={at.top} width={at.right - at.left} height={at.bottom - at.top} />
            </clipPath>
            <g clip-path={`url(#clip-${of.what[0]})`}>
              <path
                class="band"
                d={
                  `M${at.x(low)} ${at.y(low * 1.1)}L${at.x(high)} ${at.y(high * 1.1)}` +
                  `L${at.x(high)} ${at.y(high * 0.9)}L${at.x(low)} ${at.y(low * 0.9)}Z`
                }
              />
              <path class="diagonal" d={`M${at.x(low)} ${at.y(low)}L${at.x(high)} ${at.y(high)}`} />
              {shown.map((row) => (
                <Mark
                  class={row === picked ? 'dot-mark picked' : 'dot-mark'}
                  x={at.x(of.measured(row)! / unit)}
                  y={at.y(of.predicted(row)! / unit)}
                  size={row === picked ? 6 : 3.5}
                  group={groups.indexOf(groupOf(row))}
                  dark={dark}
                  onClick={() => onPick(row)}
                >
                  <title>
                    {`${row.set}: ${row.id}: measured ${of.text(of.measured(row)!)}, ` +
                      `predicted ${of.text(of.predicted(row)!)}, ${signedShare(of.error(row))}`}
                  </title>
                </Mark>
              ))}
            </g>
          </>
        )}
      </Plot>
    </figure>
  );
}

// Whether its time says something about the forecast; golden values of tiny models do not.
const isJudged = (row: Row) => row.status !== 'ok' || (row.time_counts && row.device_fitted);

// What is in no total: rows on devices known by data sheets alone, and rates that are compared within a data set.
function Apart({ validation }: { validation: ValidationData['validation'] }) {
  const list = validation.datasets.flatMap(({ name, devices_not_fitted: off, relative }) => [
    ...(off ? [{ name, what: 'device not fitted', ...off }] : []),
    ...(relative ? [{ name, what: 'rates compared', ...relative }] : []),
  ]);
  if (list.length === 0) return null;
  return (
    <>
      <h3>Shown apart</h3>
      <p class="soft small">
        Rows on devices that nothing is fitted to, and rates by a source's own count against the median of their data
        set; no total knows them.
      </p>
      <DataTable
        label="Shown apart"
        rows={list}
        columns={[
          { name: 'data set', text: ({ name }) => name, words: true },
          { name: 'why', text: ({ what }) => what, words: true },
          { name: 'rows', text: ({ rows }) => digits(rows) },
          { name: 'mean abs', text: ({ mape }) => share(mape) },
          { name: 'median', text: ({ median }) => signedShare(median) },
          { name: 'p90', text: ({ p90 }) => share(p90) },
          { name: 'worst', text: ({ worst }) => share(worst) },
          { name: 'memory', text: ({ memory_mape }) => share(memory_mape) },
        ]}
      />
    </>
  );
}

const rowColumns: Column<Row>[] = [
  { name: 'data set', text: ({ set }) => set, value: ({ set }) => set, words: true },
  { name: 'row', text: ({ id }) => id, value: ({ id }) => id, words: true },
  {
    name: 'error',
    text: (row) => signedShare(row.error),
    value: (row) => (row.error === null ? null : Math.abs(row.error)),
  },
  {
    name: 'measured',
    text: (row) => (row.measured_s === null ? '' : seconds(row.measured_s)),
    value: (row) => row.measured_s,
  },
  {
    name: 'predicted',
    text: (row) => (row.predicted_s === null ? '' : seconds(row.predicted_s)),
    value: (row) => row.predicted_s,
  },
  { name: '80 %', text: (row) => (row.low_s === null ? '' : `${seconds(row.low_s)} to ${seconds(row.high_s!)}`) },
  {
    name: 'memory measured',
    text: (row) => (row.measured_bytes === null ? '' : bytes(row.measured_bytes)),
    value: (row) => row.measured_bytes,
  },
  {
    name: 'memory error',
    text: (row) => signedShare(row.memory_error),
    value: (row) => (row.memory_error === null ? null : Math.abs(row.memory_error)),
  },
  {
    name: 'what its source leaves open, or why it is not run',
    wide: true,
    words: true,
    text: (row) => [row.reason, ...row.assumed].filter(Boolean).join('; '),
  },
];

export function ValidationHeadline({ data: { validation } }: { data: ValidationData }) {
  const { outcomes } = validation,
    worst = outcomes.ran.forecast_does_not_fit + outcomes.out_of_memory.forecast_fits;
  const ran = outcomes.ran.forecast_fits + outcomes.ran.forecast_does_not_fit;
  const overflowed = outcomes.out_of_memory.forecast_fits + outcomes.out_of_memory.forecast_does_not_fit;
  return (
    <Figures
      figures={[
        {
          name: 'Step time',
          value: share(validation.mape) || 'none',
          note: `mean absolute error; median ${signedShare(validation.median)}, p90 ${share(validation.p90)}`,
        },
        {
          name: 'Memory',
          value: share(validation.memory_mape) || 'none',
          note: validation.memory_mape === null ? '' : `mean absolute error; p90 ${share(validation.memory_p90)}`,
        },
        {
          name: 'In the 80 % interval',
          value: share(validation.coverage) || 'none',
          note:
            validation.coverage_left_out === null
              ? ''
              : `${share(validation.coverage_left_out)} in that which all other data sets give`,
        },
        {
          name: 'Rows',
          value: `${digits(validation.rows - validation.unsupported)}`,
          note: `of ${digits(validation.rows)}; the others are not supported`,
        },
        {
          name: 'Fits or not',
          value: `${digits(ran + overflowed - worst)} right`,
          note: `of ${digits(ran)} that ran and ${digits(overflowed)} that ran out of memory`,
        },
      ]}
    />
  );
}

export function ValidationSections({ data, dark }: { data: ValidationData; dark: boolean }) {
  const { validation } = data,
    all = useMemo(() => validationRows(data), [data]);
  const [query, setQuery] = useState(''),
    [set, setSet] = useState(''),
    [cause, setCause] = useState('device');
  const [picked, setPicked] = useState<Row | null>(null);
  const causes = Object.keys(validation.causes),
    place = causes.indexOf(cause);
  const groupOf = (row: Row) => row.groups[place] || 'unknown';
  const rows = useMemo(
    () =>
      all.filter(
        (row) => (set === '' || row.set === set) && matches(query, () => [row.set, row.id, row.reason, ...row.groups]),
      ),
    [all, query, set],
  );
  const groups = useMemo(
    () => [...new Set(all.filter(counts).map(groupOf))].sort((a, b) => a.localeCompare(b, 'en', { numeric: true })),
    [all, cause],
  );
  useEffect(() => {
    Object.assign(window, { stepcast: { rows: all, validation, ready: performance.now() } });
  }, [all]);
  const reasons = useMemo(() => {
    const found = new Map<string, number>();
    for (const { status, reason } of all)
      if (status !== 'ok') found.set(reason ?? '', (found.get(reason ?? '') ?? 0) + 1);
    return [...found].sort((a, b) => b[1] - a[1]);
  }, [all]);
  const scatter = { rows, all, groupOf, groups, dark, picked, onPick: setPicked };
  const judged = rows.filter(isJudged),
    golden = rows.filter((row) => !isJudged(row));
  const byCause = <Choice name="by" value={cause} onChange={setCause} options={causes.map((name) => [name, name])} />;
  return (
    <>
      <section id="sets" aria-labelledby="sets-title">
        <div class="beside">
          <div>
            <h2 id="sets-title">Error of each data set</h2>
            <p class="soft small">
              Mean absolute error of the step time. Every data set has one vote, whatever its size. The furthest off
              come first. Pick one to see its runs below.
            </p>
            <SetBars validation={validation} set={set} onSet={setSet} />
          </div>
          <div id="causes" role="group" aria-labelledby="causes-title">
            <div class="title-row">
              <h2 id="causes-title">Error by cause</h2>
              <div class="tools">{byCause}</div>
            </div>
            <Bars
              short
              label={`Error by ${cause}`}
              bars={(validation.causes[cause] ?? []).map(({ group, mape, median, rows, datasets }) => ({
                name: group,
                mape,
                note: `median ${signedShare(median)}, ${counted(rows, 'row')} of ${counted(datasets, 'set')}`,
              }))}
            />
          </div>
        </div>
      </section>
      <section id="scatter" aria-labelledby="scatter-title">
        <div class="title-row">
          <h2 id="scatter-title">Predicted against measured</h2>
          <div class="tools">
            <Search what="Search runs" hint="Search: gpt tp8 h100" value={query} onInput={setQuery} />
            <span class="soft" role="status">
              {rows.length.toLocaleString('en-US')} of {all.length.toLocaleString('en-US')} rows
            </span>
            <Choice
              name="data set"
              value={set}
              onChange={setSet}
              options={[['', 'all'], ...validation.datasets.map(({ name }): [string, string] => [name, name])]}
            />
            <Choice name="colour by" value={cause} onChange={setCause} options={causes.map((name) => [name, name])} />
          </div>
        </div>
        <ul class="key">
          {groups.map((name, i) => (
            <li>
              <svg width={12} height={12} aria-hidden="true">
                <Mark x={6} y={6} size={5} group={i} dark={dark} />
              </svg>
              {name}
            </li>
          ))}
        </ul>
        {rows.length === 0 && <p class="soft">No run is called that; ask for fewer words, or for all data sets.</p>}
        <div class="scatters">
          <Scatter {...scatter} of={times} />
          <Scatter {...scatter} of={memory} />
        </div>
        <div class="inspector" aria-live="polite">
          {picked ? (
            <>
              <h3>
                {picked.set}: {picked.id}
              </h3>
              <dl class="facts">
                {rowColumns.slice(2).map(
                  ({ name, text }) =>
                    text(picked) && (
                      <div>
                        <dt>{name}</dt>
                        <dd>{text(picked)}</dd>
                      </div>
                    ),
                )}
              </dl>
            </>
          ) : (
            <p class="soft">Pick a dot to see its run. The band is a tenth to both sides of what was measured.</p>
          )}
        </div>
      </section>
      <section id="tables" aria-labelledby="tables-title">
        <h2 id="tables-title">All figures</h2>
        <h3>By {cause}</h3>
        <CauseBars cause={cause} groups={validation.causes[cause] ?? []} />
        {validation.passes.length > 0 && (
          <>
            <h3>Passes of one stage and layers</h3>
            <DataTable
              label="Errors by pass"
              rows={validation.passes}
              columns={[
                { name: 'pass', text: ({ kind }) => kind, words: true },
                { name: 'rows', text: ({ rows }) => digits(rows) },
                { name: 'mean abs', text: ({ mape }) => share(mape) },
                { name: 'median', text: ({ median }) => signedShare(median) },
                { name: 'p90', text: ({ p90 }) => share(p90) },
                { name: 'worst', text: ({ worst }) => share(worst) },
              ]}
            />
          </>
        )}
        <h3>By data set</h3>
        <p class="soft small">Left out: inside the interval that all other data sets give.</p>
        {validation.cohorts.length > 1 && <Cohorts cohorts={validation.cohorts} />}
        <Sets validation={validation} />
        <Apart validation={validation} />
      </section>
      <section id="rows" aria-labelledby="rows-title">
        <h2 id="rows-title">Rows, the furthest off first</h2>
        {judged.length > 0 ? (
          <DataTable
            label="Rows"
            columns={rowColumns}
            rows={judged}
            sorted={{ column: 2, down: true }}
            picked={(row) => row === picked}
          />
        ) : (
          <p class="soft">No row that counts is called that; ask for fewer words, or for all data sets.</p>
        )}
        {golden.length > 0 && (
          <details id="golden">
            <summary>Rows apart, which are in no mean of step times: {digits(golden.length)}</summary>
            <p class="soft small">
              Golden values that projects test tiny models with, whose time is that of their host, and rows on devices
              that nothing is fitted to. Their memory counts where it was measured.
            </p>
            <DataTable
              label="Rows apart"
              columns={rowColumns}
              rows={golden}
              sorted={{ column: 2, down: true }}
              picked={(row) => row === picked}
            />
          </details>
        )}
        {reasons.length > 0 && (
          <>
            <h3>Not supported</h3>
            <DataTable
              label="Why rows are not supported"
              rows={reasons}
              columns={[
                { name: 'rows', text: ([, count]) => digits(count) },
                { name: 'reason', text: ([reason]) => reason, words: true, wide: true },
              ]}
            />
          </>
        )}
      </section>
    </>
  );
}

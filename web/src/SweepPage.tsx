// SPDX-License-Identifier: Apache-2.0
// A sweep: any two of its axes as a heat map and as lines, the best of every group, and all points.
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { SweepData } from './data';
import { Chips } from './Chips';
import { Choice, DataTable, Figures, matches, Search, type Column } from './DataTable';
import { nameOfValue, statusWords, Sweep, type Figure, type Point, type Value } from './sweep';
import { digits, words } from './units';
import { about, Heat, Lines, why } from './SweepPlots';

export const planWords = (plan: Record<string, unknown> | null) =>
  Object.entries(plan ?? {})
    .filter(([, value]) => value !== null && typeof value !== 'object')
    .map(([key, value]) => `${words(key)} ${value}`)
    .join(', ');

const alertWords = ({ alerts }: Point) =>
  alerts === undefined || alerts === null ? '' : alerts === '' ? 'none' : alerts.split(';').join(', ');

function BestTable({ sweep, figure, fixed }: { sweep: Sweep; figure: Figure; fixed: Map<string, Value> }) {
  const [by, setBy] = useState(0),
    axis = sweep.axes[by]!;
  const rows = useMemo(() => {
    const groups = sweep.grouped([by], fixed);
    return axis.values.map((value, i) => ({
      value,
      points: groups.get(String(i)) ?? [],
      best: sweep.best(groups.get(String(i)) ?? [], figure),
    }));
  }, [sweep, figure, by, fixed]);
  type Group = (typeof rows)[number];
  const others = sweep.axes.filter((_, i) => i !== by);
  const columns: Column<Group>[] = [
    { name: axis.name, text: ({ value }) => nameOfValue(value), words: true },
    {
      name: figure.name,
      text: ({ best }) => (best ? figure.text(best[figure.key] as number) : ''),
      value: ({ best }) => (best ? (best[figure.key] as number) : null),
    },
    ...others.map(({ name }): Column<Group> => ({
      name: sweep.short.get(name)!,
      text: ({ best }) => (best ? nameOfValue(best.axes[name]!) : ''),
      words: true,
    })),
    ...(sweep.points.some(({ plan }) => plan)
      ? [
          {
            name: 'plan',
            text: ({ best }: Group) => (best?.plan ? <Chips words={planWords(best.plan)} /> : ''),
            words: true,
            wide: true,
          },
        ]
      : []),
    { name: 'points', text: ({ points }) => why(points), words: true },
  ];
  return (
    <>
      <div class="title-row">
        <h3>Best of every group</h3>
        <div class="tools">
          <Choice
            name="by"
            value={String(by)}
            onChange={(value) => setBy(Number(value))}
            options={sweep.axes.map(({ name }, i) => [String(i), name])}
          />
        </div>
      </div>
      <DataTable key={by} label="Best of every group" columns={columns} rows={rows} />
    </>
  );
}

function PointTable({ sweep, picked, onPick }: { sweep: Sweep; picked: Point | null; onPick: (point: Point) => void }) {
  const [query, setQuery] = useState(''),
    [status, setStatus] = useState('');
  const judged = sweep.points.some(({ alerts }) => alerts !== undefined);
  const statuses = [...new Set(sweep.points.map((point) => point.status))];
  const rows = useMemo(
    () =>
      sweep.points.filter(
        (point) =>
          (status === '' || point.status === status) &&
          matches(query, () => [
            point.id,
            about(sweep, point),
            statusWords[point.status],
            point.reason,
            point.alerts,
            planWords(point.plan),
          ]),
      ),
    [sweep, query, status],
  );
  const columns: Column<Point>[] = [
    ...sweep.axes.map(({ name }): Column<Point> => ({
      name: sweep.short.get(name)!,
      text: (point) => nameOfValue(point.axes[name]!),
      value: (point) => point.axes[name] as number | string | null,
    })),
    {
      name: 'status',
      text: (point) => (
        <button type="button" class="link" onClick={() => onPick(point)}>
          {statusWords[point.status] ?? point.status}
        </button>
      ),
      value: ({ status }) => status,
      words: true,
    },
    ...sweep.figures
      .slice(0, 8)
      .map((figure): Column<Point> => ({
        name: figure.name,
        text: (point) => (typeof point[figure.key] === 'number' ? figure.text(point[figure.key] as number) : ''),
        value: (point) => (typeof point[figure.key] === 'number' ? (point[figure.key] as number) : null),
      })),
    ...(judged
      ? [{ name: 'alerts', text: alertWords, value: ({ alerts }: Point) => alerts ?? null, words: true }]
      : []),
    {
      name: 'plan, or why there is none',
      text: (point) => point.reason ?? (point.plan ? <Chips words={planWords(point.plan)} /> : ''),
      words: true,
      wide: true,
    },
  ];
  return (
    <>
      <div class="title-row">
        <h2 id="points-title">Points</h2>
        <div class="tools">
          <Search what="Search points" hint="Search: nodes 64 schedule zb" value={query} onInput={setQuery} />
          <span class="soft" role="status">
            {rows.length.toLocaleString('en-US')} of {sweep.points.length.toLocaleString('en-US')} points
          </span>
          <Choice
            name="status"
            value={status}
            onChange={setStatus}
            options={[['', 'all'], ...statuses.map((name): [string, string] => [name, statusWords[name] ?? name])]}
          />
        </div>
      </div>
      <DataTable label="Points" columns={columns} rows={rows} picked={(point) => point === picked} />
    </>
  );
}

function Picked({ sweep, point }: { sweep: Sweep; point: Point | null }) {
  if (!point)
    return (
      <div class="inspector" aria-live="polite">
        <p class="soft">Pick a cell, a dot or a row to see its point.</p>
      </div>
    );
  const facts: [string, string][] = [
    ...Object.entries(point.axes).map(([name, value]): [string, string] => [name, nameOfValue(value)]),
    ...sweep.figures
      .filter(({ key }) => typeof point[key] === 'number')
      .map((figure): [string, string] => [figure.name, figure.text(point[figure.key] as number)]),
  ];
  return (
    <div class="inspector" aria-live="polite">
      <h3>
        {statusWords[point.status] ?? point.status}
        {point.reason && `: ${point.reason}`}
      </h3>
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {point.alerts !== undefined && point.alerts !== null && <p>Alerts: {alertWords(point)}</p>}
      {point.plan && <Chips words={planWords(point.plan)} />}
      <p class="soft small">{point.id}</p>
    </div>
  );
}

export function SweepHeadline({ data, sweep }: { data: SweepData; sweep: Sweep }) {
  const count = (status: string) => sweep.points.filter((point) => point.status === status).length;
  const best = sweep.figures[0] ? sweep.best(sweep.points, sweep.figures[0]) : null;
  return (
    <>
      <p class="setting">
        {data.sweep.sweep.mode === 'search' ? 'The best plan of each point' : 'Each point simulated'}; axes:{' '}
        {sweep.axes.map(({ name, values }) => `${name} (${digits(values.length)})`).join(', ')}
      </p>
      <Figures
        figures={[
          { name: 'Points', value: digits(sweep.points.length), note: `${digits(count('ok'))} ok` },
          ...(best
            ? [
                {
                  name: `Best ${sweep.figures[0]!.name}`,
                  value: sweep.figures[0]!.text(best[sweep.figures[0]!.key] as number),
                  note: about(sweep, best),
                },
              ]
            : []),
          ...['does-not-fit', 'no-plan', 'invalid']
            .filter((status) => count(status) > 0)
            .map((status) => ({
              name: statusWords[status]![0]!.toUpperCase() + statusWords[status]!.slice(1),
              value: digits(count(status)),
              note: 'points',
            })),
        ]}
      />
    </>
  );
}

// Whether there is anything to draw.
export const isDrawn = ({ axes, figures }: Sweep) => axes.length > 0 && figures.length > 0;

// Why no point is fine, and what would help.
function NothingFine({
  data,
  sweep,
  picked,
  onPick,
}: {
  data: SweepData;
  sweep: Sweep;
  picked: Point | null;
  onPick: (point: Point) => void;
}) {
  const groups = new Map<string, Point[]>();
  for (const point of sweep.points) {
    const reason = (point.reason ?? '').replace(/\d[\d.,]*/g, 'N'),
      key = `${point.status}\n${reason}`,
      group = groups.get(key);
    if (group) group.push(point);
    else groups.set(key, [point]);
  }
  const shown = [...groups.values()].sort((a, b) => b.length - a.length),
    statuses = new Set(sweep.points.map(({ status }) => status));
  return (
    <>
      <section id="why" aria-labelledby="why-title">
        <h2 id="why-title">Why no point is fine</h2>
        {sweep.points.length === 0 ? (
          <p>
            The sweep has no points yet: no value of its axes meets <code>only_if</code>, or it was stopped before the
            first. Run it again, or widen <code>vary</code>.
          </p>
        ) : (
          <>
            <ul>
              {shown.slice(0, 6).map((points) => (
                <li>
                  <b>
                    {digits(points.length)} {points.length === 1 ? 'point' : 'points'}:{' '}
                    {statusWords[points[0]!.status] ?? points[0]!.status}
                  </b>
                  {points[0]!.reason && <>: {points[0]!.reason}</>}{' '}
                  <span class="soft">({about(sweep, points[0]!)})</span>
                </li>
              ))}
            </ul>
            {shown.length > 6 && (
              <p class="soft">and {digits(shown.length - 6)} other reasons, in the table of points.</p>
            )}
            <p>
              {statuses.has('does-not-fit') && data.sweep.sweep.mode !== 'search' && (
                <>
                  Let every point find a plan that fits: <code>mode: search</code>, or <code>--set mode=search</code>. A
                  plan shards and recomputes only what it is told to.{' '}
                </>
              )}
              {statuses.has('does-not-fit') && data.sweep.sweep.mode === 'search' && (
                <>Vary more GPUs, or those with more memory. </>
              )}
              {statuses.has('invalid') && (
                <>
                  Leave out combinations that are no scenario with <code>only_if</code>.{' '}
                </>
              )}
              {statuses.has('no-plan') && (
                <>
                  Widen <code>search:</code>, or vary more GPUs.{' '}
                </>
              )}
            </p>
          </>
        )}
      </section>
      {sweep.points.length > 0 && (
        <section id="points" aria-labelledby="points-title">
          {picked && <Picked sweep={sweep} point={picked} />}
          <PointTable sweep={sweep} picked={picked} onPick={onPick} />
        </section>
      )}
    </>
  );
}

export function SweepSections({ data, sweep, dark }: { data: SweepData; sweep: Sweep; dark: boolean }) {
  const { axes, figures } = sweep;
  const [x, setX] = useState(0),
    [y, setY] = useState(axes.length > 1 ? 1 : -1),
    [of, setOf] = useState(figures[0]?.key ?? '');
  const [fixed, setFixed] = useState<Map<string, Value>>(new Map());
  const [picked, setPicked] = useState<Point | null>(null);
  const figure = figures.find(({ key }) => key === of);
  const shown = useMemo(
    () => new Map([...fixed].filter(([name]) => axes[x]!.name !== name && axes[y]?.name !== name)),
    [fixed, x, y],
  );
  const groups = useMemo(() => sweep.grouped(y >= 0 ? [x, y] : [x], shown), [sweep, x, y, shown]);
  useEffect(() => {
    Object.assign(window, { stepcast: { sweep, data, ready: performance.now() } });
  }, [sweep]);
  if (axes.length === 0 || !figure) return <NothingFine data={data} sweep={sweep} picked={picked} onPick={setPicked} />;
  const choose =
    (set: (axis: number) => void, other: number, swap: (axis: number) => void, current: number) => (value: string) => {
      const axis = Number(value);
      if (axis === other) swap(current);
      set(axis);
    };
  const view = { sweep, figure, x, y, groups, dark, picked, onPick: setPicked };
  const names = axes.map(({ name }, i): [string, string] => [String(i), name]);
  return (
    <>
      <section id="map" aria-labelledby="map-title">
        <div class="title-row">
          <h2 id="map-title">
            {figure.name[0]!.toUpperCase() + figure.name.slice(1)} by {axes[x]!.name}
            {y >= 0 && ` and ${axes[y]!.name}`}
          </h2>
          <div class="tools">
            <Choice name="figure" value={of} onChange={setOf} options={figures.map(({ key, name }) => [key, name])} />
            <Choice name="across" value={String(x)} onChange={choose(setX, y, setY, x)} options={names} />
            {axes.length > 1 && (
              <Choice name="up" value={String(y)} onChange={choose(setY, x, setX, y)} options={names} />
            )}
          </div>
        </div>
        {axes.some((_, i) => i !== x && i !== y) && (
          <div class="tools">
            <span class="soft">of the other axes</span>
            {axes.map(
              ({ name, values }, i) =>
                i !== x &&
                i !== y && (
                  <Choice
                    name={sweep.short.get(name)!}
                    value={fixed.has(name) ? String(values.indexOf(fixed.get(name)!)) : ''}
                    onChange={(value) => {
                      const next = new Map(fixed);
                      if (value === '') next.delete(name);
                      else next.set(name, values[Number(value)]!);
                      setFixed(next);
                    }}
                    options={[
                      ['', 'the best'],
                      ...values.map((value, n): [string, string] => [String(n), nameOfValue(value)]),
                    ]}
                  />
                ),
            )}
          </div>
        )}
        <div class="beside">
          <div>
            <Heat {...view} />
            <p class="soft small">
              A stronger colour is better{figure.less ? ' (less)' : ' (more)'}; empty cells have no point that is ok.
            </p>
            <Picked sweep={sweep} point={picked} />
          </div>
          <div id="lines" role="group" aria-labelledby="lines-title">
            <h3 id="lines-title">Lines</h3>
            <Lines {...view} />
          </div>
        </div>
      </section>
      <section id="best" aria-label="Best of every group">
        <BestTable sweep={sweep} figure={figure} fixed={shown} />
      </section>
      <section id="points" aria-labelledby="points-title">
        <PointTable sweep={sweep} picked={picked} onPick={setPicked} />
      </section>
    </>
  );
}

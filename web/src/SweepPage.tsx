// SPDX-License-Identifier: Apache-2.0
// A sweep: any two of its axes as a heat map and as lines, the best of every group, and all points.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { linear, logarithmic, ordinal, type Axis } from './axes';
import type { SweepData } from './data';
import { Chips } from './Chips';
import { Choice, DataTable, Figures, matches, Search, type Column } from './DataTable';
import { inkOn, mixed, ofMicrobatch as cycled, rgb } from './palette';
import { Plot, useWidth } from './Plot';
import { nameOfValue, statusWords, Sweep, type Figure, type Point, type Value } from './sweep';
import { digits, words } from './units';

const mostLines = 16;

export const planWords = (plan: Record<string, unknown> | null) => Object.entries(plan ?? {})
  .filter(([, value]) => value !== null && typeof value !== 'object').map(([key, value]) => `${words(key)} ${value}`).join(', ');

const alertWords = ({ alerts }: Point) => (alerts === undefined || alerts === null ? '' : alerts === '' ? 'none' : alerts.split(';').join(', '));

interface View { sweep: Sweep; figure: Figure; x: number; y: number; groups: Map<string, Point[]>; dark: boolean;
  picked: Point | null; onPick: (point: Point) => void }

// Of each status that is not ok, how many.
function why(points: Point[]): string {
  const count = new Map<string, number>();
  for (const { status } of points) count.set(status, (count.get(status) ?? 0) + 1);
  return [...count].sort((a, b) => b[1] - a[1]).map(([status, n]) => `${n > 1 ? `${n} ` : ''}${statusWords[status] ?? status}`).join(', ');
}

const about = (sweep: Sweep, point: Point) => [...Object.entries(point.axes)].map(([name, value]) => `${sweep.short.get(name) ?? name} ${nameOfValue(value)}`).join(', ');

// Better is deeper; of figures that span more than a factor of eight the logarithm.
function Heat({ sweep, figure, x, y, groups, dark, picked, onPick }: View) {
  const across = sweep.axes[x]!.values, down = y >= 0 ? sweep.axes[y]!.values : [''], left = y >= 0 ? 36 + 6.8 * Math.max(...down.map((value) => nameOfValue(value).slice(0, 14).length)) : 14, top = 8;
  const cells = across.flatMap((_, i) => down.map((_, j) => ({ i, j, points: groups.get(y >= 0 ? `${i},${j}` : `${i}`) ?? [] })))
    .map((cell) => ({ ...cell, best: sweep.best(cell.points, figure) }));
  const values = cells.flatMap(({ best }) => (best ? [best[figure.key] as number] : []));
  const low = Math.min(...values), high = Math.max(...values), log = low > 0 && high / low > 8;
  const depth = (value: number) => {
    const share = high === low ? 1 : log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
    return figure.less ? 1 - share : share;
  };
  const { host, width } = useWidth(900), wide = (width - left - 10) / across.length, tall = Math.max(3, Math.min(44, 480 / down.length));
  const height = top + tall * down.length + 46, every = (count: number, size: number, least: number) => Math.max(1, Math.ceil(least / size)) % (count + 1) || 1;
  const pale = rgb(dark ? '#20303f' : '#e3edf6'), deep = rgb(dark ? '#6db3f2' : '#0f5796');
  const stepX = every(across.length, wide, 42), stepY = every(down.length, tall, 13);
  return (
    <div ref={host}>
      <svg class="plot-figure heat" width={width} height={height} role="img"
        aria-label={`Best ${figure.name} by ${sweep.axes[x]!.name}${y >= 0 ? ` and ${sweep.axes[y]!.name}` : ''}`}>
        {cells.map(({ i, j, points, best }) => {
          const colour = best ? mixed(pale, deep, depth(best[figure.key] as number)) : null, text = best ? figure.text(best[figure.key] as number) : '';
          const css = best ? `rgb(${Math.round(colour!.r)} ${Math.round(colour!.g)} ${Math.round(colour!.b)})` : undefined;
          const at = { x: left + i * wide, y: top + (down.length - 1 - j) * tall };
          return (
            <g class={best ? 'cell' : 'cell none'} onClick={() => { const point = best ?? points[0]; if (point) onPick(point); }}>
              <rect x={at.x} y={at.y} width={Math.max(1, wide - 1)} height={Math.max(1, tall - 1)} fill={css} class={best && best === picked ? 'picked' : ''} />
              {text.length * 6.6 < wide - 4 && tall > 14 && <text x={at.x + wide / 2 - 0.5} y={at.y + tall / 2 + 4} text-anchor="middle" style={colour ? { fill: inkOn(colour) } : {}}>{text}</text>}
              <title>{best ? `${text}: ${about(sweep, best)}` : points.length > 0 ? why(points) : 'no point'}</title>
            </g>
          );
        })}
        {across.map((value, i) => i % stepX === 0 && <text x={left + (i + 0.5) * wide} y={top + tall * down.length + 16} text-anchor="middle">{nameOfValue(value).slice(0, 18)}</text>)}
        {y >= 0 && down.map((value, j) => j % stepY === 0 && <text x={left - 8} y={top + (down.length - 0.5 - j) * tall + 4} text-anchor="end">{nameOfValue(value).slice(0, 14)}</text>)}
        <text class="axis-name" x={(left + width) / 2} y={height - 8} text-anchor="middle">{sweep.axes[x]!.name}</text>
        {y >= 0 && <text class="axis-name" x={12} y={(height - 38) / 2} text-anchor="middle" transform={`rotate(-90 12 ${(height - 38) / 2})`}>{sweep.axes[y]!.name}</text>}
      </svg>
    </div>
  );
}

// A line for each value of the other axis.
function Lines({ sweep, figure, x, y, groups, dark, picked, onPick }: View) {
  const across = sweep.axes[x]!.values, others: Value[] = y >= 0 ? sweep.axes[y]!.values : [''];
  const lines = others.slice(0, mostLines).map((value, j) => ({ value, points: across.flatMap((_, i) => {
    const best = sweep.best(groups.get(y >= 0 ? `${i},${j}` : `${i}`) ?? [], figure);
    return best ? [{ i, best, value: (best[figure.key] as number) / figure.unit }] : [];
  }) })).filter(({ points }) => points.length > 0);
  const values = lines.flatMap(({ points }) => points.map(({ value }) => value));
  if (values.length === 0) return <p class="soft">No point is ok for these values of the other axes; choose others above, or “the best”.</p>;
  const numbers = across.every((value) => typeof value === 'number') ? across as number[] : null;
  const spread = (list: number[]) => Math.min(...list) > 0 && Math.max(...list) / Math.min(...list) >= 8;
  const name = sweep.axes[x]!.name, text = nameOfValue;
  const along: Axis = !numbers ? ordinal(name, across.map(nameOfValue))
    : spread(numbers) ? { ...logarithmic({ name, values: numbers, text }), ...(numbers.length <= 12 ? { ticks: numbers } : {}) }
      : linear({ name, values: numbers, text, most: 10 });
  const up = spread(values) ? logarithmic({ name: figure.name, values, text: figure.tick }) : linear({ name: figure.name, values, text: figure.tick });
  return (
    <>
      <Plot x={along} y={up} label={`${figure.name} over ${name}, a line for each of ${lines.length}`}>
        {(at) => lines.map(({ points }, n) => {
          const place = (i: number) => at.x(numbers ? numbers[i]! : i), colour = cycled(n, dark);
          return (
            <g>
              <path class="line" stroke={colour} d={points.map(({ i, value }, k) => `${k === 0 ? 'M' : 'L'}${place(i)} ${at.y(value)}`).join('')} stroke-dasharray={n >= 8 ? '6 3' : undefined} />
              {points.map(({ i, best, value }) => (
                <circle class={best === picked ? 'dot-mark picked' : 'dot-mark'} cx={place(i)} cy={at.y(value)} r={4} fill={colour} onClick={() => onPick(best)}>
                  <title>{`${figure.text(value * figure.unit)}: ${about(sweep, best)}`}</title>
                </circle>
              ))}
            </g>
          );
        })}
      </Plot>
      {y >= 0 && <ul class="key"><li class="soft">{sweep.axes[y]!.name}</li>{lines.map(({ value }, n) => <li><i style={{ background: cycled(n, dark) }} />{nameOfValue(value)}</li>)}</ul>}
      {others.length > mostLines && <p class="soft small">The first {mostLines} of {digits(others.length)} are drawn.</p>}
    </>
  );
}

function BestTable({ sweep, figure, fixed }: { sweep: Sweep; figure: Figure; fixed: Map<string, Value> }) {
  const [by, setBy] = useState(0), axis = sweep.axes[by]!;
  const rows = useMemo(() => {
    const groups = sweep.grouped([by], fixed);
    return axis.values.map((value, i) => ({ value, points: groups.get(String(i)) ?? [], best: sweep.best(groups.get(String(i)) ?? [], figure) }));
  }, [sweep, figure, by, fixed]);
  type Group = (typeof rows)[number];
  const others = sweep.axes.filter((_, i) => i !== by);
  const columns: Column<Group>[] = [
    { name: axis.name, text: ({ value }) => nameOfValue(value), words: true },
    { name: figure.name, text: ({ best }) => (best ? figure.text(best[figure.key] as number) : ''), value: ({ best }) => (best ? best[figure.key] as number : null) },
    ...others.map(({ name }): Column<Group> => ({ name: sweep.short.get(name)!, text: ({ best }) => (best ? nameOfValue(best.axes[name]!) : ''), words: true })),
    ...(sweep.points.some(({ plan }) => plan) ? [{ name: 'plan', text: ({ best }: Group) => (best?.plan ? <Chips words={planWords(best.plan)} /> : ''), words: true, wide: true }] : []),
    { name: 'points', text: ({ points }) => why(points), words: true },
  ];
  return (
    <>
      <div class="title-row">
        <h3>Best of every group</h3>
        <div class="tools"><Choice name="by" value={String(by)} onChange={(value) => setBy(Number(value))} options={sweep.axes.map(({ name }, i) => [String(i), name])} /></div>
      </div>
      <DataTable key={by} label="Best of every group" columns={columns} rows={rows} />
    </>
  );
}

function PointTable({ sweep, picked, onPick }: { sweep: Sweep; picked: Point | null; onPick: (point: Point) => void }) {
  const [query, setQuery] = useState(''), [status, setStatus] = useState('');
  const judged = sweep.points.some(({ alerts }) => alerts !== undefined);
  const statuses = [...new Set(sweep.points.map((point) => point.status))];
  const rows = useMemo(() => sweep.points.filter((point) => (status === '' || point.status === status) && matches(query, () => (
    [point.id, about(sweep, point), statusWords[point.status], point.reason, point.alerts, planWords(point.plan)]))), [sweep, query, status]);
  const columns: Column<Point>[] = [
    ...sweep.axes.map(({ name }): Column<Point> => ({ name: sweep.short.get(name)!, text: (point) => nameOfValue(point.axes[name]!),
      value: (point) => point.axes[name] as number | string | null })),
    { name: 'status', text: (point) => <button type="button" class="link" onClick={() => onPick(point)}>{statusWords[point.status] ?? point.status}</button>, value: ({ status }) => status, words: true },
    ...sweep.figures.slice(0, 8).map((figure): Column<Point> => ({ name: figure.name,
      text: (point) => (typeof point[figure.key] === 'number' ? figure.text(point[figure.key] as number) : ''),
      value: (point) => (typeof point[figure.key] === 'number' ? point[figure.key] as number : null) })),
    ...(judged ? [{ name: 'alerts', text: alertWords, value: ({ alerts }: Point) => alerts ?? null, words: true }] : []),
    { name: 'plan, or why there is none', text: (point) => point.reason ?? (point.plan ? <Chips words={planWords(point.plan)} /> : ''), words: true, wide: true },
  ];
  return (
    <>
      <div class="title-row">
        <h2 id="points-title">Points</h2>
        <div class="tools">
          <Search what="Search points" hint="Search: nodes 64 schedule zb" value={query} onInput={setQuery} />
          <span class="soft" role="status">{rows.length.toLocaleString('en-US')} of {sweep.points.length.toLocaleString('en-US')} points</span>
          <Choice name="status" value={status} onChange={setStatus} options={[['', 'all'], ...statuses.map((name): [string, string] => [name, statusWords[name] ?? name])]} />
        </div>
      </div>
      <DataTable label="Points" columns={columns} rows={rows} picked={(point) => point === picked} />
    </>
  );
}

function Picked({ sweep, point }: { sweep: Sweep; point: Point | null }) {
  if (!point) return <div class="inspector" aria-live="polite"><p class="soft">Pick a cell, a dot or a row to see its point.</p></div>;
  const facts: [string, string][] = [...Object.entries(point.axes).map(([name, value]): [string, string] => [name, nameOfValue(value)]),
    ...sweep.figures.filter(({ key }) => typeof point[key] === 'number').map((figure): [string, string] => [figure.name, figure.text(point[figure.key] as number)])];
  return (
    <div class="inspector" aria-live="polite">
      <h3>{statusWords[point.status] ?? point.status}{point.reason && `: ${point.reason}`}</h3>
      <dl class="facts">{facts.map(([name, value]) => <div><dt>{name}</dt><dd>{value}</dd></div>)}</dl>
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
      <p class="setting">{data.sweep.sweep.mode === 'search' ? 'The best plan of each point' : 'Each point simulated'}; axes:{' '}
        {sweep.axes.map(({ name, values }) => `${name} (${digits(values.length)})`).join(', ')}</p>
      <Figures figures={[
        { name: 'Points', value: digits(sweep.points.length), note: `${digits(count('ok'))} ok` },
        ...(best ? [{ name: `Best ${sweep.figures[0]!.name}`, value: sweep.figures[0]!.text(best[sweep.figures[0]!.key] as number), note: about(sweep, best) }] : []),
        ...['does-not-fit', 'no-plan', 'invalid'].filter((status) => count(status) > 0).map((status) => (
          { name: statusWords[status]![0]!.toUpperCase() + statusWords[status]!.slice(1), value: digits(count(status)), note: 'points' })),
      ]} />
    </>
  );
}

// Whether there is anything to draw.
export const isDrawn = ({ axes, figures }: Sweep) => axes.length > 0 && figures.length > 0;

// Why no point is fine, and what would help.
function NothingFine({ data, sweep, picked, onPick }: { data: SweepData; sweep: Sweep; picked: Point | null; onPick: (point: Point) => void }) {
  const groups = new Map<string, Point[]>();
  for (const point of sweep.points) {
    const reason = (point.reason ?? '').replace(/\d[\d.,]*/g, 'N'), key = `${point.status}\n${reason}`, group = groups.get(key);
    if (group) group.push(point); else groups.set(key, [point]);
  }
  const shown = [...groups.values()].sort((a, b) => b.length - a.length), statuses = new Set(sweep.points.map(({ status }) => status));
  return (
    <>
      <section id="why" aria-labelledby="why-title">
        <h2 id="why-title">Why no point is fine</h2>
        {sweep.points.length === 0 ? <p>The sweep has no points yet: no value of its axes meets <code>only_if</code>, or it was stopped before the first. Run it again, or widen <code>vary</code>.</p> : (
          <>
            <ul>
              {shown.slice(0, 6).map((points) => (
                <li><b>{digits(points.length)} {points.length === 1 ? 'point' : 'points'}: {statusWords[points[0]!.status] ?? points[0]!.status}</b>{points[0]!.reason && <>: {points[0]!.reason}</>} <span class="soft">({about(sweep, points[0]!)})</span></li>
              ))}
            </ul>
            {shown.length > 6 && <p class="soft">and {digits(shown.length - 6)} other reasons, in the table of points.</p>}
            <p>
              {statuses.has('does-not-fit') && data.sweep.sweep.mode !== 'search' && <>Let every point find a plan that fits: <code>mode: search</code>, or <code>--set mode=search</code>. A plan shards and recomputes only what it is told to. </>}
              {statuses.has('does-not-fit') && data.sweep.sweep.mode === 'search' && <>Vary more GPUs, or those with more memory. </>}
              {statuses.has('invalid') && <>Leave out combinations that are no scenario with <code>only_if</code>. </>}
              {statuses.has('no-plan') && <>Widen <code>search:</code>, or vary more GPUs. </>}
            </p>
          </>
        )}
      </section>
      {sweep.points.length > 0 && <section id="points" aria-labelledby="points-title">{picked && <Picked sweep={sweep} point={picked} />}<PointTable sweep={sweep} picked={picked} onPick={onPick} /></section>}
    </>
  );
}

export function SweepSections({ data, sweep, dark }: { data: SweepData; sweep: Sweep; dark: boolean }) {
  const { axes, figures } = sweep;
  const [x, setX] = useState(0), [y, setY] = useState(axes.length > 1 ? 1 : -1), [of, setOf] = useState(figures[0]?.key ?? '');
  const [fixed, setFixed] = useState<Map<string, Value>>(new Map());
  const [picked, setPicked] = useState<Point | null>(null);
  const figure = figures.find(({ key }) => key === of);
  const shown = useMemo(() => new Map([...fixed].filter(([name]) => axes[x]!.name !== name && axes[y]?.name !== name)), [fixed, x, y]);
  const groups = useMemo(() => sweep.grouped(y >= 0 ? [x, y] : [x], shown), [sweep, x, y, shown]);
  useEffect(() => { Object.assign(window, { stepcast: { sweep, data, ready: performance.now() } }); }, [sweep]);
  if (axes.length === 0 || !figure) return <NothingFine data={data} sweep={sweep} picked={picked} onPick={setPicked} />;
  const choose = (set: (axis: number) => void, other: number, swap: (axis: number) => void, current: number) => (value: string) => {
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
          <h2 id="map-title">{figure.name[0]!.toUpperCase() + figure.name.slice(1)} by {axes[x]!.name}{y >= 0 && ` and ${axes[y]!.name}`}</h2>
          <div class="tools">
            <Choice name="figure" value={of} onChange={setOf} options={figures.map(({ key, name }) => [key, name])} />
            <Choice name="across" value={String(x)} onChange={choose(setX, y, setY, x)} options={names} />
            {axes.length > 1 && <Choice name="up" value={String(y)} onChange={choose(setY, x, setX, y)} options={names} />}
          </div>
        </div>
        {axes.some((_, i) => i !== x && i !== y) && (
          <div class="tools">
            <span class="soft">of the other axes</span>
            {axes.map(({ name, values }, i) => i !== x && i !== y && (
              <Choice name={sweep.short.get(name)!} value={fixed.has(name) ? String(values.indexOf(fixed.get(name)!)) : ''}
                onChange={(value) => { const next = new Map(fixed); if (value === '') next.delete(name); else next.set(name, values[Number(value)]!); setFixed(next); }}
                options={[['', 'the best'], ...values.map((value, n): [string, string] => [String(n), nameOfValue(value)])]} />
            ))}
          </div>
        )}
        <div class="beside">
          <div>
            <Heat {...view} />
            <p class="soft small">A stronger colour is better{figure.less ? ' (less)' : ' (more)'}; empty cells have no point that is ok.</p>
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

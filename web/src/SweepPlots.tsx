// SPDX-License-Identifier: Apache-2.0
// Points of a sweep along one axis or two.
import { linear, logarithmic, ordinal, type Axis } from './axes';
import { inkOn, mixed, ofMicrobatch as cycled, rgb } from './palette';
import { Plot, useWidth } from './Plot';
import { nameOfValue, statusWords, Sweep, type Figure, type Point, type Value } from './sweep';
import { digits } from './units';

const mostLines = 16;

interface View {
  sweep: Sweep;
  figure: Figure;
  x: number;
  y: number;
  groups: Map<string, Point[]>;
  dark: boolean;
  picked: Point | null;
  onPick: (point: Point) => void;
}

// Of each status that is not ok, how many.
export function why(points: Point[]): string {
  const count = new Map<string, number>();
  for (const { status } of points) count.set(status, (count.get(status) ?? 0) + 1);
  return [...count]
    .sort((a, b) => b[1] - a[1])
    .map(([status, n]) => `${n > 1 ? `${n} ` : ''}${statusWords[status] ?? status}`)
    .join(', ');
}

export const about = (sweep: Sweep, point: Point) =>
  [...Object.entries(point.axes)]
    .map(([name, value]) => `${sweep.short.get(name) ?? name} ${nameOfValue(value)}`)
    .join(', ');

// Better is deeper; of figures that span more than a factor of eight the logarithm.
export function Heat({ sweep, figure, x, y, groups, dark, picked, onPick }: View) {
  const across = sweep.axes[x]!.values,
    down = y >= 0 ? sweep.axes[y]!.values : [''],
    left = y >= 0 ? 36 + 6.8 * Math.max(...down.map((value) => nameOfValue(value).slice(0, 14).length)) : 14,
    top = 8;
  const cells = across
    .flatMap((_, i) => down.map((_, j) => ({ i, j, points: groups.get(y >= 0 ? `${i},${j}` : `${i}`) ?? [] })))
    .map((cell) => ({ ...cell, best: sweep.best(cell.points, figure) }));
  const values = cells.flatMap(({ best }) => (best ? [best[figure.key] as number] : []));
  const low = Math.min(...values),
    high = Math.max(...values),
    log = low > 0 && high / low > 8;
  const depth = (value: number) => {
    const share = high === low ? 1 : log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
    return figure.less ? 1 - share : share;
  };
  const { host, width } = useWidth(900),
    wide = (width - left - 10) / across.length,
    tall = Math.max(3, Math.min(44, 480 / down.length));
  const height = top + tall * down.length + 46,
    every = (count: number, size: number, least: number) => Math.max(1, Math.ceil(least / size)) % (count + 1) || 1;
  const pale = rgb(dark ? '#20303f' : '#e3edf6'),
    deep = rgb(dark ? '#6db3f2' : '#0f5796');
  const stepX = every(across.length, wide, 42),
    stepY = every(down.length, tall, 13);
  return (
    <div ref={host}>
      <svg
        class="plot-figure heat"
        width={width}
        height={height}
        role="img"
        aria-label={`Best ${figure.name} by ${sweep.axes[x]!.name}${y >= 0 ? ` and ${sweep.axes[y]!.name}` : ''}`}
      >
        {cells.map(({ i, j, points, best }) => {
          const colour = best ? mixed(pale, deep, depth(best[figure.key] as number)) : null,
            text = best ? figure.text(best[figure.key] as number) : '';
          const css = best
            ? `rgb(${Math.round(colour!.r)} ${Math.round(colour!.g)} ${Math.round(colour!.b)})`
            : undefined;
          const at = { x: left + i * wide, y: top + (down.length - 1 - j) * tall };
          return (
            <g
              class={best ? 'cell' : 'cell none'}
              onClick={() => {
                const point = best ?? points[0];
                if (point) onPick(point);
              }}
            >
              <rect
                x={at.x}
                y={at.y}
                width={Math.max(1, wide - 1)}
                height={Math.max(1, tall - 1)}
                fill={css}
                class={best && best === picked ? 'picked' : ''}
              />
              {text.length * 6.6 < wide - 4 && tall > 14 && (
                <text
                  x={at.x + wide / 2 - 0.5}
                  y={at.y + tall / 2 + 4}
                  text-anchor="middle"
                  style={colour ? { fill: inkOn(colour) } : {}}
                >
                  {text}
                </text>
              )}
              <title>{best ? `${text}: ${about(sweep, best)}` : points.length > 0 ? why(points) : 'no point'}</title>
            </g>
          );
        })}
        {across.map(
          (value, i) =>
            i % stepX === 0 && (
              <text x={left + (i + 0.5) * wide} y={top + tall * down.length + 16} text-anchor="middle">
                {nameOfValue(value).slice(0, 18)}
              </text>
            ),
        )}
        {y >= 0 &&
          down.map(
            (value, j) =>
              j % stepY === 0 && (
                <text x={left - 8} y={top + (down.length - 0.5 - j) * tall + 4} text-anchor="end">
                  {nameOfValue(value).slice(0, 14)}
                </text>
              ),
          )}
        <text class="axis-name" x={(left + width) / 2} y={height - 8} text-anchor="middle">
          {sweep.axes[x]!.name}
        </text>
        {y >= 0 && (
          <text
            class="axis-name"
            x={12}
            y={(height - 38) / 2}
            text-anchor="middle"
            transform={`rotate(-90 12 ${(height - 38) / 2})`}
          >
            {sweep.axes[y]!.name}
          </text>
        )}
      </svg>
    </div>
  );
}

// A line for each value of the other axis.
export function Lines({ sweep, figure, x, y, groups, dark, picked, onPick }: View) {
  const across = sweep.axes[x]!.values,
    others: Value[] = y >= 0 ? sweep.axes[y]!.values : [''];
  const lines = others
    .slice(0, mostLines)
    .map((value, j) => ({
      value,
      points: across.flatMap((_, i) => {
        const best = sweep.best(groups.get(y >= 0 ? `${i},${j}` : `${i}`) ?? [], figure);
        return best ? [{ i, best, value: (best[figure.key] as number) / figure.unit }] : [];
      }),
    }))
    .filter(({ points }) => points.length > 0);
  const values = lines.flatMap(({ points }) => points.map(({ value }) => value));
  if (values.length === 0)
    return <p class="soft">No point is ok for these values of the other axes; choose others above, or “the best”.</p>;
  const numbers = across.every((value) => typeof value === 'number') ? (across as number[]) : null;
  const spread = (list: number[]) => Math.min(...list) > 0 && Math.max(...list) / Math.min(...list) >= 8;
  const name = sweep.axes[x]!.name,
    text = nameOfValue;
  const along: Axis = !numbers
    ? ordinal(name, across.map(nameOfValue))
    : spread(numbers)
      ? { ...logarithmic({ name, values: numbers, text }), ...(numbers.length <= 12 ? { ticks: numbers } : {}) }
      : linear({ name, values: numbers, text, most: 10 });
  const up = spread(values)
    ? logarithmic({ name: figure.name, values, text: figure.tick })
    : linear({ name: figure.name, values, text: figure.tick });
  return (
    <>
      <Plot x={along} y={up} label={`${figure.name} over ${name}, a line for each of ${lines.length}`}>
        {(at) =>
          lines.map(({ points }, n) => {
            const place = (i: number) => at.x(numbers ? numbers[i]! : i),
              colour = cycled(n, dark);
            return (
              <g>
                <path
                  class="line"
                  stroke={colour}
                  d={points.map(({ i, value }, k) => `${k === 0 ? 'M' : 'L'}${place(i)} ${at.y(value)}`).join('')}
                  stroke-dasharray={n >= 8 ? '6 3' : undefined}
                />
                {points.map(({ i, best, value }) => (
                  <circle
                    class={best === picked ? 'dot-mark picked' : 'dot-mark'}
                    cx={place(i)}
                    cy={at.y(value)}
                    r={4}
                    fill={colour}
                    onClick={() => onPick(best)}
                  >
                    <title>{`${figure.text(value * figure.unit)}: ${about(sweep, best)}`}</title>
                  </circle>
                ))}
              </g>
            );
          })
        }
      </Plot>
      {y >= 0 && (
        <ul class="key">
          <li class="soft">{sweep.axes[y]!.name}</li>
          {lines.map(({ value }, n) => (
            <li>
              <i style={{ background: cycled(n, dark) }} />
              {nameOfValue(value)}
            </li>
          ))}
        </ul>
      )}
      {others.length > mostLines && (
        <p class="soft small">
          The first {mostLines} of {digits(others.length)} are drawn.
        </p>
      )}
    </>
  );
}

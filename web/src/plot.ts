// SPDX-License-Identifier: Apache-2.0
// Curves over the time of the step, which follow the timeline's view.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { tickStep } from './chart';
import type { Look, Store } from './store';
import { tick } from './units';

export interface Curves {
  height: number;
  most: number; // of the upright axis
  label: (value: number) => string;
  series: uPlot.Series[];
  data: () => uPlot.AlignedData;
  onCursor?: (sample: number | null) => void;
}

export const stepped = uPlot.paths.stepped!({ align: 1 });

// Draws into `host`, once it comes near the screen or to paper, and again only while it is there.
// The result takes it away again.
export function plotOver(host: HTMLElement, store: Store<Look>, curves: Curves): () => void {
  let plot: uPlot | null = null,
    near = false,
    stale = false,
    frame = 0;
  host.style.minHeight = `${curves.height}px`;
  const follow = () => {
    stale = !near;
    if (!near || !plot) return;
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => plot?.setScale('x', { min: store.value.view.from, max: store.value.view.to }));
  };
  const draw = () => {
    plot ??= drawn(host, store, curves);
  };
  const sight = new IntersectionObserver(
    (entries) => {
      near = entries.at(-1)!.isIntersecting;
      if (near) draw();
      if (near && stale) follow();
    },
    { rootMargin: '200px' },
  );
  sight.observe(host);
  const size = new ResizeObserver(() => plot?.setSize({ width: host.clientWidth, height: curves.height }));
  size.observe(host);
  addEventListener('beforeprint', draw);
  const stop = store.subscribe(follow);
  return () => {
    stop();
    removeEventListener('beforeprint', draw);
    cancelAnimationFrame(frame);
    sight.disconnect();
    size.disconnect();
    plot?.destroy();
  };
}

function drawn(host: HTMLElement, store: Store<Look>, { height, most, label, series, data, onCursor }: Curves): uPlot {
  const style = getComputedStyle(host),
    ink = style.getPropertyValue('--soft'),
    line = style.getPropertyValue('--line');
  const look = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line } };
  return new uPlot(
    {
      width: host.clientWidth,
      height,
      cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
      legend: { show: false },
      scales: {
        x: { time: false, range: () => [store.value.view.from, store.value.view.to] },
        y: { range: [0, most] },
      },
      axes: [
        {
          ...look,
          splits: (_, __, from, to) => {
            const step = tickStep(to - from, host.clientWidth / 92),
              all: number[] = [];
            for (let time = Math.ceil(from / step) * step; time <= to; time += step) all.push(time);
            return all;
          },
          values: (_, splits) => splits.map((time) => tick(time, (splits[1] ?? 1e12) - (splits[0] ?? 0))),
        },
        { ...look, size: 62, values: (_, splits) => splits.map(label) },
      ],
      series: [{}, ...series],
      hooks: { setCursor: [({ cursor }) => onCursor?.(cursor.idx ?? null)] },
    },
    data(),
    host,
  );
}

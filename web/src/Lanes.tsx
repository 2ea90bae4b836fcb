// SPDX-License-Identifier: Apache-2.0
// One timeline: a canvas, and the hands, wheels and keys that move it.
import { useEffect, useRef, useState } from 'preact/hooks';
import { Chart, type Found } from './chart';
import { nameOf } from './Inspector';
import type { Drawn } from './run';
import { type Look, type Store, inside, useStore, zoomed } from './store';
import { bytes, flops, picoseconds } from './units';

interface Props {
  run: Drawn;
  number: number;
  of: number;
  name: string;
  store: Store<Look>;
  onChart: (chart: Chart | null) => void;
}

function Tip({ run, found, x, y, width }: { run: Drawn; found: Found; x: number; y: number; width: number }) {
  const { timeline, bubbles } = run;
  const right = x > width / 2;
  const place = { top: `${y + 14}px`, ...(right ? { right: `${width - x + 8}px` } : { left: `${x + 8}px` }) };
  if ('bubble' in found) {
    const i = found.bubble;
    return (
      <div class="tip" style={place}>
        <b>bubble: {bubbles.cause(i)}</b> {picoseconds(bubbles.length(i))}
        <br />
        <span class="soft">stage {timeline.lanes[bubbles.lane[i]!]!.stage}; click for why</span>
      </div>
    );
  }
  const i = found.slice,
    lane = timeline.lanes[timeline.laneOf(i)]!,
    sent = timeline.bytes(i),
    computed = timeline.flops(i);
  const before = bubbles.before(i),
    awaited = before >= 0 ? bubbles.mainly(before) : undefined;
  return (
    <div class="tip" style={place}>
      <b>{timeline.name(i)}</b> {picoseconds(timeline.finish[i]! - timeline.start[i]!)}
      <br />
      <span class="soft">
        stage {lane.stage}, {lane.name}, from {picoseconds(timeline.start[i]!)}
        {computed > 0 && `, ${flops(computed)}`}
        {sent > 0 && `, sends ${bytes(sent)}`}
      </span>
      {before >= 0 && (
        <>
          <br />
          waited {picoseconds(bubbles.length(before))}
          {awaited && ` for ${nameOf(awaited)}`}
        </>
      )}
    </div>
  );
}

// All lanes in full size, or what leaves room for the controls on the same screen; less on a phone.
const heightOf = (chart: Chart, of: number) =>
  Math.round(
    Math.min(
      chart.wanted(),
      Math.max(170, window.innerHeight * (of > 1 ? 0.38 : window.innerWidth <= 640 ? 0.42 : 0.66)),
    ),
  );

export function Lanes({ run, number, of, name, store, onChart }: Props) {
  const look = useStore(store);
  const canvas = useRef<HTMLCanvasElement>(null),
    chart = useRef<Chart | null>(null);
  const [hover, setHover] = useState<{ found: Found; x: number; y: number } | null>(null);
  const [width, setWidth] = useState(0);

  useEffect(() => {
    const made = new Chart(canvas.current!, run, number, store);
    chart.current = made;
    onChart(made);
    const fit = () => {
      const wide = canvas.current!.parentElement!.clientWidth;
      const high = heightOf(made, of);
      canvas.current!.style.height = `${high}px`;
      made.resize(wide, high);
      setWidth(wide);
    };
    const observer = new ResizeObserver(fit);
    observer.observe(canvas.current!.parentElement!);
    fit();
    const stop = store.subscribe(() => made.request());
    const wheel = (event: WheelEvent) => turn(made, store, event);
    canvas.current!.addEventListener('wheel', wheel, { passive: false });
    return () => {
      stop();
      observer.disconnect();
      made.stop();
      onChart(null);
    };
  }, [run]);
  useEffect(() => {
    // other lanes, another height
    const made = chart.current!;
    const high = heightOf(made, of);
    canvas.current!.style.height = `${high}px`;
    made.resize(canvas.current!.parentElement!.clientWidth, high);
  }, [look.hiddenLanes, look.dark]);

  const pointers = useRef(new Map<number, { x: number; y: number }>());
  const dragged = useRef(0);
  const place = (event: PointerEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const down = (event: PointerEvent) => {
    canvas.current!.setPointerCapture(event.pointerId);
    pointers.current.set(event.pointerId, place(event));
    dragged.current = 0;
  };
  const move = (event: PointerEvent) => {
    const made = chart.current!,
      now = place(event),
      before = pointers.current.get(event.pointerId);
    if (!before) {
      const found = event.pointerType === 'touch' ? null : made.find(now.x, now.y);
      made.pointer = now.x;
      setHover(found && { found, ...now });
      return;
    }
    const others = [...pointers.current].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
    pointers.current.set(event.pointerId, now);
    dragged.current += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
    const { view, whole } = store.value,
      span = view.to - view.from;
    if (others.length === 1) {
      const other = others[0]!;
      const factor = Math.max(12, Math.abs(before.x - other.x)) / Math.max(12, Math.abs(now.x - other.x));
      const at = ((now.x + other.x) / 2 - made.gutter) / made.lanesWidth;
      store.set({ view: zoomed(store.value, factor, Math.max(0, Math.min(1, at))) });
      return;
    }
    if (dragged.current < 4) return;
    setHover(null);
    store.set({ view: inside(view.from - ((now.x - before.x) / made.lanesWidth) * span, span, whole) });
    made.scrollBy(before.y - now.y);
  };
  const up = (event: PointerEvent) => {
    const was = pointers.current.delete(event.pointerId);
    if (!was || dragged.current >= 4 || event.type === 'pointercancel') return;
    const at = place(event),
      found = chart.current!.find(at.x, at.y);
    store.set({ selected: found ? { run: number, ...found } : null });
  };

  return (
    <figure class="lanes-figure">
      {of > 1 && <figcaption>{name}</figcaption>}
      <canvas
        ref={canvas}
        tabIndex={0}
        role="application"
        aria-roledescription="timeline"
        aria-label={
          `Timeline of ${name}: what each pipeline stage did, over time. W and S zoom, A and D move, ` +
          'period picks the next bar, b the next bubble, question mark lists all keys.'
        }
        onPointerDown={down}
        onPointerMove={move}
        onPointerUp={up}
        onPointerCancel={up}
        onPointerLeave={() => {
          setHover(null);
          chart.current!.pointer = null;
        }}
        onDblClick={() => zoomToPicked(chart.current!, store)}
        onKeyDown={(event) => key(chart.current!, number, store, event)}
      />
      {hover && <Tip run={run} {...hover} width={width} />}
    </figure>
  );
}

// Up and down belongs to the page, but over the names of lanes that do not all fit; with ctrl it zooms.
function turn(chart: Chart, store: Store<Look>, event: WheelEvent): void {
  const at = (event.offsetX - chart.gutter) / chart.lanesWidth;
  if (event.ctrlKey || event.metaKey) {
    event.preventDefault();
    store.set({
      view: zoomed(store.value, Math.exp(Math.max(-80, Math.min(80, event.deltaY)) * 0.004), Math.max(0, at)),
    });
  } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    event.preventDefault();
    chart.pan((event.deltaX || event.deltaY) / chart.lanesWidth);
  } else if (at < 0 && chart.scrollBy(event.deltaY)) {
    event.preventDefault();
  }
}

function spanOf({ run }: Chart, selected: NonNullable<Look['selected']>): [from: number, to: number, lane: number] {
  const { timeline, bubbles } = run;
  if ('bubble' in selected) {
    const i = selected.bubble;
    return [bubbles.start[i]!, bubbles.finish[i]!, bubbles.lane[i]!];
  }
  return [timeline.start[selected.slice]!, timeline.finish[selected.slice]!, timeline.laneOf(selected.slice)];
}

function zoomToPicked(chart: Chart, store: Store<Look>): void {
  const { selected, whole } = store.value;
  if (!selected) return;
  const [from, to] = spanOf(chart, selected);
  const wide = Math.min(Math.max((to - from) * 4, 1000), whole.to - whole.from);
  store.set({ view: inside((from + to - wide) / 2, wide, whole) });
}

function pick(chart: Chart, number: number, store: Store<Look>, found: Found | null): void {
  if (!found) return;
  const selected = { run: number, ...found };
  store.set({ selected });
  chart.show(...spanOf(chart, selected));
}

// The bar before or after the picked one in its lane, or in sight where none is picked.
function step(chart: Chart, number: number, { value }: Store<Look>, by: number): Found | null {
  const { timeline } = chart.run,
    { selected } = value;
  if (selected?.run !== number) {
    const lane = timeline.lanes[0];
    return lane ? { slice: Math.min(timeline.after(lane, value.view.from), lane.end - 1) } : null;
  }
  if ('bubble' in selected) {
    const { bubbles } = chart.run,
      lane = timeline.lanes[bubbles.lane[selected.bubble]!]!;
    const next = timeline.after(lane, bubbles.finish[selected.bubble]!) - (by < 0 ? 1 : 0);
    return next >= lane.first && next < lane.end ? { slice: next } : null;
  }
  const lane = timeline.lanes[timeline.laneOf(selected.slice)]!,
    next = selected.slice + by;
  return next >= lane.first && next < lane.end ? { slice: next } : null;
}

// The same time in the lane above or below.
function otherLane(chart: Chart, { value }: Store<Look>, by: number): Found | null {
  const { timeline } = chart.run;
  if (!value.selected) return null;
  const [from, to, lane] = spanOf(chart, value.selected);
  for (let next = lane + by; next >= 0 && next < timeline.lanes.length; next += by) {
    if (value.hiddenLanes.has(timeline.lanes[next]!.name)) continue;
    const { first, end } = timeline.lanes[next]!;
    if (first < end) return { slice: Math.min(timeline.after(timeline.lanes[next]!, (from + to) / 2), end - 1) };
  }
  return null;
}

function nextBubble(chart: Chart, number: number, { value }: Store<Look>, by: number): Found | null {
  const { bubbles } = chart.run,
    { selected } = value;
  if (bubbles.size === 0) return null;
  const at = selected?.run === number && 'bubble' in selected ? selected.bubble + by : 0;
  return { bubble: (at + bubbles.size) % bubbles.size };
}

// Keys that move through time or zoom, as in Perfetto: about the pointer, or the middle.
export function steer(chart: Chart, event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const keys: Record<string, () => void> = {
    ArrowLeft: () => chart.go(-0.15),
    ArrowRight: () => chart.go(0.15),
    a: () => chart.go(-0.15),
    d: () => chart.go(0.15),
    w: () => chart.zoom(0.7, chart.share),
    s: () => chart.zoom(1 / 0.7, chart.share),
    '+': () => chart.zoom(0.7),
    '=': () => chart.zoom(0.7),
    '-': () => chart.zoom(1 / 0.7),
    '0': () => chart.showWhole(),
  };
  const action = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

function key(chart: Chart, number: number, store: Store<Look>, event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { value } = store;
  const keys: Record<string, () => void> = {
    Home: () => chart.showWhole(),
    '.': () => pick(chart, number, store, step(chart, number, store, 1)),
    ',': () => pick(chart, number, store, step(chart, number, store, -1)),
    ArrowUp: () => pick(chart, number, store, otherLane(chart, store, -1)),
    ArrowDown: () => pick(chart, number, store, otherLane(chart, store, 1)),
    b: () => pick(chart, number, store, nextBubble(chart, number, store, 1)),
    B: () => pick(chart, number, store, nextBubble(chart, number, store, -1)),
    c: () => store.set({ path: !value.path }),
    '[': () => store.set({ tall: Math.max(1, value.tall / 1.5) }),
    ']': () => store.set({ tall: Math.min(400, value.tall * 1.5) }),
    Enter: () => zoomToPicked(chart, store),
    Escape: () => store.set({ selected: null }),
  };
  const action = keys[event.key];
  if (!action) return steer(chart, event);
  event.preventDefault();
  action();
}

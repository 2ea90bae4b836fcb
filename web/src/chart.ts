// SPDX-License-Identifier: Apache-2.0
// One timeline on one canvas: paints it, and says what is where.
import { causes, colour, inkOn, mixed, ofKind, ofMicrobatch, rgb } from './palette';
import { Painter } from './paint';
import { kindOfStep } from './passes';
import { type Group, type Rows, halves, natural, rowsOf, unfolded } from './rows';
import { type Look, type Selection, type Store, inside, zoomed } from './store';
import type { Drawn } from './run';
import { tick } from './units';

export type Found = { slice: number } | { bubble: number };

interface Theme {
  page: string;
  idle: string;
  ink: string;
  faint: string;
  line: string;
  accent: string;
}

const kernelsFrom = 160; // pixels of a pass
const axis = 24; // pixels above the lanes

// Steps of 1, 2, 5 × 10^n, at least `apart` wide in all.
export function tickStep(span: number, most: number): number {
  const least = Math.max(1, span / Math.max(1, most));
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((n) => n * power).find((step) => step >= least * 0.9999)!;
}

export class Chart {
  private readonly context: CanvasRenderingContext2D;
  private readonly painter: Painter;
  private image: ImageData | null = null;
  rows: Rows = { rows: [], ofLane: new Map(), groups: [], height: 0, folded: false };
  private width = 0;
  private height = 0;
  private ratio = 1;
  private scroll = 0;
  private frame = 0;
  private faded: Uint8Array | null = null;
  private fadedFor = '';
  matches = 0;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    readonly run: Drawn,
    private readonly number: number,
    private readonly store: Store<Look>,
  ) {
    this.context = canvas.getContext('2d', { alpha: false })!;
    this.painter = new Painter(run.timeline);
  }

  get gutter() {
    return this.width < 560 ? 62 : 128;
  }
  get lanesWidth() {
    return Math.max(1, this.width - this.gutter);
  }

  // Height for all lanes in full size, with the axis.
  wanted(): number {
    return natural(this.run.timeline, this.store.value.hiddenLanes) + axis + 6;
  }

  resize(width: number, height: number): void {
    this.width = width;
    this.height = height;
    this.ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * this.ratio);
    this.canvas.height = Math.round(height * this.ratio);
    this.image = null;
    this.stop();
    this.frame = 0;
    this.draw(); // now: a canvas of another size is black until it is drawn
  }

  request(): void {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  stop(): void {
    cancelAnimationFrame(this.frame);
  }

  // --- Where things are ------------------------------------------------------------------------

  timeAt(x: number): number {
    const { view } = this.store.value;
    return view.from + ((x - this.gutter) / this.lanesWidth) * (view.to - view.from);
  }

  xOf(time: number): number {
    const { view } = this.store.value;
    return this.gutter + ((time - view.from) / (view.to - view.from)) * this.lanesWidth;
  }

  inGutter(x: number): boolean {
    return x < this.gutter;
  }

  find(x: number, y: number): Found | null {
    if (this.inGutter(x) || y < axis) return null;
    const at = y - axis + this.scroll,
      time = this.timeAt(x);
    const slack = this.timeAt(x + 2) - time;
    const row = this.rows.rows.find(({ top, height }) => at >= top && at < top + Math.max(height, 1));
    if (!row) return null;
    const { timeline, bubbles } = this.run,
      lane = timeline.lanes[row.lane]!;
    const side = at < row.top + row.height / 2 ? 1 : 2;
    const exact = timeline.at(lane, time, 0, side);
    if (exact >= 0) return { slice: exact };
    const bubble = bubbles.at(row.lane, time);
    if (bubble >= 0) return { bubble };
    const near = timeline.at(lane, time, slack, side);
    return near >= 0 ? { slice: near } : null;
  }

  // Whether there was anywhere to go.
  scrollBy(amount: number): boolean {
    const before = this.scroll;
    this.scroll = Math.max(0, Math.min(this.scroll + amount, this.rows.height - (this.height - axis - 6)));
    this.request();
    return Math.abs(this.scroll - before) > 0.5;
  }

  // Whether a good part of it is in the window.
  get inSight(): boolean {
    const { top, bottom } = this.canvas.getBoundingClientRect();
    return Math.min(bottom, innerHeight) - Math.max(top, 0) > Math.min(120, this.height / 2);
  }
  pointer: number | null = null; // where it is over the lanes, in pixels
  get share(): number {
    return this.pointer === null ? 0.5 : Math.max(0, Math.min(1, (this.pointer - this.gutter) / this.lanesWidth));
  }

  // Brings a time span into sight, and the lane it is on.
  show(from: number, to: number, lane: number): void {
    const { view, whole } = this.store.value;
    const span = view.to - view.from;
    if (to - from > span * 0.9 || to - from < span / 400) {
      const wide = Math.min(Math.max((to - from) * 6, 1000), whole.to - whole.from);
      this.store.set({ view: inside((from + to - wide) / 2, wide, whole) });
    } else if (from < view.from || to > view.to) {
      this.store.set({ view: inside((from + to - span) / 2, span, whole) });
    }
    const { hiddenLanes } = this.store.value,
      seen = this.height - axis;
    if (!this.rows.ofLane.has(lane) && this.rows.folded && !hiddenLanes.has(this.run.timeline.lanes[lane]!.name)) {
      this.store.set({ tall: unfolded(this.run.timeline, hiddenLanes, seen - 6) });
      this.rows = rowsOf(this.run.timeline, hiddenLanes, seen - 6, this.store.value.tall);
    }
    const row = this.rows.ofLane.get(lane);
    if (row && (row.top < this.scroll || row.top + row.height > this.scroll + seen))
      this.scrollBy(row.top - seen / 2 - this.scroll);
  }

  showWhole(): void {
    this.store.set({ view: this.store.value.whole, tall: 1 });
  }
  zoom(factor: number, at = 0.5): void {
    this.store.set({ view: zoomed(this.store.value, factor, at) });
  }
  pan(share: number): void {
    const { view, whole } = this.store.value,
      span = view.to - view.from;
    this.store.set({ view: inside(view.from + share * span, span, whole) });
  }

  // Moves; where all is in sight there is nowhere to go, so it closes in on that end.
  go(share: number): void {
    const { view, whole } = this.store.value;
    if (view.to - view.from >= whole.to - whole.from) this.zoom(0.8, share < 0 ? 0 : 1);
    else this.pan(share);
  }

  // Brings what is picked into the window, between the bar at its top and whatever covers its bottom.
  uncover(lane: number, top: number, bottom: number): void {
    const row = this.rowOf(lane);
    if (!row) return;
    const y = this.canvas.getBoundingClientRect().top + row.top,
      past = y + row.height + 6 - bottom;
    if (past > 0) scrollBy({ top: past, behavior: 'instant' });
    else if (y - 6 < top) scrollBy({ top: y - 6 - top, behavior: 'instant' });
  }

  // --- What a filter passes over ---------------------------------------------------------------

  private filter({ query, fadedKinds }: Look): void {
    const key = `${query}\n${[...fadedKinds].sort()}`;
    if (key === this.fadedFor) return;
    this.fadedFor = key;
    const { timeline } = this.run;
    this.matches = timeline.size;
    this.faded = null;
    const asked = query.toLowerCase().split(/\s+/).filter(Boolean);
    if (asked.length === 0 && fadedKinds.size === 0) return;
    this.matches = 0;
    this.faded = new Uint8Array(timeline.size);
    for (const { stage, name, first, end } of timeline.lanes) {
      const known = new Map<number, number>(); // by sort and microbatch
      for (let i = first; i < end; ++i) {
        const sort = timeline.sort[i]! * (timeline.microbatches + 2) + timeline.microbatch[i]! + 1;
        let faded = known.get(sort);
        if (faded === undefined) {
          const kind = timeline.kind(i);
          const words = `stage${stage} s${stage} ${name} ${kind} ${timeline.name(i)}`.toLowerCase().split(/\s+/);
          faded = Number(
            fadedKinds.has(kind) ||
              !asked.every((word) => words.some((one) => (/\d$/.test(word) ? one === word : one.includes(word)))),
          );
          known.set(sort, faded);
        }
        this.faded[i] = faded;
        this.matches += 1 - faded;
      }
    }
  }

  // Where a bar's middle is in its lane.
  private halfOf(slice: number): number {
    return [0.5, 0.25, 0.75][this.run.timeline.side[slice]!]!;
  }

  isFaded(slice: number): boolean {
    return this.faded?.[slice] === 1;
  }

  // --- Drawing ---------------------------------------------------------------------------------

  private theme(): Theme {
    const style = getComputedStyle(this.canvas);
    const value = (name: string) => style.getPropertyValue(name).trim();
    return {
      page: value('--paper'),
      idle: value('--idle'),
      ink: value('--ink'),
      faint: value('--soft'),
      line: value('--line'),
      accent: value('--accent'),
    };
  }

  draw(): void {
    if (this.width === 0 || this.height === 0) return;
    const look = this.store.value,
      theme = this.theme();
    this.filter(look);
    const { context, ratio } = this;
    this.rows = rowsOf(this.run.timeline, look.hiddenLanes, this.height - axis - 6, look.tall);
    this.scroll = Math.max(0, Math.min(this.scroll, this.rows.height - (this.height - axis - 6)));
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = theme.page;
    context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    const wide = Math.max(1, Math.round(this.lanesWidth * ratio)),
      high = Math.max(1, this.canvas.height - Math.round(axis * ratio));
    if (this.image?.width !== wide || this.image.height !== high) this.image = context.createImageData(wide, high);
    const rows = this.rows.rows.flatMap((row) =>
      halves(this.run.timeline, { ...row, top: (row.top - this.scroll) * ratio, height: row.height * ratio }),
    );
    this.painter.paint(
      this.image,
      rows,
      look.view,
      { mode: look.mode, dark: look.dark, faded: this.faded },
      theme.page,
      theme.idle,
    );
    context.putImageData(this.image, Math.round(this.gutter * ratio), Math.round(axis * ratio));
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.drawLanes(look, theme);
    this.drawAxis(look, theme);
    this.drawGutter(theme);
  }

  private clipped(drawing: () => void): void {
    const { context } = this;
    context.save();
    context.beginPath();
    context.rect(this.gutter, axis, this.lanesWidth, this.height - axis);
    context.clip();
    drawing();
    context.restore();
  }

  private drawLanes(look: Look, theme: Theme): void {
    this.clipped(() => {
      this.drawBubbles(look, theme);
      this.drawLabels(look, theme);
      this.drawKernels(look, theme);
      if (look.path) this.drawPath(theme);
      if (look.selected?.run === this.number) this.drawSelection(look.selected, theme);
    });
  }

  rowOf(lane: number) {
    const row = this.rows.ofLane.get(lane);
    return row && { top: row.top + axis - this.scroll, height: row.height };
  }

  // A line of its cause's colour under each idle interval wide enough to see.
  private drawBubbles(look: Look, theme: Theme): void {
    const { bubbles } = this.run,
      { context } = this;
    for (const { lane, top, height } of this.rows.rows) {
      const y = top + axis - this.scroll;
      if (height < 6 || y > this.height || y + height < axis) continue;
      bubbles.within(lane, look.view.from, look.view.to, (bubble) => {
        const x = this.xOf(bubbles.start[bubble]!),
          end = this.xOf(bubbles.finish[bubble]!);
        if (end - x < 1.5) return;
        context.fillStyle = colour(causes[bubbles.cause(bubble)], look.dark);
        context.fillRect(x + 0.5, y + height - 4, end - x - 1, 3);
        const name = bubbles.cause(bubble);
        if (height < 14 || end - x < name.length * 6 + 8) return;
        context.fillStyle = theme.faint;
        context.font = '10px system-ui, sans-serif';
        context.textAlign = 'center';
        context.textBaseline = 'middle';
        context.fillText(name, (Math.max(x, this.gutter) + Math.min(end, this.width)) / 2, y + height / 2 - 1);
      });
    }
  }

  private drawLabels(look: Look, theme: Theme): void {
    const { context } = this,
      { timeline } = this.run;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    for (const { lane, top, height } of this.rows.rows) {
      const y = top + axis - this.scroll;
      if (height < 13 || y > this.height || y + height < axis) continue;
      const { end } = timeline.lanes[lane]!;
      // Bars that can hold a word are few; those between are leapt over.
      const least = this.timeAt(this.gutter + 26) - this.timeAt(this.gutter);
      let leaps = 0;
      for (let i = timeline.after(timeline.lanes[lane]!, look.view.from); i < end && leaps < 4000; ++i, ++leaps) {
        if (timeline.start[i]! > look.view.to) break;
        if (timeline.finish[i]! - timeline.start[i]! < least) continue;
        const x = Math.max(this.gutter, this.xOf(timeline.start[i]!)),
          right = Math.min(this.width, this.xOf(timeline.finish[i]!));
        const microbatch = timeline.microbatch[i]!,
          name = timeline.name(i),
          short = microbatch >= 0 ? `m${microbatch}` : name;
        const text = name.length * 6.2 < right - x ? name : short.length * 6.6 < right - x ? short : '';
        if (!text) continue;
        const kind = timeline.kind(i);
        const bar = rgb(look.mode === 'pass' ? ofKind(kind, look.dark) : ofMicrobatch(microbatch, look.dark));
        context.fillStyle = inkOn(this.isFaded(i) ? mixed(rgb(theme.page), bar, 0.14) : bar);
        context.globalAlpha = this.isFaded(i) ? 0.5 : 1;
        const half = this.halfOf(i);
        context.font = `${half === 0.5 ? 11 : 9}px system-ui, sans-serif`;
        const inside =
          half === 0.5 &&
          timeline.steps(i) >= 0 &&
          this.xOf(timeline.finish[i]!) - this.xOf(timeline.start[i]!) >= kernelsFrom;
        context.fillText(text, (x + right) / 2, y + height * (inside ? 0.33 : half));
        context.globalAlpha = 1;
      }
    }
  }

  // In the lower part of passes that are wide enough, what goes on in them.
  private drawKernels(look: Look, theme: Theme): void {
    const { context } = this,
      { timeline, passes } = this.run,
      least = this.timeAt(this.gutter + kernelsFrom) - this.timeAt(this.gutter);
    for (const { lane, top, height, compute } of this.rows.rows) {
      const y = top + axis - this.scroll;
      if (!compute || height < 13 || y > this.height || y + height < axis) continue;
      const { end } = timeline.lanes[lane]!;
      for (
        let i = timeline.after(timeline.lanes[lane]!, look.view.from);
        i < end && timeline.start[i]! <= look.view.to;
        ++i
      ) {
        const begin = timeline.start[i]!,
          long = timeline.finish[i]! - begin;
        if (long < least || timeline.steps(i) < 0 || timeline.side[i]! > 0) continue;
        context.fillStyle = theme.page;
        context.fillRect(this.xOf(begin), y + height * 0.62, this.xOf(begin + long) - this.xOf(begin), height * 0.34);
        for (const step of passes.of(timeline.steps(i))) {
          const x = this.xOf(begin + step.start),
            right = Math.min(this.xOf(begin + step.finish), this.xOf(begin + long));
          if (right < this.gutter || x > this.width || right - x < 0.2) continue;
          context.fillStyle = ofKind(kindOfStep(step), look.dark);
          context.fillRect(x, y + height * 0.64, Math.max(right - x - 0.5, 0.5), height * 0.3);
        }
      }
    }
  }

  // Along the middle of what the step waited for; upright where it goes on elsewhere.
  private drawPath(theme: Theme): void {
    const { path } = this.run,
      { context } = this;
    const draw = (style: string, width: number) => {
      context.strokeStyle = style;
      context.lineWidth = width;
      context.lineJoin = 'round';
      context.beginPath();
      let pen = false,
        lastX = -1;
      for (const { lane, start, finish } of path) {
        const row = lane >= 0 ? this.rowOf(lane) : undefined;
        const x = this.xOf(start),
          end = this.xOf(finish);
        if (!row || end < this.gutter - 4 || x > this.width + 4) {
          pen &&= end < this.width;
          continue;
        }
        const y = row.top + Math.min(row.height / 2, 4) + 0.5;
        if (pen) context.lineTo(x, y);
        else context.moveTo(x, y);
        if (end - lastX > 0.4) context.lineTo(end, y);
        lastX = end;
        pen = true;
      }
      context.stroke();
    };
    draw(theme.page, 4);
    draw(theme.accent, 2);
  }

  private drawSelection(selected: Selection, theme: Theme): void {
    const { context } = this,
      { timeline, bubbles } = this.run;
    const box = (lane: number, from: number, to: number, width: number, style: string, half = 0.5) => {
      const row = this.rowOf(lane);
      if (!row) return;
      if (half !== 0.5) {
        row.height /= 2;
        row.top += half < 0.5 ? 0 : row.height;
      }
      const x = this.xOf(from),
        w = Math.max(2, this.xOf(to) - x);
      context.strokeStyle = style;
      context.lineWidth = width;
      context.strokeRect(x, row.top + 0.5, w, Math.max(row.height - 2, 2));
    };
    if ('bubble' in selected) {
      const i = selected.bubble;
      const shown = bubbles.chain(i).filter(({ lane }) => lane >= 0);
      for (const { lane, start, finish } of shown) box(lane, start, finish, 2, theme.ink);
      this.drawChain(
        shown.map(({ lane, start, finish }) => ({ lane, start, finish })),
        theme,
      );
      box(bubbles.lane[i]!, bubbles.start[i]!, bubbles.finish[i]!, 3, theme.accent);
      return;
    }
    const i = selected.slice;
    for (const arrow of this.run.arrowsOf(i))
      this.drawChain(
        [timeline.to[arrow]!, timeline.from[arrow]!].map((slice) => ({
          lane: timeline.laneOf(slice),
          start: timeline.start[slice]!,
          finish: timeline.finish[slice]!,
        })),
        theme,
      );
    box(timeline.laneOf(i), timeline.start[i]!, timeline.finish[i]!, 3, theme.accent, this.halfOf(i));
  }

  // A thin line back from bar to bar, latest first.
  private drawChain(bars: { lane: number; start: number; finish: number }[], theme: Theme): void {
    const { context } = this;
    context.strokeStyle = theme.ink;
    context.lineWidth = 1.25;
    context.setLineDash([3, 2]);
    context.beginPath();
    for (let i = 1; i < bars.length; ++i) {
      const later = bars[i - 1]!,
        earlier = bars[i]!;
      const a = this.rowOf(earlier.lane),
        b = this.rowOf(later.lane);
      if (!a || !b) continue;
      context.moveTo(this.xOf(Math.min(earlier.finish, later.finish)), a.top + a.height / 2);
      context.lineTo(this.xOf(later.start), b.top + b.height / 2);
    }
    context.stroke();
    context.setLineDash([]);
  }

  private drawAxis({ view }: Look, theme: Theme): void {
    const { context } = this;
    context.fillStyle = theme.page;
    context.fillRect(0, 0, this.width, axis);
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    context.textAlign = 'left';
    const step = tickStep(view.to - view.from, this.lanesWidth / 92);
    for (let time = Math.ceil(view.from / step) * step; time <= view.to; time += step) {
      const x = Math.round(this.xOf(time)) + 0.5;
      context.strokeStyle = theme.line;
      context.lineWidth = 1;
      context.beginPath();
      context.moveTo(x, axis - 7);
      context.lineTo(x, axis);
      context.stroke();
      context.fillStyle = theme.faint;
      const text = tick(time, step),
        room = this.width - x - 4;
      if (context.measureText(text).width < room) context.fillText(text, x + 4, axis / 2 - 1);
    }
  }

  private drawGutter(theme: Theme): void {
    const { context } = this,
      { timeline } = this.run;
    context.fillStyle = theme.page;
    context.fillRect(0, axis, this.gutter, this.height - axis);
    context.textBaseline = 'middle';
    let below = -Infinity;
    for (const group of this.rows.groups) {
      const y = group.top + axis - this.scroll;
      if (y + group.height < axis || y > this.height) continue;
      const middle = Math.max(y + Math.min(group.height / 2, 11), axis + 6);
      if (middle < below + 13) continue;
      below = middle;
      context.fillStyle = theme.ink;
      context.font = '600 11px system-ui, sans-serif';
      context.textAlign = 'left';
      context.fillText(this.nameOf(group), 2, middle);
    }
    context.font = '8.5px system-ui, sans-serif';
    context.textAlign = 'right';
    context.fillStyle = theme.faint;
    for (const { lane, top, height } of this.rows.rows) {
      if (height < 6.5 || this.gutter < 100) continue;
      const y = top + axis - this.scroll + height / 2;
      if (y < axis + 4) continue;
      context.fillText(shortLane(timeline.lanes[lane]!.name), this.gutter - 5, y);
    }
    if (this.rows.folded) {
      context.textAlign = 'left';
      context.fillText(this.gutter < 100 ? 'folded' : 'streams folded (\u2195)', 2, axis - 6);
    }
  }

  private nameOf({ stage, rank }: Group): string {
    const several = this.rows.groups.filter((group) => group.stage === stage).length > 1;
    return this.gutter < 100 ? `s${stage}` : several ? `stage ${stage} r${rank}` : `stage ${stage}`;
  }
}

const shortLane = (name: string) => name.replace('pipeline ', '').replace('data loader', 'loader');

// SPDX-License-Identifier: Apache-2.0
// Bars as pixels. Every bar counts, however many share a pixel: a pixel shows the bar that fills
// most of it, as far as anything fills it, and where lanes share a row of pixels, the idlest.
import { type Mode, ofKind, ofMicrobatch, mixed, pixel, rgb } from './palette';
import type { Timeline } from './timeline';

export interface View {
  from: number;
  to: number;
} // picoseconds

// Pixels. A bubble is idle time of a compute lane; streams beside it may well be idle.
// `side`: of bars beside each other only those of this half of the lane (Timeline.side); 0: all.
export interface Row {
  lane: number;
  top: number;
  height: number;
  compute: boolean;
  side: number;
}

export interface Paint {
  mode: Mode;
  dark: boolean;
  faded: Uint8Array | null; // per bar: 1 where a filter passes it over
}

// Two shades of each colour, so that neighbouring microbatches differ; the faded ones after them.
function shades(timeline: Timeline, { mode, dark }: Paint, ground: ReturnType<typeof rgb>): Uint32Array<ArrayBuffer> {
  const count = mode === 'pass' ? timeline.sorts.length : timeline.microbatches + 1;
  const table = new Uint32Array(count * 4);
  const white = rgb('#ffffff'),
    black = rgb('#000000');
  for (let i = 0; i < count; ++i) {
    const plain = rgb(mode === 'pass' ? ofKind(timeline.sorts[i]![0], dark) : ofMicrobatch(i - 1, dark));
    const other = mixed(plain, dark ? black : white, 0.16);
    table[i * 4] = pixel(plain);
    table[i * 4 + 1] = pixel(mode === 'pass' ? other : plain);
    table[i * 4 + 2] = table[i * 4 + 3] = pixel(mixed(ground, plain, 0.14));
  }
  return table;
}

function blended(ground: number, paint: number, share: number): number {
  const part = (shift: number) => {
    const a = (ground >>> shift) & 255,
      b = (paint >>> shift) & 255;
    return Math.round(a + (b - a) * share) << shift;
  };
  return (0xff000000 | part(16) | part(8) | part(0)) >>> 0;
}

export class Painter {
  private cover = new Float32Array(0);
  private most = new Float32Array(0);
  private shade = new Uint32Array(0);
  private line = new Uint32Array(0);
  private idlest = new Float32Array(0);
  private idlestShade = new Uint32Array(0);
  private table = new Uint32Array(0);
  private made: unknown[] = [];

  constructor(private readonly timeline: Timeline) {}

  paint(image: ImageData, rows: Row[], view: View, paint: Paint, page: string, idle: string): void {
    const { width, height } = image;
    const pixels = new Uint32Array(image.data.buffer);
    pixels.fill(pixel(rgb(page)));
    this.prepare(width, paint, page);
    const grounds = [pixel(mixed(rgb(page), rgb(idle), 0.3)), pixel(rgb(idle))];
    for (let i = 0; i < rows.length;) {
      const { top, height: tall, side } = rows[i]!;
      const first = Math.floor(top),
        gap = tall >= 4 && side !== 1 ? 1 : 0;
      const last = Math.max(first + 1, Math.floor(top + tall) - gap);
      let next = i + 1;
      while (next < rows.length && Math.floor(rows[next]!.top) === first) ++next;
      if (last > 0 && first < height) {
        this.idlest.fill(2);
        for (let lane = i; lane < next; ++lane) this.take(rows[lane]!, view, paint, width);
        this.blend(grounds[Number(rows[i]!.compute)]!);
        for (let y = Math.max(0, first); y < Math.min(last, height); ++y) pixels.set(this.line, y * width);
      }
      i = next;
    }
  }

  private prepare(width: number, paint: Paint, page: string): void {
    if (this.line.length !== width) {
      this.cover = new Float32Array(width);
      this.most = new Float32Array(width);
      this.shade = new Uint32Array(width);
      this.line = new Uint32Array(width);
      this.idlest = new Float32Array(width);
      this.idlestShade = new Uint32Array(width);
    }
    const made = [paint.mode, paint.dark, page];
    if (made.every((value, i) => value === this.made[i])) return;
    this.table = shades(this.timeline, paint, rgb(page));
    this.made = made;
  }

  // Keeps, pixel by pixel, the idlest of the lanes so far.
  private take(row: Row, view: View, paint: Paint, width: number): void {
    this.gather(row, view, paint, width);
    const { cover, shade, idlest, idlestShade } = this;
    for (let x = 0; x < width; ++x) {
      if (cover[x]! >= idlest[x]!) continue;
      idlest[x] = cover[x]!;
      idlestShade[x] = shade[x]!;
    }
  }

  private blend(ground: number): void {
    const { line, idlest, idlestShade } = this;
    for (let x = 0; x < line.length; ++x) {
      const share = idlest[x]!;
      line[x] = share <= 0 ? ground : share > 0.995 ? idlestShade[x]! : blended(ground, idlestShade[x]!, share);
    }
  }

  // How far each pixel of a lane is filled, and what fills most of it. The hot loop of a page with
  // many bars: everything it needs is at hand.
  private gather(row: Row, view: View, { mode, faded }: Paint, width: number): void {
    const { start, finish, sort, microbatch, lanes, side } = this.timeline,
      other = 3 - row.side;
    const lane = lanes[row.lane]!,
      { cover, most, shade, table } = this,
      { from } = view,
      byPass = mode === 'pass';
    cover.fill(0);
    most.fill(0);
    const scale = width / (view.to - from);
    for (let i = this.timeline.after(lane, from), { end } = lane; i < end; ++i) {
      let left = (start[i]! - from) * scale,
        right = (finish[i]! - from) * scale;
      if (left >= width) break;
      if (left < 0) left = 0;
      if (right > width) right = width;
      if (right <= left || side[i] === other) continue;
      const batch = microbatch[i]!;
      const ink =
        table[((byPass ? sort[i]! : batch + 1) << 2) + (faded !== null && faded[i] === 1 ? 2 : 0) + (batch & 1)]!;
      const a = left | 0,
        b = right | 0;
      let part = (a === b ? right : a + 1) - left;
      cover[a]! += part;
      if (part > most[a]!) {
        most[a] = part;
        shade[a] = ink;
      }
      if (a === b) continue;
      for (let x = a + 1; x < b; ++x) {
        cover[x] = most[x] = 1;
        shade[x] = ink;
      }
      part = right - b;
      if (part <= 0) continue;
      cover[b]! += part;
      if (part > most[b]!) {
        most[b] = part;
        shade[b] = ink;
      }
    }
  }
}

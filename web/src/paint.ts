// SPDX-License-Identifier: Apache-2.0
// Bars as pixels. Every bar counts, however many share a pixel: a pixel shows the bar that fills
// most of it, as far as anything fills it, and where lanes share a row of pixels, the idlest.
import { type Mode, ofKind, ofMicrobatch, mixed, pixel, rgb } from './palette';
import type { Timeline } from './timeline';

export interface View { from: number; to: number }  // picoseconds

export interface Row { lane: number; top: number; height: number }  // pixels of the device

export interface Paint {
  mode: Mode;
  dark: boolean;
  faded: Uint8Array | null;  // per bar: 1 where a filter passes it over
}

// Two shades of each colour, so that neighbouring microbatches differ; the faded ones after them.
function shades(timeline: Timeline, { mode, dark }: Paint, ground: ReturnType<typeof rgb>): Uint32Array<ArrayBuffer> {
  const count = mode === 'pass' ? timeline.sorts.length : timeline.microbatches + 1;
  const table = new Uint32Array(count * 4);
  const white = rgb('#ffffff'), black = rgb('#000000');
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
    const a = (ground >>> shift) & 255, b = (paint >>> shift) & 255;
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
  private table = new Uint32Array(0);
  private made: unknown[] = [];

  constructor(private readonly timeline: Timeline) {}

  paint(image: ImageData, rows: Row[], view: View, paint: Paint, page: string, idle: string): void {
    const { width, height } = image;
    const pixels = new Uint32Array(image.data.buffer);
    pixels.fill(pixel(rgb(page)));
    if (this.line.length !== width) {
      this.cover = new Float32Array(width);
      this.most = new Float32Array(width);
      this.shade = new Uint32Array(width);
      this.line = new Uint32Array(width);
      this.idlest = new Float32Array(width);
    }
    const made = [paint.mode, paint.dark, page];
    if (made.some((value, i) => value !== this.made[i])) {
      this.table = shades(this.timeline, paint, rgb(page));
      this.made = made;
    }
    const ground = pixel(rgb(idle));
    let shared = -1;
    for (const { lane, top, height: tall } of rows) {
      const first = Math.floor(top), last = Math.max(first + 1, Math.floor(top + tall) - (tall >= 4 ? 1 : 0));
      if (last <= 0 || first >= height) continue;
      this.gather(lane, view, paint, width);
      const alone = first !== shared;
      for (let x = 0; x < width; ++x) {
        const share = Math.min(1, this.cover[x]!);
        if (!alone && share >= this.idlest[x]!) continue;
        this.idlest[x] = share;
        this.line[x] = share === 0 ? ground : share > 0.995 ? this.shade[x]! : blended(ground, this.shade[x]!, share);
      }
      shared = first;
      for (let y = Math.max(0, first); y < Math.min(last, height); ++y) pixels.set(this.line, y * width);
    }
  }

  private gather(index: number, view: View, { mode, faded }: Paint, width: number): void {
    const { start, finish, sort, microbatch, lanes } = this.timeline;
    const lane = lanes[index]!, { cover, most, shade, table } = this;
    cover.fill(0);
    most.fill(0);
    const scale = width / (view.to - view.from);
    for (let i = this.timeline.after(lane, view.from); i < lane.end; ++i) {
      const left = Math.max(0, (start[i]! - view.from) * scale);
      if (left >= width) break;
      const right = Math.min(width, (finish[i]! - view.from) * scale);
      if (right <= left) continue;
      const entry = (mode === 'pass' ? sort[i]! : microbatch[i]! + 1) * 4 + (faded?.[i] ? 2 : 0) + (microbatch[i]! & 1);
      const ink = table[entry]!;
      const a = Math.floor(left), b = Math.min(width - 1, Math.floor(right));
      if (a === b) {
        this.add(a, right - left, ink);
        continue;
      }
      this.add(a, a + 1 - left, ink);
      for (let x = a + 1; x < b; ++x) {
        cover[x] = most[x] = 1;
        shade[x] = ink;
      }
      this.add(b, right - b, ink);
    }
  }

  private add(x: number, amount: number, ink: number): void {
    this.cover[x]! += amount;
    if (amount <= this.most[x]!) return;
    this.most[x] = amount;
    this.shade[x] = ink;
  }
}

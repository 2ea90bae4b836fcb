// SPDX-License-Identifier: Apache-2.0
// The load of the busiest links over the step: a strip each, which follows the timeline's view. A
// pixel has the mean load of its time.
import { useEffect, useRef } from 'preact/hooks';
import { columnsOf, summed } from './columns';
import { mixed, pixel, rgb } from './palette';
import type { Run } from './run';
import type { Look, Store } from './store';

interface Samples {
  time: Float64Array;
  load: Float64Array;
} // each holds until the next; of 1

// The share of each of `width` pixels that is in use.
export function meanLoads({ time, load }: Samples, from: number, to: number, width: number): Float64Array {
  const means = new Float64Array(width),
    scale = width / (to - from);
  for (let i = 0; i < time.length; ++i) {
    const left = Math.max(0, (time[i]! - from) * scale);
    const right = Math.min(width, ((i + 1 < time.length ? time[i + 1]! : to) - from) * scale);
    for (let x = Math.floor(left); x < right && right > left; ++x)
      means[x]! += load[i]! * (Math.min(right, x + 1) - Math.max(left, x));
  }
  return means;
}

function Strip({ samples, name, dark, store }: { samples: Samples; name: string; dark: boolean; store: Store<Look> }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    let frame = 0;
    const draw = () => {
      frame = 0;
      const width = (canvas.current!.width = Math.max(
        1,
        Math.round(canvas.current!.clientWidth * (window.devicePixelRatio || 1)),
      ));
      const style = getComputedStyle(canvas.current!),
        { from, to } = store.value.view;
      const idle = rgb(style.getPropertyValue('--idle').trim()),
        full = rgb(style.getPropertyValue('--load2').trim());
      const context = canvas.current!.getContext('2d', { alpha: false })!,
        image = context.createImageData(width, 1);
      const pixels = new Uint32Array(image.data.buffer);
      meanLoads(samples, from, to, width).forEach((load, x) => {
        pixels[x] = pixel(mixed(idle, full, Math.min(1, load)));
      });
      context.putImageData(image, 0, 0);
    };
    const request = () => {
      frame ||= requestAnimationFrame(draw);
    };
    const observer = new ResizeObserver(request);
    observer.observe(canvas.current!.parentElement!);
    const stop = store.subscribe(request);
    request();
    return () => {
      stop();
      observer.disconnect();
      cancelAnimationFrame(frame);
    };
  }, [samples, dark]);
  return <canvas ref={canvas} height={1} role="img" aria-label={`Load of ${name} over the step`} />;
}

export function LoadStrips({ run, dark, store }: { run: Run; dark: boolean; store: Store<Look> }) {
  const unpacked = useRef<Samples[] | null>(null);
  unpacked.current ??= run.given.timeline.links.map(({ samples }) => {
    const [time, load] = columnsOf(samples) as [Float64Array, Float64Array];
    return { time: summed(time), load: load.map((millionths) => millionths / 1e6) };
  });
  const { links } = run.given.timeline;
  if (links.length === 0) return null;
  return (
    <>
      <h3>The busiest over the step, as far as the timeline shows it</h3>
      <div class="strips">
        {links.map(({ name }, i) => (
          <div>
            <span>{name}</span>
            <Strip samples={unpacked.current![i]!} name={name} dark={dark} store={store} />
          </div>
        ))}
      </div>
    </>
  );
}

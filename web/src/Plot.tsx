// SPDX-License-Identifier: Apache-2.0
// A picture with two axes; what stands in it is drawn by the caller, in its own pixels.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Axis } from './axes';

export interface Frame {
  x: (value: number) => number;
  y: (value: number) => number;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

// As wide as there is room, so that letters keep their size; `most` at most.
export function useWidth(most: number) {
  const host = useRef<HTMLDivElement>(null),
    [room, setRoom] = useState(most);
  useLayoutEffect(() => {
    const fit = () => setRoom(Math.max(280, host.current?.clientWidth ?? most));
    const observer = new ResizeObserver(fit);
    observer.observe(host.current!);
    fit();
    return () => observer.disconnect();
  }, []);
  return { host, width: Math.min(room, most) };
}

interface Props {
  x: Axis;
  y: Axis;
  label: string;
  most?: number;
  shape?: number;
  children: (frame: Frame) => ComponentChildren;
}

// `most`: of its width, which is `shape` times its height.
export function Plot({ x, y, label, most = 760, shape = 1.9, children }: Props) {
  const { host, width } = useWidth(most),
    height = Math.max(260, width / shape);
  const left = 34 + 6.8 * Math.max(...y.ticks.map((value) => y.text(value).length)),
    right = width - 14,
    top = 12,
    bottom = height - 44;
  const frame: Frame = {
    left,
    right,
    top,
    bottom,
    x: (value) => left + x.at(value) * (right - left),
    y: (value) => bottom - y.at(value) * (bottom - top),
  };
  const every = Math.ceil(
    (x.ticks.length * 7.5 * Math.max(...x.ticks.map((value) => x.text(value).length + 1))) / (right - left),
  );
  return (
    <div class="plot-host-figure" ref={host}>
      <svg class="plot-figure" width={width} height={height} role="img" aria-label={label}>
        {x.ticks.map((value, i) => (
          <>
            <path class="grid" d={`M${frame.x(value)} ${top}V${bottom}`} />
            {i % every === 0 && (
              <text x={frame.x(value)} y={bottom + 16} text-anchor="middle">
                {x.text(value)}
              </text>
            )}
          </>
        ))}
        {y.ticks.map((value) => (
          <>
            <path class="grid" d={`M${left} ${frame.y(value)}H${right}`} />
            <text x={left - 6} y={frame.y(value) + 4} text-anchor="end">
              {y.text(value)}
            </text>
          </>
        ))}
        <text x={(left + right) / 2} y={height - 8} text-anchor="middle" class="axis-name">
          {x.name}
        </text>
        <text
          x={14}
          y={(top + bottom) / 2}
          text-anchor="middle"
          class="axis-name"
          transform={`rotate(-90 14 ${(top + bottom) / 2})`}
        >
          {y.name}
        </text>
        {children(frame)}
      </svg>
    </div>
  );
}

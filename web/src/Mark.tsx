// SPDX-License-Identifier: Apache-2.0
// A mark of a group: colours come again after eight groups, then with another shape.
import type { ComponentChildren } from 'preact';
import { hues, ofMicrobatch as cycled } from './palette';

interface Props {
  x: number;
  y: number;
  size: number;
  group: number;
  dark: boolean;
  class?: string;
  onClick?: () => void;
  children?: ComponentChildren;
}

// Each about as large as a circle of this radius.
const square = (x: number, y: number, size: number) =>
  `M${x - size * 0.9} ${y - size * 0.9}h${size * 1.8}v${size * 1.8}h${size * -1.8}z`;
const diamond = (x: number, y: number, size: number) =>
  `M${x} ${y - size * 1.25}L${x + size * 1.25} ${y}L${x} ${y + size * 1.25}L${x - size * 1.25} ${y}z`;
const triangle = (x: number, y: number, size: number) =>
  `M${x} ${y - size * 1.2}L${x + size * 1.25} ${y + size}H${x - size * 1.25}z`;
const shapes = [null, square, triangle, diamond];

export function Mark({ x, y, size, group, dark, children, ...rest }: Props) {
  const outline = shapes[Math.floor(Math.max(0, group) / hues) % shapes.length],
    fill = cycled(group, dark);
  return outline ? (
    <path d={outline(x, y, size)} fill={fill} {...rest}>
      {children}
    </path>
  ) : (
    <circle cx={x} cy={y} r={size} fill={fill} {...rest}>
      {children}
    </circle>
  );
}

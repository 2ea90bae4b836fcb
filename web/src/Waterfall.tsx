// SPDX-License-Identifier: Apache-2.0
// From one sum to another: what is added and what falls away, a bar each, the largest first.
import { signed } from './units';

export interface Part {
  name: string;
  from: number;
  to: number;
}

interface Props {
  parts: Part[];
  from: [name: string, value: number];
  to: [name: string, value: number];
  text: (value: number) => string;
  label: string;
}

// Parts that change too little to see are one.
function shownOf(parts: Part[], least: number): Part[] {
  const all = parts
    .map((part) => ({ ...part, by: part.to - part.from }))
    .sort((a, b) => Math.abs(b.by) - Math.abs(a.by));
  const shown = all.filter(({ by }) => Math.abs(by) >= least),
    rest = all.filter(({ by }) => Math.abs(by) < least && by !== 0);
  return rest.length === 0
    ? shown
    : [
        ...shown,
        {
          name: rest.length === 1 ? rest[0]!.name : `${rest.length} others`,
          from: rest.reduce((sum, { from }) => sum + from, 0),
          to: rest.reduce((sum, { to }) => sum + to, 0),
        },
      ];
}

export function Waterfall({ parts, from, to, text, label }: Props) {
  const shown = shownOf(parts, Math.max(from[1], to[1]) * 5e-4),
    ends = [from[1], to[1]];
  let sum = from[1];
  const rows = shown.map((part) => {
    const begin = sum;
    ends.push((sum += part.to - part.from));
    return { ...part, begin, end: sum };
  });
  const low = Math.min(...ends),
    high = Math.max(...ends),
    room = (high - low) * 0.15 || high * 0.05 || 1;
  const left = low < high * 0.35 ? 0 : Math.max(0, low - room),
    span = high - left || 1;
  const at = (value: number) => ((value - left) / span) * 100;
  const whole = ([name, value]: [string, number]) => (
    <div class="fall-row whole">
      <span>{name}</span>
      <span class="track">
        <i class="whole" style={{ left: '0%', width: `${at(value)}%` }} />
      </span>
      <span>
        <b>{text(value)}</b>
      </span>
    </div>
  );
  return (
    <div class="fall" role="group" aria-label={label}>
      {whole(from)}
      {rows.map(({ name, begin, end, from: a, to: b }) => (
        <div class="fall-row">
          <span>{name}</span>
          <span class="track" title={`${name}: ${text(a)} to ${text(b)}`}>
            <i
              class={end > begin ? 'more' : 'less'}
              style={{
                left: `${at(Math.min(begin, end))}%`,
                width: `max(2px, ${(Math.abs(end - begin) / span) * 100}%)`,
              }}
            />
          </span>
          <span>
            {signed(text, b - a)}{' '}
            <span class="soft">
              {text(a)} to {text(b)}
            </span>
          </span>
        </div>
      ))}
      {whole(to)}
      {left > 0 && <p class="soft small">Bars begin at {text(left)}, not at zero.</p>}
    </div>
  );
}

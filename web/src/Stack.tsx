// SPDX-License-Identifier: Apache-2.0
// Stacked bars: a row each, its parts side by side, as long as they are large.

export interface Part {
  name: string;
  value: number;
  colour: string;
}
export interface StackRow {
  name: string;
  parts: Part[];
  note: string;
  mark?: number;
}

// `wide`: with room for long names.
interface Props {
  rows: StackRow[];
  total: number;
  text: (value: number) => string;
  label: string;
  wide?: boolean;
}

export function Stack({ rows, total, text, label, wide }: Props) {
  return (
    <div class={wide ? 'stack wide' : 'stack'} role="group" aria-label={label}>
      {rows.map(({ name, parts, note, mark }) => (
        <div class="stack-row">
          <span class="stack-name">{name}</span>
          <span
            class="stack-bar"
            role="img"
            aria-label={`${name}: ${parts
              .filter(({ value }) => value > 0)
              .map((part) => `${part.name} ${text(part.value)}`)
              .join(', ')}`}
          >
            {parts
              .filter(({ value }) => value > 0)
              .map((part) => (
                <i
                  title={`${part.name}: ${text(part.value)}`}
                  style={{ width: `${(part.value / total) * 100}%`, background: part.colour }}
                />
              ))}
            {mark !== undefined && <b style={{ left: `${(mark / total) * 100}%` }} />}
          </span>
          <span class="stack-note">{note}</span>
        </div>
      ))}
    </div>
  );
}

export function Key({ parts }: { parts: { name: string; colour: string; note?: string }[] }) {
  return (
    <ul class="key">
      {parts.map(({ name, colour, note }) => (
        <li>
          <i style={{ background: colour }} />
          {name}
          {note && <span class="soft"> {note}</span>}
        </li>
      ))}
    </ul>
  );
}

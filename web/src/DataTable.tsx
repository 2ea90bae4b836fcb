// SPDX-License-Identifier: Apache-2.0
// A long table: sorted by a click on a column's name, and shown page by page.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

export interface Column<T> {
  name: string;
  text: (row: T) => ComponentChildren;
  value?: (row: T) => number | string | null; // what it is sorted by
  words?: boolean; // left of its column
  wide?: boolean;
}

interface Props<T> {
  label: string;
  columns: Column<T>[];
  rows: T[];
  size?: number;
  sorted?: { column: number; down: boolean };
  picked?: (row: T) => boolean;
}

function order<T>(rows: T[], { value }: Column<T>, down: boolean): T[] {
  const keyed = rows.map((row, i) => ({ row, i, key: value!(row) }));
  const sign = down ? -1 : 1;
  keyed.sort((a, b) => {
    if (a.key === null || b.key === null) return Number(a.key === null) - Number(b.key === null) || a.i - b.i;
    const text =
      typeof a.key === 'string' && typeof b.key === 'string' ? a.key.localeCompare(b.key, 'en', { numeric: true }) : 0;
    return sign * (text || Number(a.key) - Number(b.key) || 0) || a.i - b.i;
  });
  return keyed.map(({ row }) => row);
}

export function DataTable<T>({ label, columns, rows, size = 50, sorted, picked }: Props<T>) {
  const [by, setBy] = useState(sorted ?? null);
  const [page, setPage] = useState(0);
  const all = by ? order(rows, columns[by.column]!, by.down) : rows;
  const pages = Math.max(1, Math.ceil(all.length / size)),
    shown = Math.min(page, pages - 1);
  const css = ({ words, wide }: Column<T>) => `${words ? 'n' : ''}${wide ? ' wide' : ''}`;
  const turn = (column: number) => {
    setBy(by?.column === column ? { column, down: !by.down } : { column, down: false });
    setPage(0);
  };
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label={`${label}, table`}>
        <table class="long">
          <thead>
            <tr>
              {columns.map((column, i) =>
                column.name === '' ? (
                  <td class={css(column)} />
                ) : (
                  <th
                    class={css(column)}
                    aria-sort={by?.column === i ? (by.down ? 'descending' : 'ascending') : undefined}
                  >
                    {column.value ? (
                      <button type="button" class="sort" onClick={() => turn(i)}>
                        {column.name}
                        {by?.column === i && (by.down ? ' \u2193' : ' \u2191')}
                      </button>
                    ) : (
                      column.name
                    )}
                  </th>
                ),
              )}
            </tr>
          </thead>
          <tbody>
            {all.slice(shown * size, (shown + 1) * size).map((row) => (
              <tr class={picked?.(row) ? 'picked' : ''}>
                {columns.map((column) => (
                  <td class={css(column)}>{column.text(row)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {pages > 1 && (
        <p class="pager">
          <button type="button" disabled={shown === 0} onClick={() => setPage(shown - 1)}>
            Previous
          </button>{' '}
          <span role="status">
            {(shown * size + 1).toLocaleString('en-US')} to{' '}
            {Math.min(all.length, (shown + 1) * size).toLocaleString('en-US')} of {all.length.toLocaleString('en-US')}
          </span>{' '}
          <button type="button" disabled={shown + 1 === pages} onClick={() => setPage(shown + 1)}>
            Next
          </button>
        </p>
      )}
    </>
  );
}

export function Search({
  value,
  onInput,
  what,
  hint,
}: {
  value: string;
  onInput: (value: string) => void;
  what: string;
  hint: string;
}) {
  return (
    <input
      type="search"
      placeholder={hint}
      aria-label={what}
      value={value}
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  );
}

// Whether every asked word is in one of these; they are only written if a word is asked for.
export function matches(asked: string, texts: () => (string | null | undefined)[]): boolean {
  const words = asked.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return true;
  const all = texts().join(' ').toLowerCase();
  return words.every((word) => all.includes(word));
}

export function Choice({
  name,
  value,
  options,
  onChange,
}: {
  name: string;
  value: string;
  options: [value: string, text: string][];
  onChange: (value: string) => void;
}) {
  return (
    <label class="soft">
      {name}{' '}
      <select aria-label={name} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map(([value, text]) => (
          <option value={value}>{text}</option>
        ))}
      </select>
    </label>
  );
}

export function Figures({
  figures,
}: {
  figures: { name: string; value: string; note?: ComponentChildren; bad?: boolean }[];
}) {
  return (
    <dl class="figures">
      {figures.map(({ name, value, note, bad }) => (
        <div class={bad ? 'figure bad' : 'figure'}>
          <dt>{name}</dt>
          <dd>
            <span class="value">{value}</span>
            <span class="note">{note}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

// SPDX-License-Identifier: Apache-2.0
// Lists of objects, as report/page/transposed.hpp packs them.
import { indexOf, type Index } from './columns';

export type Transposed = { rows: number; columns: Record<string, PackedColumn> };
type PackedColumn = unknown[] | { distinct: unknown[]; index: Index } | Transposed;

function valuesOf(column: PackedColumn): unknown[] {
  if (Array.isArray(column)) return column;
  if ('columns' in column) return rowsOf(column);
  return Array.from(indexOf(column.index), (i) => column.distinct[i]);
}

export function rowsOf<T = Record<string, unknown>>({ rows, columns }: Transposed): T[] {
  const all = Object.entries(columns).map(([key, column]) => [key, valuesOf(column)] as const);
  return Array.from({ length: rows }, (_, i) => Object.fromEntries(all.map(([key, values]) => [key, values[i]])) as T);
}

// SPDX-License-Identifier: Apache-2.0
// Columns of whole numbers, as report/page/columns.hpp packs them.

export type Index = [written: string, more: string];
export type Table = { columns: string[] } | { distinct: string[]; index: Index };

function unpacked(text: string): Float64Array {
  const bytes = atob(text);
  let count = 0;
  for (let i = 0; i < bytes.length; ++i) if (bytes.charCodeAt(i) < 0x80) ++count;
  const numbers = new Float64Array(count);
  let value = 0,
    scale = 1,
    at = 0;
  for (let i = 0; i < bytes.length; ++i) {
    const byte = bytes.charCodeAt(i);
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) {
      numbers[at++] = value;
      value = 0;
      scale = 1;
    } else {
      scale *= 128;
    }
  }
  return numbers;
}

// Numbers beyond 2^53 lose their last digits; picoseconds of 2.5 hours do not.
function unzigzagged(numbers: Float64Array): Float64Array {
  for (let i = 0; i < numbers.length; ++i) {
    const n = numbers[i]!;
    numbers[i] = n % 2 === 0 ? n / 2 : -(n + 1) / 2;
  }
  return numbers;
}

// Runs: one that is written, and how many follow that were behind their predecessors last time.
export function indexOf([written, more]: Index): Uint32Array {
  const firsts = unpacked(written),
    counts = unpacked(more);
  const index = new Uint32Array(counts.reduce((sum, count) => sum + count + 1, 0));
  const behind = new Uint32Array(firsts.reduce((most, first) => Math.max(most, first), 0) + 1);
  for (let run = 0, at = 0; run < firsts.length; ++run) {
    if (at > 0) behind[index[at - 1]!] = firsts[run]!;
    index[at++] = firsts[run]!;
    for (let count = counts[run]!; count > 0; --count, ++at) index[at] = behind[index[at - 1]!]!;
  }
  return index;
}

const numbersOf = (text: string) => unzigzagged(unpacked(text));

export function columnsOf(table: Table): Float64Array[] {
  if ('columns' in table) return table.columns.map(numbersOf);
  const index = indexOf(table.index);
  return table.distinct.map((text) => {
    const distinct = numbersOf(text),
      numbers = new Float64Array(index.length);
    for (let i = 0; i < index.length; ++i) numbers[i] = distinct[index[i]!]!;
    return numbers;
  });
}

export function summed(differences: Float64Array): Float64Array {
  for (let i = 1; i < differences.length; ++i) differences[i] += differences[i - 1]!;
  return differences;
}

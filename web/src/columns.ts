// SPDX-License-Identifier: Apache-2.0
// Columns of whole numbers, as report/columns.hpp packs them.

export type Column = { values: string } | { distinct: string; index: string };

function unpacked(text: string): Float64Array {
  const bytes = atob(text);
  let count = 0;
  for (let i = 0; i < bytes.length; ++i) if (bytes.charCodeAt(i) < 0x80) ++count;
  const numbers = new Float64Array(count);
  let value = 0, scale = 1, at = 0;
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

export function numbersOf(column: Column): Float64Array {
  if ('values' in column) return unzigzagged(unpacked(column.values));
  const distinct = unzigzagged(unpacked(column.distinct));
  const numbers = unpacked(column.index);
  for (let i = 0; i < numbers.length; ++i) numbers[i] = distinct[numbers[i]!]!;
  return numbers;
}

export function summed(differences: Float64Array): Float64Array {
  for (let i = 1; i < differences.length; ++i) differences[i] += differences[i - 1]!;
  return differences;
}

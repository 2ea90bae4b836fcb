// SPDX-License-Identifier: Apache-2.0
// A plan as chips, one for each degree; those that another plan has not stand out.

// "tensor 8, pipeline 4 (interleaved, 3 chunks)" is two.
export const chipsOf = (words: string) => words.split(/, (?![^(]*\))/).filter(Boolean);

export function Chips({ words, beside }: { words: string; beside?: string }) {
  const known = beside === undefined ? null : new Set(chipsOf(beside));
  return (
    <span class="chips">
      {chipsOf(words).map((chip) => (
        <span class={known && !known.has(chip) ? 'chip other' : 'chip'}>{chip}</span>
      ))}
    </span>
  );
}

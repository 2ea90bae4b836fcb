// SPDX-License-Identifier: Apache-2.0
// What differs between two runs, as the program says it.
export function Changes({ lines }: { lines: string[] }) {
  return <pre class="changes">{lines.join('\n')}</pre>;
}

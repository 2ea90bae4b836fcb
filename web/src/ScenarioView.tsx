// SPDX-License-Identifier: Apache-2.0
// The question as it was understood, every figure written out.
import type { Run } from './run';

// As YAML, for eyes: what the file may hold as it stands is in the document of --json.
export function yaml(value: unknown, indent = ''): string {
  const plain = (leaf: unknown) =>
    typeof leaf === 'string' &&
    (leaf === '' || /^[\s\-?:,[\]{}#&*!|>'"%@`]|: | #|\s$|^(true|false|null|~|[\d.+-].*)$/.test(leaf))
      ? JSON.stringify(leaf)
      : String(leaf);
  if (Array.isArray(value)) {
    if (value.every((one) => typeof one !== 'object' || one === null)) return ` [${value.map(plain).join(', ')}]\n`;
    return `\n${value.map((one) => `${indent}-${yaml(one, `${indent}  `).replace(/^\n\s*/, ' ')}`).join('')}`;
  }
  if (typeof value !== 'object' || value === null) return ` ${plain(value)}\n`;
  return `\n${Object.entries(value)
    .map(([key, one]) => `${indent}${key}:${yaml(one, `${indent}  `)}`)
    .join('')}`;
}

export function ScenarioView({ runs, names }: { runs: Run[]; names: string[] }) {
  return (
    <>
      <h2 id="scenario-title">Scenario and plan</h2>
      {runs.map((run, i) => (
        <details>
          <summary>{runs.length > 1 ? names[i] : 'Every figure as it was resolved'}</summary>
          <pre tabIndex={0}>{yaml(run.document.scenario).trimStart()}</pre>
        </details>
      ))}
    </>
  );
}

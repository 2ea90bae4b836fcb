// SPDX-License-Identifier: Apache-2.0
// Other values for the scenario, and the command that forecasts them: the page itself computes nothing.
import { useState } from 'preact/hooks';
import type { Key } from './data';
import type { Run } from './run';

interface Change {
  path: string;
  value: string;
}

// A word as a shell takes it.
export const shellWord = (word: string) =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

// What the scenario was resolved to; of what has a name the name.
export function valueAt(scenario: any, path: string): string {
  const value = path.split('.').reduce((at, key) => at?.[key], scenario);
  if (value === undefined || value === null) return '';
  if (typeof value !== 'object') return String(value);
  return Array.isArray(value) ? JSON.stringify(value) : String(value.base ?? value.name ?? '');
}

export function commandOf(command: string[], changes: Change[], against: boolean): string {
  const words = [...command];
  for (const { path, value } of changes) if (path && value !== '') words.push('--set', `${path}=${value}`);
  if (against) words.push('--against', command[2]!);
  words.push('--report', 'what-if.html');
  return words.map(shellWord).join(' ');
}

function ValueField({
  of,
  value,
  onChange,
}: {
  of: Key | undefined;
  value: string;
  onChange: (value: string) => void;
}) {
  const label = `New value of ${of?.path ?? 'the key'}`;
  const choices = of?.type === 'yes_no' ? ['true', 'false'] : (of?.choices ?? []);
  if (of && choices.length > 0)
    return (
      <select aria-label={label} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">as it is</option>
        {choices.map((choice) => (
          <option value={choice}>{choice}</option>
        ))}
      </select>
    );
  return (
    <input
      type={of?.type === 'whole' ? 'number' : 'text'}
      min={of?.least}
      max={of?.most}
      aria-label={label}
      placeholder={of?.type === 'whole' ? 'a whole number' : 'a value, with its unit'}
      value={value}
      onInput={(event) => onChange(event.currentTarget.value)}
    />
  );
}

export function WhatIf({ run, keys }: { run: Run; keys: Key[] }) {
  const { scenario } = run.document,
    command = run.given.command ?? [];
  const [changes, setChanges] = useState<Change[]>([{ path: 'plan.micro_batch', value: '' }]);
  const [beside, setBeside] = useState(true),
    [copied, setCopied] = useState(false);
  const alone = command.length === 3; // else the file is not what this page shows
  const known = new Map(keys.map((key) => [key.path, key]));
  const sections = [...new Set(keys.map(({ path }) => path.split('.')[0]!))];
  const text = commandOf(command, changes, beside && alone);
  const change = (i: number, to: Change | null) => {
    setCopied(false);
    setChanges(to ? changes.map((one, n) => (n === i ? to : one)) : changes.filter((_, n) => n !== i));
  };
  const copy = () =>
    navigator.clipboard?.writeText(text).then(
      () => setCopied(true),
      () => {},
    );
  return (
    <>
      <h2 id="what-if-title">What if</h2>
      <p class="soft">
        Pick keys and other values; run the command for the answer. The page computes nothing by itself.
      </p>
      <form class="what-if" onSubmit={(event) => event.preventDefault()}>
        {changes.map((one, i) => {
          const of = known.get(one.path),
            now = valueAt(scenario, one.path);
          return (
            <fieldset>
              <legend class="soft small">{of?.what ?? 'Another value'}</legend>
              <select
                aria-label="Key"
                value={one.path}
                onChange={(event) => change(i, { path: event.currentTarget.value, value: '' })}
              >
                {sections.map((section) => (
                  <optgroup label={section}>
                    {keys
                      .filter(({ path }) => path.split('.')[0] === section)
                      .map(({ path }) => (
                        <option value={path}>{path}</option>
                      ))}
                  </optgroup>
                ))}
              </select>
              <ValueField of={of} value={one.value} onChange={(value) => change(i, { ...one, value })} />
              <span class="soft">
                {now === '' ? (
                  'not set now'
                ) : (
                  <>
                    now <b>{now}</b>
                  </>
                )}
              </span>
              {changes.length > 1 && (
                <button type="button" aria-label={`Leave ${one.path} as it is`} onClick={() => change(i, null)}>
                  ×
                </button>
              )}
            </fieldset>
          );
        })}
        <p class="tools">
          <button type="button" onClick={() => setChanges([...changes, { path: 'plan.tensor', value: '' }])}>
            Another key
          </button>
          {alone && (
            <label>
              <input
                type="checkbox"
                checked={beside}
                onChange={(event) => {
                  setBeside(event.currentTarget.checked);
                  setCopied(false);
                }}
              />{' '}
              beside this forecast
            </label>
          )}
        </p>
        <pre class="command" tabIndex={0} aria-label="Command">
          {text}
        </pre>
        <p class="tools">
          <button type="button" onClick={copy}>
            Copy
          </button>
          <span class="soft" role="status">
            {copied ? 'copied' : ''}
          </span>
        </p>
      </form>
    </>
  );
}

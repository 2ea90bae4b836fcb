// SPDX-License-Identifier: Apache-2.0
// Two scenarios: where the difference comes from, what was changed, and what each change does alone.
import { useState } from 'preact/hooks';
import type { Compared, RunDocument } from './data';
import { atPeak, memoryNames } from './memory';
import { quantity } from './quantity';
import type { Run } from './run';
import { bytes, counted, percent, seconds, signed, words } from './units';
import { Waterfall } from './Waterfall';

const timeParts = (a: RunDocument, b: RunDocument) =>
  [...new Set([...Object.keys(a.time), ...Object.keys(b.time)])].map((key) => ({
    name: words(key.replace(/_s$/, '')),
    from: a.time[key] ?? 0,
    to: b.time[key] ?? 0,
  }));

function memoryParts(a: RunDocument, b: RunDocument) {
  const [from, to] = [a, b].map(({ memory }) => atPeak(memory.stages[memory.peak_stage]!));
  return memoryNames.map(([kind, name]) => ({ name, from: from![kind], to: to![kind] }));
}

const effectOf = ({ effects }: Compared, path: string) =>
  effects.find(({ of }) => path === of || path.startsWith(`${of}.`));

// What tells two runs of one name apart: the first key of each change, and its value there.
export function apart(compared: Compared, side: 'from' | 'to'): string {
  const most = 2,
    firsts = compared.changes.filter(({ path }, i, all) => {
      const of = effectOf(compared, path)?.of;
      return of === undefined || all.findIndex((other) => effectOf(compared, other.path)?.of === of) === i;
    });
  const rest = firsts.length - most;
  return (
    firsts
      .slice(0, most)
      .map((change) => `${change.path} ${quantity(change[side], change.unit)}`)
      .join(', ') + (rest > 0 ? ` and ${counted(rest, 'other key')}` : '')
  );
}

// Keys of one change behind the first: shown where they are few, else folded.
const fewest = 3;

interface Change {
  first: Compared['changes'][number];
  others: Compared['changes'];
  effect: Compared['effects'][number] | undefined;
}

function changesOf(compared: Compared): Change[] {
  const all: Change[] = [];
  for (const change of compared.changes) {
    const effect = effectOf(compared, change.path),
      last = all.at(-1);
    if (effect && last?.effect === effect) last.others.push(change);
    else all.push({ first: change, others: [], effect });
  }
  return all;
}

function Values({ path, from, to, unit }: Compared['changes'][number]) {
  return (
    <>
      <th scope="row" class="n">
        <code>{path}</code>
      </th>
      <td class="n wide">{quantity(from, unit)}</td>
      <td class="n wide">{quantity(to, unit)}</td>
    </>
  );
}

function ChangeRows({
  a,
  change: { first, others, effect },
  least,
}: {
  a: RunDocument;
  change: Change;
  least: number;
}) {
  const [open, setOpen] = useState(others.length <= fewest),
    by = effect?.step_time_s == null ? null : effect.step_time_s - a.step.time_s;
  return (
    <>
      <tr>
        <Values {...first} />
        {!effect ? (
          <td colSpan={4} />
        ) : by === null ? (
          <td class="n wide soft" colSpan={4}>
            not alone: {effect.reason}
          </td>
        ) : (
          <>
            <td class="n">
              <span class="either">
                <i
                  class={by > 0 ? 'more' : 'less'}
                  style={{ width: `${(Math.abs(by) / least) * 50}%`, [by > 0 ? 'left' : 'right']: '50%' }}
                />
              </span>
            </td>
            <td>{signed(seconds, by)}</td>
            <td>{signed(percent, by / a.step.time_s)}</td>
            <td>{effect.peak_bytes == null ? '' : signed(bytes, effect.peak_bytes - a.memory.peak_bytes)}</td>
          </>
        )}
      </tr>
      {others.length > fewest && (
        <tr>
          <td class="n" colSpan={7}>
            <button type="button" class="link" aria-expanded={open} onClick={() => setOpen(!open)}>
              {open ? 'Hide' : 'Show'} {counted(others.length, 'derived key')} of <code>{effect!.of}</code>
            </button>
          </td>
        </tr>
      )}
      {open &&
        others.map((other) => (
          <tr>
            <Values {...other} />
            <td class="n soft" colSpan={4}>
              with the above
            </td>
          </tr>
        ))}
    </>
  );
}

function Changes({ a, compared }: { a: RunDocument; compared: Compared }) {
  if (compared.changes.length === 0)
    return (
      <p class="soft">
        Nothing differs but names: both scenarios ask the same. Give the first another value, by --set KEY=VALUE.
      </p>
    );
  const least = Math.max(
    ...compared.effects.map(({ step_time_s }) => (step_time_s === null ? 0 : Math.abs(step_time_s - a.step.time_s))),
    1e-12,
  );
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="What was changed">
      <table class="changed">
        <thead>
          <tr>
            <th class="n">key</th>
            <th class="n">A</th>
            <th class="n">B</th>
            <th class="n" colSpan={3}>
              alone, it makes the step
            </th>
            <th>memory</th>
          </tr>
        </thead>
        <tbody>
          {changesOf(compared).map((change) => (
            <ChangeRows a={a} change={change} least={least} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function CompareView({ runs, compared }: { runs: Run[]; compared: Compared }) {
  const [a, b] = [runs[0]!.document, runs[1]!.document];
  return (
    <>
      <h2 id="causes-title">From A to B</h2>
      <div class="falls">
        <div>
          <h3>Step time, on the rank that ends last</h3>
          <Waterfall
            parts={timeParts(a, b)}
            from={['A', a.step.time_s]}
            to={['B', b.step.time_s]}
            text={seconds}
            label="Step time from A to B by cause"
          />
        </div>
        <div>
          <h3>Memory of the fullest GPU</h3>
          <Waterfall
            parts={memoryParts(a, b)}
            from={['A', a.memory.peak_bytes]}
            to={['B', b.memory.peak_bytes]}
            text={bytes}
            label="Memory from A to B by kind"
          />
        </div>
      </div>
      <h3>What was changed</h3>
      <Changes a={a} compared={compared} />
    </>
  );
}

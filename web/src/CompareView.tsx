// SPDX-License-Identifier: Apache-2.0
// Two scenarios: where the difference comes from, what was changed, and what each change does alone.
import type { Compared, RunDocument } from './data';
import { atPeak, memoryNames } from './memory';
import { quantity } from './quantity';
import type { Run } from './run';
import { bytes, percent, seconds, signed, words } from './units';
import { Waterfall } from './Waterfall';

const timeParts = (a: RunDocument, b: RunDocument) => [...new Set([...Object.keys(a.time), ...Object.keys(b.time)])]
  .map((key) => ({ name: words(key.replace(/_s$/, '')), from: a.time[key] ?? 0, to: b.time[key] ?? 0 }));

function memoryParts(a: RunDocument, b: RunDocument) {
  const [from, to] = [a, b].map(({ memory }) => atPeak(memory.stages[memory.peak_stage]!));
  return memoryNames.map(([kind, name]) => ({ name, from: from![kind], to: to![kind] }));
}

function Changes({ a, compared: { changes, effects } }: { a: RunDocument; compared: Compared }) {
  if (changes.length === 0) return <p class="soft">Nothing differs but names: both scenarios ask the same. Give the first another value, by --set KEY=VALUE.</p>;
  const effectOf = (path: string) => effects.find(({ of }) => path === of || path.startsWith(`${of}.`));
  const least = Math.max(...effects.map(({ step_time_s }) => (step_time_s === null ? 0 : Math.abs(step_time_s - a.step.time_s))), 1e-12);
  let told = '';
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="What was changed">
      <table class="changed">
        <thead><tr><th class="n">key</th><th class="n">A</th><th class="n">B</th><th class="n" colSpan={3}>alone, it makes the step</th><th>memory</th></tr></thead>
        <tbody>
          {changes.map(({ path, from, to, unit }) => {
            const effect = effectOf(path), first = effect && effect.of !== told, by = effect?.step_time_s == null ? null : effect.step_time_s - a.step.time_s;
            told = effect?.of ?? '';
            return (
              <tr>
                <th scope="row" class="n"><code>{path}</code></th><td class="n wide">{quantity(from, unit)}</td><td class="n wide">{quantity(to, unit)}</td>
                {!first ? <td class="n soft" colSpan={4}>{effect ? 'with the above' : ''}</td>
                  : by === null ? <td class="n wide soft" colSpan={4}>not alone: {effect.reason}</td> : (
                    <>
                      <td class="n"><span class="either"><i class={by > 0 ? 'more' : 'less'} style={{ width: `${Math.abs(by) / least * 50}%`, [by > 0 ? 'left' : 'right']: '50%' }} /></span></td>
                      <td>{signed(seconds, by)}</td><td>{signed(percent, by / a.step.time_s)}</td>
                      <td>{effect.peak_bytes == null ? '' : signed(bytes, effect.peak_bytes - a.memory.peak_bytes)}</td>
                    </>
                  )}
              </tr>
            );
          })}
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
          <Waterfall parts={timeParts(a, b)} from={['A', a.step.time_s]} to={['B', b.step.time_s]} text={seconds} label="Step time from A to B by cause" />
        </div>
        <div>
          <h3>Memory of the fullest GPU</h3>
          <Waterfall parts={memoryParts(a, b)} from={['A', a.memory.peak_bytes]} to={['B', b.memory.peak_bytes]} text={bytes} label="Memory from A to B by kind" />
        </div>
      </div>
      <h3>What was changed</h3>
      <Changes a={a} compared={compared} />
    </>
  );
}

// SPDX-License-Identifier: Apache-2.0
// What the seconds of the step rest on, and what to measure to know them better.
import type { Evidence } from './data';
import type { Run } from './run';
import { percent, seconds, words } from './units';

const sorts = ['measured', 'interpolated', 'scaled', 'physics'] as const;

const shareOf = (value: number, { document }: Run) => percent(value / document.step.time_s);

function Kinds({ run, evidence, name }: { run: Run; evidence: Evidence; name: string }) {
  const rows: [string, Evidence['kinds'][number] | Evidence][] = [
    ['the step', evidence],
    ...evidence.kinds.map((of): [string, typeof of] => [words(of.kind), of]),
  ];
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={`What the time of ${name} rests on`}>
      <table>
        <caption>Share of the step on its critical path, by what its price rests on</caption>
        <thead>
          <tr>
            <th class="n">on the path</th>
            {sorts.map((sort) => (
              <th>{sort}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([title, of]) => (
            <tr>
              <th class="n" scope="row">
                {title}
              </th>
              {sorts.map((sort) => (
                <td>{shareOf(of[`${sort}_s`], run)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Measurements({ run, evidence }: { run: Run; evidence: Evidence }) {
  if (evidence.measurements.length === 0) return null;
  return (
    <>
      <p class="soft small">Measurements that would narrow the forecast most, and what takes them:</p>
      <ul>
        {evidence.measurements.map(({ what, evidence: sort, seconds: time, command }) => (
          <li>
            {seconds(time)} ({shareOf(time, run)}), {sort}: {what}
            {command && (
              <>
                <br />
                <code>{command}</code>
              </>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

export function EvidenceView({ runs, names }: { runs: Run[]; names: string[] }) {
  if (runs.every(({ document }) => !document.evidence)) return null;
  return (
    <>
      <h3>What the forecast rests on</h3>
      {runs.map(
        (run, i) =>
          run.document.evidence && (
            <>
              {runs.length > 1 && <h4>{names[i]}</h4>}
              <Kinds run={run} evidence={run.document.evidence} name={names[i]!} />
              <Measurements run={run} evidence={run.document.evidence} />
            </>
          ),
      )}
    </>
  );
}

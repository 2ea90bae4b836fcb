// SPDX-License-Identifier: Apache-2.0
// The kernels of a pass: in order as a strip, and together as a table.
import { ofKind } from './palette';
import { isComm, kindOfStep, nameOfStep, type PassStep } from './passes';
import type { Drawn } from './run';
import { percent, picoseconds } from './units';

const mostRows = 12;

function Strip({ steps, dark }: { steps: PassStep[]; dark: boolean }) {
  const end = Math.max(...steps.map(({ finish }) => finish)),
    rows = steps.some(({ part }) => isComm(part)) ? 2 : 1;
  return (
    <svg
      class="strip"
      viewBox={`0 0 1000 ${rows * 14}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${steps.length} steps of the pass in their order`}
    >
      {steps.map((step) => (
        <rect
          x={(step.start / end) * 1000}
          y={isComm(step.part) ? 14 : 0}
          height={13}
          width={Math.max(((step.finish - step.start) / end) * 1000 - 0.4, 0.4)}
          fill={ofKind(kindOfStep(step), dark)}
        >
          <title>
            {`${nameOfStep(step)}: ${picoseconds(step.finish - step.start)}, from ${picoseconds(step.start)}`}
          </title>
        </rect>
      ))}
    </svg>
  );
}

export function PassKernels({ run, pass, dark }: { run: Drawn; pass: number; dark: boolean }) {
  const steps = run.passes.of(pass);
  if (steps.length === 0) return null;
  const sums = run.passes.sums(pass),
    end = Math.max(...steps.map(({ finish }) => finish)),
    rest = sums.slice(mostRows);
  return (
    <div class="kernels">
      <h4>Kernels of this kind of pass</h4>
      <Strip steps={steps} dark={dark} />
      <p class="soft small">As it runs on a free GPU whose host is far ahead: {picoseconds(end)}.</p>
      <div class="scroll" tabIndex={0} role="region" aria-label="Kernels of the pass">
        <table>
          <thead>
            <tr>
              <th>together</th>
              <th>of the pass</th>
              <th>runs</th>
              <th>each</th>
              <th class="n">kernel or collective</th>
            </tr>
          </thead>
          <tbody>
            {sums.slice(0, mostRows).map((sum) => (
              <tr>
                <td>{picoseconds(sum.time)}</td>
                <td>{percent(sum.time / end)}</td>
                <td>{sum.runs}</td>
                <td>{picoseconds(sum.time / sum.runs)}</td>
                <th scope="row" class="n">
                  <i class="dot" style={{ background: ofKind(kindOfStep(sum), dark) }} />
                  {nameOfStep(sum)}
                </th>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rest.length > 0 && (
        <p class="soft small">
          and {rest.length} more, {picoseconds(rest.reduce((all, { time }) => all + time, 0))} together.
        </p>
      )}
    </div>
  );
}

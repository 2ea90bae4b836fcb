// SPDX-License-Identifier: Apache-2.0
// The rules of operators, and what the forecast makes of each.
import type { Alert } from './data';
import type { Run } from './run';

const stateWords = { raised: 'RAISED', quiet: 'quiet', not_simulated: 'not simulated' };

function remark({ state, certain, meaning, reason }: Alert): string {
  const doubt = certain ? '' : 'the threshold lies inside the 80 % interval of the step';
  return [reason, doubt, state === 'raised' ? meaning : ''].filter(Boolean).join('; ');
}

export function Alerts({ runs, letters }: { runs: Run[]; letters: string }) {
  const judged = runs
    .map((run, i) => ({ letter: letters[i], alerts: run.document.alerts ?? [] }))
    .filter(({ alerts }) => alerts.length > 0);
  if (judged.length === 0) return null;
  const all = judged.flatMap(({ alerts }) => alerts),
    raised = all.filter(({ state }) => state === 'raised').length;
  return (
    <div class="alerts" role="region" aria-label="Alerts">
      <h2>
        Alerts: {raised} of {all.length} raised
      </h2>
      <div class="scroll" tabIndex={0} role="region" aria-label="Rules of operators">
        <table>
          <thead>
            <tr>
              {runs.length > 1 && <th class="n">run</th>}
              <th class="n">figure</th>
              <th>forecast</th>
              <th class="n">raised if</th>
              <th class="n">state</th>
              <th class="n">remark</th>
            </tr>
          </thead>
          <tbody>
            {judged.flatMap(({ letter, alerts }) =>
              alerts.map((alert) => (
                <tr class={alert.state}>
                  {runs.length > 1 && <td class="n">{letter}</td>}
                  <th scope="row" class="n" title={alert.meaning}>
                    {alert.figure}
                  </th>
                  <td>{alert.words}</td>
                  <td class="n">{alert.condition}</td>
                  <td class="n state">{stateWords[alert.state]}</td>
                  <td class="n wide">{remark(alert)}</td>
                </tr>
              )),
            )}
          </tbody>
        </table>
      </div>
    </div>
  );
}

// SPDX-License-Identifier: Apache-2.0
// The longest bubbles as a list, for those who would rather read than look.
import type { Show } from './Inspector';
import type { Drawn } from './run';
import { type Look, type Store, useStore } from './store';
import { percent, picoseconds } from './units';

const most = 12;

export function BubbleTable({
  runs,
  names,
  store,
  onShow,
}: {
  runs: Drawn[];
  names: string[];
  store: Store<Look>;
  onShow: Show;
}) {
  const { selected } = useStore(store);
  if (runs.every(({ bubbles }) => bubbles.size === 0)) return null;
  return (
    <details class="bubbles">
      <summary>The longest bubbles</summary>
      {runs.map((run, number) => {
        const { bubbles, timeline } = run;
        return (
          <div class="scroll" tabIndex={0} role="region" aria-label={`Longest bubbles of ${names[number]}`}>
            <table>
              {runs.length > 1 && <caption>{names[number]}</caption>}
              <thead>
                <tr>
                  <th>idle for</th>
                  <th>of the step</th>
                  <th>stage</th>
                  <th>from</th>
                  <th class="n">cause</th>
                  <th class="n">waits for</th>
                </tr>
              </thead>
              <tbody>
                {bubbles.longest(most).map((i) => {
                  const lane = timeline.lanes[bubbles.lane[i]!]!,
                    first = bubbles.mainly(i);
                  return (
                    <tr
                      class={
                        selected && 'bubble' in selected && selected.run === number && selected.bubble === i
                          ? 'picked'
                          : ''
                      }
                    >
                      <td>
                        <button
                          type="button"
                          class="link"
                          onClick={() => {
                            store.set({ selected: { run: number, bubble: i } });
                            onShow(number, bubbles.start[i]!, bubbles.finish[i]!, bubbles.lane[i]!);
                          }}
                        >
                          {picoseconds(bubbles.length(i))}
                        </button>
                      </td>
                      <td>{percent(bubbles.length(i) / timeline.end)}</td>
                      <td>{lane.stage}</td>
                      <td>{picoseconds(bubbles.start[i]!)}</td>
                      <td class="n">{bubbles.cause(i)}</td>
                      <td class="n">{first ? `stage ${first.stage}: ${first.name || first.on}` : 'the next step'}</td>
                    </tr>
                  );
                })}
              </tbody>
            </table>
          </div>
        );
      })}
    </details>
  );
}

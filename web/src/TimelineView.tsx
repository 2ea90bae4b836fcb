// SPDX-License-Identifier: Apache-2.0
// The timelines, what steers them, and what is known of the bar or bubble that was picked.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { BubbleTable } from './BubbleTable';
import { Chart } from './chart';
import { Inspector } from './Inspector';
import { Lanes, steer } from './Lanes';
import { takesKeys } from './keys';
import { ofKind } from './palette';
import type { Drawn } from './run';
import { type Look, type Store, useStore } from './store';
import { picoseconds, words } from './units';

const toggled = (set: ReadonlySet<string>, name: string) => {
  const copy = new Set(set);
  if (!copy.delete(name)) copy.add(name);
  return copy;
};

function Overview({ store }: { store: Store<Look> }) {
  const { view, whole } = useStore(store);
  const span = whole.to - whole.from;
  return (
    <div class="overview" aria-hidden="true">
      <div
        style={{
          left: `${((view.from - whole.from) / span) * 100}%`,
          width: `${((view.to - view.from) / span) * 100}%`,
        }}
      />
    </div>
  );
}

interface Props {
  runs: Drawn[];
  names: string[];
  store: Store<Look>;
  charts: (Chart | null)[];
}

export function TimelineView({ runs, names, store, charts }: Props) {
  const look = useStore(store);
  const [matches, setMatches] = useState(-1);
  const kinds = useMemo(
    () => [...new Set(runs.flatMap(({ timeline }) => timeline.sorts.map(([kind]) => kind)))],
    [runs],
  );
  const lanes = useMemo(
    () => [...new Set(runs.flatMap(({ timeline }) => timeline.lanes.map(({ name }) => name)))],
    [runs],
  );

  // Keys that move through time do so wherever the focus is, while the timeline is in sight.
  useEffect(() => {
    const move = (event: KeyboardEvent) => {
      const chart = charts.find((one) => one && one.inSight);
      const scrolls = event.key.startsWith('Arrow') && event.target !== document.body;
      if (chart && !event.defaultPrevented && !takesKeys(event.target) && !scrolls) steer(chart, event);
    };
    addEventListener('keydown', move);
    return () => removeEventListener('keydown', move);
  }, [charts]);

  // After the charts have filtered for their next picture.
  useEffect(() => {
    const frame = requestAnimationFrame(() =>
      requestAnimationFrame(() =>
        setMatches(
          look.query || look.fadedKinds.size > 0 ? charts.reduce((sum, chart) => sum + (chart?.matches ?? 0), 0) : -1,
        ),
      ),
    );
    return () => cancelAnimationFrame(frame);
  }, [look.query, look.fadedKinds]);

  const nextMatch = () => {
    const begin = look.selected && 'slice' in look.selected ? look.selected : { run: 0, slice: -1 };
    for (let n = 0; n <= runs.length; ++n) {
      const run = (begin.run + n) % runs.length,
        chart = charts[run];
      if (!chart) continue;
      for (let slice = n === 0 ? begin.slice + 1 : 0; slice < runs[run]!.timeline.size; ++slice) {
        if (chart.isFaded(slice)) continue;
        const { timeline } = runs[run]!;
        store.set({ selected: { run, slice } });
        chart.show(timeline.start[slice]!, timeline.finish[slice]!, timeline.laneOf(slice));
        return;
      }
    }
  };

  if (runs.every(({ timeline }) => timeline.size === 0))
    return (
      <>
        <h2 id="timeline-title">Timeline</h2>
        <p class="soft">This page leaves it out for its size: simulate the plan with --report.</p>
      </>
    );
  return (
    <>
      <div class="title-row">
        <h2 id="timeline-title">Timeline</h2>
        <div class="tools">
          <input
            type="search"
            placeholder="Search: backward m7 stage3"
            aria-label="Search bars"
            value={look.query}
            onInput={(event) => store.set({ query: event.currentTarget.value })}
            onKeyDown={(event) => {
              if (event.key === 'Enter') nextMatch();
            }}
          />
          {matches >= 0 && (
            <span class="soft" role="status">
              {matches.toLocaleString('en-US')} bars
            </span>
          )}
          <label class="soft">
            colour by{' '}
            <select
              value={look.mode}
              onChange={(event) => store.set({ mode: event.currentTarget.value as Look['mode'] })}
            >
              <option value="pass">pass</option>
              <option value="microbatch">microbatch</option>
            </select>
          </label>
          {runs.some(({ path }) => path.length > 0) && (
            <button type="button" aria-pressed={look.path} onClick={() => store.set({ path: !look.path })}>
              Critical path
            </button>
          )}
          <span class="group">
            <button type="button" aria-label="Zoom in" title="Zoom in (+)" onClick={() => charts[0]?.zoom(0.5)}>
              +
            </button>
            <button type="button" aria-label="Zoom out" title="Zoom out (−)" onClick={() => charts[0]?.zoom(2)}>
              −
            </button>
            <button type="button" title="The whole step (0)" onClick={() => charts[0]?.showWhole()}>
              Fit
            </button>
            <button
              type="button"
              aria-label="Taller lanes"
              title="Taller lanes (])"
              onClick={() => store.set({ tall: Math.min(look.tall * 1.5, 400) })}
            >
              ↕
            </button>
          </span>
        </div>
      </div>
      <div class="legend" role="group" aria-label="Kinds of bars">
        {kinds.map((kind) => (
          <button
            type="button"
            aria-pressed={!look.fadedKinds.has(kind)}
            title={`Show or fade ${words(kind)}`}
            onClick={() => store.set({ fadedKinds: toggled(look.fadedKinds, kind) })}
          >
            <i style={{ background: ofKind(kind, look.dark) }} />
            {words(kind)}
          </button>
        ))}
      </div>
      {lanes.length > 1 && (
        <div class="legend lanes" role="group" aria-label="Streams">
          <span class="soft">streams</span>
          {lanes.map((lane) => (
            <button
              type="button"
              aria-pressed={!look.hiddenLanes.has(lane)}
              title={`Show or hide ${lane}`}
              onClick={() => store.set({ hiddenLanes: toggled(look.hiddenLanes, lane) })}
            >
              {lane}
            </button>
          ))}
        </div>
      )}
      <Overview store={store} />
      {runs.map((run, i) => (
        <Lanes
          run={run}
          number={i}
          of={runs.length}
          name={names[i]!}
          store={store}
          onChart={(chart) => {
            charts[i] = chart;
          }}
        />
      ))}
      <p class="soft small keys">
        <kbd>W</kbd> <kbd>S</kbd> or <kbd>Ctrl</kbd> and wheel zoom, <kbd>A</kbd> <kbd>D</kbd> or dragging move,{' '}
        <kbd>b</kbd> next bubble, <kbd>c</kbd> critical path, <kbd>?</kbd> all keys. Showing{' '}
        {picoseconds(look.view.to - look.view.from)} of {picoseconds(look.whole.to - look.whole.from)}.
      </p>
      <Inspector
        runs={runs}
        names={names}
        store={store}
        charts={charts}
        onShow={(run, from, to, lane) => charts[run]?.show(from, to, lane)}
      />
      <BubbleTable
        runs={runs}
        names={names}
        store={store}
        onShow={(run, from, to, lane) => charts[run]?.show(from, to, lane)}
      />
    </>
  );
}

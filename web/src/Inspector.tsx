// SPDX-License-Identifier: Apache-2.0
// All that is known of the bar or bubble that was picked, as text.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Advice } from './Advice';
import type { Awaited } from './bubbles';
import type { Chart } from './chart';
import { PassKernels } from './PassKernels';
import type { Drawn } from './run';
import { type Look, type Store, useStore } from './store';
import { bytes, flops, flopsPerSecond, percent, picoseconds, words } from './units';

export type Show = (run: number, from: number, to: number, lane: number) => void;

export const nameOf = ({ on, name, stage, rank, slice }: Awaited) => {
  const where = `stage ${stage}${slice < 0 ? ` (rank ${rank})` : ''}`;
  return on === 'host' ? `the host of ${where}` : `${where}\u2019s ${name}`;
};

function Facts({ facts }: { facts: [name: string, value: ComponentChildren][] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Chain({
  run,
  number,
  chain,
  onShow,
  store,
}: {
  run: Drawn;
  number: number;
  chain: Awaited[];
  onShow: Show;
  store: Store<Look>;
}) {
  if (chain.length === 0) return null;
  return (
    <details>
      <summary>Link by link: {chain.length}</summary>
      <ol class="chain">
        {chain.map((link) => (
          <li>
            {link.slice < 0 ? (
              nameOf(link)
            ) : (
              <button
                type="button"
                class="link"
                onClick={() => {
                  store.set({ selected: { run: number, slice: link.slice } });
                  onShow(number, link.start, link.finish, link.lane);
                }}
              >
                {nameOf(link)}
              </button>
            )}{' '}
            <span class="soft">
              {link.lane >= 0 && run.timeline.lanes[link.lane]!.name !== 'compute'
                ? `on ${run.timeline.lanes[link.lane]!.name}, `
                : ''}
              {picoseconds(link.start)} to {picoseconds(link.finish)}
            </span>
          </li>
        ))}
      </ol>
    </details>
  );
}

function Bubble({
  run,
  number,
  bubble,
  store,
  onShow,
}: {
  run: Drawn;
  number: number;
  bubble: number;
  store: Store<Look>;
  onShow: Show;
}) {
  const { timeline, bubbles } = run,
    lane = timeline.lanes[bubbles.lane[bubble]!]!;
  const until = bubbles.until[bubble]!,
    chain = bubbles.chain(bubble),
    parts = bubbles.parts(bubble);
  const told = bubbles.told(bubble),
    said = told.slice(0, 3).map(nameOf).join(', which waits for ');
  return (
    <>
      <h3>
        Bubble on stage {lane.stage}: {bubbles.cause(bubble)}
      </h3>
      <Facts
        facts={[
          ['idle for', picoseconds(bubbles.length(bubble))],
          ['from', picoseconds(bubbles.start[bubble]!)],
          ['to', picoseconds(bubbles.finish[bubble]!)],
          ['rank', lane.rank],
          ['until', until >= 0 ? timeline.name(until) : 'the step ends'],
          ...(parts.length > 1
            ? [
                ['by cause', parts.map(([cause, time]) => `${cause} ${picoseconds(time)}`).join(', ')] as [
                  string,
                  string,
                ],
              ]
            : []),
        ]}
      />
      <p>
        {chain.length > 0
          ? (until >= 0 ? `Before its ${timeline.name(until)}, stage` : 'Stage') +
            ` ${lane.stage} waits for ${said}${told.length > 3 ? ', and so on' : ''}.`
          : 'It waits for the next step\u2019s turn.'}{' '}
        <b>What would help:</b> <Advice text={run.remedies[bubbles.cause(bubble)]} />.
      </p>
      <Chain run={run} number={number} chain={chain} onShow={onShow} store={store} />
    </>
  );
}

function Bar({ run, slice, dark }: { run: Drawn; slice: number; dark: boolean }) {
  const { timeline, bubbles } = run,
    lane = timeline.lanes[timeline.laneOf(slice)]!;
  const microbatch = timeline.microbatch[slice]!,
    [kind, , , chunk] = timeline.sorts[timeline.sort[slice]!]!;
  const duration = timeline.finish[slice]! - timeline.start[slice]!;
  const sent = timeline.bytes(slice),
    computed = timeline.flops(slice);
  const facts: [string, ComponentChildren][] = [
    ['takes', picoseconds(duration)],
    ['from', picoseconds(timeline.start[slice]!)],
    ['to', picoseconds(timeline.finish[slice]!)],
    ['stage', lane.stage],
    ['rank', lane.rank],
    ['stream', lane.name],
    ['kind', words(kind)],
  ];
  if (microbatch >= 0) facts.push(['microbatch', microbatch]);
  if (chunk >= 0) facts.push(['chunk', chunk]);
  if (computed > 0)
    facts.push(['computes', `${flops(computed)} per rank`], ['at', flopsPerSecond((computed / duration) * 1e12)]);
  if (sent > 0) facts.push(['sends', `${bytes(sent)} per rank`]);
  for (const arrow of run.arrowsOf(slice)) {
    const from = timeline.from[arrow]!,
      to = timeline.to[arrow]!;
    const other = from === slice ? to : from,
      there = timeline.lanes[timeline.laneOf(other)]!;
    facts.push([from === slice ? 'to' : 'from', `stage ${there.stage}, ${timeline.name(other)}`]);
  }
  const before = bubbles.before(slice);
  if (before >= 0) {
    const awaited = bubbles.mainly(before);
    facts.push([
      'waited',
      `${picoseconds(bubbles.length(before))} (${bubbles.cause(before)})${awaited ? ` for ${nameOf(awaited)}` : ''}`,
    ]);
  }
  return (
    <>
      <h3>{timeline.name(slice)}</h3>
      <Facts facts={facts} />
      <PassKernels run={run} pass={timeline.steps(slice)} dark={dark} />
    </>
  );
}

function Summary({ run: { waits }, name }: { run: Drawn; name: string | null }) {
  if (waits.length === 0) return null;
  return (
    <p>
      {name !== null && <b>{name}. </b>}
      The step waits for{' '}
      {waits
        .map(
          ({ kind, share }, i) =>
            `${i > 0 ? (i + 1 === waits.length ? ' and ' : ', ') : ''}${words(kind)} ${percent(share)}`,
        )
        .join('')}{' '}
      along its critical path.
    </p>
  );
}

interface InspectorProps {
  runs: Drawn[];
  names: string[];
  store: Store<Look>;
  charts: (Chart | null)[];
  onShow: Show;
}

// Stands at the bottom of the window while something is picked, so that it is in sight wherever the bar is.
export function Inspector({ runs, names, store, charts, onShow }: InspectorProps) {
  const { selected, dark } = useStore(store),
    run = selected && runs[selected.run],
    host = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (!selected || !run) return;
    const lane = 'bubble' in selected ? run.bubbles.lane[selected.bubble]! : run.timeline.laneOf(selected.slice);
    const bar = document.querySelector('.bar')?.getBoundingClientRect().bottom ?? 0;
    charts[selected.run]?.uncover(lane, bar, host.current!.getBoundingClientRect().top);
  }, [selected]);
  return (
    <div
      ref={host}
      class={selected ? 'inspector docked' : 'inspector'}
      aria-live="polite"
      role="region"
      aria-label="What is picked"
      tabIndex={selected ? 0 : undefined}
      onKeyDown={(event) => {
        if (event.key === 'Escape') store.set({ selected: null });
      }}
    >
      {!run || !selected ? (
        <>
          <p class="soft">
            Pick a bar{runs.some(({ bubbles }) => bubbles.size > 0) && ' or a bubble'} to see what it is
            {runs.some(({ bubbles }) => bubbles.size > 0) && ' and what it waited for'}.
          </p>
          {runs.map((one, i) => (
            <Summary run={one} name={runs.length > 1 ? names[i]! : null} />
          ))}
        </>
      ) : (
        <>
          {runs.length > 1 && <p class="soft small">{names[selected.run]}</p>}
          {'bubble' in selected ? (
            <Bubble run={run} number={selected.run} bubble={selected.bubble} store={store} onShow={onShow} />
          ) : (
            <Bar run={run} slice={selected.slice} dark={dark} />
          )}
        </>
      )}
      {selected && (
        <button
          type="button"
          class="close"
          aria-label="Pick nothing"
          title="Pick nothing (Esc)"
          onClick={() => store.set({ selected: null })}
        >
          ×
        </button>
      )}
    </div>
  );
}

// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Chart } from './chart';
import type { Data, PurchaseData, ScheduleData, SweepData, ValidationData } from './data';
import { apart, CompareView } from './CompareView';
import { Headline } from './Headline';
import { Help } from './Help';
import { pageKeys, takesKeys, timelineKeys, type Keys } from './keys';
import { MemoryView } from './MemoryView';
import { NetworkView } from './NetworkView';
import { Drawn, Run } from './run';
import { ScheduleHeadline, ScheduleStages } from './ScheduleView';
import { Store, type Look } from './store';
import { PlansView } from './PlansView';
import { PurchaseHeadline, PurchaseSections } from './PurchasePage';
import { ScenarioView } from './ScenarioView';
import { Sweep } from './sweep';
import { isDrawn, SweepHeadline, SweepSections } from './SweepPage';
import { TimelineView } from './TimelineView';
import { TimeView } from './TimeView';
import { WhatIf } from './WhatIf';
import { ValidationHeadline, ValidationSections } from './ValidationPage';

const letters = 'ABCDEFGH';

function useDark(): [dark: boolean, toggle: () => void] {
  const system = useMemo(() => window.matchMedia('(prefers-color-scheme: dark)'), []);
  const [dark, setDark] = useState(system.matches);
  useEffect(() => {
    const follow = () => setDark(system.matches);
    system.addEventListener('change', follow);
    return () => system.removeEventListener('change', follow);
  }, [system]);
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  return [dark, () => setDark(!dark)];
}

interface FrameProps {
  sections: string[];
  dark: boolean;
  onDark: () => void;
  timeline?: boolean;
  children: ComponentChildren;
}

const ofPage: [string, Keys] = ['The page', pageKeys],
  ofTimeline: [string, Keys] = ['The timeline', timelineKeys];

// "/" goes to the first search of the page.
function useSearchKey() {
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      if (event.key !== '/' || takesKeys(event.target)) return;
      const search = document.querySelector<HTMLInputElement>('input[type=search]');
      if (!search) return;
      event.preventDefault();
      search.focus();
    };
    addEventListener('keydown', focus);
    return () => removeEventListener('keydown', focus);
  }, []);
}

function Frame({ sections, dark, onDark, timeline, children }: FrameProps) {
  useSearchKey();
  return (
    <>
      <header class="bar">
        <strong class="brand">stepcast</strong>
        <nav aria-label="Sections">
          {sections.map((name) => (
            <a href={`#${name.toLowerCase().replace(' ', '-')}`}>{name}</a>
          ))}
        </nav>
        <Help groups={timeline ? [ofTimeline, ofPage] : [ofPage]} />
        <button type="button" onClick={onDark} aria-pressed={dark}>
          {dark ? 'Light' : 'Dark'}
        </button>
      </header>
      <main>{children}</main>
    </>
  );
}

// One way of looking at all of these, and its charts.
function useLook(runs: Drawn[], dark: boolean) {
  const store = useMemo(() => {
    const whole = { from: 0, to: Math.max(1, ...runs.map(({ timeline }) => timeline.end)) };
    return new Store<Look>({
      view: whole,
      whole,
      mode: 'pass',
      dark,
      query: '',
      hiddenLanes: new Set(),
      fadedKinds: new Set(),
      path: false,
      tall: 1,
      selected: null,
    });
  }, [runs]);
  const charts = useMemo<(Chart | null)[]>(() => [], [runs]);
  useEffect(() => store.set({ dark }), [store, dark]);
  // For those who steer the page from outside: tests, and scripts that take pictures.
  useEffect(() => {
    Object.assign(window, { stepcast: { runs, store, charts, ready: performance.now() } });
  }, [runs]);
  return { store, charts };
}

export function App({ data }: { data: Data }) {
  const [dark, toggleDark] = useDark();
  const theme = { dark, onDark: toggleDark };
  switch (data.kind) {
    case 'schedule':
      return <SchedulePage data={data} {...theme} />;
    case 'validate':
      return <ValidationPage data={data} {...theme} />;
    case 'sweep':
      return <SweepPage data={data} {...theme} />;
    case 'purchase':
      return <PurchasePage data={data} {...theme} />;
    default:
      return <RunsPage data={data} {...theme} />;
  }
}

interface Theme {
  dark: boolean;
  onDark: () => void;
}

function ValidationPage({ data, dark, onDark }: Theme & { data: ValidationData }) {
  useEffect(() => {
    document.title = 'Forecasts against measurements \u2013 stepcast';
  }, []);
  return (
    <Frame sections={['Sets', 'Causes', 'Scatter', 'Tables', 'Rows']} dark={dark} onDark={onDark}>
      <h1>Forecasts against published measurements</h1>
      <ValidationHeadline data={data} />
      <ValidationSections data={data} dark={dark} />
    </Frame>
  );
}

function SweepPage({ data, dark, onDark }: Theme & { data: SweepData }) {
  const sweep = useMemo(() => new Sweep(data), [data]),
    name = data.sweep.sweep.name || 'Sweep';
  useEffect(() => {
    document.title = `${name} \u2013 stepcast`;
  }, [name]);
  return (
    <Frame
      sections={
        isDrawn(sweep) ? ['Map', 'Lines', 'Best', 'Points'] : sweep.points.length > 0 ? ['Why', 'Points'] : ['Why']
      }
      dark={dark}
      onDark={onDark}
    >
      <h1>{name}</h1>
      <SweepHeadline data={data} sweep={sweep} />
      <SweepSections data={data} sweep={sweep} dark={dark} />
    </Frame>
  );
}

function PurchasePage({ data, dark, onDark }: Theme & { data: PurchaseData }) {
  const name = data.purchase.name || 'Purchase';
  useEffect(() => {
    document.title = `${name} \u2013 stepcast`;
  }, [name]);
  return (
    <Frame sections={['Front', 'Options', 'Costs', 'Changes']} dark={dark} onDark={onDark}>
      <h1>{name}</h1>
      <PurchaseHeadline data={data} />
      <PurchaseSections data={data} dark={dark} />
    </Frame>
  );
}

function SchedulePage({ data, dark, onDark }: Theme & { data: ScheduleData }) {
  const runs = useMemo(() => [new Drawn(data.timeline, data.name || 'schedule', data.remedies)], [data]);
  const { store, charts } = useLook(runs, dark);
  useEffect(() => {
    document.title = `${runs[0]!.name} \u2013 stepcast`;
  }, [runs]);
  return (
    <Frame timeline sections={['Timeline', 'Stages']} dark={dark} onDark={onDark}>
      <h1>{runs[0]!.name}</h1>
      <ScheduleHeadline data={data} />
      <section id="timeline" aria-labelledby="timeline-title">
        <TimelineView runs={runs} names={[runs[0]!.name]} store={store} charts={charts} />
      </section>
      <section id="stages" aria-labelledby="stages-title">
        <ScheduleStages data={data} run={runs[0]!} dark={dark} />
      </section>
    </Frame>
  );
}

type RunsProps = Theme & { data: Extract<Data, { kind: 'simulate' | 'search' }> };

function RunsPage({ data, dark, onDark }: RunsProps) {
  const all = useMemo(() => data.runs.map((run) => new Run(run)), [data]);
  const [shown, setShown] = useState(0); // of the plans of a search
  const runs = useMemo(() => (data.kind === 'search' ? [all[shown]!] : all), [all, shown]);
  const { store, charts } = useLook(runs, dark);
  const compared = data.kind === 'simulate' ? data.compared : undefined,
    asked = runs.at(-1)!;
  const alike = compared && runs[0]!.name === runs[1]!.name;
  const toldApart = (i: number) =>
    alike && compared.changes.length > 0 ? `, ${apart(compared, i === 0 ? 'from' : 'to')}` : '';
  const names = runs.map((run, i) =>
    runs.length > 1
      ? `${letters[i]}: ${run.name}${toldApart(i)}`
      : data.kind === 'search'
        ? `${run.name}, plan ${shown + 1}`
        : run.name,
  );
  useEffect(() => {
    document.title = `${names.join(' | ')} \u2013 stepcast`;
  }, [names.join()]);
  const forms = data.keys !== undefined && (asked.given.command ?? []).length > 0;
  const sections = [
    ...(data.kind === 'search' ? ['Plans'] : []),
    ...(compared ? ['Causes'] : []),
    'Timeline',
    'Memory',
    'Time',
    'Network',
    ...(forms ? ['What if'] : []),
    'Scenario',
  ];
  return (
    <Frame timeline sections={sections} dark={dark} onDark={onDark}>
      {runs.length > 1 ? (
        <h1>
          {names.map((name) => (
            <span class="run">{name}</span>
          ))}
        </h1>
      ) : (
        <h1>{names[0]}</h1>
      )}
      <Headline runs={runs} letters={letters} />
      {compared && (
        <section id="causes" aria-labelledby="causes-title">
          <CompareView runs={runs} compared={compared} />
        </section>
      )}
      {data.kind === 'search' && (
        <section id="plans" aria-labelledby="plans-title">
          <PlansView search={data.search} runs={all} why={data.why} shown={shown} onShow={setShown} />
        </section>
      )}
      <section id="timeline" aria-labelledby="timeline-title">
        <TimelineView key={shown} charts={charts} runs={runs} names={names} store={store} />
      </section>
      <section id="memory" aria-labelledby="memory-title">
        <MemoryView key={shown} runs={runs} names={names} store={store} dark={dark} />
      </section>
      <section id="time" aria-labelledby="time-title">
        <TimeView runs={runs} names={names} dark={dark} />
      </section>
      <section id="network" aria-labelledby="network-title">
        <NetworkView key={shown} runs={runs} names={names} dark={dark} store={store} />
      </section>
      {forms && (
        <section id="what-if" aria-labelledby="what-if-title">
          <WhatIf key={shown} run={asked} keys={data.keys!} />
        </section>
      )}
      <section id="scenario" aria-labelledby="scenario-title">
        <ScenarioView runs={runs} names={names} />
      </section>
    </Frame>
  );
}

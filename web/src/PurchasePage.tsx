// SPDX-License-Identifier: Apache-2.0
// Which cluster to buy or rent: what is recommended, every option, its cost, and what would change the choice.
import { useEffect, useState } from 'preact/hooks';
import { linear } from './axes';
import type { PurchaseData, PurchaseOption } from './data';
import { Choice, DataTable, Figures, matches, Search, type Column } from './DataTable';
import { ofMicrobatch as cycled } from './palette';
import { Plot } from './Plot';
import { Key, Stack } from './Stack';
import { planWords } from './SweepPage';
import { digits, money, percent, seconds, signed, watts, wattHours, words } from './units';

const days = (value: number) => `${digits(value)} days`;
const range = (low: number | null | undefined, high: number | null | undefined, text: (value: number) => string) =>
  (low == null || high == null || low === high ? '' : `80 %: ${text(low)} to ${text(high)}`);

// What an option falls short of, the worst first.
export function binding({ binding: name, shortfalls }: PurchaseOption): string {
  if (shortfalls && shortfalls.length > 0)
    return shortfalls.map(({ what, excess }) => (excess > 0 && what !== 'plan' ? `${what} (${percent(excess)} over)` : what)).join(', ');
  return name ?? '';
}

// Capital and every other cost that the document names.
const costKinds = (options: PurchaseOption[]): string[] => ['capital', ...new Set(options.flatMap((option) => (
  Object.keys(option).filter((key) => key.endsWith('_cost') && key !== 'total_cost'))))];
const costOf = (option: PurchaseOption, kind: string): number => (typeof option[kind] === 'number' ? option[kind] as number : 0);

export function PurchaseHeadline({ data: { purchase } }: { data: PurchaseData }) {
  const { recommended, options, currency } = purchase, coin = money(currency);
  const best = options.find(({ name }) => name === recommended?.name);
  const feasible = options.filter((option) => option.feasible).length;
  if (!recommended || !best)
    return (
      <>
        <p class="setting bad">No option is feasible.</p>
        <Figures figures={[{ name: 'Options', value: digits(options.length), note: 'none is feasible', bad: true }]} />
      </>
    );
  return (
    <>
      <p class="setting">{recommended.reason}</p>
      <Figures figures={[
        { name: 'Recommended', value: best.name, note: `${digits(best.gpus)} GPUs${recommended.tie ? '; a tie' : ''}` },
        { name: 'Training', value: days(best.days ?? 0), note: `${range(best.days_low, best.days_high, digits)}${best.days_until_done != null ? `; done ${digits(best.days_until_done)} days from the order` : ''}` },
        { name: 'Total cost', value: coin(best.total_cost ?? 0), note: range(best.total_cost_low, best.total_cost_high, coin) },
        ...(recommended.margin != null ? [{ name: 'Margin', value: percent(recommended.margin),
          note: `${recommended.second ? `to ${recommended.second}` : ''}${recommended.uncertainty != null ? `; the forecasts may be ${percent(recommended.uncertainty)} off` : ''}` }] : []),
        ...(best.deadline_probability != null ? [{ name: 'By the deadline', value: percent(best.deadline_probability), note: 'chance, by the interval of the forecast' }] : []),
        { name: 'Options', value: `${digits(feasible)} feasible`, note: `of ${digits(options.length)}` },
      ]} />
    </>
  );
}

interface ViewProps { purchase: PurchaseData['purchase']; dark: boolean; picked: PurchaseOption | null; onPick: (option: PurchaseOption) => void }

// Days to the right, money or energy upwards; the front is what no other option beats in all.
function Front({ purchase, dark, picked, onPick }: ViewProps) {
  const [of, setOf] = useState<'total_cost' | 'energy_wh'>('total_cost');
  const options = purchase.options.filter((option) => option.days != null && option[of] != null);
  if (options.length === 0) return <p class="soft">No option has a plan.</p>;
  const coin = money(purchase.currency), text = of === 'total_cost' ? coin : wattHours;
  const y = linear({ name: of === 'total_cost' ? 'total cost' : 'energy', values: options.map((option) => option[of]!), text, zero: true });
  const x = linear({ name: 'days of training', values: options.map(({ days }) => days!), text: digits, zero: true });
  const colour = (option: PurchaseOption) => cycled(!option.feasible ? -1 : option.name === purchase.recommended?.name ? 3 : purchase.pareto.includes(option.name) ? 0 : 6, dark);
  return (
    <>
      <div class="tools">
        <Choice name="upwards" value={of} onChange={(value) => setOf(value as typeof of)} options={[['total_cost', 'total cost'], ['energy_wh', 'energy']]} />
      </div>
      <Plot x={x} y={y} label={`Days against ${y.name} of ${options.length} options`}>
        {(at) => options.map((option) => {
          const left = at.x(option.days!), top = at.y(option[of]!), end = left > at.right - 150;
          return (
            <g class="option" onClick={() => onPick(option)}>
              <circle class={option === picked ? 'dot-mark picked' : 'dot-mark'} cx={left} cy={top} r={6} fill={option.feasible ? colour(option) : 'var(--paper)'} style={option.feasible ? {} : { stroke: colour(option), strokeWidth: 1.6 }}>
                <title>{`${option.name}: ${days(option.days!)}, ${text(option[of]!)}${option.feasible ? '' : `; not feasible: ${binding(option)}`}`}</title>
              </circle>
              <text x={left + (end ? -10 : 10)} y={top + 4} text-anchor={end ? 'end' : 'start'}>{option.name}</text>
            </g>
          );
        })}
      </Plot>
      <Key parts={[{ name: 'recommended', colour: cycled(3, dark) }, { name: 'no option is better in time, money and energy', colour: cycled(0, dark) },
        { name: 'feasible', colour: cycled(6, dark) }, { name: 'not feasible (hollow)', colour: cycled(-1, dark) }]} />
    </>
  );
}

function Costs({ purchase, dark }: ViewProps) {
  const options = purchase.options.filter(({ total_cost }) => total_cost != null), coin = money(purchase.currency);
  const kinds = costKinds(options).filter((kind) => options.some((option) => costOf(option, kind) > 0));
  const parts = (option: PurchaseOption) => {
    const known = kinds.map((kind, i) => ({ name: words(kind.replace(/_cost$/, '')), value: costOf(option, kind), colour: cycled(i, dark) }));
    const rest = option.total_cost! - known.reduce((sum, { value }) => sum + value, 0);
    return rest > option.total_cost! * 1e-6 ? [...known, { name: 'other', value: rest, colour: cycled(-1, dark) }] : known;
  };
  if (options.length === 0) return null;
  const keys = new Map(options.flatMap(parts).map((part) => [part.name, part]));
  return (
    <>
      <Key parts={[...keys.values()]} />
      <Stack label="Cost of every option by kind" total={Math.max(...options.map(({ total_cost }) => total_cost!))} text={coin} wide
        rows={[...options].sort((a, b) => a.total_cost! - b.total_cost!).map((option) => (
          { name: option.name, parts: parts(option), note: `${coin(option.total_cost!)}${option.feasible ? '' : ', not feasible'}` }))} />
    </>
  );
}

function Options({ purchase, picked, onPick }: ViewProps) {
  const [query, setQuery] = useState(''), coin = money(purchase.currency);
  const rows = purchase.options.filter((option) => matches(query, () => (
    [option.name, binding(option), planWords(option.plan), option.feasible ? 'feasible' : 'not feasible'])));
  const of = (name: string, key: keyof PurchaseOption, text: (value: number) => string): Column<PurchaseOption> => (
    { name, value: (option) => (option[key] ?? null) as number | null, text: (option) => (option[key] == null ? '' : text(option[key] as number)) });
  return (
    <>
      <div class="title-row">
        <h2 id="options-title">Options</h2>
        <div class="tools"><Search what="Search options" hint="Search: h100 feasible" value={query} onInput={setQuery} />
          <span class="soft" role="status">{rows.length} of {purchase.options.length}</span></div>
      </div>
      <DataTable label="Options" rows={rows} size={200} picked={(option) => option === picked} columns={[
        { name: 'option', words: true, value: ({ name }) => name,
          text: (option) => <button type="button" class="link" onClick={() => onPick(option)}>{option.name}</button> },
        { name: 'feasible', words: true, text: (option) => (option.feasible ? (option.name === purchase.recommended?.name ? 'recommended' : purchase.pareto.includes(option.name) ? 'on the front' : 'yes')
          : <span class="bad">no: {binding(option)}</span>), value: (option) => Number(!option.feasible) },
        of('GPUs', 'gpus', digits), of('training days', 'days', digits), of('until done', 'days_until_done', digits), of('total cost', 'total_cost', coin), of('per trillion tokens', 'cost_per_trillion_tokens', coin),
        of('capital', 'capital', coin), of('bought for', 'capital_full', coin), of('energy', 'energy_cost', coin), of('rent', 'rent_cost', coin),
        of('step', 'step_time_s', seconds), of('MFU', 'mfu', percent), of('goodput', 'goodput', percent), of('power', 'power_w', watts), of('energy used', 'energy_wh', wattHours),
        of('by the deadline', 'deadline_probability', percent),
        { name: 'plan', words: true, wide: true, text: ({ plan }) => planWords(plan) },
      ]} />
    </>
  );
}

function Effects({ purchase }: { purchase: PurchaseData['purchase'] }) {
  const coin = money(purchase.currency), options = new Map(purchase.options.map((option) => [option.name, option]));
  const effects = [
    ...(purchase.what_if ?? []).map(({ option, change, days, total_cost }) => ({ option, what: change, days, total_cost })),
    ...purchase.options.flatMap(({ name, what_if }) => (what_if ?? []).map(({ what, days, total_cost }) => ({ option: name, what, days, total_cost }))),
  ];
  type Effect = (typeof effects)[number];
  const change = (effect: Effect, key: 'days' | 'total_cost', text: (value: number) => string) => {
    const from = options.get(effect.option)?.[key];
    return from == null ? '' : `${signed(text, effect[key] - from)} (${signed(percent, from === 0 ? 0 : effect[key] / from - 1)})`;
  };
  if (effects.length === 0) return null;
  return (
    <>
      <h3>What if the fabric were another</h3>
      <p class="soft small">The same plan and prices.</p>
      <DataTable label="Other fabrics" rows={effects} columns={[
        { name: 'option', words: true, text: ({ option }) => option, value: ({ option }) => option },
        { name: 'change', words: true, text: ({ what }) => what, value: ({ what }) => what },
        { name: 'days', text: ({ days }) => digits(days), value: ({ days }) => days }, { name: '', text: (effect) => change(effect, 'days', digits) },
        { name: 'total cost', text: ({ total_cost }) => coin(total_cost), value: ({ total_cost }) => total_cost }, { name: '', text: (effect) => change(effect, 'total_cost', coin) },
      ]} />
    </>
  );
}

function Sensitivity({ purchase }: { purchase: PurchaseData['purchase'] }) {
  const { sensitivity, recommended } = purchase;
  if (sensitivity.length === 0) return null;
  const flips = sensitivity.filter((one) => one.recommended !== (recommended?.name ?? null)).length;
  return (
    <>
      <p>{flips === 0 ? 'None of these changes another option into the best.' : `${flips} of ${sensitivity.length} changes would make another option the best.`}</p>
      <DataTable label="Sensitivity" rows={sensitivity} columns={[
        { name: 'assumption', words: true, text: ({ parameter }) => words(parameter), value: ({ parameter }) => parameter },
        { name: 'changed by', text: ({ change }) => signed(percent, change), value: ({ change }) => change },
        { name: 'then recommended', words: true, value: (one) => one.recommended ?? '',
          text: (one) => (one.recommended === (recommended?.name ?? null) ? one.recommended ?? 'none' : <b>{one.recommended ?? 'none'}</b>) },
      ]} />
    </>
  );
}

function Picked({ option, currency }: { option: PurchaseOption | null; currency: string }) {
  const coin = money(currency);
  if (!option) return <div class="inspector" aria-live="polite"><p class="soft">Pick an option to see more of it.</p></div>;
  const facts: [string, string][] = [['GPUs', digits(option.gpus)], ['feasible', option.feasible ? 'yes' : `no: ${binding(option)}`],
    ...(option.days != null ? [['training', `${days(option.days)} ${range(option.days_low, option.days_high, digits)}`]] as [string, string][] : []),
    ...(option.days_until_done != null ? [['from the order', days(option.days_until_done)]] as [string, string][] : []),
    ...(option.total_cost != null ? [['total cost', `${coin(option.total_cost)} ${range(option.total_cost_low, option.total_cost_high, coin)}`]] as [string, string][] : []),
    ...(option.price_source ? [['price from', `${option.price_source}${option.price_estimated ? ' (an estimate)' : ''}`]] as [string, string][] : [])];
  return (
    <div class="inspector" aria-live="polite">
      <h3>{option.name}</h3>
      <dl class="facts">{facts.map(([name, value]) => <div><dt>{name}</dt><dd>{value}</dd></div>)}</dl>
      {(option.workloads ?? []).map((workload) => (
        <p>{workload.name ? <b>{workload.name}: </b> : ''}{planWords(workload.plan)}; batch {digits(workload.global_batch)}, step {seconds(workload.step_time_s)}, MFU {percent(workload.mfu)}, {days(workload.days)}
          {workload.goodput && <>; goodput {percent(workload.goodput.share)}: lost to checkpoints {percent(workload.goodput.stalls)}, repeated work {percent(workload.goodput.lost_work)}, restarts {percent(workload.goodput.restarts)}</>}
          {workload.outside.length > 0 && <span class="bad">; beyond what was measured: {workload.outside.join('; ')}</span>}</p>
      ))}
      {!option.workloads?.length && option.plan && <p>{planWords(option.plan)}</p>}
    </div>
  );
}

export function PurchaseSections({ data, dark }: { data: PurchaseData; dark: boolean }) {
  const { purchase } = data;
  const [picked, setPicked] = useState<PurchaseOption | null>(null);
  useEffect(() => { Object.assign(window, { stepcast: { purchase, ready: performance.now() } }); }, [data]);
  const view = { purchase, dark, picked, onPick: setPicked };
  return (
    <>
      <section id="front" aria-labelledby="front-title">
        <h2 id="front-title">Time against money</h2>
        <Front {...view} />
        <Picked option={picked} currency={purchase.currency ?? ''} />
      </section>
      <section id="options" aria-labelledby="options-title"><Options {...view} /></section>
      <section id="costs" aria-labelledby="costs-title">
        <h2 id="costs-title">Cost by kind</h2>
        <Costs {...view} />
      </section>
      <section id="changes" aria-labelledby="changes-title">
        <h2 id="changes-title">What would change the choice</h2>
        <Sensitivity purchase={purchase} />
        <Effects purchase={purchase} />
      </section>
    </>
  );
}

// SPDX-License-Identifier: Apache-2.0
// Which cluster to buy or rent: what is recommended, every option, its cost, and what would change the choice.
import { useEffect, useState } from 'preact/hooks';
import { linear } from './axes';
import { Chips } from './Chips';
import type { PurchaseData, PurchaseOption } from './data';
import { Choice, DataTable, Figures, matches, Search, type Column } from './DataTable';
import { ofMicrobatch as cycled } from './palette';
import { Plot } from './Plot';
import { Key, Stack } from './Stack';
import { assumed, binding, chance, isTied, standing } from './purchase';
import { planWords } from './SweepPage';
import { digits, money, percent, seconds, watts, wattHours, words } from './units';
import { Effects, Sensitivity } from './PurchaseChanges';

const days = (value: number) => `${digits(value)} days`;
const range = (low: number | null | undefined, high: number | null | undefined, text: (value: number) => string) =>
  low == null || high == null || low === high ? '' : `80 %: ${text(low)} to ${text(high)}`;

// Capital and every other cost that the document names.
const costKinds = (options: PurchaseOption[]): string[] => [
  'capital',
  ...new Set(
    options.flatMap((option) => Object.keys(option).filter((key) => key.endsWith('_cost') && key !== 'total_cost')),
  ),
];
const costOf = (option: PurchaseOption, kind: string): number =>
  typeof option[kind] === 'number' ? (option[kind] as number) : 0;

export function PurchaseHeadline({ data: { purchase } }: { data: PurchaseData }) {
  const { recommended, options, currency } = purchase,
    coin = money(currency);
  const best = options.find(({ name }) => name === recommended?.name);
  const feasible = options.filter((option) => option.feasible).length;
  if (!recommended || !best)
    return (
      <>
        <p class="setting bad">No option is feasible.</p>
        <ul>
          {[...new Set(options.map(binding))].filter(Boolean).map((what) => (
            <li>
              {what}:{' '}
              {options
                .filter((option) => binding(option) === what)
                .map(({ name }) => name)
                .join(', ')}
            </li>
          ))}
        </ul>
        <p class="soft">
          Give them more: a later <code>constraints.deadline</code>, a larger <code>constraints.budget</code>, or
          options with more GPUs.
        </p>
        <Figures figures={[{ name: 'Options', value: digits(options.length), note: 'none is feasible', bad: true }]} />
      </>
    );
  const ties = [best.name, ...(recommended.ties ?? [])],
    bought = typeof best.capital_full === 'number' && best.capital_full > 0 ? best.capital_full : null;
  const uncertain =
    recommended.uncertainty != null ? `; the forecasts may be ${percent(recommended.uncertainty)} off` : '';
  return (
    <>
      <p class="setting">{recommended.reason}</p>
      {(purchase.warnings ?? []).length > 0 && (
        <ul class="warnings" aria-label="Warnings">
          {purchase.warnings!.map((warning) => (
            <li>{warning}</li>
          ))}
        </ul>
      )}
      <Figures
        figures={[
          recommended.tie
            ? {
                name: 'A tie',
                value: ties.slice(0, 3).join(' or '),
                note:
                  (ties.length > 3 ? `and ${ties.length - 3} more; ` : '') +
                  `no forecast tells them apart; ${best.name} by a hair: ${digits(best.gpus)} GPUs`,
              }
            : { name: 'Recommended', value: best.name, note: `${digits(best.gpus)} GPUs` },
          ...(typeof best.paid === 'number'
            ? [
                {
                  name: 'To pay',
                  value: coin(best.paid),
                  note: `until the last token${bought !== null ? ', the whole price of the hardware with it' : ''}`,
                },
              ]
            : bought !== null
              ? [
                  {
                    name: 'To pay for the hardware',
                    value: coin(bought),
                    note: `its whole price; ${coin(best.capital as number)} of it is used up by this training`,
                  },
                ]
              : []),
          {
            name: bought !== null || typeof best.paid === 'number' ? 'Cost of the training' : 'To pay',
            value: coin(best.total_cost ?? 0),
            note: `${range(best.total_cost_low, best.total_cost_high, coin)}; by kind below`,
          },
          {
            name: 'Training',
            value: days(best.days ?? 0),
            note:
              range(best.days_low, best.days_high, digits) +
              (best.days_until_done != null ? `; done ${digits(best.days_until_done)} days from the order` : ''),
          },
          ...(recommended.margin != null
            ? [
                {
                  name: 'Margin',
                  value: percent(recommended.margin),
                  note: `${recommended.second ? `to ${recommended.second}` : ''}${uncertain}`,
                },
              ]
            : []),
          ...(best.deadline_probability != null
            ? [
                {
                  name: 'By the deadline',
                  value: chance(best.deadline_probability),
                  note: 'chance, by the interval of the forecast',
                },
              ]
            : []),
          { name: 'Options', value: `${digits(feasible)} feasible`, note: `of ${digits(options.length)}` },
        ]}
      />
    </>
  );
}

interface ViewProps {
  purchase: PurchaseData['purchase'];
  dark: boolean;
  picked: PurchaseOption | null;
  onPick: (option: PurchaseOption) => void;
}

// Labels above their dots, or as far up as the ones below them want.
function apart<T extends { left: number; top: number }>(dots: T[]): (T & { label: number })[] {
  const placed: { left: number; label: number }[] = [];
  return [...dots]
    .sort((a, b) => b.top - a.top)
    .map((dot) => {
      let label = dot.top - 8;
      while (placed.some((other) => Math.abs(other.left - dot.left) < 130 && Math.abs(other.label - label) < 13))
        label -= 13;
      placed.push({ left: dot.left, label });
      return { ...dot, label };
    });
}

// Days to the right, money or energy upwards; the front is what no other option beats in all.
function Front({ purchase, dark, picked, onPick }: ViewProps) {
  const [of, setOf] = useState<'total_cost' | 'energy_wh'>('total_cost');
  const options = purchase.options.filter((option) => option.days != null && option[of] != null);
  if (options.length === 0)
    return (
      <p class="soft">
        No option has a plan, so there are no days and no costs to draw. The list below says what each falls short of;
        more GPUs, or smaller limits in <code>search:</code>, would help.
      </p>
    );
  const coin = money(purchase.currency),
    text = of === 'total_cost' ? coin : wattHours;
  const ends = (option: PurchaseOption) =>
    of === 'total_cost' && option.total_cost_low != null && option.total_cost_high != null
      ? [option.total_cost_low, option.total_cost_high]
      : [option[of]!, option[of]!];
  const times = (option: PurchaseOption) => [option.days_low ?? option.days!, option.days_high ?? option.days!];
  const y = linear({
    name: of === 'total_cost' ? 'cost of the training' : 'energy',
    values: options.flatMap(ends),
    text,
  });
  const x = linear({ name: 'days of training', values: options.flatMap(times), text: digits });
  const colour = (option: PurchaseOption) =>
    cycled(
      !option.feasible
        ? -1
        : option.name === purchase.recommended?.name || isTied(purchase, option.name)
          ? 3
          : purchase.pareto.includes(option.name)
            ? 0
            : 6,
      dark,
    );
  return (
    <>
      <div class="tools">
        <Choice
          name="upwards"
          value={of}
          onChange={(value) => setOf(value as typeof of)}
          options={[
            ['total_cost', 'total cost'],
            ['energy_wh', 'energy'],
          ]}
        />
      </div>
      <Plot x={x} y={y} label={`Days against ${y.name} of ${options.length} options`}>
        {(at) =>
          apart(options.map((option) => ({ option, left: at.x(option.days!), top: at.y(option[of]!) }))).map(
            ({ option, left, top, label }) => {
              const end = left > at.right - 150;
              return (
                <g class="option" onClick={() => onPick(option)}>
                  <path
                    class="whisker"
                    stroke={colour(option)}
                    d={
                      `M${at.x(times(option)[0]!)} ${top}H${at.x(times(option)[1]!)}` +
                      `M${left} ${at.y(ends(option)[0]!)}V${at.y(ends(option)[1]!)}`
                    }
                  />
                  <circle
                    class={option === picked ? 'dot-mark picked' : 'dot-mark'}
                    cx={left}
                    cy={top}
                    r={6}
                    fill={option.feasible ? colour(option) : 'var(--paper)'}
                    style={option.feasible ? {} : { stroke: colour(option), strokeWidth: 1.6 }}
                  >
                    <title>
                      {`${option.name}: ${days(option.days!)}, ${text(option[of]!)}` +
                        (option.feasible ? '' : `; not feasible: ${binding(option)}`)}
                    </title>
                  </circle>
                  <text x={left + (end ? -10 : 10)} y={label} text-anchor={end ? 'end' : 'start'}>
                    {option.name}
                  </text>
                </g>
              );
            },
          )
        }
      </Plot>
      <Key
        parts={[
          {
            name: purchase.recommended?.tie ? 'a tie: no forecast tells them apart' : 'recommended',
            colour: cycled(3, dark),
          },
          { name: 'no option is better in time, money and energy', colour: cycled(0, dark) },
          { name: 'feasible', colour: cycled(6, dark) },
          { name: 'not feasible (hollow)', colour: cycled(-1, dark) },
        ]}
      />
      <p class="soft small">Lines reach over the 80 % interval: options whose lines overlap are hard to tell apart.</p>
    </>
  );
}

function Costs({ purchase, dark }: ViewProps) {
  const options = purchase.options.filter(({ total_cost }) => total_cost != null),
    coin = money(purchase.currency);
  const kinds = costKinds(options).filter((kind) => options.some((option) => costOf(option, kind) > 0));
  const parts = (option: PurchaseOption) => {
    const known = kinds.map((kind, i) => ({
      name: words(kind.replace(/_cost$/, '')),
      value: costOf(option, kind),
      colour: cycled(i, dark),
    }));
    const rest = option.total_cost! - known.reduce((sum, { value }) => sum + value, 0);
    return rest > option.total_cost! * 1e-6
      ? [...known, { name: 'other', value: rest, colour: cycled(-1, dark) }]
      : known;
  };
  if (options.length === 0) return null;
  const keys = new Map(options.flatMap(parts).map((part) => [part.name, part]));
  return (
    <>
      <Key parts={[...keys.values()]} />
      <Stack
        label="Cost of every option by kind"
        total={Math.max(...options.map(({ total_cost }) => total_cost!))}
        text={coin}
        wide
        rows={[...options]
          .sort((a, b) => a.total_cost! - b.total_cost!)
          .map((option) => ({
            name: option.name,
            parts: parts(option),
            note: `${coin(option.total_cost!)}${option.feasible ? '' : ', not feasible'}`,
          }))}
      />
    </>
  );
}

function Options({ purchase, picked, onPick }: ViewProps) {
  const [query, setQuery] = useState(''),
    coin = money(purchase.currency);
  const rows = purchase.options.filter((option) =>
    matches(query, () => [
      option.name,
      binding(option),
      planWords(option.plan),
      option.feasible ? 'feasible' : 'not feasible',
    ]),
  );
  const of = (name: string, key: keyof PurchaseOption, text: (value: number) => string): Column<PurchaseOption> => ({
    name,
    value: (option) => (option[key] ?? null) as number | null,
    text: (option) => (option[key] == null ? '' : text(option[key] as number)),
  });
  return (
    <>
      <div class="title-row">
        <h2 id="options-title">Options</h2>
        <div class="tools">
          <Search what="Search options" hint="Search: h100 feasible" value={query} onInput={setQuery} />
          <span class="soft" role="status">
            {rows.length} of {purchase.options.length}
          </span>
        </div>
      </div>
      <DataTable
        label="Options"
        rows={rows}
        size={200}
        picked={(option) => option === picked}
        columns={[
          {
            name: 'option',
            words: true,
            value: ({ name }) => name,
            text: (option) => (
              <button type="button" class="link" onClick={() => onPick(option)}>
                {option.name}
              </button>
            ),
          },
          {
            name: 'feasible',
            words: true,
            text: (option) =>
              option.feasible ? standing(purchase, option) : <span class="bad">no: {binding(option)}</span>,
            value: (option) => Number(!option.feasible),
          },
          of('GPUs', 'gpus', digits),
          of('training days', 'days', digits),
          of('until done', 'days_until_done', digits),
          of('total cost', 'total_cost', coin),
          ...(rows.some(({ paid }) => paid != null) ? [of('to pay', 'paid', coin)] : []),
          of('hardware price', 'capital_full', coin),
          of('per trillion tokens', 'cost_per_trillion_tokens', coin),
          of('MFU', 'mfu', percent),
          ...(purchase.options.every(assumed) ? [] : [of('goodput', 'goodput', percent)]),
          of('by the deadline', 'deadline_probability', chance),
          { name: 'plan', words: true, wide: true, text: ({ plan }) => <Chips words={planWords(plan)} /> },
        ]}
      />
    </>
  );
}

function Picked({ option, currency }: { option: PurchaseOption | null; currency: string }) {
  const coin = money(currency);
  if (!option)
    return (
      <div class="inspector" aria-live="polite">
        <p class="soft">Pick an option to see more of it.</p>
      </div>
    );
  const figure = (name: string, key: string, text: (value: number) => string): [string, string][] =>
    typeof option[key] === 'number' && option[key] !== 0 ? [[name, text(option[key] as number)]] : [];
  const facts: [string, string][] = [
    ['GPUs', digits(option.gpus)],
    ['feasible', option.feasible ? 'yes' : `no: ${binding(option)}`],
    ...(option.days != null
      ? ([['training', `${days(option.days)} ${range(option.days_low, option.days_high, digits)}`]] as [
          string,
          string,
        ][])
      : []),
    ...(option.days_until_done != null
      ? ([['from the order', days(option.days_until_done)]] as [string, string][])
      : []),
    ...(option.total_cost != null
      ? ([
          ['total cost', `${coin(option.total_cost)} ${range(option.total_cost_low, option.total_cost_high, coin)}`],
        ] as [string, string][])
      : []),
    ...figure('hardware price', 'capital_full', coin),
    ...figure('energy', 'energy_cost', coin),
    ...figure('rent', 'rent_cost', coin),
    ...figure('step', 'step_time_s', seconds),
    ...figure('MFU', 'mfu', percent),
    ...(assumed(option) ? [] : figure('goodput', 'goodput', percent)),
    ...figure('power', 'power_w', watts),
    ...figure('energy used', 'energy_wh', wattHours),
    ...figure('racks', 'racks', digits),
    ...(option.price_source
      ? ([['price from', `${option.price_source}${option.price_estimated ? ' (an estimate)' : ''}`]] as [
          string,
          string,
        ][])
      : []),
  ];
  return (
    <div class="inspector" aria-live="polite">
      <h3>{option.name}</h3>
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {(option.workloads ?? []).map((workload) => (
        <p>
          {workload.name ? <b>{workload.name}: </b> : ''}
          <Chips words={planWords(workload.plan)} />
          batch {digits(workload.global_batch)}, step {seconds(workload.step_time_s)}, MFU {percent(workload.mfu)},{' '}
          {days(workload.days)}
          {workload.goodput && !assumed(option) && (
            <>
              ; goodput {percent(workload.goodput.share)}: lost to checkpoints {percent(workload.goodput.stalls)},
              repeated work {percent(workload.goodput.lost_work)}, restarts {percent(workload.goodput.restarts)}
            </>
          )}
          {workload.outside.length > 0 && (
            <span class="bad">; beyond what was measured: {workload.outside.join('; ')}</span>
          )}
        </p>
      ))}
      {!option.workloads?.length && option.plan && <Chips words={planWords(option.plan)} />}
    </div>
  );
}

export function PurchaseSections({ data, dark }: { data: PurchaseData; dark: boolean }) {
  const { purchase } = data;
  const [picked, setPicked] = useState<PurchaseOption | null>(
    purchase.options.find(({ name }) => name === purchase.recommended?.name) ?? null,
  );
  useEffect(() => {
    Object.assign(window, { stepcast: { purchase, ready: performance.now() } });
  }, [data]);
  const view = { purchase, dark, picked, onPick: setPicked };
  return (
    <>
      <section id="front" aria-labelledby="front-title">
        <h2 id="front-title">Time against money</h2>
        <div class="beside">
          <div>
            <Front {...view} />
          </div>
          <Picked option={picked} currency={purchase.currency ?? ''} />
        </div>
      </section>
      <section id="options" aria-labelledby="options-title">
        <Options {...view} />
      </section>
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

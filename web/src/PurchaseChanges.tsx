// SPDX-License-Identifier: Apache-2.0
// What would change the choice: other fabrics, and assumptions that are a fifth off.
import type { PurchaseData } from './data';
import { DataTable } from './DataTable';
import { digits, money, percent, signed, words } from './units';

const least = 5e-4; // of a figure: a smaller change is none

// What other fabrics do to each option; those that do nothing are named together.
export function Effects({ purchase }: { purchase: PurchaseData['purchase'] }) {
  const coin = money(purchase.currency),
    options = new Map(purchase.options.map((option) => [option.name, option]));
  const effects = [
    ...(purchase.what_if ?? []).map(({ option, change, days, total_cost }) => ({
      option,
      what: change,
      days,
      total_cost,
    })),
    ...purchase.options.flatMap(({ name, what_if }) =>
      (what_if ?? []).map(({ what, days, total_cost }) => ({ option: name, what, days, total_cost })),
    ),
  ];
  type Effect = (typeof effects)[number];
  const by = (effect: Effect, key: 'days' | 'total_cost') =>
    effect[key] - (options.get(effect.option)?.[key] ?? effect[key]);
  const share = (effect: Effect, key: 'days' | 'total_cost') =>
    by(effect, key) / (options.get(effect.option)?.[key] || 1);
  const matters = (effect: Effect) =>
    Math.abs(share(effect, 'days')) >= least || Math.abs(share(effect, 'total_cost')) >= least;
  const told = (effect: Effect, key: 'days' | 'total_cost', text: (value: number) => string) =>
    Math.abs(share(effect, key)) < least
      ? 'as now'
      : `${signed(text, by(effect, key))} (${signed(percent, share(effect, key))})`;
  const shown = effects.filter(matters),
    most = Math.max(...shown.map((effect) => Math.abs(share(effect, 'total_cost'))), 1e-9);
  if (effects.length === 0) return null;
  const idle = [...options.keys()].map((name): [string, string[]] => [
    name,
    effects.filter((effect) => effect.option === name && !matters(effect)).map(({ what }) => what),
  ]);
  return (
    <>
      <h3>What if the fabric were another</h3>
      <p class="soft small">The same plan and prices.</p>
      {shown.length > 0 && (
        <DataTable
          label="Other fabrics"
          rows={shown}
          columns={[
            { name: 'option', words: true, text: ({ option }) => option, value: ({ option }) => option },
            { name: 'change', words: true, text: ({ what }) => what, value: ({ what }) => what },
            { name: 'days', text: (effect) => told(effect, 'days', digits), value: (effect) => by(effect, 'days') },
            {
              name: 'total cost',
              text: (effect) => told(effect, 'total_cost', coin),
              value: (effect) => by(effect, 'total_cost'),
            },
            { name: '', words: true, text: (effect) => <Either share={share(effect, 'total_cost') / most} /> },
          ]}
        />
      )}
      {idle
        .filter(([, what]) => what.length > 0)
        .map(([name, what]) => (
          <p class="soft">
            {name}: {what.join(', ')} {what.length > 1 ? 'change' : 'changes'} neither by 0.05 %.
          </p>
        ))}
    </>
  );
}

function Either({ share }: { share: number }) {
  return (
    <span class="either">
      <i
        class={share > 0 ? 'more' : 'less'}
        style={{ width: `${Math.abs(share) * 50}%`, [share > 0 ? 'left' : 'right']: '50%' }}
      />
    </span>
  );
}

interface Swing {
  name: string;
  ends: { change: number; cost: number | null; flips: string | null }[];
  width: number;
}

// What the recommended option costs where an assumption is a fifth more or less: the widest first.
function Tornado({ purchase, base }: { purchase: PurchaseData['purchase']; base: number | null }) {
  const coin = money(purchase.currency),
    { sensitivity, recommended } = purchase;
  const swings: Swing[] = [...new Set(sensitivity.map(({ parameter }) => parameter))].map((name) => {
    const ends = sensitivity
      .filter(({ parameter }) => parameter === name)
      .map((one) => ({
        change: one.change,
        cost: one.total_cost ?? null,
        flips: one.recommended === (recommended?.name ?? null) ? null : (one.recommended ?? 'none'),
      }));
    return {
      name,
      ends,
      width: base === null ? 0 : Math.max(...ends.map(({ cost }) => (cost === null ? 0 : Math.abs(cost - base)))),
    };
  });
  const shown = swings
    .filter(({ width, ends }) => (base !== null && width >= base * least) || ends.some(({ flips }) => flips !== null))
    .sort((a, b) => b.width - a.width);
  const idle = swings.filter((one) => !shown.includes(one)),
    most = Math.max(...shown.map(({ width }) => width), 1e-9);
  return (
    <>
      <div class="tornado" role="group" aria-label="Sensitivity">
        {shown.map(({ name, ends }) => (
          <div class="tornado-row">
            <span>{words(name)}</span>
            <span class="swing">
              {ends
                .filter(({ cost }) => cost !== null && base !== null && cost !== base)
                .map(({ change, cost }) => (
                  <i
                    class={cost! > base! ? 'more' : 'less'}
                    title={`${signed(percent, change)}: ${coin(cost!)}`}
                    style={{
                      width: `${(Math.abs(cost! - base!) / most) * 50}%`,
                      [cost! > base! ? 'left' : 'right']: '50%',
                    }}
                  />
                ))}
            </span>
            <span>
              {[...ends]
                .sort((a, b) => a.change - b.change)
                .map(({ change, cost, flips }, i) => (
                  <>
                    {i > 0 && '; '}
                    {signed(percent, change).replace('.0', '')}
                    {cost !== null && base !== null && `: ${signed(coin, cost - base)}`}
                    {flips !== null && <b> then {flips}</b>}
                  </>
                ))}
            </span>
          </div>
        ))}
      </div>
      {idle.length > 0 && (
        <p class="soft">
          {idle.map(({ name }) => words(name)).join(', ')}:{' '}
          {base === null
            ? 'change nothing about the choice.'
            : 'a fifth more or less changes neither the choice nor its cost by 0.05 %.'}
        </p>
      )}
    </>
  );
}

export function Sensitivity({ purchase }: { purchase: PurchaseData['purchase'] }) {
  const { sensitivity, recommended, options } = purchase;
  if (sensitivity.length === 0) return <p class="soft">Without a feasible option there is no choice to change.</p>;
  const flips = sensitivity.filter((one) => one.recommended !== (recommended?.name ?? null)).length;
  const best = options.find(({ name }) => name === recommended?.name),
    told = sensitivity.some(({ total_cost }) => total_cost != null);
  return (
    <>
      <p>
        {flips === 0
          ? 'None of these changes another option into the best.'
          : `${flips} of ${sensitivity.length} changes would make another option the best.`}{' '}
        {best && told && <>What {best.name} costs, and which would be chosen, with an assumption a fifth off:</>}
      </p>
      <Tornado purchase={purchase} base={told ? (best?.total_cost ?? null) : null} />
    </>
  );
}

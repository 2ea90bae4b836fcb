// SPDX-License-Identifier: Apache-2.0
// The machine, drawn: a node, the fabric above it, every kind of link in the colour of its load.
import type { Link } from './data';
import { LoadStrips } from './LoadStrips';
import type { Look, Store } from './store';
import type { Run } from './run';
import { bandwidth, digits, percent, seconds, words } from './units';

const shownLinks = 10,
  shownOfKind = 5,
  shownLosses = 6;

function busiest(links: Link[], kinds: string[]): Link | undefined {
  return links.find(({ kind }) => kinds.includes(kind));
}

// Five steps of load, told apart by width too.
const step = (load: number) => (load >= 0.8 ? 4 : load >= 0.5 ? 3 : load >= 0.2 ? 2 : load >= 0.02 ? 1 : 0);

function Lines({ load, lines }: { load: number | undefined; lines: [number, number, number, number][] }) {
  const css = load === undefined ? 'link unknown' : `link load${step(load)}`;
  return <path class={css} d={lines.map(([a, b, c, d]) => `M${a} ${b}L${c} ${d}`).join('')} />;
}

const spread = (count: number, width: number, left: number) =>
  Array.from({ length: count }, (_, i) => left + (width * (i + 0.5)) / count);

function Machine({ run, name }: { run: Run; name: string }) {
  const { cluster } = run.document.scenario,
    { links } = run.document.network,
    { fabric } = run.given;
  const node = cluster.node,
    gpus = Math.min(node.gpus, cluster.gpus, 8);
  const nvlink = node.nvlink?.kind && node.nvlink.kind !== 'none';
  const inside = busiest(links, nvlink ? ['nvlink'] : ['pcie']),
    nic = busiest(links, ['nic']);
  const upper: Record<string, string[]> = { spine: ['leaf_spine'], core: ['spine_core'], router: ['torus'] };
  const tiers = fabric?.tiers ?? [],
    nics = fabric ? Math.min(node.nics?.count ?? 0, 8) : 0;
  const width = 640,
    left = 20,
    wide = width - 40,
    tierHeight = 74,
    top = tiers.length * tierHeight + 8;
  const xs = spread(gpus, wide - 40, left + 20),
    nicXs = spread(Math.max(nics, 1), wide - 40, left + 20);
  const hubY = top + (nics > 0 ? 96 : 52),
    gpuY = hubY + 46;
  const height = gpuY + 52;
  const label = (x: number, y: number, text: string, css = '', anchor: 'start' | 'middle' | 'end' = 'middle') => (
    <text class={css} x={x} y={y} text-anchor={anchor}>
      {text}
    </text>
  );
  return (
    <svg
      class="machine"
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={
        `Topology of ${name}: ${node.gpus} GPUs per node` +
        (inside ? `, links inside at most ${percent(inside.utilisation)} busy` : '') +
        (nic ? `, NICs at most ${percent(nic.utilisation)} busy` : '')
      }
    >
      {[...tiers].reverse().map((tier, i) => {
        const y = 8 + i * tierHeight,
          boxes = Math.min(tier.switches, 8),
          here = spread(boxes, wide, left);
        const below = tiers[tiers.length - 2 - i];
        const lower = below ? spread(Math.min(below.switches, 8), wide, left) : nicXs.slice(0, Math.max(nics, 1));
        const load = below ? busiest(links, upper[tier.name] ?? []) : busiest(links, ['nic', 'torus']);
        const lowerY = below ? y + tierHeight : top + 22;
        return (
          <g>
            <Lines
              load={load?.utilisation}
              lines={here.flatMap((x, n) =>
                (below || boxes < lower.length ? lower : [lower[n % lower.length]!]).map(
                  (to): [number, number, number, number] => [x, y + 26, to, lowerY],
                ),
              )}
            />
            {here.map((x) => (
              <rect class="switch" x={x - 16} y={y} width={32} height={26} rx={3} />
            ))}
            {boxes < tier.switches && label(width / 2, y + 17, '\u2026', 'dots')}
            <rect class="plate" x={left} y={y + 31} width={wide} height={16} />
            {label(
              left + 2,
              y + 43,
              `${digits(tier.switches)} ${tier.name} switch${tier.switches === 1 ? '' : 'es'}, ` +
                `${digits(tier.cables_down)} cables down`,
              'small',
              'start',
            )}
            {load && label(width - left - 2, y + 43, `busiest ${percent(load.utilisation)}`, 'small load', 'end')}
          </g>
        );
      })}
      <rect class="node" x={left} y={top} width={wide} height={height - top - 4} rx={6} />
      {nics > 0 && (
        <g>
          <Lines load={nic?.utilisation} lines={nicXs.map((x) => [x, top + 44, x, hubY])} />
          {nicXs.map((x) => (
            <>
              <rect class="chip" x={x - 22} y={top + 22} width={44} height={22} rx={3} />
              {label(x, top + 37, 'NIC', 'small')}
            </>
          ))}
        </g>
      )}
      <Lines load={inside?.utilisation} lines={xs.map((x) => [x, hubY + 22, x, gpuY])} />
      <rect class="hub" x={left + 20} y={hubY} width={wide - 40} height={22} rx={3} />
      {label(
        width / 2,
        hubY + 15,
        (nvlink ? `NVLink ${words(node.nvlink.kind)} ${bandwidth(node.nvlink.bandwidth)}` : 'PCIe') +
          (inside ? `, busiest ${percent(inside.utilisation)}` : ''),
        'small',
      )}
      {xs.map((x) => (
        <>
          <rect class="chip" x={x - 26} y={gpuY} width={52} height={24} rx={3} />
          {label(x, gpuY + 16, 'GPU', 'small')}
        </>
      ))}
      {label(
        left + 8,
        height - 12,
        `one of ${digits(Math.ceil(cluster.gpus / node.gpus))} nodes: ` +
          `${node.gpus} × ${node.device?.name ?? node.device?.base ?? 'GPU'}`,
        'small',
        'start',
      )}
      {nics > 0 &&
        label(
          width - left - 8,
          height - 12,
          `${node.nics.count} NICs of ${bandwidth(node.nics.bandwidth)}`,
          'small',
          'end',
        )}
    </svg>
  );
}

// The busiest, few of each kind.
function shownOf(links: Link[]): Link[] {
  const shown: Link[] = [];
  for (const link of links) if (shown.filter(({ kind }) => kind === link.kind).length < shownOfKind) shown.push(link);
  return shown.slice(0, shownLinks);
}

function Links({ run, name }: { run: Run; name: string }) {
  const { links, slowed } = run.document.network;
  const shown = shownOf(links);
  if (links.length === 0) return <p class="soft">Nothing was sent over a link.</p>;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={`Busiest links of ${name}`}>
      <table>
        <caption>Busiest links</caption>
        <thead>
          <tr>
            <th class="n">link</th>
            <th class="n">kind</th>
            <th>alike</th>
            <th>busy</th>
            <td class="n" />
          </tr>
        </thead>
        <tbody>
          {shown.map((link) => (
            <tr>
              <th class="n" scope="row">
                {link.name}
              </th>
              <td class="n">{words(link.kind)}</td>
              <td>{digits(link.alike)}</td>
              <td>{percent(link.utilisation)}</td>
              <td class="n">
                <span class="meter">
                  <i
                    class={`load${step(link.utilisation)}`}
                    style={{ width: `${Math.min(1, link.utilisation) * 100}%` }}
                  />
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {links.length > shown.length && (
        <p class="soft small">and {digits(links.length - shown.length)} quieter sorts of links.</p>
      )}
      {slowed.length > 0 && (
        <>
          <h3>Slowed by sharing</h3>
          <ul>
            {slowed.slice(0, shownLosses).map(({ what, by, link, lost_s }) => (
              <li>
                {what}: {seconds(lost_s)} longer beside {by} on {link}
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

interface Props {
  runs: Run[];
  names: string[];
  dark: boolean;
  store: Store<Look>;
}

export function NetworkView({ runs, names, dark, store }: Props) {
  return (
    <>
      <h2 id="network-title">Network</h2>
      <ul class="key loads" aria-label="Load of links">
        {['below 2 %', '2 to 20 %', '20 to 50 %', '50 to 80 %', '80 % and more'].map((text, i) => (
          <li>
            <i class={`load${i}`} />
            {text}
          </li>
        ))}
        <li>
          <i class="unknown" />
          carried nothing, or can carry all that comes from below
        </li>
      </ul>
      {runs.map((run, i) => (
        <>
          {runs.length > 1 && <h3>{names[i]}</h3>}
          <div class="network">
            <div class="scroll" tabIndex={0} role="region" aria-label={`Machine of ${names[i]}`}>
              <Machine run={run} name={names[i]!} />
            </div>
            <Links run={run} name={names[i]!} />
          </div>
          <LoadStrips run={run} dark={dark} store={store} />
        </>
      ))}
    </>
  );
}

// SPDX-License-Identifier: Apache-2.0
// Pages of sweeps, purchases and validations, from sample answers.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import { kept, launch, open } from './browser.mjs';
import * as documents from './documents.mjs';
import * as made from './made.mjs';

const axe = createRequire(import.meta.url).resolve('axe-core');

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const opened = (data, options) => open(browser, kept(made.page(data)), { ready: 'main section', ...options });

async function audited(page) {
  await page.addScriptTag({ path: axe });
  const { violations } = await page.evaluate(() => window.axe.run());
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

const cells = (page) => page.locator('.heat .cell title').evaluateAll((all) => all.map((title) => title.textContent));
const minutes = (time) =>
  time < 200 ? `${time.toFixed(time < 9.995 ? 2 : time < 99.95 ? 1 : 0)} s` : `${(time / 60).toFixed(2)} min`;

test('the map of a sweep has the best point of every cell, and says why others have none', async () => {
  const points = documents.sweepPoints();
  const { page, context, requests, complaints } = await opened(documents.sweep(points));
  const titles = await cells(page);
  assert.equal(titles.length, 25);
  for (const node of [16, 256])
    for (const pipeline of [2, 16]) {
      const times = points
        .filter(
          ({ axes, status }) => status === 'ok' && axes['cluster.nodes'] === node && axes['plan.pipeline'] === pipeline,
        )
        .map(({ step_time_s }) => step_time_s);
      const begin = `${minutes(Math.min(...times))}: nodes ${node}, pipeline ${pipeline}, tensor `;
      assert.ok(
        titles.some((title) => title.startsWith(begin)),
        begin,
      );
    }
  assert.ok(titles.includes('4 does not fit'));
  assert.deepEqual([requests, complaints], [[], []]);
  await context.close();
});

test('any axes and any figure of a sweep can be looked at, the others fixed or at their best', async () => {
  const points = documents.sweepPoints();
  const { page, context } = await opened(documents.sweep(points));
  await page.getByLabel('figure', { exact: true }).selectOption({ label: 'MFU' });
  await page.getByLabel('up', { exact: true }).selectOption({ label: 'plan.tensor' });
  assert.equal(await page.locator('#map-title').innerText(), 'MFU by cluster.nodes and plan.tensor');
  await page.getByLabel('pipeline', { exact: true }).selectOption({ label: '4' });
  const shares = points
    .filter(({ axes, status }) => status === 'ok' && axes['plan.pipeline'] === 4 && axes['plan.tensor'] === 8)
    .map(({ mfu }) => `${(mfu * 100).toFixed(1)} %`);
  const titles = await cells(page);
  for (const mfu of shares)
    assert.ok(
      titles.some((title) => title.startsWith(`${mfu}: `) && title.endsWith('pipeline 4, tensor 8')),
      mfu,
    );
  await page.getByLabel('across', { exact: true }).selectOption({ label: 'plan.tensor' });
  assert.equal(await page.locator('#map-title').innerText(), 'MFU by plan.tensor and cluster.nodes');
  assert.equal(await page.locator('#lines path.line').count(), 5);
  await context.close();
});

test('a cell of a sweep opens its point, and the table of points is filtered, sorted and turned', async () => {
  const points = documents.sweepPoints();
  const { page, context } = await opened(documents.sweep(points));
  await page.locator('.heat .cell').last().click();
  assert.match(await page.locator('.inspector').innerText(), /^ok\n+cluster\.nodes\n256/);
  const rows = () => page.locator('#points tbody tr').count();
  assert.equal(await rows(), 50);
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('51 to 100 of 100').waitFor();
  await page.getByRole('searchbox', { name: 'Search points' }).fill('nodes 256 invalid');
  await page.getByText('1 of 100 points').waitFor();
  assert.match(await page.locator('#points tbody tr').innerText(), /<b>so many<\/b>/);
  await page.getByRole('searchbox', { name: 'Search points' }).fill('');
  await page.locator('#points').getByRole('button', { name: 'step time' }).click();
  const best = Math.min(
    ...points.filter(({ step_time_s }) => step_time_s !== null).map(({ step_time_s }) => step_time_s),
  );
  assert.ok((await page.locator('#points tbody tr').first().innerText()).includes(minutes(best)));
  await context.close();
});

test('the points of a sweep with rules say which alerts are raised, and are found by them', async () => {
  const points = documents
    .sweepPoints()
    .map((point) => ({ ...point, alerts: point.status !== 'ok' ? null : point.mfu < 0.4 ? 'memory;mfu' : '' }));
  const { page, context, complaints } = await opened(documents.sweep(points));
  await page.getByRole('searchbox', { name: 'Search points' }).fill('memory;mfu');
  const found = points.filter(({ alerts }) => alerts === 'memory;mfu').length;
  await page.getByText(`${found} of 100 points`).waitFor();
  assert.match(await page.locator('#points tbody tr').first().innerText(), /\tmemory, mfu\t/);
  await page.locator('#points tbody tr button.link').first().click();
  assert.match(await page.locator('.inspector').innerText(), /Alerts: memory, mfu/);
  assert.deepEqual(complaints, []);
  await context.close();
});

test('a sweep of ten thousand points is ready in a second or so', async () => {
  const many = (from, count) => Array.from({ length: count }, (_, i) => from + i);
  const points = documents.sweepPoints({ nodes: many(10, 50), pipelines: many(1, 50), tensors: [1, 2, 4, 8] });
  const { page, context } = await opened(documents.sweep(points));
  const ready = await page.evaluate(() => window.stepcast.ready);
  console.log(`${points.length} points: ready after ${Math.round(ready)} ms`);
  assert.equal((await cells(page)).length, 2500);
  await context.close();
});

test('a purchase says what is recommended, what each option costs and why others are out', async () => {
  const data = documents.purchase();
  const { page, context, requests, complaints } = await opened(data);
  assert.equal(await page.locator('p.setting').innerText(), data.purchase.recommended.reason);
  const rows = await page.locator('#options tbody tr').allInnerTexts();
  assert.match(rows[2], /^rented\/128\s+a tie, by a hair\s+1,024\s+142\s+232\s+9\.00 M USD/);
  assert.match(rows[0], /tensor 4\s+pipeline 2\s+schedule 1f1b$/);
  assert.match(rows[4], /^a100-1024 <kept>\s+no: deadline \(101\.0 % over\)/);
  assert.match(rows[5], /^tiny\s+no: plan\s+8\s/);
  const widths = await page
    .locator('#costs .stack-row')
    .first()
    .locator('.stack-bar i')
    .evaluateAll((all) => all.map(({ title }) => title));
  assert.deepEqual(widths, ['capital: 2.10 M USD', 'energy: 900 k USD', 'support: 100 k USD', 'staff: 200 k USD']);
  assert.match(
    await page.locator('#changes').innerText(),
    /1 of 8 changes would make another option the best[^]*then h100-2048/,
  );
  assert.deepEqual([requests, complaints], [[], []]);
  await context.close();
});

test('a purchase leads with the sum to pay, and tells a tie as a tie', async () => {
  const data = documents.purchase();
  const { page, context } = await opened(data);
  const tiles = () => page.locator('.figure').allInnerTexts();
  const [first, second] = await tiles();
  assert.match(first, /^A tie\s+rented\/128 or rented\/256\s+no forecast tells them apart/);
  assert.match(second, /^To pay\s+9\.00 M USD\s+80 %: 7\.83 M USD to 9\.57 M USD/);
  await context.close();
  Object.assign(data.purchase.recommended, { name: 'h100-2048', tie: false, ties: [] });
  const bought = await opened(data);
  const sums = await bought.page.locator('.figure').allInnerTexts();
  assert.match(sums[0], /^Recommended\s+h100-2048/);
  assert.match(sums[1], /^To pay for the hardware\s+78\.4 M USD\s+its whole price; 9\.80 M USD of it is used up/);
  assert.match(sums[2], /^Cost of the training\s+10\.5 M USD/);
  await bought.context.close();
  Object.assign(data.purchase, {
    warnings: ['failures are <left out>'],
    options: data.purchase.options.map((one) => ({ ...one, paid: one.total_cost && one.total_cost + 7e7 })),
  });
  const told = await opened(data);
  assert.match(
    (await told.page.locator('.figure').allInnerTexts())[1],
    /^To pay\s+80\.5 M USD\s+until the last token, the whole price/,
  );
  assert.equal(await told.page.locator('.warnings').innerText(), 'failures are <left out>');
  await told.context.close();
});

test('options that no forecast tells apart are a tie in the headline, in their rows and on the front alike', async () => {
  const { page, context } = await opened(documents.purchase());
  const rows = await page.locator('#options tbody tr').allInnerTexts();
  assert.deepEqual(
    rows.map((row) => /a tie(, by a hair)?|on the front|no:/.exec(row)[0]),
    ['on the front', 'on the front', 'a tie, by a hair', 'a tie', 'no:', 'no:'],
  );
  assert.match(await page.locator('#front .key').innerText(), /^a tie: no forecast tells them apart/);
  assert.doesNotMatch(await page.locator('main').innerText(), /recommended/i);
  const colours = await page
    .locator('#front .option')
    .evaluateAll((all) =>
      Object.fromEntries(
        all.map((option) => [
          option.querySelector('text').textContent,
          option.querySelector('circle').getAttribute('fill'),
        ]),
      ),
    );
  assert.equal(colours['rented/128'], colours['rented/256']);
  assert.notEqual(colours['rented/128'], colours['h100-2048']);
  await context.close();
});

test('a goodput is no figure where nothing may fail', async () => {
  const data = documents.purchase();
  const told = await opened(data);
  assert.match(await told.page.locator('#options thead').innerText(), /goodput/);
  await told.context.close();
  for (const one of data.purchase.options)
    Object.assign(one, {
      goodput: 1,
      workloads: one.workloads.map((workload) => ({
        ...workload,
        goodput: { share: 1, mtbf_s: null, stalls: 0, lost_work: 0, restarts: 0 },
      })),
    });
  const { page, context } = await opened(data);
  assert.doesNotMatch(await page.locator('main').innerText(), /goodput|100\.0 %/);
  await context.close();
});

test('a chance is as certain as the terminal says: over 99.9 % at most', async () => {
  const data = documents.purchase();
  for (const one of data.purchase.options) one.deadline_probability = one.name === 'rented/128' ? 1 : 0;
  const { page, context } = await opened(data);
  assert.ok(
    (await page.locator('.figure').allInnerTexts()).some((tile) => /^By the deadline\s+over 99\.9 %/.test(tile)),
  );
  assert.match(await page.locator('#options tbody tr').nth(2).innerText(), /over 99\.9 %/);
  assert.match(await page.locator('#options tbody tr').nth(0).innerText(), /under 0\.1 %/);
  await context.close();
});

test('sensitivity is a tornado, the widest first, and says in one line what changes nothing', async () => {
  const data = documents.purchase(),
    { page, context } = await opened(data);
  const rows = await page.locator('.tornado-row').allInnerTexts();
  assert.deepEqual(
    rows.map((row) => row.split('\n')[0]),
    ['price', 'efficiency', 'energy price'],
  );
  assert.match(rows[0], /−20 %: −1\.80 M USD then h100-2048; \+20 %: \+1\.80 M USD/);
  const wide = await page
    .locator('.tornado-row')
    .first()
    .locator('i')
    .evaluateAll((all) => all.map(({ style }) => style.width));
  assert.deepEqual(wide, ['50%', '50%']);
  assert.match(await page.locator('#changes').innerText(), /failure rate: a fifth more or less changes neither/);
  await context.close();
});

test('what another fabric changes by nothing is no figure', async () => {
  const data = documents.purchase();
  data.purchase.options[0].what_if = [{ what: 'no rails', days: 71 + 1e-5, total_cost: 10_520_001 }];
  const { page, context } = await opened(data);
  assert.match(await page.locator('#changes').innerText(), /h100-2048: no rails changes neither by 0\.05 %/);
  await context.close();
});

test('the plans of a purchase are not cut at the edge of the window', async () => {
  const { page, context } = await opened(documents.purchase(), { viewport: { width: 1440, height: 900 } });
  const edges = await page
    .locator('#options td .chip')
    .evaluateAll((all) => all.map((chip) => chip.getBoundingClientRect().right));
  assert.ok(edges.length > 0 && Math.max(...edges) <= 1440, String(Math.max(...edges)));
  await context.close();
});

test('an option of a purchase opens, and the front shows energy too', async () => {
  const { page, context } = await opened(documents.purchase());
  await page.locator('#front .option', { hasText: 'b200-1024' }).locator('circle').click();
  assert.match(
    await page.locator('.inspector').innerText(),
    /^b200-1024[^]*beyond what was measured: more than 1,024 GPUs/,
  );
  await page.getByLabel('upwards').selectOption({ label: 'energy' });
  assert.match(await page.locator('#front svg text.axis-name').last().textContent(), /energy/);
  await context.close();
});

test('a purchase of which nothing is feasible says so', async () => {
  const data = documents.purchase();
  data.purchase.recommended = null;
  data.purchase.options = data.purchase.options.slice(4);
  data.purchase.pareto = [];
  const { page, context, complaints } = await opened(data);
  assert.equal(await page.locator('p.setting').innerText(), 'No option is feasible.');
  assert.match(
    await page.locator('main').innerText(),
    /deadline \(101\.0 % over\): a100-1024 <kept>[^]*Give them more/,
  );
  assert.deepEqual(complaints, []);
  await context.close();
});

test('an option of a purchase that no plan runs on says why', async () => {
  const data = documents.purchase();
  data.purchase.options[5].no_plan = 'workload.plan.tensor: tensor 7 does not divide 8 GPUs';
  const { page, context } = await opened(data);
  assert.match(
    await page.locator('#options tbody tr').nth(5).innerText(),
    /^tiny\s+no: plan \(workload\.plan\.tensor: tensor 7 does not divide 8 GPUs\)\s+8\s/,
  );
  await context.close();
});

test('a validation shows every run, finds them by words and sorts them by error', async () => {
  const { page, context, requests, complaints } = await opened(documents.validation());
  assert.match(await page.locator('.figure').first().innerText(), /Step time\s+12\.3 %/);
  assert.equal(await page.locator('.scatter').first().locator('circle').count(), 39); // one is shown apart
  await page.getByRole('searchbox', { name: 'Search runs' }).fill('gpt-7');
  await page.getByText('2 of 42 rows').waitFor();
  assert.equal(await page.locator('.scatter').first().locator('circle').count(), 2);
  await page.getByRole('searchbox', { name: 'Search runs' }).fill('');
  assert.match(await page.locator('#rows tbody tr').first().innerText(), /[+−]19\.\d %/);
  await page.locator('.scatter circle').first().click();
  assert.match(await page.locator('#scatter .inspector').innerText(), /^paper_a: gpt-0\s+error/);
  assert.match(await page.locator('#causes').innerText(), /A100[^]*12\.3 %[^]*H100/);
  assert.match(
    await page.locator('#tables').innerText(),
    /first[^]*2026-11[^]*Shown apart[^]*paper_b\s+device not fitted\s+1/,
  );
  assert.match(await page.locator('#rows').innerText(), /mixture of <experts>/);
  assert.deepEqual([requests, complaints], [[], []]);
  await context.close();
});

test('each device of a validation has a mark of its own, by colour and shape', async () => {
  const data = documents.validation(),
    { rows } = data.validation.datasets[0];
  rows.columns.groups = rows.columns.groups.map((groups, i) => [`D${i % 13}`, ...groups.slice(1)]);
  const { page, context } = await opened(data);
  const marks = await page.locator('#scatter .key li').evaluateAll((all) =>
    all.map((one) => {
      const mark = one.querySelector('circle, path');
      return `${mark.tagName} ${mark.getAttribute('fill')}`;
    }),
  );
  assert.equal(marks.length, 14);
  assert.equal(new Set(marks).size, 14);
  await page.locator('.scatter path.dot-mark').first().click();
  assert.match(await page.locator('#scatter .inspector').innerText(), /^paper_/);
  await context.close();
});

test('the data set that is furthest off comes first, and one of a kind is no plural', async () => {
  const data = documents.validation(),
    { datasets, causes } = data.validation;
  datasets[1].mape = 0.4;
  causes.device[1].rows = 1;
  const { page, context } = await opened(data);
  const names = await page.locator('#sets .beside > div').first().locator('.bar-row button').allInnerTexts();
  assert.deepEqual(names, ['paper_b', 'paper_a']);
  assert.match(await page.locator('#causes .bar-row').nth(0).innerText(), /20 rows of 1 set$/);
  assert.match(await page.locator('#causes .bar-row').nth(1).innerText(), / 1 row of 1 set$/);
  await context.close();
});

test('a validation opens with its data sets and causes, and keeps rows that say nothing apart', async () => {
  const data = documents.validation(),
    { rows } = data.validation.datasets[0];
  rows.columns.time_counts[0] = false; // a golden value, and far off
  rows.columns.error[0] = -0.99;
  const { page, context } = await opened(data);
  const order = await page.locator('main > section').evaluateAll((all) => all.map(({ id }) => id));
  assert.deepEqual(order, ['sets', 'scatter', 'tables', 'rows']);
  assert.match(await page.locator('#sets').innerText(), /^Error of each data set[^]*paper_a[^]*Error by cause/);
  assert.doesNotMatch(await page.locator('#rows tbody').first().innerText(), /−99\.0 %/);
  assert.equal(await page.locator('#golden summary').innerText(), 'Rows apart, which are in no mean of step times: 2');
  await page.locator('#golden summary').click();
  assert.match(await page.locator('#golden tbody tr').first().innerText(), /gpt-0\s+−99\.0 %/);
  await page.getByRole('button', { name: 'paper_b' }).click();
  await page.getByText('22 of 42 rows').waitFor();
  await context.close();
});

test('a sweep of which no point is fine says why, and what would help', async () => {
  const points = documents
    .sweepPoints()
    .map((point) =>
      point.status !== 'ok' ? point : { ...point, status: 'does-not-fit', reason: 'stage 0 needs 99.5 GiB' },
    )
    .map((point) => ({ ...point, step_time_s: null, tokens_per_s: null, mfu: null, peak_bytes: null }));
  const { page, context, complaints } = await opened(documents.sweep(points));
  const said = await page.locator('#why').innerText();
  assert.match(said, /^Why no point is fine\s+\d+ points: does not fit: stage 0 needs/);
  assert.match(said, /mode: search[^]*only_if/);
  for (const target of await page.locator('nav a').evaluateAll((all) => all.map((link) => link.getAttribute('href'))))
    assert.equal(await page.locator(target).count(), 1, target);
  assert.deepEqual(complaints, []);
  await context.close();
});

test('map and lines of a sweep stand side by side where there is room', async () => {
  const { page, context } = await opened(documents.sweep(), { viewport: { width: 1440, height: 900 } });
  const [map, lines] = [await page.locator('.heat').boundingBox(), await page.locator('#lines svg').boundingBox()];
  assert.ok(lines.x > map.x + map.width && lines.x + lines.width > 1300, `${lines.x} ${lines.width}`);
  await context.close();
});

test('every link of every menu leads somewhere', async () => {
  for (const kind of ['sweep', 'purchase', 'validation']) {
    const { page, context } = await opened(documents[kind]());
    for (const target of await page.locator('nav a').evaluateAll((all) => all.map((link) => link.getAttribute('href'))))
      assert.equal(await page.locator(target).count(), 1, `${kind}: ${target}`);
    await context.close();
  }
});

for (const kind of ['sweep', 'purchase', 'validation'])
  for (const colorScheme of ['light', 'dark'])
    test(`an automated audit finds nothing on the page of a ${kind} in ${colorScheme}, nor is a phone too narrow`, async () => {
      const { page, context } = await opened(documents[kind](), { colorScheme, bypassCSP: true });
      assert.deepEqual(await audited(page), []);
      await context.close();
      const phone = await opened(documents[kind](), {
        viewport: { width: 390, height: 844 },
        hasTouch: true,
        isMobile: true,
        colorScheme,
      });
      assert.equal(await phone.page.evaluate(() => document.documentElement.scrollWidth), 390);
      await phone.context.close();
    });

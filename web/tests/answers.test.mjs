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
before(async () => { browser = await launch(); });
after(() => browser.close());

const opened = (data, options) => open(browser, kept(made.page(data)), { ready: 'main section', ...options });

async function serious(page) {
  await page.addScriptTag({ path: axe });
  const { violations } = await page.evaluate(() => window.axe.run());
  return violations.filter(({ impact }) => ['serious', 'critical'].includes(impact))
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

const cells = (page) => page.locator('.heat .cell title').evaluateAll((all) => all.map((title) => title.textContent));
const minutes = (time) => (time < 200 ? `${time.toFixed(time < 9.995 ? 2 : time < 99.95 ? 1 : 0)} s` : `${(time / 60).toFixed(2)} min`);

test('the map of a sweep has the best point of every cell, and says why others have none', async () => {
  const points = documents.sweepPoints();
  const { page, context, requests, complaints } = await opened(documents.sweep(points));
  const titles = await cells(page);
  assert.equal(titles.length, 25);
  for (const node of [16, 256])
    for (const pipeline of [2, 16]) {
      const times = points.filter(({ axes, status }) => status === 'ok' && axes['cluster.nodes'] === node && axes['plan.pipeline'] === pipeline)
        .map(({ step_time_s }) => step_time_s);
      const begin = `${minutes(Math.min(...times))}: nodes ${node}, pipeline ${pipeline}, tensor `;
      assert.ok(titles.some((title) => title.startsWith(begin)), begin);
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
  const shares = points.filter(({ axes, status }) => status === 'ok' && axes['plan.pipeline'] === 4 && axes['plan.tensor'] === 8)
    .map(({ mfu }) => `${(mfu * 100).toFixed(1)} %`);
  const titles = await cells(page);
  for (const mfu of shares) assert.ok(titles.some((title) => title.startsWith(`${mfu}: `) && title.endsWith('pipeline 4, tensor 8')), mfu);
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
  const best = Math.min(...points.filter(({ step_time_s }) => step_time_s !== null).map(({ step_time_s }) => step_time_s));
  assert.ok((await page.locator('#points tbody tr').first().innerText()).includes(minutes(best)));
  await context.close();
});

test('the points of a sweep with rules say which alerts are raised, and are found by them', async () => {
  const points = documents.sweepPoints().map((point) => ({ ...point, alerts: point.status !== 'ok' ? null : point.mfu < 0.4 ? 'memory;mfu' : '' }));
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
  assert.match(rows[2], /^rented\/128\s+recommended\s+1,024\s+142\s+232\s+9\.00 M USD/);
  assert.match(rows[4], /^a100-1024 <kept>\s+no: deadline \(101\.0 % over\)/);
  assert.match(rows[5], /^tiny\s+no: plan\s+8\s/);
  const widths = await page.locator('#costs .stack-row').first().locator('.stack-bar i').evaluateAll((all) => all.map(({ title }) => title));
  assert.deepEqual(widths, ['capital: 2.10 M USD', 'energy: 900 k USD', 'support: 100 k USD', 'staff: 200 k USD']);
  assert.match(await page.locator('#changes').innerText(), /1 of 8 changes would make another option the best[^]*h100-2048/);
  assert.deepEqual([requests, complaints], [[], []]);
  await context.close();
});

test('an option of a purchase opens, and the front shows energy too', async () => {
  const { page, context } = await opened(documents.purchase());
  await page.locator('#front .option').nth(1).click();
  assert.match(await page.locator('.inspector').innerText(), /^b200-1024[^]*beyond what was measured: more than 1,024 GPUs/);
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
  assert.deepEqual(complaints, []);
  await context.close();
});

test('a validation shows every run, finds them by words and sorts them by error', async () => {
  const { page, context, requests, complaints } = await opened(documents.validation());
  assert.match(await page.locator('.figure').first().innerText(), /Step time\s+12\.3 %/);
  assert.equal(await page.locator('.scatter').first().locator('circle').count(), 39);  // one is shown apart
  await page.getByRole('searchbox', { name: 'Search runs' }).fill('gpt-7');
  await page.getByText('2 of 42 rows').waitFor();
  assert.equal(await page.locator('.scatter').first().locator('circle').count(), 2);
  await page.getByRole('searchbox', { name: 'Search runs' }).fill('');
  assert.match(await page.locator('#rows tbody tr').first().innerText(), /[+−]19\.\d %/);
  await page.locator('.scatter circle').first().click();
  assert.match(await page.locator('#scatter .inspector').innerText(), /^paper_a: gpt-0\s+error/);
  assert.match(await page.locator('#causes table').first().innerText(), /A100[^]*H100/);
  assert.match(await page.locator('#sets').innerText(), /first[^]*2026-11[^]*Shown apart[^]*paper_b\s+device not fitted\s+1/);
  assert.match(await page.locator('#rows').innerText(), /mixture of <experts>/);
  assert.deepEqual([requests, complaints], [[], []]);
  await context.close();
});

for (const kind of ['sweep', 'purchase', 'validation'])
  for (const colorScheme of ['light', 'dark'])
    test(`an automated audit finds nothing serious on the page of a ${kind} in ${colorScheme}, nor is a phone too narrow`, async () => {
      const audited = await opened(documents[kind](), { colorScheme, bypassCSP: true });
      assert.deepEqual(await serious(audited.page), []);
      await audited.context.close();
      const phone = await opened(documents[kind](), { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, colorScheme });
      assert.equal(await phone.page.evaluate(() => document.documentElement.scrollWidth), 390);
      await phone.context.close();
    });

// SPDX-License-Identifier: Apache-2.0
// The page in a browser, from the disk: as the program writes it (STEPCAST names the program,
// build/stepcast if unset), and made here where a size or a name is asked for that no example has.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { kept, launch, open } from './browser.mjs';
import * as made from './made.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const program = process.env.STEPCAST ?? `${root}/build/stepcast`;
const example = `${root}/scenarios/examples/gpt3-175b-1024-a100.yaml`;
const axe = createRequire(import.meta.url).resolve('axe-core');

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

function simulated(...options) {
  const file = kept('');
  const json = execFileSync(program, ['simulate', example, '--json', '--quiet', '--report', file, ...options]);
  return { file, json: JSON.parse(json) };
}

async function opened(file, options) {
  const all = await open(browser, file, options);
  const text = (selector) => all.page.locator(selector).first().innerText();
  return { ...all, text, at: (x, y) => point(all.page, x, y) };
}

// A point of the first timeline, in pixels from its corner.
async function point(page, x, y) {
  await page.locator('#timeline').evaluate((section) => section.scrollIntoView({ behavior: 'instant' }));
  const box = await page.locator('canvas').first().boundingBox();
  return [box.x + x, box.y + y];
}

// What an automated audit complains of.
async function serious(page) {
  await page.addScriptTag({ path: axe });
  const { violations } = await page.evaluate(() => window.axe.run());
  return violations.filter(({ impact }) => ['serious', 'critical'].includes(impact))
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

const shownSpan = (page) => page.locator('.keys').innerText().then((text) => /Showing (.*) of/.exec(text)[1]);

// Three digits, as the page and the terminal write them.
const places = (n) => n.toFixed(n < 9.995 ? 2 : n < 99.95 ? 1 : 0);

test('the page opens from the disk, asks nobody for anything and does not complain', async () => {
  const { page, context, requests, complaints } = await opened(simulated().file);
  await page.waitForTimeout(200);
  assert.deepEqual(requests, []);
  assert.deepEqual(complaints, []);
  assert.match(await page.title(), /^gpt3-175b on 128 DGX A100 – stepcast$/);
  const policy = await page.locator('meta[http-equiv=Content-Security-Policy]').getAttribute('content');
  assert.match(policy, /^default-src 'none'; script-src 'sha256-[^' ]+'; style-src 'sha256-[^' ]+'; /);
  await context.close();
});

test('figures are those of --json, to the last digit shown', async () => {
  const { file, json } = simulated();
  const { page, context, text } = await opened(file);
  const figures = await page.locator('.figure').allInnerTexts();
  const of = (name) => figures.find((figure) => figure.startsWith(name));
  assert.ok(of('Step time').includes(`${places(json.step.time_s)} s`));
  assert.ok(of('Step time').includes(`80 %: ${places(json.step.time_low_s)} to ${places(json.step.time_high_s)} s`));
  assert.ok(of('Throughput').includes(Math.round(json.step.tokens_per_s).toLocaleString('en-US')));
  assert.ok(of('MFU').includes(`${(json.step.mfu * 100).toFixed(1)} %`));
  assert.ok(of('MFU').includes(`HFU ${(json.step.hfu * 100).toFixed(1)} %`));
  assert.ok(of('Bubble').includes(`${(json.pipeline.bubble_fraction * 100).toFixed(1)} %`));
  assert.ok(of('Memory').includes(`${places(json.memory.peak_bytes / 2 ** 30)} GiB`));

  const parts = await page.locator('table.parts tbody tr').allInnerTexts();
  const spent = Object.entries(json.time).filter(([, seconds]) => seconds > 0);
  assert.equal(parts.length, spent.length);
  for (const [kind, seconds] of spent)
    assert.ok(parts.some((row) => row.startsWith(kind.slice(0, -2).replaceAll('_', ' ')) &&
      row.includes(`${(seconds / json.step.time_s * 100).toFixed(1)} %`)), kind);

  const stage = json.memory.peak_stage;
  assert.ok((await text('#memory p')).startsWith(`Stage ${stage} peaks at ${places(json.memory.stages[stage].peak / 2 ** 30)} GiB`));
  const link = json.network.links[0];
  assert.ok((await page.locator('#network table tbody tr').first().innerText()).startsWith(link.name));

  const carried = JSON.parse(await page.locator('#data').textContent()).runs[0].document;
  carried.simulation.wall_s = json.simulation.wall_s;
  assert.deepEqual(carried, json);
  await context.close();
});

test('the flops of all bars are those of HFU', async () => {
  const { file, json } = simulated();
  const { page, context } = await opened(file);
  const flops = await page.evaluate(() => {
    const { timeline } = window.stepcast.runs[0], seen = new Set();
    let sum = 0;
    for (const { stage, name, first, end } of timeline.lanes) {
      if (name !== 'compute' || seen.has(stage)) continue;
      seen.add(stage);
      for (let i = first; i < end; ++i) sum += timeline.flops(i);
    }
    return sum;
  });
  const { step, scenario: { cluster, plan } } = json;
  const all = flops * cluster.gpus / plan.pipeline, executed = step.model_flops * step.hfu / step.mfu;
  assert.ok(Math.abs(all / executed - 1) < 1e-9, `${all} of ${executed}`);
  await page.locator('canvas').first().press('.');
  assert.match(await page.locator('.inspector').innerText(), /computes\s+[\d.]+ TFLOP per rank\s+at\s+[\d.]+ TFLOP\/s/);
  await context.close();
});

test('bars and bubbles fill each stage, and the critical path is as long as the step', async () => {
  const { file, json } = simulated();
  const { page, context } = await opened(file);
  const found = await page.evaluate(() => {
    const { bubbles, path, timeline } = window.stepcast.runs[0];
    const idle = new Map();
    for (let i = 0; i < bubbles.size; ++i) {
      const { stage } = timeline.lanes[bubbles.lane[i]];
      idle.set(stage, (idle.get(stage) ?? 0) + bubbles.length(i));
      const parts = bubbles.parts(i).reduce((sum, [, time]) => sum + time, 0);
      if (parts !== bubbles.length(i)) throw new Error(`causes of bubble ${i} sum to ${parts}`);
    }
    return { idle: [...idle], path: path.reduce((sum, { start, finish }) => sum + finish - start, 0), end: timeline.end };
  });
  for (const [stage, idle] of found.idle)
    assert.ok(Math.abs(idle / 1e12 - json.pipeline.stages[stage].bubble_s) < 1e-9, `stage ${stage}`);
  assert.ok(Math.abs(found.path / 1e12 - json.step.time_s) < 1e-9);
  await context.close();
});

test('the wheel zooms where it points, dragging moves, and a double click closes in on a bar', async () => {
  const { page, context, at } = await opened(kept(made.page({ kind: 'simulate', runs: [made.run({ stages: 4, microbatches: 8 })] })));
  const whole = await shownSpan(page);
  await page.mouse.move(...await at(600, 60));
  await page.mouse.wheel(0, -300);
  await page.waitForFunction((before) => !document.querySelector('.keys').innerText.includes(`Showing ${before}`), whole);
  const view = await page.evaluate(() => window.stepcast.store.value.view);
  await page.mouse.down();
  await page.mouse.move(...await at(500, 60), { steps: 4 });
  await page.mouse.up();
  const moved = await page.evaluate(() => window.stepcast.store.value.view);
  assert.ok(moved.from > view.from);
  assert.ok(Math.abs((moved.to - moved.from) - (view.to - view.from)) < 2);
  await page.locator('canvas').first().press('0');
  assert.equal(await shownSpan(page), whole);
  await page.mouse.dblclick(...await at(132, 40));
  const close = await page.evaluate(() => window.stepcast.store.value.view);
  assert.deepEqual(close, { from: 0, to: 4e9 });  // four times the bar
  await context.close();
});

test('hovering says what a bar is and how long it takes', async () => {
  const { page, context, at } = await opened(kept(made.page({ kind: 'simulate', runs: [made.run({ stages: 4, microbatches: 8 })] })));
  await page.mouse.move(...await at(132, 40));
  assert.match(await page.locator('.tip').innerText(), /^forward m0 1\.00 ms\nstage 0, compute, from 0 s, 200 GFLOP$/);
  await context.close();
});

test('a click on a bubble says why it is there and what would help, and leads to what it waits for', async () => {
  const { page, context, at } = await opened(simulated().file);
  const place = await page.evaluate(() => {
    const { runs: [{ bubbles, timeline }], charts: [chart] } = window.stepcast;
    const i = bubbles.longest(1)[0], row = chart.rowOf(bubbles.lane[i]);
    return { x: chart.xOf((bubbles.start[i] + bubbles.finish[i]) / 2), y: row.top + row.height / 2, cause: bubbles.cause(i),
      stage: timeline.lanes[bubbles.lane[i]].stage };
  });
  await page.mouse.click(...await at(place.x, place.y));
  const said = await page.locator('.inspector').innerText();
  assert.ok(said.startsWith(`Bubble on stage ${place.stage}: ${place.cause}`), said);
  assert.match(said, /waits for .*stage \d+/);
  assert.match(said, /What would help: \S/);
  await page.locator('.inspector .chain button').first().click();
  assert.match(await page.locator('.inspector').innerText(), /takes/);
  await context.close();
});

test('a search fades what does not match, counts what does, and Enter goes from one to the next', async () => {
  const { page, context } = await opened(kept(made.page({ kind: 'simulate', runs: [made.run({ stages: 4, microbatches: 8 })] })));
  const search = page.getByRole('searchbox', { name: 'Search bars' });
  await page.keyboard.press('/');
  await page.keyboard.type('backward m7');
  await page.getByText('4 bars', { exact: true }).waitFor();
  await search.press('Enter');
  assert.match(await page.locator('.inspector').innerText(), /^backward m7/);
  await search.fill('');
  await page.getByRole('button', { name: 'forward' }).click();
  await page.getByText('32 bars', { exact: true }).waitFor();
  await context.close();
});

test('all of the timeline can be reached with keys', async () => {
  const { page, context } = await opened(kept(made.page({ kind: 'simulate', runs: [made.run({ stages: 4, microbatches: 8 })] })));
  const canvas = page.locator('canvas').first(), said = () => page.locator('.inspector').innerText();
  await canvas.focus();
  await page.keyboard.press('.');
  assert.match(await said(), /^forward m0/);
  await page.keyboard.press('.');
  assert.match(await said(), /^forward m1/);
  await page.keyboard.press('ArrowDown');
  assert.match(await said(), /stage\n1/);
  await page.keyboard.press('b');
  assert.match(await said(), /^Bubble on stage/);
  const whole = await shownSpan(page);
  await page.keyboard.press('+');
  await page.waitForFunction((before) => !document.querySelector('.keys').innerText.includes(`Showing ${before}`), whole);
  await page.keyboard.press('c');
  assert.equal(await page.getByRole('button', { name: 'Critical path' }).getAttribute('aria-pressed'), 'true');
  await page.keyboard.press('Escape');
  assert.match(await said(), /^Pick a bar/);
  await context.close();
});

test('two runs stand on one time base', async () => {
  const { page, context, complaints } = await opened(kept(made.page({ kind: 'simulate', changes: 'schedule: interleaved',
    runs: [made.run({ stages: 4, microbatches: 16, name: 'before' }), made.run({ stages: 4, microbatches: 8, name: 'after' })] })));
  assert.deepEqual(complaints, []);
  assert.equal(await page.locator('canvas[role=application]').count(), 2);
  assert.match(await page.locator('.figure').first().innerText(), /A 57\.0 ms[^]*B 33\.0 ms[^]*−24\.0 ms \(−42\.1 %\)/);
  const ends = await page.evaluate(() => window.stepcast.charts.map((chart) => chart.xOf(33e9)));
  assert.equal(ends[0], ends[1]);
  assert.match(await page.locator('pre.changes').innerText(), /schedule: interleaved/);
  await context.close();
});

test('alerts stand near the headline with the figures and states of the document, and mean no markup', async () => {
  const rules = `${root}/scenarios/examples/llama3-70b-128-h100-alerts.yaml`, file = kept('');
  const { alerts } = JSON.parse(execFileSync(program, ['simulate', rules, '--json', '--quiet', '--report', file, '--set', 'alerts.loss="> 10 <b>nats</b>"']));
  const { page, context, complaints } = await opened(file);
  const rows = await page.locator('.alerts tbody tr').allInnerTexts();
  assert.equal(rows.length, alerts.length);
  alerts.forEach(({ figure, words, condition, state }, i) => {
    const state_words = { raised: 'RAISED', quiet: 'quiet', not_simulated: 'not simulated' }[state];
    assert.deepEqual(rows[i].split('\t').slice(0, 4), [figure, words, condition, state_words]);
  });
  assert.equal(await page.locator('.alerts h2').innerText(), `Alerts: ${alerts.filter(({ state }) => state === 'raised').length} of ${alerts.length} raised`);
  assert.ok(rows.some((row) => row.includes('> 10 <b>nats</b>')));
  assert.deepEqual(complaints, []);
  await context.close();
  const audited = await opened(file, { bypassCSP: true });
  assert.deepEqual(await serious(audited.page), []);
  await audited.context.close();
  const phone = await opened(file, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  assert.equal(await phone.page.evaluate(() => document.documentElement.scrollWidth), 390);
  await phone.context.close();
});

test('without rules a page has no alerts', async () => {
  const { page, context } = await opened(kept(made.page({ kind: 'simulate', runs: [made.run({ stages: 2, microbatches: 2 })] })));
  assert.equal(await page.locator('.alerts').count(), 0);
  await context.close();
});

test('what a comparison of two scenarios says is what each of them says alone', async () => {
  const { file } = simulated('--set', 'plan.micro_batch=2', '--against', example);
  const alone = [simulated().json, simulated('--set', 'plan.micro_batch=2').json];
  const { page, context, complaints } = await opened(file);
  assert.deepEqual(complaints, []);
  const figure = await page.locator('.figure').first().innerText();
  for (const { step } of alone) assert.ok(figure.includes(`${places(step.time_s)} s`), figure);
  assert.match(await page.locator('pre.changes').innerText(), /plan\.micro_batch/);
  assert.equal(await page.locator('canvas[role=application]').count(), 2);
  await context.close();
});

test('a schedule is drawn in the unit its times were given in', async () => {
  const file = kept('');
  execFileSync(program, ['schedule', '--schedule', '1f1b', '--stages', '4', '--microbatches', '8', '--forward', '1', '--backward', '2', '--report', file]);
  const { page, context, requests, complaints } = await opened(file);
  assert.match(await page.locator('.figure').first().innerText(), /^Makespan\n33\n/);
  await page.locator('canvas').first().press('.');
  await page.keyboard.press('.');
  assert.match(await page.locator('.inspector').innerText(), /^forward m1\s+takes\s+1\s+from\s+1\s+to\s+2\s/);
  assert.equal(await shownSpan(page), '33');
  assert.deepEqual([requests, complaints], [[], []]);
  await context.close();
});

test('bubbles of a schedule say what they wait for, and fill its idle time', async () => {
  const file = kept('');
  const json = JSON.parse(execFileSync(program, ['schedule', '--schedule', 'interleaved', '--stages', '4', '--microbatches', '8', '--chunks', '2',
    '--forward', '1', '--backward', '2', '--comm', '0.1', '--slow', '2=1.3', '--json', '--report', file]));
  const { page, context, complaints } = await opened(file);
  const idle = await page.evaluate(() => {
    const { bubbles, timeline } = window.stepcast.runs[0], sums = [];
    for (let i = 0; i < bubbles.size; ++i) {
      const { stage } = timeline.lanes[bubbles.lane[i]];
      sums[stage] = (sums[stage] ?? 0) + bubbles.length(i) / 1e12;
    }
    return sums;
  });
  json.stages.forEach((stage, i) => assert.ok(Math.abs(stage.idle - idle[i]) < 1e-9, `stage ${i}`));
  await page.locator('canvas').first().press('b');
  assert.match(await page.locator('.inspector').innerText(), /^Bubble on stage 0: [^]*waits for stage \d’s [^]*What would help: \S/);
  const causes = await page.locator('table.causes tbody tr').allInnerTexts();
  const shares = causes.map((row) => Number(/([\d.]+) %/.exec(row)[1]));
  assert.ok(Math.abs(shares.reduce((sum, share) => sum + share, 0) - 100 * json.bubble_fraction) < 0.3, causes.join());
  assert.deepEqual(complaints, []);
  await context.close();
});

test('passes beside each other share the height of their lane', async () => {
  const file = kept('');
  execFileSync(program, ['schedule', '--schedule', 'dualpipe', '--stages', '4', '--microbatches', '12', '--forward', '1',
    '--backward', '1', '--weight', '1', '--report', file]);
  const { page, context, at } = await opened(file);
  const where = (part) => page.evaluate((share) => {
    const { charts: [chart] } = window.stepcast, { top, height } = chart.rowOf(0);
    return [chart.xOf(8.5 / 38 * chart.run.timeline.end), top + share * height];
  }, part);
  const picked = async (part) => {
    await page.mouse.click(...await at(...await where(part)));
    return page.locator('.inspector').innerText();
  };
  assert.match(await picked(0.25), /^forward m3 c0\b/);
  assert.match(await picked(0.75), /^backward m7 c1\b/);
  await context.close();
});

test('on a phone nothing is wider than the screen, and two fingers zoom', async () => {
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 };
  const { page, context, at, complaints } = await opened(simulated().file, phone);
  assert.deepEqual(complaints, []);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
  const spanBefore = await page.evaluate(() => { const { view } = window.stepcast.store.value; return view.to - view.from; });
  const [x, y] = await at(0, 80), session = await context.newCDPSession(page);
  const touch = (type, points) => session.send('Input.dispatchTouchEvent', { type, touchPoints: points.map((left, id) => ({ x: x + left, y, id })) });
  await touch('touchStart', [180, 220]);
  await touch('touchMove', [140, 260]);
  await touch('touchMove', [110, 300]);
  await touch('touchEnd', []);
  const span = await page.evaluate(() => { const { view } = window.stepcast.store.value; return view.to - view.from; });
  assert.ok(span < spanBefore / 2, `${span} of ${spanBefore}`);
  const top = await page.evaluate(() => window.stepcast.charts[0].rowOf(0).top);
  await page.touchscreen.tap(...await at(120, top + 2));
  assert.match(await page.locator('.inspector').innerText(), /takes|idle for/);
  await context.close();
});

test('a model that is called <script>alert(1)</script> is text', async () => {
  const name = '</script><script>alert(1)</script><img src=x onerror=alert(2)>';
  const { file } = simulated('--set', `name=${JSON.stringify(name)}`);
  const { page, context, complaints, requests } = await opened(file);
  let dialogs = 0;
  page.on('dialog', (dialog) => { ++dialogs; dialog.dismiss(); });
  await page.waitForTimeout(200);
  assert.equal(dialogs, 0);
  assert.equal(await page.locator('h1').innerText(), name);
  assert.deepEqual([complaints, requests], [[], []]);
  assert.equal(await page.locator('img').count(), 0);
  await context.close();
});

for (const colorScheme of ['light', 'dark'])
  test(`an automated audit finds nothing serious in ${colorScheme}`, async () => {
    const { page, context } = await opened(simulated().file, { colorScheme, bypassCSP: true });
    await page.locator('details.bubbles summary').click();
    await page.locator('canvas').first().press('b');
    assert.deepEqual(await serious(page), []);
    await context.close();
  });

test('the page of a search lists its plans with what each loses on, and opens any of them', async () => {
  const file = kept('');
  const json = JSON.parse(execFileSync(program, ['search', `${root}/scenarios/examples/llama3-8b-search-cluster-h100.yaml`, '--json', '--quiet',
    '--set', 'cluster.nodes=2', '--set', 'search={tensor: [1, 2, 4], pipeline: "<= 2", micro_batch: 1, context: 1, zero: 1}', '--top', '4',
    '--report', file]));
  const { page, context, text, requests, complaints } = await opened(file);
  const rows = await page.locator('table.plans tbody tr').allInnerTexts();
  assert.equal(rows.length, json.plans.length);
  rows.forEach((row, i) => {
    assert.ok(row.includes(`${places(json.plans[i].step_time_s * (json.plans[i].step_time_s < 1 ? 1e3 : 1))} `), row);
    assert.ok(row.includes(`${places(json.plans[i].peak_bytes / 2 ** 30)} GiB`), row);
    assert.ok(i === 0 ? row.endsWith('the best plan') : /[+−]\d/.test(row), row);
  });
  assert.equal(await page.locator('.front circle.plan').count(), json.plans.length);
  await page.locator('table.plans').getByRole('button', { name: '2', exact: true }).click();
  assert.match(await text('h1'), /, plan 2$/);
  assert.ok((await text('.figure')).includes(places(json.plans[1].step_time_s * (json.plans[1].step_time_s < 1 ? 1e3 : 1))));
  await page.locator('.front circle.plan').first().click();
  assert.match(await text('h1'), /, plan 1$/);
  assert.deepEqual([requests, complaints], [[], []]);
  await context.close();

  const audited = await opened(file, { bypassCSP: true });
  assert.deepEqual(await serious(audited.page), []);
  await audited.context.close();
});

test('light and dark change places', async () => {
  const { page, context } = await opened(simulated().file);
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await paper();
  await page.getByRole('button', { name: 'Dark' }).click();
  assert.notEqual(await paper(), light);
  assert.equal(await page.getByRole('button', { name: 'Light' }).getAttribute('aria-pressed'), 'true');
  await context.close();
});

// Times are printed, not judged: half a second and 17 ms are what a quiet machine should show.
test('a page of 100,000 bars is at most 1 MB', async () => {
  const { file } = simulated('--set', 'training.global_batch=3072');
  const bars = JSON.parse(/type="application\/json" id="data">([^]*?)<\/script>/.exec(readFileSync(file, 'utf8'))[1])
    .runs[0].timeline.lanes.reduce((sum, lane) => sum + lane[3], 0);
  const { page, context } = await opened(file);
  const ready = await page.evaluate(() => window.stepcast.ready);
  console.log(`${bars} bars: ${statSync(file).size} bytes, ready after ${Math.round(ready)} ms`);
  assert.ok(bars > 100_000);
  assert.ok(statSync(file).size <= 1e6);
  await context.close();
});

test('of a million bars the lanes beyond the pixels are all there', async () => {
  const run = made.run({ stages: 512, microbatches: 488, streams: 2 });
  assert.ok(run.slices > 990_000);
  const { page, context } = await opened(kept(made.page({ kind: 'simulate', runs: [run] })));
  const { frame, compute, pixels, unfolded } = await page.evaluate(() => {
    const { charts: [chart], store } = window.stepcast, begin = performance.now(), times = 20;
    for (let i = 0; i < times; ++i) {
      chart.zoom(i % 2 ? 1.02 : 0.98);
      chart.draw();
    }
    const frame = (performance.now() - begin) / times, compute = chart.rows.rows.length, pixels = chart.rows.height;
    store.set({ tall: 40 });
    chart.draw();
    return { frame, compute, pixels, unfolded: chart.rows.rows.length };
  });
  console.log(`${run.slices} bars: ${frame.toFixed(1)} ms per frame`);
  assert.equal(compute, 512);
  assert.ok(pixels < 512);
  assert.equal(unfolded, 1024);
  await context.close();
});

// SPDX-License-Identifier: Apache-2.0
// The README's picture of the page: npm run picture [PROGRAM] writes docs/page.png.
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { kept, launch, open } from './tests/browser.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const program = process.argv[2] ?? `${root}/build/stepcast`;
const report = kept('');
execFileSync(program, [
  'simulate',
  `${root}/scenarios/examples/gpt3-175b-1024-a100.yaml`,
  '--quiet',
  '--json',
  '--report',
  report,
  '--set',
  'training.global_batch=256',
  '--set',
  'plan.schedule=1f1b',
  '--set',
  'plan.virtual_stages=1',
  '--set',
  'plan.pipeline=8',
  '--set',
  'name=GPT-3 175B on 128 DGX A100, a batch of 256',
]);

const browser = await launch();
const { page } = await open(browser, report, { viewport: { width: 1280, height: 1010 } });
// A bubble that waits for the stages behind it.
await page.evaluate(() => {
  const {
    runs: [{ bubbles, timeline }],
    store,
  } = window.stepcast;
  const bubble = bubbles
    .longest(200)
    .find((i) => timeline.lanes[bubbles.lane[i]].stage === 2 && bubbles.chain(i).length > 2);
  store.set({ selected: { run: 0, bubble } });
});
await page.waitForTimeout(300);
const file = `${root}/docs/page.png`;
const box = await page.locator('.inspector').boundingBox();
await page.screenshot({ path: file, clip: { x: 0, y: 0, width: 1280, height: Math.ceil(box.y + box.height) } });
await browser.close();
console.log(`docs/page.png: ${statSync(file).size} bytes`);

// SPDX-License-Identifier: Apache-2.0
// Debian's Chromium, and pages that are opened in it from the disk.
import { chromium } from 'playwright-core';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const folder = mkdtempSync(join(tmpdir(), 'stepcast-page-'));
let number = 0;

export const launch = () =>
  chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });

export function kept(html) {
  const file = join(folder, `${++number}.html`);
  writeFileSync(file, html);
  return file;
}

// A page with what it asked for and complained about; `ready`: what stands on it then.
export async function open(browser, file, { ready = '#timeline canvas', ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, ...options });
  const page = await context.newPage();
  const requests = [],
    complaints = [];
  const own = pathToFileURL(file).href;
  page.on('request', (request) => {
    if (request.url() !== own) requests.push(request.url());
  });
  page.on('console', (message) => {
    if (message.type() !== 'log') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(own);
  await page.waitForSelector(ready);
  return { page, context, requests, complaints };
}

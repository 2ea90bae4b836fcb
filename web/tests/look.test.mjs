// SPDX-License-Identifier: Apache-2.0
// What the formatter leaves: words of a text that it does not break.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../src/', import.meta.url));

test('no line of the page is wider than 120 columns, and no file longer than 600 lines', () => {
  for (const name of readdirSync(folder).filter((file) => /\.tsx?$/.test(file))) {
    const lines = readFileSync(folder + name, 'utf8').split('\n');
    const wide = lines.findIndex((line) => line.length > 120);
    assert.equal(wide, -1, `${name}:${wide + 1}`);
    assert.ok(lines.length <= 600, name);
  }
});

// SPDX-License-Identifier: Apache-2.0
// Builds the page into one file, report/page/template.html: script and style stand inside, and the
// content security policy allows exactly these two, by hash, and nothing else.
import { createHash } from 'node:crypto';
import { defineConfig, type Plugin } from 'vite';

const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

function oneFile(): Plugin {
  return {
    name: 'one-file',
    enforce: 'post',
    generateBundle(_, bundle) {
      let script = '',
        style = '';
      for (const [name, part] of Object.entries(bundle)) {
        if (part.type === 'chunk') script += part.code;
        else if (name.endsWith('.css')) style += part.source;
        else continue;
        delete bundle[name];
      }
      const page = bundle['index.html'];
      if (page?.type !== 'asset') throw new Error('no index.html');
      script = script.trim().replaceAll('</script', '<\\/script');
      style = style.trim();
      const policy =
        `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; ` +
        `img-src data:; base-uri 'none'; form-action 'none'`;
      // Functions, as "$&" in a replacement text would mean something.
      page.source = String(page.source)
        .replace(/<script type="module"[^>]*><\/script>\s*/, '')
        .replace(/<link rel="stylesheet"[^>]*>\s*/, '')
        .replace('<title>', () => `<meta http-equiv="Content-Security-Policy" content="${policy}">\n<title>`)
        .replace('</head>', () => `<style>${style}</style>\n</head>`)
        .replace('</body>', () => `<script type="module">${script}</script>\n</body>`);
      page.fileName = 'template.html';
    },
  };
}

export default defineConfig({
  plugins: [oneFile()],
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact', legalComments: 'none' },
  build: {
    outDir: '../report/page',
    emptyOutDir: false, // sources of the room stand beside the page
    target: 'es2022',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    cssCodeSplit: false,
  },
});

// Bundles the compiled scripts of each page into one file, if a module is newer than its bundle.
import { readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PAGES = ['console', 'docs'];
const MODULES = fileURLToPath(new URL('../dist/browser/', import.meta.url));
const BUNDLES = fileURLToPath(new URL('../dist/pages/', import.meta.url));

const changedAt = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
const modules = readdirSync(MODULES, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.js'),
);
const newest = Math.max(...modules.map((file) => changedAt(`${MODULES}${file}`)));

if (PAGES.some((page) => changedAt(`${BUNDLES}${page}.js`) <= newest)) {
  const { build, stop } = await import('esbuild-wasm');
  await build({
    entryPoints: Object.fromEntries(PAGES.map((page) => [page, `${MODULES}${page}/main.js`])),
    outdir: BUNDLES,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    alias: { 'product-catalogue-client': `${MODULES}console/client/index.js` },
    logLevel: 'warning',
  });
  await stop();
}

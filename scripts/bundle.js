// Bundles the compiled modules, if one of them or an installed package is newer than the bundles: the programs with
// their packages into dist/bundle, so that Node reads few files at a start; and the script of each page into dist/pages.
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PAGES = ['console', 'docs'];
const PROGRAMS = ['main', 'cli'];
const ROOT = fileURLToPath(new URL('../', import.meta.url));
const BUILT = `${ROOT}dist/`;
const BUNDLES = ['bundle', 'pages'];

const changedAt = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
const modules = readdirSync(BUILT, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.js') && !BUNDLES.some((folder) => file.startsWith(`${folder}/`)),
);
const inputs = [...modules.map((file) => `${BUILT}${file}`), `${ROOT}node_modules/.package-lock.json`];
const newest = Math.max(...inputs.map(changedAt));
/** Written last, so that a build that was interrupted is repeated. */
const STAMP = `${BUILT}bundled`;

if (changedAt(STAMP) <= newest) {
  rmSync(STAMP, { force: true });
  const { build } = await import('rolldown');
  const programs = {
    input: Object.fromEntries(PROGRAMS.map((name) => [name, `${BUILT}${name}.js`])),
    platform: 'node',
    // A native package, which finds its binary beside its own files.
    external: /^@?libsql/,
    // A dependency of Koa compiles the wrappers of deprecated functions.
    checks: { eval: false },
    output: { dir: `${BUILT}bundle`, comments: { legal: false } },
  };
  const pages = PAGES.map((page) => ({
    input: `${BUILT}packages/pages/${page}/main.js`,
    platform: 'browser',
    transform: { target: 'es2022' },
    output: { file: `${BUILT}pages/${page}.js`, minify: true, comments: { legal: false } },
  }));
  // A program that still runs loads some chunks of its own bundle later, so the last bundle stays beside the new one.
  const lastBuild = changedAt(`${BUILT}bundle/main.js`) - 60_000;
  await build([programs, ...pages]);
  for (const chunk of readdirSync(`${BUILT}bundle`)) {
    if (changedAt(`${BUILT}bundle/${chunk}`) < lastBuild) rmSync(`${BUILT}bundle/${chunk}`, { force: true });
  }
  writeFileSync(STAMP, '');
}

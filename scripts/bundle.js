// Bundles the compiled modules: the programs with their packages into `bundle`, so that Node reads few files at a start;
// and the script of each page into `pages`. As a program it does so in dist, if a module or an installed package has
// changed since.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PAGES = ['console', 'docs'];
const PROGRAMS = ['main', 'cli'];
const ROOT = fileURLToPath(new URL('../', import.meta.url));
const BUILT = `${ROOT}dist/`;
const BUNDLES = ['bundle', 'pages'];
/** A native package finds its binary beside its own files, so it is no part of a bundle. */
export const NATIVE_PACKAGE = 'libsql';

/** @param folder with a slash at the end; it is not emptied first */
export async function writeBundles(folder) {
  const { build } = await import('rolldown');
  const programs = {
    input: Object.fromEntries(PROGRAMS.map((name) => [name, `${BUILT}${name}.js`])),
    platform: 'node',
    external: new RegExp(`^@?${NATIVE_PACKAGE}`),
    // A dependency of Koa compiles the wrappers of deprecated functions.
    checks: { eval: false },
    output: { dir: `${folder}bundle`, comments: { legal: false } },
  };
  const pages = PAGES.map((page) => ({
    input: `${BUILT}packages/pages/${page}/main.js`,
    platform: 'browser',
    transform: { target: 'es2022' },
    output: { file: `${folder}pages/${page}.js`, minify: true, comments: { legal: false } },
  }));
  await build([programs, ...pages]);
}

/** The digest of all that the bundles are made of. */
function digestOfInputs() {
  const modules = readdirSync(BUILT, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.js') && ![...BUNDLES, 'next'].some((folder) => file.startsWith(`${folder}/`)),
  );
  const inputs = [...modules.sort().map((file) => `${BUILT}${file}`), `${ROOT}node_modules/.package-lock.json`];
  const hash = createHash('sha256').update(readFileSync(fileURLToPath(import.meta.url)));
  // The compiler writes files again that have not changed, so their times say nothing. Modules of types alone have no
  // code: those of the client's document are written after the first build.
  for (const file of inputs) {
    const text = readFileSync(file, 'utf8');
    if (!text.startsWith('export {};')) hash.update(`\n${file.slice(ROOT.length)}\n${text}`);
  }
  return hash.digest('hex');
}

const changedAt = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

async function renewBundles() {
  /** Written last, so that a build that was interrupted is repeated. */
  const stamp = `${BUILT}bundled`;
  const digest = digestOfInputs();
  if (statSync(stamp, { throwIfNoEntry: false }) && readFileSync(stamp, 'utf8') === digest) return;
  rmSync(stamp, { force: true });
  const next = `${BUILT}next/`;
  const lastBuild = changedAt(`${BUILT}bundle/main.js`) - 60_000;
  rmSync(next, { recursive: true, force: true });
  await writeBundles(next);
  for (const folder of BUNDLES) {
    mkdirSync(`${BUILT}${folder}`, { recursive: true });
    // A rename replaces a file at once, so that a program that starts in between reads a whole one.
    for (const file of readdirSync(`${next}${folder}`)) {
      renameSync(`${next}${folder}/${file}`, `${BUILT}${folder}/${file}`);
    }
  }
  rmSync(next, { recursive: true });
  // A program that still runs loads some chunks of its own bundle later, so the last bundle stays beside the new one.
  for (const chunk of readdirSync(`${BUILT}bundle`)) {
    if (changedAt(`${BUILT}bundle/${chunk}`) < lastBuild) rmSync(`${BUILT}bundle/${chunk}`, { force: true });
  }
  writeFileSync(stamp, digest);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await renewBundles();

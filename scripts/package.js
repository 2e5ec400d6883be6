// Makes build/package, the files of the service without its sources, from which the npm package and the image are made.
// `npm run package` packs it then, and the client. It needs a build and no network.
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NATIVE_PACKAGE, writeBundles } from './bundle.js';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const PACKAGE = `${ROOT}build/package/`;

/** What a program reads beside the bundles, and what a reader of the package needs. */
const FILES = [
  'bin/catalogue.js',
  'bin/product-catalogue-service.js',
  'config/default.json',
  'packages/pages/console/console.css',
  'packages/pages/console/index.html',
  'packages/pages/docs/base.css',
  'packages/pages/docs/docs.css',
  'packages/pages/docs/index.html',
  'src/adapters/inbound/cli/samples.ndjson',
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
];

const LICENCE_TEXT = /^(licen[cs]e|copying|notice)/i;
const RULE = `\n\n${'-'.repeat(79)}\n\n`;

const json = (file) => JSON.parse(readFileSync(`${ROOT}${file}`, 'utf8'));

/** The manifest of the package. Its only dependency is the native one: the bundles hold the code of all others. */
function manifest(lock) {
  const { name, version, description, license, type, engines, bin } = json('package.json');
  const dependencies = { [NATIVE_PACKAGE]: lock.packages[`node_modules/${NATIVE_PACKAGE}`].version };
  return { name, version, description, license, type, engines, bin, dependencies };
}

/** The packages of others whose code is in the bundles or is installed with them, by their paths in the lock file. */
function passedOn(lock) {
  return Object.entries(lock.packages).filter(
    ([path, { dev, link }]) => path.includes('node_modules/') && !dev && !link,
  );
}

/** The licences of the packages that are passed on, but for the native ones of other platforms. */
function notices(lock) {
  const packages = passedOn(lock)
    .filter(([path]) => existsSync(`${ROOT}${path}`))
    .map(([path, { license, version }]) => {
      const { name, author } = json(`${path}/package.json`);
      const folder = `${ROOT}${path}`;
      const texts = readdirSync(folder)
        .filter((file) => LICENCE_TEXT.test(file))
        .sort()
        .map((file) => readFileSync(join(folder, file), 'utf8').trim());
      const owner = typeof author === 'object' ? author.name : author;
      if (texts.length === 0) texts.push(`The package has no licence text. Its author: ${owner ?? 'not named'}.`);
      return [`${name} ${version}: ${license}`, ...texts].join('\n\n');
    });
  const sorted = [...new Set(packages)].sort();
  return `This software contains ${sorted.length} packages of others, under these licences.${RULE}${sorted.join(RULE)}\n`;
}

/** The bill of materials in CycloneDX, which names the native package of each platform. */
function billOfMaterials(lock) {
  const { workspaces, devDependencies, ...manifest } = json('package.json');
  const packages = Object.fromEntries([['', manifest], ...passedOn(lock)]);
  // With --omit=dev npm leaves out what a package of development needs as well, so it gets a lock file without those. It
  // names the bill after its folder.
  const folder = `${ROOT}build/${manifest.name}`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/package.json`, JSON.stringify(manifest));
  writeFileSync(`${folder}/package-lock.json`, JSON.stringify({ ...lock, packages }));
  const args = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only', '--sbom-type=application'];
  return execFileSync('npm', args, { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 26 });
}

const lock = json('package-lock.json');
rmSync(PACKAGE, { recursive: true, force: true });
mkdirSync(PACKAGE, { recursive: true });
for (const file of FILES) cpSync(`${ROOT}${file}`, `${PACKAGE}${file}`);
for (const program of Object.values(json('package.json').bin)) chmodSync(`${PACKAGE}${program}`, 0o755);
await writeBundles(`${PACKAGE}dist/`);
writeFileSync(`${PACKAGE}package.json`, `${JSON.stringify(manifest(lock), undefined, 2)}\n`);
writeFileSync(`${PACKAGE}THIRD-PARTY-NOTICES`, notices(lock));
writeFileSync(`${PACKAGE}sbom.cdx.json`, billOfMaterials(lock));

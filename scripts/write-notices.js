// Writes the licence notices of the installed packages to standard output. Run it where only the packages that are
// passed on are installed, as in the Dockerfile.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const TEXT = /^(licen[cs]e|copying|notice)/i;

const packages = JSON.parse(execFileSync('npm', ['query', '*'], { encoding: 'utf8', maxBuffer: 2 ** 26 }));
const notices = new Map();
for (const { location, path, name, version, license, author } of packages) {
  // The first one is this package itself.
  if (location === '') continue;
  const texts = readdirSync(path)
    .filter((file) => TEXT.test(file))
    .sort()
    .map((file) => readFileSync(join(path, file), 'utf8').trim());
  const owner = typeof author === 'object' ? author.name : author;
  if (texts.length === 0) texts.push(`The package has no licence text. Its author: ${owner ?? 'not named'}.`);
  notices.set(`${name} ${version}`, [`${name} ${version}: ${license}`, ...texts].join('\n\n'));
}
const sorted = [...notices].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, notice]) => notice);
process.stdout.write(
  `This software contains ${sorted.length} packages of others, under these licences.\n\n${'-'.repeat(79)}\n\n` +
    `${sorted.join(`\n\n${'-'.repeat(79)}\n\n`)}\n`,
);

// Begins the section of a release in CHANGELOG.md. `npm version` runs it with the new version.
import { readFileSync, writeFileSync } from 'node:fs';

const UNRELEASED = '## [Unreleased]\n';

const version = process.env['npm_package_version'];
const text = readFileSync('CHANGELOG.md', 'utf8');
const [, changes = ''] = text.split(UNRELEASED);
if (!version || changes.split(/^## /m)[0].trim() === '') {
  process.stderr.write('CHANGELOG.md has no changes under Unreleased, or this was not run by npm version.\n');
  process.exit(65);
}
const today = new Date().toISOString().slice(0, 10);
writeFileSync('CHANGELOG.md', text.replace(UNRELEASED, `${UNRELEASED}\n## [${version}] - ${today}\n`));

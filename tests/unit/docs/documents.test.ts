import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { SUITES } from '../../../scripts/suites.js';

const FILES = [
  ...readdirSync('.').filter((name) => name.endsWith('.md')),
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
  'packages/client/README.md',
  'examples/README.md',
];
const MAX_COLUMNS = 120;
/** Paths in code spans, such as `src/main.ts`; not those with placeholders. */
const PATH = /`((?:src|tests|campaigns|scripts|packages|config|docs|examples)\/[\w./-]+)`/g;
const NPM_SCRIPT = /\bnpm run (?:--silent )?([\w:-]+)/g;
const SUITE = /\bnpm run\s+suite\s+([\w-]+)/g;

/** The anchor of a heading, as GitHub generates it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-');
}

function withoutCode(text: string): string {
  return text.replaceAll(/^```.*?^```/gms, '');
}

function anchorsIn(text: string): string[] {
  return [...withoutCode(text).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));
}

describe('the documents', () => {
  const scripts = Object.keys(JSON.parse(readFileSync('package.json', 'utf8')).scripts);
  const suites = SUITES.map(({ name }) => name);

  for (const file of FILES) {
    const text = readFileSync(file, 'utf8');

    it(`link to existing files and headings: ${file}`, () => {
      for (const [, target = '', anchor] of text.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)]*))?\)/g)) {
        const linked = target === '' ? file : join(dirname(file), target);
        expect(existsSync(linked), linked).to.equal(true);
        if (anchor !== undefined) expect(anchorsIn(readFileSync(linked, 'utf8')), linked).to.include(anchor);
      }
    });

    it(`name existing files, npm scripts and suites: ${file}`, () => {
      for (const [, path = ''] of text.matchAll(PATH)) expect(existsSync(path), path).to.equal(true);
      for (const [, script] of text.matchAll(NPM_SCRIPT)) expect(scripts).to.include(script);
      for (const [, suite] of text.matchAll(SUITE)) expect(suites).to.include(suite);
    });

    it(`have lines of at most ${MAX_COLUMNS} columns of prose: ${file}`, () => {
      const long = withoutCode(text)
        .split('\n')
        .filter((line) => line.length > MAX_COLUMNS && !line.trimStart().startsWith('|'));
      expect(long).to.deep.equal([]);
    });
  }
});

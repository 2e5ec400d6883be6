import { expect } from 'chai';
import { type Module, moduleOf, modulesUnder } from './imports.js';
import type { Rule } from './rules.js';

const REQUEST = /\bfetch\(|\b(XMLHttpRequest|WebSocket|EventSource|sendBeacon)\b/;
const REQUESTER = 'console/api.ts';
/** A text between tags. */
const WORDS = /<[a-z][^<>]*>\s*[A-Za-z][\w ,.'’-]*\s*<\//g;
/** A command is the same in every language. */
const COMMAND = '<code>catalogue keys create</code>';

const RULES: Readonly<Record<string, Rule>> = {
  'the console sends requests only through the client': (modules) =>
    modules
      .filter(({ path, source }) => path.startsWith('console/') && path !== REQUESTER && REQUEST.test(source))
      .map(({ path }) => path),
  'all texts of the console are in one file': (modules) =>
    modules.flatMap(({ path, source }) =>
      [...source.replace(COMMAND, '').matchAll(WORDS)].map(([words]) => `${path}: ${words}`),
    ),
};

const BREACHES: Readonly<Record<string, Module>> = {
  'the console sends requests only through the client': moduleOf('console/x.ts', "await fetch('/v1/products');"),
  'all texts of the console are in one file': moduleOf('console/x.tsx', '<p class="a">\n  Not found.\n</p>'),
};

describe('the code of the pages', () => {
  const modules = modulesUnder('packages/pages');

  it('is read completely', () => {
    expect(modules.map(({ path }) => path)).to.include.members([
      'docs/main.ts',
      'console/main.tsx',
      'console/pages/list-page.tsx',
      REQUESTER,
    ]);
    expect(modules.find(({ path }) => path === REQUESTER)?.source).to.match(REQUEST);
  });

  for (const [name, rule] of Object.entries(RULES)) {
    it(name, () => {
      expect(rule(modules)).to.deep.equal([]);
    });

    it(`${name}: a breach is found`, () => {
      expect(rule([BREACHES[name] as Module])).to.have.length(1);
    });
  }
});

import { expect } from 'chai';
import { type Module, moduleOf, modulesUnder } from './imports.js';
import type { Rule } from './rules.js';

/** The packages that the pages import, and the modules of the service. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  'docs/': [],
  'console/': ['preact', '#packages/client/index.js', '#src/domain/money.js'],
};
/** The parts of the pages that each may import. The console shares modules of the reference. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  'docs/': ['docs/'],
  'console/': ['console/', 'docs/'],
};
const REQUEST = /\bfetch\(|\b(XMLHttpRequest|WebSocket|EventSource|sendBeacon)\b/;
const REQUESTER = 'console/api.ts';
/** A text between tags. */
const WORDS = /<[a-z][^<>]*>\s*[A-Za-z][\w ,.'’-]*\s*<\//g;
/** A command is the same in every language. */
const COMMAND = '<code>catalogue keys create</code>';

const ruleOf = (rules: Readonly<Record<string, readonly string[]>>, path: string): readonly string[] =>
  Object.entries(rules).find(([part]) => path.startsWith(part))?.[1] ?? [];
const isModule = (target: string) => target.endsWith('.ts');

const RULES: Readonly<Record<string, Rule>> = {
  'only the console imports modules of the reference': (modules) =>
    modules.flatMap(({ path, imports }) =>
      imports
        .filter((target) => isModule(target) && !ruleOf(PARTS, path).some((part) => target.startsWith(part)))
        .map((target) => `${path} → ${target}`),
    ),
  'only the console imports packages': (modules) =>
    modules.flatMap(({ path, imports }) =>
      imports
        .filter((target) => !isModule(target) && !ruleOf(PACKAGES, path).includes(target))
        .map((target) => `${path} → ${target}`),
    ),
  'the console sends requests only through the client': (modules) =>
    modules
      .filter(
        ({ path, source }) =>
          /^console\/(?!client\/)/.test(path) && path !== REQUESTER && REQUEST.test(source),
      )
      .map(({ path }) => path),
  'all texts of the console are in one file': (modules) =>
    modules.flatMap(({ path, source }) =>
      [...source.replace(COMMAND, '').matchAll(WORDS)].map(([words]) => `${path}: ${words}`),
    ),
};

const BREACHES: Readonly<Record<string, Module>> = {
  'only the console imports modules of the reference': moduleOf(
    'docs/x.ts',
    "import { a } from '../console/router.js';",
  ),
  'only the console imports packages': moduleOf('docs/x.ts', "import { h } from 'preact';"),
  'the console sends requests only through the client': moduleOf(
    'console/x.ts',
    "await fetch('/v1/products');",
  ),
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

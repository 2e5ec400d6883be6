import { expect } from 'chai';
import { type Module, moduleOf, modulesUnder } from './imports.js';
import { RULES } from './rules.js';

/** For each rule, a module that breaks it. */
const BREACHES: Record<string, Module> = {
  'every import points down the house': moduleOf(
    'domain/x.ts',
    "import { a } from '../application/list-query.js';",
  ),
  'a package is named by its owner alone': moduleOf(
    'adapters/outbound/memory/x.ts',
    "import type {\n  Database,\n} from 'libsql/promise';",
  ),
  'domain, application and shared are pure': moduleOf('application/x.ts', 'export const at = Date.now();'),
  'settings alone read the environment': moduleOf('composition/x.ts', "process.env['PORT']"),
  'shared files name no resource': moduleOf(
    'application/records/record-service.ts',
    "if (name === 'products') {}",
  ),
  'no imports go in a circle': moduleOf('domain/x.ts', "export * from './x.js';"),
};

describe('the house', () => {
  const modules = modulesUnder('src');

  it('is read whole', () => {
    expect(modules.length).to.be.greaterThan(50);
    expect(modules.find(({ path }) => path === 'process/run-service.ts')?.imports).to.include('node:cluster');
    expect(modules.find(({ path }) => path === 'main.ts')?.imports).to.deep.equal([
      'process/supported-node.ts',
      'process/run-service.ts',
    ]);
    expect(modules.find(({ path }) => path === 'adapters/inbound/http/app.ts')?.imports).to.include.members([
      '@koa/router',
      'koa',
      'domain/errors.ts',
      'adapters/inbound/http/route.ts',
    ]);
  });

  for (const [name, rule] of Object.entries(RULES)) {
    it(`${name}`, () => {
      expect(rule(modules)).to.deep.equal([]);
    });

    it(`${name}: a breach is seen`, () => {
      const breach = BREACHES[name];
      expect(breach).to.not.equal(undefined);
      const others = modules.filter(({ path }) => path !== breach?.path);
      expect(rule([...others, ...(breach ? [breach] : [])])).to.have.length.greaterThan(0);
    });
  }
});

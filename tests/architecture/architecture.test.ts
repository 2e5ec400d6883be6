import { expect } from 'chai';
import { type Module, moduleOf, modulesUnder } from './imports.js';
import { RULES } from './rules.js';

/** A module for each rule that breaks it, or the path of a module whose removal breaks it. */
const BREACHES: Record<string, Module | string> = {
  'every import points to an inner layer': moduleOf(
    'domain/x.ts',
    "import { a } from '../../browser/console/list-query.js';",
  ),
  'every folder of the HTTP adapter imports those below it': moduleOf(
    'adapters/inbound/http/core/x.ts',
    "import { a } from '../query/query.js';",
  ),
  'only its owner imports a package': moduleOf(
    'adapters/outbound/memory/x.ts',
    "import type {\n  Database,\n} from 'libsql/promise';",
  ),
  'domain, application and shared are pure': moduleOf('application/x.ts', 'export const at = Date.now();'),
  'only the settings read the environment': moduleOf('composition/x.ts', "process.env['PORT']"),
  'shared code names no resource': moduleOf(
    'application/records/record-service.ts',
    "if (name === 'products') {}",
  ),
  'every path in the rules names a file': 'application/records/record-service.ts',
  'every owner imports its package': 'adapters/outbound/prometheus/merger.ts',
  'no imports form a cycle': moduleOf('domain/x.ts', "export * from './x.js';"),
};

describe('the source code', () => {
  const modules = modulesUnder('src');

  it('is read completely', () => {
    expect(modules.length).to.be.greaterThan(50);
    expect(modules.find(({ path }) => path === 'process/run-service.ts')?.imports).to.include('node:cluster');
    expect(modules.find(({ path }) => path === 'main.ts')?.imports).to.deep.equal([
      'process/supported-node.ts',
      'process/run-service.ts',
    ]);
    expect(
      modules.find(({ path }) => path === 'adapters/inbound/http/pipeline/app.ts')?.imports,
    ).to.include.members(['node:http', 'domain/errors.ts', 'adapters/inbound/http/pipeline/koa-listener.ts']);
  });

  for (const [name, rule] of Object.entries(RULES)) {
    it(name, () => {
      expect(rule(modules)).to.deep.equal([]);
    });

    it(`${name}: a breach is found`, () => {
      const breach = BREACHES[name];
      expect(breach).to.not.equal(undefined);
      const added = breach === undefined || typeof breach === 'string' ? [] : [breach];
      const replaced = typeof breach === 'string' ? breach : breach?.path;
      const others = modules.filter(({ path }) => path !== replaced);
      expect(rule([...others, ...added])).to.have.length.greaterThan(0);
    });
  }

  for (const [path, target] of [
    ['composition/x.ts', 'process/service.ts'],
    ['process/x.ts', 'adapters/outbound/sqlite/connection.ts'],
  ] as const)
    it(`finds that ${path} must not import ${target}`, () => {
      const module = { ...moduleOf(path, ''), imports: [target] };
      const broken = RULES['every import points to an inner layer']?.([...modules, module]);
      expect(broken).to.deep.equal([`${path} → ${target}`]);
    });
});

import { expect } from 'chai';
import { allModules, type Module, moduleOf } from './imports.js';
import { RULES } from './rules.js';

/** Modules for each rule, each of which breaks it, or the path of a module whose removal breaks it. */
const BREACHES: Readonly<Record<string, readonly (Module | string)[]>> = {
  'every import points to an inner layer': [
    moduleOf('domain/x.ts', "import { a } from '../application/records/list-query.js';"),
    moduleOf('process/x.ts', "import { serveMcp } from '#packages/mcp/serve.js';"),
    moduleOf('process/x.ts', "import { a } from '../adapters/outbound/sqlite/connection/connection.js';"),
    moduleOf('composition/x.ts', "import { a } from '../process/service.js';"),
    moduleOf('composition/stores/x.ts', "import { a } from '../application.js';"),
    moduleOf('config/x.ts', "import { a } from '../composition/application.js';"),
    moduleOf('adapters/outbound/mongo/x.ts', "import { a } from '../memory/repository.js';"),
    moduleOf('packages/client/x.ts', "import type { Money } from '#src/domain/money.js';"),
    moduleOf('packages/mcp/x.ts', "import { retrying } from '#packages/client/retry.js';"),
    moduleOf('packages/pages/docs/x.ts', "import { a } from '../console/router.js';"),
  ],
  'every folder of the HTTP adapter imports those below it': [
    moduleOf('adapters/inbound/http/core/x.ts', "import { a } from '../parameters/query.js';"),
  ],
  'no two folders import each other, except one and a folder in it': [
    moduleOf('application/ports/x.ts', "import { a } from '../records/record-service.js';"),
  ],
  'only its owner imports a package': [
    moduleOf('adapters/outbound/memory/x.ts', "import type {\n  Database,\n} from 'libsql/promise';"),
    moduleOf('composition/x.ts', "import { MongoClient } from 'mongodb';"),
    moduleOf('composition/stores/x.ts', "const { Pool } = await import('unowned');"),
    moduleOf('packages/pages/docs/x.ts', "import { h } from 'preact';"),
    moduleOf('packages/client/x.ts', "import { readFileSync } from 'node:fs';"),
  ],
  'domain, application and shared are pure': [moduleOf('application/x.ts', 'export const at = Date.now();')],
  'only the settings read the environment': [moduleOf('composition/x.ts', "process.env['PORT']")],
  'only its registration and its adapter name a store': [
    moduleOf('composition/x.ts', "if (settings.STORE === 'sqlite') {}"),
  ],
  'shared code names no resource': [
    moduleOf('application/records/record-service.ts', "if (name === 'products') {}"),
    moduleOf('adapters/outbound/mongo/x.ts', "if (name === 'products') {}"),
  ],
  'the console sends requests only through the client': [
    moduleOf('packages/pages/console/x.ts', "await fetch('/v1/products');"),
  ],
  'all texts of the pages are in one file': [
    moduleOf('packages/pages/console/x.tsx', '<p class="a">\n  Not found.\n</p>'),
  ],
  'every path in the rules names a file': ['application/records/record-service.ts'],
  'every owner imports its package': ['adapters/inbound/http/lists/csv.ts'],
  'no imports form a cycle': [moduleOf('domain/x.ts', "export * from './x.js';")],
};

describe('the source code', () => {
  const modules = allModules();

  it('is read completely', () => {
    expect(modules.length).to.be.greaterThan(50);
    expect(modules.find(({ path }) => path === 'process/run-service.ts')?.imports).to.include('node:cluster');
    expect(modules.find(({ path }) => path === 'main.ts')?.imports).to.deep.equal([
      'process/supported-node.ts',
      'process/run-service.ts',
    ]);
    expect(modules.find(({ path }) => path === 'adapters/inbound/http/pipeline/app.ts')?.imports).to.include.members([
      'node:http',
      'domain/errors.ts',
      'adapters/inbound/http/pipeline/route-handler.ts',
    ]);
    for (const path of ['packages/client/index.ts', 'packages/mcp/serve.ts', 'packages/pages/console/main.tsx'])
      expect(modules.filter((module) => module.path === path)).to.have.length(1);
  });

  for (const [name, rule] of Object.entries(RULES)) {
    it(name, () => {
      expect(rule(modules)).to.deep.equal([]);
    });

    it(`${name}: a breach is found`, () => {
      const breaches = BREACHES[name] ?? [];
      expect(breaches).to.not.deep.equal([]);
      for (const breach of breaches) {
        const [added, replaced] = typeof breach === 'string' ? [[], breach] : [[breach], breach.path];
        const others = modules.filter(({ path }) => path !== replaced);
        expect(rule([...others, ...added]), replaced).to.have.length.greaterThan(0);
      }
    });
  }
});

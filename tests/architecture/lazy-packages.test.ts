import { expect } from 'chai';
import { list } from '../support/list.js';
import { allModules, type Module, moduleOf } from './imports.js';

/** The packages that only some settings or requests need. The service imports them when it needs them. */
const LAZY = [
  ...driversOfStores(allModules()),
  ...list`ioredis  @peculiar/x509  prom-client  string-width  @modelcontextprotocol/server  openapi-fetch`,
  ...list`@opentelemetry/api  @opentelemetry/exporter-trace-otlp-http  @opentelemetry/exporter-trace-otlp-proto`,
  ...list`@opentelemetry/resources  @opentelemetry/sdk-trace-base`,
];
const ENTRIES = ['main.ts', 'process/run-service.ts', 'command-line.ts', 'composition/admin-tasks.ts'];

/** The packages that the adapters of stores import. */
function driversOfStores(modules: readonly Module[]): readonly string[] {
  const stores = modules.flatMap(({ path }) => /^adapters\/outbound\/\w+\/(?=storage\.ts$)/.exec(path)?.[0] ?? []);
  return modules
    .filter(({ path }) => stores.some((folder) => path.startsWith(folder)))
    .flatMap(({ imports }) => imports.filter((name) => !name.endsWith('.ts') && !name.startsWith('node:')));
}

/** Type imports and `import()`, which load nothing at the start. */
const NOT_LOADED = /^(?:import|export)\s+type\s[^;]*;|\bimport\([^)]*\)/gm;

/** Returns the packages and modules that these entries load before they run. */
function loadedBy(entries: readonly string[], modules: readonly Module[]): Set<string> {
  const loaded = new Set(entries);
  // The iteration includes the elements that are added meanwhile.
  for (const path of loaded) {
    const module = modules.find((one) => one.path === path);
    if (!module) continue;
    for (const target of moduleOf(path, module.source.replaceAll(NOT_LOADED, '')).imports) loaded.add(target);
  }
  return loaded;
}

describe('a package that not every process needs', () => {
  const modules = allModules();

  it('is not loaded at the start', () => {
    expect(modules.map(({ path }) => path)).to.include.members(ENTRIES);
    const loaded = loadedBy(ENTRIES, modules);
    expect(loaded).to.include('composition/application.ts').and.to.include('koa');
    expect(LAZY).to.include('mongodb').and.to.include('libsql');
    expect(LAZY.filter((name) => loaded.has(name))).to.deep.equal([]);
  });

  it('is found if a module loads it', () => {
    for (const [path, name] of [
      ['adapters/outbound/mongo/storage.ts', 'mongodb'],
      ['adapters/outbound/sqlite/storage.ts', 'libsql'],
      ['adapters/outbound/redis/connection.ts', 'ioredis'],
      ['packages/mcp/serve.ts', '@modelcontextprotocol/server'],
      ['adapters/outbound/opentelemetry/tracing.ts', '@opentelemetry/sdk-trace-base'],
    ] as const)
      expect(loadedBy([path], modules), path).to.include(name);
  });
});

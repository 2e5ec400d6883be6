import { expect } from 'chai';
import { type Module, moduleOf, modulesUnder } from './imports.js';

/** Packages that only one value of a setting needs. Each is imported when that value is chosen. */
const LAZY = ['mongodb', 'libsql', 'ioredis', '@peculiar/x509'];
const ENTRIES = ['main.ts', 'process/run-service.ts', 'command-line.ts', 'composition/admin-tasks.ts'];

/** Imports of types, and `import()`, which load nothing at the start. */
const NOT_LOADED = /^(?:import|export)\s+type\s[^;]*;|\bimport\([^)]*\)/gm;

/** The packages and modules that these entries load before they run. */
function loadedBy(entries: readonly string[], modules: readonly Module[]): Set<string> {
  const loaded = new Set(entries);
  // A set that grows is iterated to its end.
  for (const path of loaded) {
    const module = modules.find((one) => one.path === path);
    if (!module) continue;
    for (const target of moduleOf(path, module.source.replaceAll(NOT_LOADED, '')).imports) loaded.add(target);
  }
  return loaded;
}

describe('the drivers of stores and of Redis', () => {
  const modules = modulesUnder('src');

  it('are loaded only by the settings that need them', () => {
    const loaded = loadedBy(ENTRIES, modules);
    expect(loaded).to.include('composition/container.ts').and.to.include('koa');
    expect(LAZY.filter((name) => loaded.has(name))).to.deep.equal([]);
  });

  it('are found where they are loaded', () => {
    for (const [path, name] of [
      ['composition/mongo-storage.ts', 'mongodb'],
      ['composition/sqlite-storage.ts', 'libsql'],
      ['adapters/outbound/redis/connection.ts', 'ioredis'],
    ] as const)
      expect(loadedBy([path], modules), path).to.include(name);
  });
});

import { expect } from 'chai';
import { type Module, moduleOf, modulesUnder } from './imports.js';

/** Packages that one value of a setting other than STORE needs. Each is imported when that value is chosen. */
const OF_OTHER_SETTINGS = ['ioredis', '@peculiar/x509'];
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
  /** What the storage of a store loads and that of memory does not: its adapter and its driver. */
  const storages = modules
    .map(({ path }) => path)
    .filter((path) => /^composition\/.+-storage\.ts$/.test(path));
  const ofMemory = loadedBy(['composition/memory-storage.ts'], modules);
  const isOwn = (name: string) => name.startsWith('adapters/outbound/') || !/\.ts$|^node:/.test(name);
  const lazy = [...loadedBy(storages, modules)]
    .filter((name) => isOwn(name) && !ofMemory.has(name))
    .concat(OF_OTHER_SETTINGS);

  it('are loaded only by the settings that need them', () => {
    const loaded = loadedBy(ENTRIES, modules);
    expect(loaded).to.include('composition/container.ts').and.to.include('koa');
    expect(lazy).to.include.members(['libsql', 'mongodb', 'adapters/outbound/sqlite/repository.ts']);
    expect(lazy.filter((name) => loaded.has(name))).to.deep.equal([]);
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

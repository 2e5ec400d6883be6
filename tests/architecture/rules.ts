import type { Module } from './imports.js';

/** For each part of the house, what it may import of the house; the first that fits a module counts. {@link mayImport} adds the outbound adapters. */
const FLOORS: readonly [part: RegExp, may: RegExp][] = [
  [/^domain\//, /^domain\//],
  [/^shared\//, /^shared\//],
  [/^application\//, /^(domain|application|shared)\//],
  [/^adapters\/inbound\/http\//, /^(domain|application|shared|adapters\/inbound\/http)\//],
  [/^adapters\/inbound\/cli\//, /^(domain|application|shared|config|adapters\/inbound\/cli)\//],
  [/^config\//, /^config\//],
  [/^composition\//, /^(domain|application|shared|adapters|config|composition)\//],
  [/^process\//, /^(domain|application|shared|config|composition|process)\//],
  [/^[a-z-]+\.ts$/, /^(adapters\/inbound\/cli|composition|process)\/|^[a-z-]+\.ts$/],
];

/** What a module may import of the house. An outbound adapter may not import another one. */
function mayImport(path: string): RegExp | undefined {
  const [, adapter] = /^adapters\/outbound\/([a-z-]+)\//.exec(path) ?? [];
  if (adapter) return new RegExp(`^(domain|application|shared|adapters/outbound/${adapter})/`);
  return FLOORS.find(([part]) => part.test(path))?.[1];
}

/** For each package, and for what of Node is no matter for everyone, the folders that may name it. */
const OWNERS: Readonly<Record<string, RegExp>> = {
  koa: /^adapters\/inbound\/http\//,
  '@koa/router': /^adapters\/inbound\/http\//,
  'koa-bodyparser': /^adapters\/inbound\/http\//,
  'ipaddr.js': /^adapters\/inbound\/http\//,
  commander: /^adapters\/inbound\/cli\//,
  joi: /^(adapters\/inbound\/http|config)\//,
  mongodb: /^adapters\/outbound\/mongo\//,
  libsql: /^adapters\/outbound\/sqlite\//,
  'rate-limiter-flexible': /^adapters\/outbound\/(memory|redis)\//,
  ioredis: /^adapters\/outbound\/redis\//,
  'prom-client': /^adapters\/outbound\/prometheus\//,
  pino: /^adapters\/outbound\/pino\//,
  jose: /^adapters\/outbound\/tokens\//,
  '@peculiar/x509': /^adapters\/outbound\/certificates\//,
  tsyringe: /^composition\//,
  'node:cluster': /^process\//,
  'reflect-metadata': /^(composition|adapters\/outbound\/certificates)\//,
};

/** What domain, application and shared may use of Node: functions of their arguments alone. */
const PURE = ['node:util', 'node:crypto'];

const ENVIRONMENT = /\bprocess\.env\b/;
const CLOCK_OR_CHANCE =
  /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\brandom(UUID|Int|Bytes)\(|\bperformance\b/;

/** The mechanism that all resources share: it takes values and functions, and never asks which resource it serves. */
const SHARED = [
  'application/records/record-service.ts',
  'application/records/create-records.ts',
  'application/records/record-validator.ts',
  'application/records/record-view.ts',
  'application/records/idempotency.ts',
  'application/records/id-allocator.ts',
  'application/records/list-query.ts',
  'application/records/query-semantics.ts',
  'application/records/paginate.ts',
  'application/maintenance/copy-archive.ts',
  'application/maintenance/copy-rules.ts',
  'application/ports/repository.ts',
  'adapters/inbound/http/route.ts',
  'adapters/inbound/http/resources/resource-routes.ts',
  'adapters/inbound/http/resources/resource-definition.ts',
  'adapters/inbound/http/import/import-route.ts',
  'adapters/inbound/http/import/import-batch.ts',
  'adapters/inbound/http/list/list-route.ts',
  'adapters/inbound/http/list/list-query-parser.ts',
  'adapters/inbound/http/list/filters.ts',
  'adapters/inbound/http/list/sort.ts',
  'adapters/inbound/http/query/sparse-fields.ts',
  'adapters/inbound/http/list/cursor.ts',
  'adapters/inbound/http/list/link-header.ts',
  'adapters/inbound/http/list/ndjson.ts',
  'adapters/outbound/memory/repository.ts',
  'adapters/outbound/memory/idempotency-store.ts',
  'adapters/outbound/sqlite/repository.ts',
  'adapters/outbound/sqlite/idempotency-store.ts',
  'adapters/outbound/mongo/repository.ts',
  'adapters/outbound/mongo/idempotency-store.ts',
];
const A_RESOURCE = /\b(products?|users|orders|api[-_]?keys?)\b/i;

export type Rule = (modules: readonly Module[]) => string[];

export const RULES: Readonly<Record<string, Rule>> = {
  'every import points down the house': (modules) =>
    modules.flatMap(({ path, imports }) => {
      const may = mayImport(path);
      if (!may) return [`${path} stands on no floor`];
      return imports
        .filter((target) => target.endsWith('.ts') && !may.test(target))
        .map((target) => `${path} → ${target}`);
    }),

  'a package is named by its owner alone': (modules) =>
    modules.flatMap(({ path, imports }) =>
      imports
        .filter((target) => !target.endsWith('.ts') && !mayName(path, target))
        .map((target) => `${path} → ${target}`),
    ),

  'domain, application and shared are pure': (modules) =>
    modules
      .filter(({ path }) => /^(domain|application|shared)\//.test(path))
      .flatMap(({ path, source, imports }) => [
        ...imports
          .filter((target) => !target.endsWith('.ts') && !PURE.includes(target))
          .map((target) => `${path} → ${target}`),
        ...(CLOCK_OR_CHANCE.test(source) ? [`${path} reads a clock or chance`] : []),
      ]),

  'settings alone read the environment': (modules) =>
    modules
      .filter(({ path, source }) => path !== 'config/settings.ts' && ENVIRONMENT.test(source))
      .map(({ path }) => `${path} reads process.env`),

  'shared files name no resource': (modules) =>
    SHARED.flatMap((path) => {
      const module = modules.find((one) => one.path === path);
      if (!module) return [`${path} is not there`];
      return A_RESOURCE.test(withoutComments(module.source)) ? [`${path} names a resource`] : [];
    }),

  'no imports go in a circle': (modules) => {
    const byPath = new Map(modules.map((module) => [module.path, module]));
    return modules
      .filter(({ path }) => reaches(byPath, path, path))
      .map(({ path }) => `${path} imports itself in the end`);
  },
};

function mayName(path: string, target: string): boolean {
  return OWNERS[target]?.test(path) ?? target.startsWith('node:');
}

function reaches(
  modules: ReadonlyMap<string, Module>,
  from: string,
  goal: string,
  seen = new Set<string>(),
): boolean {
  return (modules.get(from)?.imports ?? []).some((target) => {
    if (target === goal) return true;
    if (seen.has(target)) return false;
    seen.add(target);
    return reaches(modules, target, goal, seen);
  });
}

function withoutComments(source: string): string {
  return source.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
}

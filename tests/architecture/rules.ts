import { existsSync, readdirSync } from 'node:fs';
import { STORES } from '#src/composition/stores/index.js';
import { TABLES } from '#src/composition/tables.js';
import { list } from '../support/list.js';
import type { Module } from './imports.js';

/** A path under `src`, or one that begins with `packages/`. A folder ends with `/`; the others are files. */
type PathPrefix = string;

const CORE: readonly PathPrefix[] = ['domain/', 'application/', 'shared/'];

/** The folders of the outbound adapters, one for each technology. The others follow from them, so no rule names a store. */
const OUTBOUND: readonly PathPrefix[] = readdirSync('src/adapters/outbound').map(
  (folder) => `adapters/outbound/${folder}/`,
);
const STORE_FOLDERS = OUTBOUND.filter((folder) => existsSync(`src/${folder}storage.ts`));

/** The folders or files that a part of the source may import; the first entry that fits a module applies. */
const LAYERS: Readonly<Record<PathPrefix, readonly PathPrefix[]>> = {
  'domain/': ['domain/'],
  'shared/': ['shared/'],
  'application/': CORE,
  'adapters/inbound/http/': [...CORE, 'adapters/inbound/http/'],
  'adapters/inbound/cli/': [
    ...CORE,
    'config/',
    'adapters/inbound/cli/',
    'packages/mcp/',
    'packages/remote/',
    'packages/client/index.ts',
  ],
  // `sql/` has what the stores that speak SQL share.
  ...Object.fromEntries(OUTBOUND.map((folder) => [folder, [...CORE, 'adapters/outbound/sql/', folder]])),
  // The settings of a store stand in its registration.
  'config/': ['shared/', 'config/', 'composition/stores/'],
  'composition/stores/': [...CORE, 'adapters/outbound/', 'composition/stores/'],
  'composition/': [...CORE, 'adapters/', 'config/', 'composition/'],
  // `composition/` makes parts, and imports no file of `process/`, which runs them.
  'process/': [...CORE, 'adapters/inbound/http/', 'config/', 'composition/', 'process/'],
  'main.ts': ['process/'],
  'cli.ts': ['process/', 'command-line.ts'],
  'command-line.ts': ['adapters/inbound/cli/', 'composition/', 'process/', 'packages/mcp/', 'packages/remote/'],
  'packages/client/': ['packages/client/'],
  'packages/remote/': ['packages/remote/', 'packages/client/index.ts'],
  'packages/mcp/': ['packages/mcp/', 'packages/remote/', 'packages/client/index.ts', 'shared/json.ts'],
  'packages/pages/docs/': ['packages/pages/docs/'],
  // How records, amounts, integers and lists are read from text, as the service reads them.
  'packages/pages/console/': list`packages/pages/  packages/client/index.ts  domain/money.ts  shared/record-splitters.ts  shared/json.ts`,
};

/** The folders of the HTTP adapter, from the ground up: each may import those before it. */
const HTTP = 'adapters/inbound/http/';
const HTTP_FOLDERS = list`core  body  parameters  server  middleware  lists  import  resources  oauth  pages  openapi  pipeline`;

/**
 * The folders that may import each package, and each restricted module of Node. A package that is missing here belongs
 * to the only outbound adapter that imports it, as its driver.
 */
const OWNERS: Readonly<Record<string, readonly PathPrefix[]>> = {
  koa: ['adapters/inbound/http/'],
  '@koa/router': ['adapters/inbound/http/'],
  'koa-bodyparser': ['adapters/inbound/http/'],
  'ipaddr.js': ['adapters/inbound/http/', 'adapters/outbound/webhooks/'],
  'csv-stringify': ['adapters/inbound/http/'],
  commander: ['adapters/inbound/cli/'],
  'string-width': ['adapters/inbound/cli/'],
  joi: ['adapters/inbound/http/body/', 'config/', 'composition/stores/'],
  tsyringe: ['composition/'],
  'node:cluster': ['process/'],
  'reflect-metadata': ['composition/', 'adapters/outbound/certificates/'],
  'openapi-fetch': ['packages/client/'],
  '@modelcontextprotocol/server': ['packages/mcp/'],
  preact: ['packages/pages/console/'],
};

/** The code that browsers run too, which have no modules of Node. */
const FOR_BROWSERS: readonly PathPrefix[] = ['packages/client/', 'packages/pages/'];

/** The modules of Node that domain, application and shared may import. */
const PURE = ['node:util', 'node:crypto', 'node:zlib'];

/** Besides them the SDK of OpenTelemetry reads its own variables, and Node reads FORCE_COLOR and the like. */
const ENVIRONMENT_READERS = ['config/settings.ts'];
/** An assignment reads nothing. */
const ENVIRONMENT = /\bprocess\.env\b(?!\['\w+'\] = )/;
const CLOCK_OR_RANDOMNESS = /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\brandom(UUID|Int|Bytes)\(|\bperformance\b/;
const TIMER = /\bset(Timeout|Interval|Immediate)\(/;
/** `shared` starts timers in these files alone, and turns of the event loop. */
const TIMER_OWNERS = ['shared/promises.ts', 'shared/task-scheduler.ts'];
/** `shared` reads the files of the program in this file alone. */
const FILE_READER = 'shared/program.ts';

/**
 * The code that serves all resources. It takes values and functions, and does not know which resource it serves. The
 * adapters of stores are such code as well, except their frozen migrations.
 */
const RESOURCE_NEUTRAL = [
  ...list`application/records/record-service.ts  application/records/record-writer.ts`,
  ...list`application/records/record-format.ts  application/records/write-conditions.ts`,
  ...list`application/records/id-allocator.ts  application/ports/list-query.ts`,
  ...list`application/records/query-semantics.ts  application/records/list-indexes.ts  application/records/lists.ts`,
  ...list`application/maintenance/copy.ts  application/ports/repository.ts  adapters/inbound/http/core/route.ts`,
  ...list`adapters/inbound/http/resources/resource-operations.ts  adapters/inbound/http/resources/resource-routes.ts`,
  ...list`adapters/inbound/http/core/resource-definition.ts  adapters/inbound/http/import/import-handler.ts`,
  ...list`adapters/inbound/http/import/batch-importer.ts  adapters/inbound/http/parameters/`,
  ...list`adapters/inbound/http/lists/`,
];
/** In any spelling: `api_keys`, `api-keys`, `apiKeys`. Of the singulars, `user` and `order` have other meanings too. */
const NAMES = [
  ...TABLES.map(({ name }) => name.replaceAll('_', '[-_]?')),
  'product(?!-catalogue-service)',
  'api[-_]?key',
  'webhook',
];
const RESOURCE_NAME = new RegExp(`\\b(${NAMES.join('|')})\\b`, 'i');

/** As a value. `memory` is also a value of RATE_LIMITER. */
const STORE_NAME = new RegExp(
  `['"](${Object.keys(STORES)
    .filter((name) => name !== 'memory')
    .join('|')})['"]`,
);

const CONSOLE = 'packages/pages/console/';
const REQUEST = /\bfetch\(|\b(XMLHttpRequest|WebSocket|EventSource|sendBeacon)\b/;
const REQUESTER = `${CONSOLE}api.ts`;
/** A text between tags. */
const WORDS = /<[a-z][^<>]*>\s*[A-Za-z][\w ,.'’-]*\s*<\//g;
/** A command is the same in every language. */
const COMMAND = '<code>catalogue keys create</code>';

/** Every folder and file that the rules name. */
const PATHS: readonly PathPrefix[] = [
  ...Object.entries(LAYERS).flat(2),
  ...Object.values(OWNERS).flat(),
  ...HTTP_FOLDERS.map((folder) => `${HTTP}${folder}/`),
  ...RESOURCE_NEUTRAL,
  ...ENVIRONMENT_READERS,
  ...TIMER_OWNERS,
  REQUESTER,
];

export type Rule = (modules: readonly Module[]) => string[];

export const RULES: Readonly<Record<string, Rule>> = {
  'every import points to an inner layer': (modules) =>
    modules.flatMap(({ path, imports }) => {
      const [, allowed] = Object.entries(LAYERS).find(([part]) => path.startsWith(part)) ?? [];
      if (!allowed) return [`${path} is in no layer`];
      return imports
        .filter((target) => target.endsWith('.ts') && !isUnder(target, allowed))
        .map((target) => `${path} → ${target}`);
    }),

  'every folder of the HTTP adapter imports those below it': (modules) =>
    modules
      .filter(({ path }) => path.startsWith(HTTP))
      .flatMap(({ path, imports }) => {
        const floor = httpFloor(path);
        if (floor < 0) return [`${path} is in no folder of the list`];
        return imports
          .filter((target) => target.startsWith(HTTP) && httpFloor(target) > floor)
          .map((target) => `${path} → ${target}`);
      }),

  'no two folders import each other, except one and a folder in it': (modules) => {
    const arrows = new Set(
      modules.flatMap(({ path, imports }) =>
        imports.filter((target) => target.endsWith('.ts')).map((target) => `${folderOf(path)} → ${folderOf(target)}`),
      ),
    );
    return [...arrows].filter((arrow) => {
      const [from = '', to = ''] = arrow.split(' → ');
      const isNested = from.startsWith(to) || to.startsWith(from);
      return !isNested && arrows.has(`${to} → ${from}`);
    });
  },

  'only its owner imports a package': (modules) =>
    modules.flatMap(({ path, imports }) =>
      imports
        .filter((target) => !target.endsWith('.ts') && !mayImport(path, target, modules))
        .map((target) => `${path} → ${target}`),
    ),

  'domain, application and shared are pure': (modules) =>
    modules
      .filter(({ path }) => /^(domain|application|shared)\//.test(path))
      .flatMap(({ path, source, imports }) => [
        ...imports
          .filter((target) => !target.endsWith('.ts') && !PURE.includes(target))
          .filter((target) => !(target === 'node:fs' && path === FILE_READER))
          .map((target) => `${path} → ${target}`),
        ...(CLOCK_OR_RANDOMNESS.test(source) ? [`${path} reads a clock or a random source`] : []),
        ...(TIMER.test(source) && !TIMER_OWNERS.includes(path) ? [`${path} starts a timer`] : []),
      ]),

  'only the settings read the environment': (modules) =>
    modules
      .filter(({ path }) => !isUnder(path, [...ENVIRONMENT_READERS, ...FOR_BROWSERS]))
      .filter(({ source }) => ENVIRONMENT.test(source))
      .map(({ path }) => `${path} reads process.env`),

  'only its registration and its adapter name a store': (modules) =>
    modules
      .filter(({ path }) => !isUnder(path, ['composition/stores/', ...STORE_FOLDERS]))
      .filter(({ source }) => STORE_NAME.test(withoutComments(source)))
      .map(({ path }) => `${path} names a store`),

  'shared code names no resource': (modules) =>
    modules
      .filter(({ path }) => isUnder(path, [...RESOURCE_NEUTRAL, ...STORE_FOLDERS]))
      .filter(({ path }) => !path.endsWith('/migrations.ts'))
      .filter(({ source }) => RESOURCE_NAME.test(withoutComments(source)))
      .map(({ path }) => `${path} names a resource`),

  'the console sends requests only through the client': (modules) =>
    modules
      .filter(({ path, source }) => path.startsWith(CONSOLE) && path !== REQUESTER && REQUEST.test(source))
      .map(({ path }) => path),

  'all texts of the pages are in one file': (modules) =>
    modules
      .filter(({ path }) => path.startsWith('packages/pages/'))
      .flatMap(({ path, source }) =>
        [...source.replace(COMMAND, '').matchAll(WORDS)].map(([words]) => `${path}: ${words}`),
      ),

  'every path in the rules names a file': (modules) =>
    PATHS.filter((prefix) => !modules.some(({ path }) => path.startsWith(prefix))),

  'every owner imports its package': (modules) =>
    Object.entries(OWNERS).flatMap(([name, owners]) =>
      owners
        .filter((owner) => !modules.some(({ path, imports }) => path.startsWith(owner) && imports.includes(name)))
        .map((owner) => `${owner} does not import ${name}`),
    ),

  'no imports form a cycle': (modules) => {
    const byPath = new Map(modules.map((module) => [module.path.replace(/\.tsx$/, '.ts'), module]));
    return [...byPath.keys()].filter((path) => reaches(byPath, path, path)).map((path) => `${path} imports itself`);
  },
};

/** The place of the folder of a module in {@link HTTP_FOLDERS}, -1 if it has none. */
function httpFloor(path: string): number {
  return HTTP_FOLDERS.indexOf(path.slice(HTTP.length).split('/')[0] ?? '');
}

/** The folder of a module, with `/` at its end. */
function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}

function isUnder(path: string, allowed: readonly PathPrefix[]): boolean {
  return allowed.some((prefix) => path.startsWith(prefix));
}

function mayImport(path: string, target: string, modules: readonly Module[]): boolean {
  const owners = OWNERS[target];
  if (owners) return isUnder(path, owners);
  if (target.startsWith('node:')) return !isUnder(path, FOR_BROWSERS);
  const [folder = '', ...others] = OUTBOUND.filter((one) =>
    modules.some((module) => module.path.startsWith(one) && module.imports.includes(target)),
  );
  return path.startsWith(folder) && folder !== '' && others.length === 0;
}

function reaches(modules: ReadonlyMap<string, Module>, from: string, goal: string, seen = new Set<string>()): boolean {
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

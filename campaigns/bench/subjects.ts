import { existsSync, mkdirSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ALL_STORES } from '../../tests/stores/index.js';
import type { CreatedStore } from '../../tests/stores/provider.js';
import { HttpClient } from '../../tests/support/http-client.js';
import { type Api, CATALOGUE, POCKETBASE } from './api.js';
import { databaseOf } from './databases.js';
import { importFile } from './ndjson.js';
import { type Program, ServerProcess } from './server-process.js';

/** A well-formed API key, which becomes the first one of every store. */
export const API_KEY = `pcs_${'0'.repeat(30)}0B9c15`;

/** The server to which most ratios are, and its second process, which shows the noise of the machine. */
export const BASE = 'koa';
export const REPEAT = 'koa again';

/** The service, which counts neither its requests nor the calls of its store. */
const UNMEASURED = resolve('build/campaigns/bench/servers/unmeasured-service.js');

const SHUTDOWN_MS = 25_000;

/** What all servers share: the certificate, which the service made at its first start, and the products. */
export interface Materials {
  readonly folder: string;
  readonly tls: string;
  /** One product in JSON on each line. */
  readonly products: string;
  readonly count: number;
}

/** A server of the comparison, before it is started. */
export interface Definition {
  readonly name: string;
  /** The name of the server to which its ratios are. */
  readonly base: string;
  readonly api: Api;
  /** Whether it is the service itself, which has imports, exports and access tokens. */
  readonly isService: boolean;
  program(materials: Materials): Promise<Program>;
}

/** A running server of the comparison. */
export interface Subject extends Definition {
  readonly server: ServerProcess;
  /** The number of products when it was started. */
  readonly count: number;
  readonly client: HttpClient;
}

export interface Choice {
  /** Another build of the service. */
  readonly otherDist?: string | undefined;
  /** The program that `pocketbase.ts` builds. */
  readonly pocketbase?: string | undefined;
  /** The Redis in which services on a shared store count requests. */
  readonly redis?: string | undefined;
}

export function definitions({ otherDist, pocketbase, redis }: Choice): Definition[] {
  const here = resolve('dist');
  const own = ALL_STORES.filter(({ unreachable }) => !unreachable).map(({ name }) => name);
  return [
    bare(BASE, 'koa'),
    bare(REPEAT, 'koa'),
    bare('node:https', 'https'),
    bare('fastify', 'fastify'),
    ...own.map((name) => service(name, here, { STORE: name })),
    { ...service('sqlite without metrics', here, { STORE: 'sqlite' }, UNMEASURED), base: 'sqlite' },
    { ...service('two workers', here, { STORE: 'sqlite', WORKERS: '2' }), base: 'sqlite' },
    ...(otherDist ? own.map((name) => service(`${name} (other)`, resolve(otherDist), { STORE: name })) : []),
    ...(pocketbase ? [peer('pocketbase (no fsync)', pocketbase)] : []),
    ...ALL_STORES.flatMap(({ name, createDurable }) => (createDurable ? onServer(name, createDurable, redis) : [])),
  ];
}

/** Makes an empty store on a server. */
type Create = () => Promise<CreatedStore>;

/** The service on a store with a server, and bare Koa on the same server, if there is such a program. */
function onServer(store: string, create: Create, redis: string | undefined): Definition[] {
  const base = `koa on ${store}`;
  const settings = redis ? { RATE_LIMITER: 'redis', REDIS_URL: redis } : {};
  const own = service(redis ? `${store} and redis` : store, resolve('dist'), settings);
  const all = existsSync(bareProgram(`koa-${store}`))
    ? [
        { ...bare(base, `koa-${store}`), base },
        { ...own, base },
      ]
    : [own];
  return all.map((definition) => withDatabase(definition, create));
}

/** The program of the server gets the settings of an empty database from its environment. */
function withDatabase(definition: Definition, create: Create): Definition {
  const settings = databaseOf(create);
  return {
    ...definition,
    program: async (materials) => {
      const { command, environment } = await definition.program(materials);
      return { command, environment: { ...environment, ...(await settings()) } };
    },
  };
}

/** @param file the program; by default that of the service */
export function service(
  name: string,
  dist: string,
  settings: Readonly<Record<string, string>>,
  file = join(dist, 'bundle/main.js'),
): Definition {
  return {
    name,
    base: BASE,
    api: CATALOGUE,
    isService: true,
    program: async () => serviceProgram(file, settings),
  };
}

function serviceProgram(file: string, settings: Readonly<Record<string, string>>): Program {
  const environment = {
    PORT: '0',
    MANAGEMENT_PORT: '0',
    DATA_DIR: 'data',
    BOOTSTRAP_API_KEY: API_KEY,
    // The limiter counts, but never refuses.
    RATE_LIMIT_REQUESTS: '1000000000',
    ...settings,
  };
  return { command: [process.execPath, file], environment };
}

function bareProgram(name: string): string {
  return resolve(`build/campaigns/bench/servers/${name}.js`);
}

export function bare(name: string, program: string): Definition {
  const command = ({ tls, products }: Materials) => [
    process.execPath,
    bareProgram(program),
    join(tls, 'server.pem'),
    products,
  ];
  return {
    name,
    base: BASE,
    api: CATALOGUE,
    isService: false,
    program: async (all) => ({ command: command(all) }),
  };
}

/** @param more arguments of the program */
export function peer(name: string, program: string, ...more: string[]): Definition {
  const command = ({ tls, products }: Materials) => [program, join(tls, 'server.pem'), products, ...more];
  return {
    name,
    base: BASE,
    api: POCKETBASE,
    isService: false,
    program: async (all) => ({ command: command(all) }),
  };
}

/** Starts a server and gives it the products. The service gets them as an import. */
export async function startSubject(definition: Definition, materials: Materials): Promise<Subject> {
  const subject = await startEmpty(definition, materials);
  try {
    if (subject.isService) await fill(subject, materials);
    return subject;
  } catch (error) {
    await stopSubject(subject);
    throw error;
  }
}

/** Starts a server in its folder, with what that already holds. */
export async function startEmpty(definition: Definition, materials: Materials): Promise<Subject> {
  const folder = await makeFolder(definition, materials);
  const server = await ServerProcess.start(folder, await definition.program(materials));
  const client = new HttpClient(server.port, join(materials.tls, 'ca.pem'), API_KEY);
  return { ...definition, server, client, count: materials.count };
}

export async function stopSubject({ client, server }: Subject): Promise<void> {
  client.close();
  await server.stop(SHUTDOWN_MS);
}

/** Makes the folder of a server at its first use. */
export async function makeFolder(definition: Definition, materials: Materials): Promise<string> {
  const folder = fileOf(definition, materials, 'folder');
  const data = join(folder, 'data');
  if (!existsSync(data)) {
    mkdirSync(data, { recursive: true });
    await cp(materials.tls, join(data, 'tls'), { recursive: true });
  }
  return folder;
}

/** A path in the temporary folder, of a server's own. */
export function fileOf({ name }: { readonly name: string }, { folder }: Materials, kind: string): string {
  return join(folder, `${name.replaceAll(/\W+/g, '-')}-${kind}`);
}

async function fill({ name, client, count }: Subject, { products }: Materials): Promise<void> {
  const created = await importFile(client, products);
  if (created !== count) throw new Error(`${name} created ${created} of ${count} products`);
}

/** Lets the service make the certificate of all servers, as it does at its first start. @returns its folder */
export async function tlsOf(folder: string): Promise<string> {
  const first = join(folder, 'first');
  mkdirSync(first, { recursive: true });
  const server = await ServerProcess.start(first, serviceProgram(resolve('dist/bundle/main.js'), { STORE: 'memory' }));
  await server.stop(SHUTDOWN_MS);
  return join(first, 'data/tls');
}

import { mkdirSync, readFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { HttpClient } from '../../tests/support/http-client.js';
import { importFile } from './ndjson.js';
import { type Program, ServerProcess } from './server-process.js';

/** A well-formed API key, which becomes the first one of every store. */
export const API_KEY = `pcs_${'0'.repeat(30)}0B9c15`;

/** The name of the server to which the ratios are, and of its second process, which shows the noise of the machine. */
export const BASE = 'koa';
export const REPEAT = 'koa again';

/** What all servers share: the certificate, which the service made at its first start, and the products. */
export interface Materials {
  readonly folder: string;
  readonly tls: string;
  /** One product in JSON on each line. */
  readonly products: string;
}

/** A server of the comparison. */
export interface Subject {
  readonly name: string;
  readonly server: ServerProcess;
  readonly client: HttpClient;
  readonly isService: boolean;
}

export const certificateFile = ({ tls }: Materials) => join(tls, 'server.pem');

/** Starts a server with all products. */
export async function startSubject(name: string, materials: Materials, otherDist?: string): Promise<Subject> {
  const folder = join(materials.folder, name.replaceAll(/\W+/g, '-'));
  mkdirSync(join(folder, 'data'), { recursive: true });
  await cp(materials.tls, join(folder, 'data/tls'), { recursive: true });
  const store = storeOf(name);
  const program = store
    ? serviceProgram(name.endsWith('(other)') ? resolve(otherDist ?? '') : resolve('dist'), { STORE: store })
    : bareProgram(name, materials);
  const server = await ServerProcess.start(folder, program);
  const client = new HttpClient(server.port, join(materials.tls, 'ca.pem'), API_KEY);
  const subject = { name, server, client, isService: store !== undefined };
  if (subject.isService) await fill(subject, materials);
  return subject;
}

export function serviceProgram(dist: string, settings: Readonly<Record<string, string>>): Program {
  const environment = {
    PORT: '0',
    MANAGEMENT_PORT: '0',
    DATA_DIR: 'data',
    BOOTSTRAP_API_KEY: API_KEY,
    // The limiter counts, but never refuses.
    RATE_LIMIT_REQUESTS: '1000000000',
    ...settings,
  };
  return { arguments: [join(dist, 'main.js')], environment };
}

function storeOf(name: string): string | undefined {
  return /^(memory|sqlite)\b/.exec(name)?.[1];
}

function bareProgram(name: string, materials: Materials): Program {
  const [program = ''] = name.split(' ');
  const file = resolve(`build/scripts/bench/servers/${program}.js`);
  return { arguments: [file, certificateFile(materials), materials.products] };
}

async function fill({ name, client }: Subject, { products }: Materials): Promise<void> {
  const expected = readFileSync(products, 'utf8').split('\n').length - 1;
  const created = await importFile(client, products);
  if (created !== expected) throw new Error(`${name} created ${created} of ${expected} products`);
}

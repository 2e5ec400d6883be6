import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ChildProcessService, catalogue } from '../tests/support/child-process-service.js';
import type { HttpClient } from '../tests/support/http-client.js';
import { grouped, print } from './statistics.js';

/** The real service over TLS, in its own process, on a SQLite file with a number of sample products. */
export class SeededService {
  private constructor(
    readonly products: number,
    readonly key: string,
    readonly client: HttpClient,
    private readonly service: ChildProcessService,
  ) {}

  /** @param folder is seeded at its first use */
  static async start(folder: string, products: number): Promise<SeededService> {
    mkdirSync(folder, { recursive: true });
    await seed(folder, products);
    const key = await newKey(folder);
    const service = new ChildProcessService(folder, { LOG_LEVEL: 'warn', RATE_LIMIT_REQUESTS: '1000000000' });
    try {
      return new SeededService(products, key, await service.started(key), service);
    } catch (error) {
      await service.stop('SIGKILL');
      throw error;
    }
  }

  get pid(): number {
    return this.service.pid;
  }

  get authorityFile(): string {
    return `${this.service.folder}/data/tls/ca.pem`;
  }

  /** @throws Error if the service failed */
  async stop(): Promise<void> {
    this.client.close();
    const { code } = await this.service.stop();
    if (code !== 0) throw new Error(`the service ended with ${code}: ${this.service.log}`);
  }
}

/** Provides a folder for stores: the one at `path`, which is kept; or, if it is empty, a temporary one. */
export async function withFolder(path: string, use: (folder: string) => Promise<void>): Promise<void> {
  if (path !== '') return use(resolve(path));
  const folder = mkdtempSync(join(tmpdir(), 'benchmark-'));
  try {
    await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function seed(folder: string, products: number): Promise<void> {
  const done = join(folder, `seeded-${products}`);
  if (existsSync(done)) return;
  print(`creating ${grouped(products)} products in ${folder}`);
  const started = performance.now();
  const { out } = await mustSucceed(folder, ['seed', '--products', `${products}`]);
  const seconds = (performance.now() - started) / 1_000;
  print(`${out.trim()}: ${seconds.toFixed(1)} s, ${grouped(products / seconds)} a second`);
  writeFileSync(done, '');
}

async function newKey(folder: string): Promise<string> {
  const { out } = await mustSucceed(folder, [
    'keys',
    'create',
    '--name',
    'benchmark',
    '--scopes',
    'products:read',
  ]);
  return /pcs_\w+/.exec(out)?.[0] ?? '';
}

async function mustSucceed(folder: string, args: string[]): Promise<{ out: string }> {
  const { code, out, err } = await catalogue(folder, args);
  if (code !== 0) throw new Error(`catalogue ${args[0]} ended with ${code}: ${err}`);
  return { out };
}

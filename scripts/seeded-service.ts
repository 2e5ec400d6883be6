import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ChildProcessService, catalogue } from '../tests/support/child-process-service.js';
import type { HttpClient } from '../tests/support/http-client.js';
import { grouped, print } from './statistics.js';

/** The real service over TLS, a process of its own, on a SQLite file that holds so many sample products. */
export class SeededService {
  private constructor(
    readonly products: number,
    readonly key: string,
    readonly client: HttpClient,
    private readonly service: ChildProcessService,
  ) {}

  /** @param folder seeded at its first use */
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

  /** @throws where it did not end well */
  async stop(): Promise<void> {
    this.client.close();
    const { code } = await this.service.stop();
    if (code !== 0) throw new Error(`the service ended with ${code}: ${this.service.log}`);
  }
}

/** A folder for stores: the one that is named, to be used again, or one that is gone when `use` is done. */
export async function withFolder(named: string, use: (folder: string) => Promise<void>): Promise<void> {
  if (named !== '') return use(resolve(named));
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
  print(`making ${grouped(products)} products in ${folder}`);
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

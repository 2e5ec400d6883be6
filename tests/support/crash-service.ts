import { readdirSync, readlinkSync } from 'node:fs';
import { ChildProcessService } from './child-process-service.js';
import type { HttpClient, HttpResponse } from './http-client.js';
import { until } from './until.js';
import { isAlive, logged } from './workers.js';

/** A running service on a SQLite file, with access to its serving processes and their open files. */
export class CrashService {
  private constructor(
    private readonly service: ChildProcessService,
    readonly token: string,
  ) {}

  /** Starts a service and waits until each of its processes serves. */
  static async start(
    folder: string,
    workers: number,
    token?: string,
    environment: Record<string, string> = {},
  ): Promise<CrashService> {
    const service = new ChildProcessService(folder, { WORKERS: `${workers}`, ...environment });
    (await service.started(token)).close();
    const started = new CrashService(service, token ?? service.firstKey);
    await until('every process serves', () => started.pids.length >= workers);
    return started;
  }

  get folder(): string {
    return this.service.folder;
  }

  /** The ids of the serving processes. */
  get pids(): number[] {
    return logged(this.service, 'started').map(({ pid }) => pid);
  }

  /** Returns the log entries of all processes with this message. */
  logged(message: string) {
    return logged(this.service, message);
  }

  /** Returns the log entries of requests with a 5xx status. */
  failures() {
    return this.logged('request').filter(({ status }) => Number(status) >= 500);
  }

  /** Runs a function with a client that opens new connections. Two workers get the connections in turn. */
  async with<Result>(use: (client: HttpClient) => Promise<Result>): Promise<Result> {
    const client = await this.service.started(this.token);
    // Other suites compare responses with the OpenAPI document; here this only costs time.
    client.documented = undefined;
    try {
      return await use(client);
    } finally {
      client.close();
    }
  }

  /** Sends one request to each process: new connections go to them in turn. */
  async spread(request: (client: HttpClient) => Promise<HttpResponse>): Promise<HttpResponse[]> {
    return Promise.all(this.pids.map(() => this.with(request)));
  }

  /** Returns the open database files of a process: the file, `-wal` and `-shm`, with ` (deleted)` if deleted. */
  openFiles(pid: number): string[] {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      const path = linkOf(`/proc/${pid}/fd/${fd}`);
      return path?.includes('.sqlite') ? [path] : [];
    });
  }

  /** Ends all processes: SIGTERM gracefully, SIGKILL immediately. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const { pids, service } = this;
    service.kill(signal);
    if (signal === 'SIGKILL') for (const pid of pids) if (isAlive(pid)) process.kill(pid, signal);
    const { code } = await service.exit;
    if (signal === 'SIGTERM' && code !== 0) throw new Error(`the service exited with ${code}:\n${service.log}`);
    await until('no process is left', () => !pids.some(isAlive));
  }
}

/** Returns the target of a link, or undefined if the descriptor is closed meanwhile. */
function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

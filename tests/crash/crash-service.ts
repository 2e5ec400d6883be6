import { readdirSync, readlinkSync } from 'node:fs';
import { ChildProcessService } from '../support/child-process-service.js';
import type { HttpClient, HttpResponse } from '../support/http-client.js';
import { until } from '../support/until.js';
import { isAlive, logged } from '../support/workers.js';

/** A started service over a SQLite file: the processes that serve, and the files that these have open. */
export class CrashService {
  private constructor(
    private readonly service: ChildProcessService,
    readonly token: string,
  ) {}

  /** Waits until every process serves. */
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

  /** Of the processes that serve. */
  get pids(): number[] {
    return logged(this.service, 'started').map(({ pid }) => pid);
  }

  /** The lines of the log with this message, of all processes. */
  logged(message: string) {
    return logged(this.service, message);
  }

  /** The requests that were refused for the service's own sake. */
  failures() {
    return this.logged('request').filter(({ status }) => Number(status) >= 500);
  }

  /** Lends a client with connections of its own: the next ones go to the other process. */
  async with<Result>(use: (client: HttpClient) => Promise<Result>): Promise<Result> {
    const client = await this.service.started(this.token);
    // What a response looks like is proved elsewhere, and costs time.
    client.documented = undefined;
    try {
      return await use(client);
    } finally {
      client.close();
    }
  }

  /** As many responses as there are processes, which take new connections in turn. */
  async spread(request: (client: HttpClient) => Promise<HttpResponse>): Promise<HttpResponse[]> {
    return Promise.all(this.pids.map(() => this.with(request)));
  }

  /** What a process has open of a database: its path, `-wal`, `-shm`, perhaps with ` (deleted)`; of a connection one each. */
  openFiles(pid: number): string[] {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      const path = linkOf(`/proc/${pid}/fd/${fd}`);
      return path?.includes('.sqlite') ? [path] : [];
    });
  }

  /** Ends all its processes: in good order, or all at once. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const { pids, service } = this;
    service.kill(signal);
    if (signal === 'SIGKILL') for (const pid of pids) if (isAlive(pid)) process.kill(pid, signal);
    const { code } = await service.exit;
    if (signal === 'SIGTERM' && code !== 0) throw new Error(`ended with ${code}:\n${service.log}`);
    await until('no process is left', () => !pids.some(isAlive));
  }
}

/** @returns undefined where the descriptor was closed meanwhile */
function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

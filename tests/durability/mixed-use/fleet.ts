import { readFileSync } from 'node:fs';
import { ChildProcessService } from '../../support/child-process-service.js';
import type { HttpClient } from '../../support/http-client.js';
import { FIRST_KEY } from '../../support/in-process-service.js';
import type { SeededRandom } from '../../support/seeded-random.js';
import { until } from '../../support/until.js';
import { isAlive } from '../../support/workers.js';
import type { Target } from './session.js';

export const KILLS = ['worker', 'primary', 'service', 'all'] as const;
export type Kill = (typeof KILLS)[number];

/** The workers of each service: 1 to 3 processes on one store. */
const TOPOLOGIES = [[1], [2], [1, 1], [2, 1]] as const;

interface Member {
  readonly workers: number;
  readonly service: ChildProcessService;
  readonly client: HttpClient;
  /** Process ids. */
  readonly killedWorkers: Set<number>;
}

/** The services on one store, which the campaign kills and restarts. */
export class Fleet implements Target {
  /** How often {@link kill} killed something. */
  kills = 0;
  private members: Member[] = [];

  /** @param program another program than the service, for a control */
  constructor(
    readonly folder: string,
    private readonly settings: Record<string, string>,
    private readonly random: SeededRandom,
    private readonly program?: readonly string[],
  ) {}

  client(random: SeededRandom): HttpClient | undefined {
    return this.members.length > 0 ? random.oneOf(this.members).client : undefined;
  }

  /** Starts one or two services with one or two processes each. */
  async start(topology: readonly number[] = this.random.oneOf(TOPOLOGIES)): Promise<void> {
    await Promise.all(topology.map((workers) => this.startOne(workers)));
  }

  /** Kills processes with SIGKILL and starts those again that are not started by their own primary. */
  async kill(kill: Kill): Promise<void> {
    const member = this.random.oneOf(this.members);
    switch (kill) {
      case 'worker': {
        // The only process of a service is its worker.
        if (member.workers === 1) return this.killAndRestart([member]);
        let workers: number[] = [];
        await until('a worker runs that was not killed before', () => {
          workers = childrenOf(member.service.pid).filter((pid) => !member.killedWorkers.has(pid));
          return workers.length > 0;
        });
        const worker = this.random.oneOf(workers);
        process.kill(worker, 'SIGKILL');
        this.kills++;
        member.killedWorkers.add(worker);
        return;
      }
      case 'primary':
        return this.killAndRestart([member], true);
      case 'service':
        return this.killAndRestart([member]);
      case 'all':
        return this.killAndRestart([...this.members]);
    }
  }

  /** Ends all services gracefully. @throws Error if one does not end with 0, or if a worker ended without being killed */
  async stop(): Promise<void> {
    const members = this.members.splice(0);
    await Promise.all(
      members.map(async ({ service, client, killedWorkers }) => {
        const { code, signal } = await service.stop('SIGTERM');
        client.close();
        if (code !== 0) throw new Error(`the service ended with ${code ?? signal}:\n${service.log}`);
        const ended = service.log.split('"a worker ended; another takes its place"').length - 1;
        if (ended > killedWorkers.size) throw new Error(`a worker ended by itself:\n${service.log}`);
      }),
    );
  }

  /** Kills everything that still runs. */
  async abandon(): Promise<void> {
    await this.killMembers(this.members.splice(0));
  }

  private async startOne(workers: number): Promise<void> {
    const { folder, settings, program } = this;
    const environment = {
      WORKERS: `${workers}`,
      BOOTSTRAP_API_KEY: FIRST_KEY,
      LOG_LEVEL: 'warn',
      ...settings,
    };
    const service = new ChildProcessService(folder, environment, program);
    const client = await service.started(FIRST_KEY).catch((error) => {
      // With several workers, another program may take the free port that the primary has found.
      if (!/: 127\.0\.0\.1:\d+ is in use/.test(String(error))) throw error;
      return undefined;
    });
    if (!client) return this.startOne(workers);
    // Other suites compare responses with the OpenAPI document; here this only costs time.
    client.documented = undefined;
    this.members.push({ workers, service, client, killedWorkers: new Set() });
  }

  private async killAndRestart(members: readonly Member[], isPrimaryAlone = false): Promise<void> {
    this.members = this.members.filter((member) => !members.includes(member));
    // The program of a control may end by itself.
    for (const { service } of this.program ? [] : members)
      if (!isAlive(service.pid)) throw new Error(`a service ended before it was killed:\n${service.log}`);
    this.kills++;
    await this.killMembers(members, isPrimaryAlone);
    await Promise.all(members.map(({ workers }) => this.startOne(workers)));
  }

  private async killMembers(members: readonly Member[], isPrimaryAlone = false): Promise<void> {
    await Promise.all(
      members.map(async ({ service, client }) => {
        const workers = childrenOf(service.pid);
        service.kill('SIGKILL');
        if (!isPrimaryAlone) for (const pid of workers.filter(isAlive)) process.kill(pid, 'SIGKILL');
        await service.exit;
        await until('no worker outlives its primary', () => !workers.some(isAlive));
        client.close();
      }),
    );
  }
}

/** The child processes of a process; none if it has ended. */
function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

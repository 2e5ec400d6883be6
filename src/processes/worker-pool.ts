import { setTimeout as sleep } from 'node:timers/promises';
import type { Journal } from '../application/ports/journal.js';
import type { Started } from '../composition/service.js';
import { ForkedWorker, type WorkerEnd } from './forked-worker.js';
import { ReplacementPause } from './replacement-pause.js';

/** The first worker ended before it served. */
export class StartFailed extends Error {
  constructor(readonly end: WorkerEnd) {
    super(end.reason);
  }
}

export interface PoolPlan {
  readonly size: number;
  /** What makes the same settings of every worker, variables over those of this process. */
  readonly environment: Readonly<Record<string, string>>;
  readonly journal: Journal;
  /** Called with each new worker. */
  welcome(worker: ForkedWorker): void;
}

/** A number of workers that share one port; one that dies is replaced. Starts once and stops once. */
export class WorkerPool {
  private readonly alive = new Set<ForkedWorker>();
  private readonly stopping = new AbortController();

  constructor(private readonly plan: PoolPlan) {}

  /**
   * Starts one worker, and the others when that one serves: what keeps a service from starting is met, and told, once,
   * and one worker alone makes the store and its first key.
   * @throws StartFailed
   */
  async start(): Promise<Started> {
    const first = this.fork();
    const failed = first.ended.then((end) => {
      throw new StartFailed(end);
    });
    const started = await Promise.race([first.started, failed]);
    this.keep(first);
    for (let i = 1; i < this.plan.size && !this.isStopping; i++) this.keep(this.fork());
    return started;
  }

  /** Lets every worker finish what runs there. */
  async stop(): Promise<void> {
    this.stopping.abort();
    const alive = [...this.alive];
    for (const worker of alive) worker.kill('SIGTERM');
    await Promise.all(alive.map(({ ended }) => ended));
  }

  /** Ends every worker at once. */
  kill(): void {
    for (const worker of this.alive) worker.kill('SIGKILL');
  }

  private get isStopping(): boolean {
    return this.stopping.signal.aborted;
  }

  private async keep(worker: ForkedWorker): Promise<void> {
    const pause = new ReplacementPause();
    for (let current = worker; ; current = this.fork()) {
      const { code, signal, livedMs, reason } = await current.ended;
      if (this.isStopping) return;
      const pauseMs = pause.after(livedMs);
      const details = { worker: current.pid, code, signal, reason, pauseMs };
      this.plan.journal.error('a worker ended; another takes its place', details);
      await sleep(pauseMs, undefined, { signal: this.stopping.signal }).catch(() => {});
      if (this.isStopping) return;
    }
  }

  private fork(): ForkedWorker {
    const worker = new ForkedWorker(this.plan.environment);
    this.alive.add(worker);
    worker.ended.then(() => this.alive.delete(worker));
    this.plan.welcome(worker);
    return worker;
  }
}

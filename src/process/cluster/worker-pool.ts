import cluster, { type Worker } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../application/ports/logger.js';
import type { Started } from '../service.js';

/** A worker's report to the primary, which prints it: that it serves, or why it stopped. */
export interface WorkerReport {
  readonly started?: Started;
  readonly failure?: string;
}

/** A worker that lived this long was healthy, so the next one starts immediately. */
const HEALTHY_MS = 10_000;
const MIN_MS = 250;
const MAX_MS = 30_000;

/** The first worker ended before it served. */
export class StartupError extends Error {
  constructor(readonly end: WorkerEnd) {
    super(end.reason);
  }
}

export interface PoolOptions {
  readonly size: number;
  /** Environment variables over those of this process, so that every worker has the same settings. */
  readonly environment: Readonly<Record<string, string>>;
  readonly logger: Logger;
  onFork(worker: WorkerHandle): void;
  /** Called when a worker ended and no other serves. */
  onNoneServes?(): void;
}

/** Workers that share one port. One that dies is replaced. The pool starts once and stops once. */
export class WorkerPool {
  private readonly alive = new Set<WorkerHandle>();
  private readonly serving = new Set<WorkerHandle>();
  private readonly stopping = new AbortController();

  constructor(private readonly options: PoolOptions) {}

  /**
   * Starts one worker, and the others when it serves. So an error that prevents the start is reported once, and only
   * one worker creates the store and its first key.
   * @throws StartupError
   */
  async start(): Promise<Started> {
    const first = this.fork();
    const failed = first.ended.then((end) => {
      throw new StartupError(end);
    });
    const started = await Promise.race([first.started, failed]);
    this.keepAlive(first);
    for (let i = 1; i < this.options.size && !this.isStopping; i++) this.keepAlive(this.fork());
    return started;
  }

  /** Lets every worker finish its running requests. */
  async stop(): Promise<void> {
    this.stopping.abort();
    const alive = [...this.alive];
    for (const worker of alive) worker.kill('SIGTERM');
    await Promise.all(alive.map(({ ended }) => ended));
  }

  /** Ends every worker immediately, and starts no other. */
  kill(): void {
    this.stopping.abort();
    for (const worker of this.alive) worker.kill('SIGKILL');
  }

  private get isStopping(): boolean {
    return this.stopping.signal.aborted;
  }

  private async keepAlive(worker: WorkerHandle): Promise<void> {
    const backoff = new RestartBackoff();
    for (let current = worker; ; current = this.fork()) {
      const { code, signal, livedMs, reason } = await current.ended;
      if (this.isStopping) return;
      const pauseMs = backoff.after(livedMs);
      const details = { worker: current.pid, code, signal, reason, pauseMs };
      this.options.logger.error('a worker ended; another takes its place', details);
      if (this.serving.size === 0) this.options.onNoneServes?.();
      await sleep(pauseMs, undefined, { signal: this.stopping.signal }).catch(() => {});
      if (this.isStopping) return;
    }
  }

  private fork(): WorkerHandle {
    const worker = new WorkerHandle(this.options.environment);
    this.alive.add(worker);
    worker.started.then(() => this.serving.add(worker));
    worker.ended.then(() => this.alive.delete(worker) && this.serving.delete(worker));
    this.options.onFork(worker);
    return worker;
  }
}

export interface WorkerEnd {
  readonly code: number | null;
  readonly signal: string | null;
  readonly livedMs: number;
  /** The reason that the worker reported, if it did. */
  readonly reason: string | undefined;
}

/** A forked worker as the primary sees it. */
export class WorkerHandle {
  /** Never settles if the worker ends before it serves. */
  readonly started: Promise<Started>;
  readonly ended: Promise<WorkerEnd>;
  private readonly since = performance.now();
  private readonly worker: Worker;
  private reason: string | undefined;

  /** @param environment variables over those of this process */
  constructor(environment: Readonly<Record<string, string>>) {
    this.worker = cluster.fork(environment);
    this.started = new Promise((resolve) => {
      this.receive((message) => {
        const { started, failure } = message as WorkerReport;
        if (started) resolve(started);
        this.reason ??= failure;
      });
    });
    this.ended = this.awaitEnd();
    this.ended.then(trackPendingConnections(this.worker));
  }

  get pid(): number | undefined {
    return this.worker.process.pid;
  }

  /** Ignores a message that cannot be delivered, because its worker has ended. */
  send(message: object): void {
    this.worker.send(message, undefined, () => {});
  }

  receive(listener: (message: unknown) => void): void {
    this.worker.on('message', listener);
  }

  kill(signal: NodeJS.Signals): void {
    this.worker.process.kill(signal);
  }

  private awaitEnd(): Promise<WorkerEnd> {
    const { worker } = this;
    return new Promise((resolve) => {
      const end = (code: number | null, signal: string | null) => {
        resolve({ code, signal, livedMs: performance.now() - this.since, reason: this.reason });
      };
      worker.once('exit', (code, signal) => {
        // The last report may still be unread. The channel closes after it.
        if (worker.isConnected()) worker.once('disconnect', () => end(code, signal));
        else end(code, signal);
      });
      // Node also emits this for channels of workers that just died. Those emit `exit` as well.
      worker.on('error', (error) => {
        if (this.pid !== undefined) return;
        this.reason = error.message;
        end(null, null);
      });
    });
  }
}

/** The pause before a worker is replaced: none at first, and exponentially longer if workers die soon. */
export class RestartBackoff {
  private next = 0;

  /** @returns milliseconds, 0 … 30,000 */
  after(livedMs: number): number {
    if (livedMs >= HEALTHY_MS) this.next = 0;
    const pause = this.next;
    this.next = Math.min(Math.max(pause * 2, MIN_MS), MAX_MS);
    return pause;
  }
}

/** A connection as the primary passes it on. Closing it twice does no harm. */
interface TcpHandle {
  close(): void;
}

/** What Node's cluster sends to a worker with a connection, and what the worker responds. */
interface ClusterMessage {
  readonly act?: string;
  readonly seq?: number;
  readonly ack?: number;
}

/**
 * Returns a function that closes the connections which a worker did not take before it ended. Otherwise the primary
 * keeps them open, and their clients wait forever (nodejs/node-v0.x-archive#7006). Delete this function when Node closes
 * them or passes them to another worker.
 */
function trackPendingConnections({ process: child }: Worker): () => void {
  const pending = new Map<number | undefined, TcpHandle>();
  const send = child.send.bind(child) as (...args: unknown[]) => boolean;
  child.send = (message: ClusterMessage, handle?: unknown, ...rest: unknown[]) => {
    if (message.act === 'newconn') pending.set(message.seq, handle as TcpHandle);
    return send(message, handle, ...rest);
  };
  child.on('internalMessage', ({ ack }: ClusterMessage) => pending.delete(ack));
  return () => {
    for (const handle of pending.values()) handle.close();
  };
}

import cluster, { type Worker } from 'node:cluster';
import type { Started } from '../composition/service.js';
import type { WorkerReport } from './worker.js';

export interface WorkerEnd {
  readonly code: number | null;
  readonly signal: string | null;
  readonly livedMs: number;
  /** In its own words, where it had time for them. */
  readonly reason: string | undefined;
}

/** A worker as its primary sees it. */
export class ForkedWorker {
  /** Never settles where it ends before it serves. */
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
        const { started, ends } = message as WorkerReport;
        if (started) resolve(started);
        this.reason ??= ends;
      });
    });
    this.ended = this.watch();
  }

  get pid(): number | undefined {
    return this.worker.process.pid;
  }

  /** What cannot be delivered was for a worker that is no more. */
  send(message: object): void {
    this.worker.send(message, undefined, () => {});
  }

  receive(listener: (message: unknown) => void): void {
    this.worker.on('message', listener);
  }

  kill(signal: NodeJS.Signals): void {
    this.worker.process.kill(signal);
  }

  private watch(): Promise<WorkerEnd> {
    const { worker } = this;
    return new Promise((resolve) => {
      const end = (code: number | null, signal: string | null) => {
        resolve({ code, signal, livedMs: performance.now() - this.since, reason: this.reason });
      };
      worker.once('exit', (code, signal) => {
        // What it said last may still have to be read; the line closes behind it.
        if (worker.isConnected()) worker.once('disconnect', () => end(code, signal));
        else end(code, signal);
      });
      // Also said of lines to workers that just died; those have an exit.
      worker.on('error', (error) => {
        if (this.pid !== undefined) return;
        this.reason = error.message;
        end(null, null);
      });
    });
  }
}

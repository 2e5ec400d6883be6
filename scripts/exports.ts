import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { ExportFigures, ExportSource } from './export-reader.js';
import type { SeededService } from './seeded-service.js';

/** Exports of a service that a thread reads. */
export class Exports {
  readonly done: ExportFigures[] = [];
  /** Settles when the thread has ended. */
  readonly end: Promise<void>;
  private readonly worker: Worker;
  private failure: Error | undefined;

  constructor(
    private readonly service: Pick<SeededService, 'products' | 'key' | 'authorityFile' | 'client'>,
    repeats: boolean,
  ) {
    const { key, authorityFile, client } = service;
    const workerData: ExportSource = { key, authorityFile, port: client.port, repeats };
    this.worker = new Worker(new URL('./export-reader.js', import.meta.url), { workerData });
    this.worker.on('message', (figures: ExportFigures) => this.done.push(figures));
    this.worker.on('error', (error: Error) => {
      this.failure = error;
    });
    this.end = once(this.worker, 'exit').then(() => {});
  }

  /** @throws Error if an export failed, or if its number of records differs from the number of products */
  async stop(): Promise<void> {
    this.worker.postMessage('stop');
    await this.end;
    if (this.failure) throw this.failure;
    for (const { records, isComplete } of this.done)
      if (isComplete && records !== this.service.products)
        throw new Error(`an export of ${this.service.products} products had ${records} records`);
  }

  /** Stops after the first export. Returns its measurements. */
  async first(): Promise<ExportFigures> {
    const ended = this.end.then(() => undefined);
    while (this.done.length === 0) {
      const message = await Promise.race([once(this.worker, 'message'), ended]);
      if (message === undefined) break;
    }
    await this.stop();
    const [first] = this.done;
    if (!first?.isComplete) throw new Error('no export was complete');
    return first;
  }
}

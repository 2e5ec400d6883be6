import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { ExportFigures, ExportSource } from './export-reader.js';
import type { SeededService } from './seeded-service.js';

/** Whole exports of a service, read in a thread of their own. */
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

  /** @throws where an export failed, or had another number of records than the service has products */
  async stop(): Promise<void> {
    this.worker.postMessage('stop');
    await this.end;
    if (this.failure) throw this.failure;
    for (const { records, isWhole } of this.done)
      if (isWhole && records !== this.service.products)
        throw new Error(`an export of ${this.service.products} products had ${records} records`);
  }

  /** The first one that came to its end. */
  async first(): Promise<ExportFigures> {
    const failed = this.end.then(() => undefined);
    while (this.done.length === 0) {
      const over = await Promise.race([once(this.worker, 'message'), failed]);
      if (over === undefined) break;
    }
    await this.stop();
    const [first] = this.done;
    if (!first?.isWhole) throw new Error('no export came to its end');
    return first;
  }
}

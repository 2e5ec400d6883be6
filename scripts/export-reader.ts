/** A thread that reads one export or one after the other, so that the reading costs the measured clients no time. */
import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:https';
import { parentPort, workerData } from 'node:worker_threads';

const LINE_FEED = 0x0a;

export interface ExportSource {
  readonly port: number;
  readonly authorityFile: string;
  readonly key: string;
  /** Whether another export begins when one has ended. */
  readonly repeats: boolean;
}

/** The measurements of one export. If it was stopped early, they count only the part that was read. */
export interface ExportFigures {
  readonly records: number;
  readonly bytes: number;
  readonly seconds: number;
  readonly isComplete: boolean;
}

const { port, authorityFile, key, repeats } = workerData as ExportSource;
const agent = new Agent({ ca: readFileSync(authorityFile), keepAlive: true });
let isStopped = false;
parentPort?.once('message', () => {
  isStopped = true;
  agent.destroy();
});
do parentPort?.postMessage(await oneExport());
while (repeats && !isStopped);

function oneExport(): Promise<ExportFigures> {
  const started = performance.now();
  let [records, bytes] = [0, 0];
  const figures = (isComplete: boolean): ExportFigures => {
    return { records, bytes, seconds: (performance.now() - started) / 1_000, isComplete };
  };
  return new Promise((resolve, reject) => {
    const failed = (error: Error) => (isStopped ? resolve(figures(false)) : reject(error));
    const headers = { Authorization: `Bearer ${key}`, Accept: 'application/x-ndjson' };
    get({ host: 'localhost', port, agent, path: '/v1/products', headers }, (response) => {
      const type = response.headers['content-type'];
      if (response.statusCode !== 200 || !type?.startsWith('application/x-ndjson'))
        return reject(new Error(`the response to the export is ${response.statusCode} ${type}`));
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, at + 1)) records++;
      });
      response.on('error', failed);
      response.on('end', () => resolve(figures(true)));
    }).on('error', failed);
  });
}

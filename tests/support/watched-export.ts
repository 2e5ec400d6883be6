import { type IncomingMessage, request } from 'node:http';
import type { ListService } from './middleware-harness.js';

export const LINES = { Accept: 'application/x-ndjson' };

/** Asks for lines and leaves them unread. */
export function begin(service: ListService, path: string, headers = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { port } = service.client;
    request({ host: '127.0.0.1', port, path, headers: { ...LINES, ...headers }, agent: false }, resolve)
      .on('error', reject)
      .end();
  });
}

/** The line of a request, once it is there. */
export async function logged({ journal }: ListService): Promise<Readonly<Record<string, unknown>>> {
  for (;;) {
    const line = journal.lines.find(({ event }) => event === 'request');
    if (line) return line.details;
    await nextTurn();
  }
}

/** How many pages are read until the way to the client has been full, and nothing read, for so many turns. */
export async function pagesUntilFull({ connections, records }: ListService, turns = 1_000): Promise<number> {
  let pages = -1;
  for (let still = 0; still < turns; still++) {
    if (!connections.at(-1)?.writableNeedDrain || records.queries.length !== pages) still = 0;
    pages = records.queries.length;
    await nextTurn();
  }
  return pages;
}

/** Enough for whatever was about to happen. */
export async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 100; turn++) await nextTurn();
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

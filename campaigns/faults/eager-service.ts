/** The service, which copies the log of SQLite after every commit, and appends a byte to the file COPIES for each copy. */
import { appendFileSync } from 'node:fs';
import { LogCheckpoints } from '#src/adapters/outbound/sqlite/connection/checkpoints.js';

const { COPIES = '' } = process.env;
const MANY_ROWS = 1_024;

const { committed } = LogCheckpoints.prototype;
const { copy } = LogCheckpoints.prototype as unknown as { copy(): void };

LogCheckpoints.prototype.committed = function () {
  return committed.call(this, MANY_ROWS);
};
Object.assign(LogCheckpoints.prototype, {
  copy(this: LogCheckpoints) {
    copy.call(this);
    appendFileSync(COPIES, '.');
  },
});

await import('#src/main.js');

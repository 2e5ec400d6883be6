import type { RecordRow } from './rows.js';

/** About so many bytes are read at once, in so many rows at the most. */
const BATCH_BYTES = 262_144;
const MAX_BATCH = 128;

/** Each batch says a little less of the next ones. */
const FADING = 0.8;

/** Remembers how large the rows of a table are, so that a batch of large ones has fewer. */
export class BatchSize {
  private bytes = 1;

  get batch(): number {
    return Math.max(1, Math.min(MAX_BATCH, Math.floor(BATCH_BYTES / this.bytes)));
  }

  note(rows: readonly RecordRow[]): void {
    if (rows.length === 0) return;
    const mean = rows.reduce((sum, row) => sum + row[4].length, 0) / rows.length;
    this.bytes = Math.max(mean, this.bytes * FADING, 1);
  }
}

import type { Logger } from '../ports/logger.js';
import type { StoredTable } from '../ports/table-store.js';
import type { QueryBudget } from './lists.js';

/** What every adapter makes a store of. */
export interface StorageOptions {
  readonly tables: readonly StoredTable[];
  readonly budget: QueryBudget;
  /** Absent in commands, which report the error that ends them. */
  readonly logger?: Logger;
  /** How long a call of a server may take if the settings do not say it. Absent: as a responsive service needs it. */
  readonly callTimeoutMs?: number;
}

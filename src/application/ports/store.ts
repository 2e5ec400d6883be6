/** The program cannot, or must not, use the configured store. The message is for a person. */
export class StoreConfigError extends Error {}

export interface PoolFigures {
  readonly pool: string;
  readonly used: number;
  readonly idle: number;
  /** Absent if there is no limit. */
  readonly max?: number;
  /** The number of calls that wait for a connection. */
  readonly waiting: number;
  /** The number of calls that got no connection in time, until now. */
  readonly timeouts: number;
}

/** Another process has the store open. The message is for a person. */
export class StoreInUse extends Error {}

/** The file, the server or the memory that holds the tables. */
export interface Store {
  /** The location of the data, for a person. Contains no secret. */
  readonly location: string;
  /**
   * Makes the store ready and its schema current. May be called again after a failure.
   * @throws AppError `unavailable` if a later try may succeed, else StoreConfigError
   */
  open(): Promise<void>;
  /** @throws AppError `unavailable` while the store cannot be reached */
  ping(): Promise<void>;
  /** Returns the use of each pool of connections. Absent if the store has no connections. */
  pools?(): readonly PoolFigures[];
  /** Waits for running operations, then closes the store. Safe to call twice, and before `open`. */
  close(): Promise<void>;
}

/** The target file of a backup exists, or cannot be created or written. The message is for a person. */
export class BackupTargetError extends Error {}

/**
 * Reports the bytes copied so far and in all. If it throws, the backup ends and leaves no file. A restore first reports
 * 0 of 0, when it has locked the database.
 */
export type BackupProgress = (copied: number, total: number) => void;

/** The file to restore, or the store to copy, does not exist. The message is for a person. */
export class SourceMissing extends Error {}

/** The file to restore is no intact backup of this service. The message is for a person. */
export class BackupUnusable extends Error {}

export interface RestoreReport {
  /** The absolute path of the database. */
  readonly database: string;
  readonly bytes: number;
  /** The folder that now holds the files that were in place; absent if there were none. */
  readonly replaced: string | undefined;
}

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

/** The target file of a backup exists, or cannot be created or written. The message is for a person. */
export class BackupTargetError extends Error {}

/** Reports the bytes copied so far and in all. If it throws, the backup ends and leaves no file. */
export type BackupProgress = (copied: number, total: number) => void;

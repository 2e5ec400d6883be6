/** The file that a backup is to be written to exists already, or cannot be made or written. The message is for a person. */
export class BackupTargetError extends Error {}

/** What was copied so far, and what there is in all, in bytes. Throws to end the backup; nothing is left of it then. */
export type BackupProgress = (copied: number, total: number) => void;

/** The program cannot, or must not, use the configured store. The message is for a person. */
export class StoreConfigError extends Error {}

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
  /** Waits for running operations, then closes the store. Safe to call twice, and before `open`. */
  close(): Promise<void>;
}

/** There is something in the store's place that this program cannot, or must not, use. The message is for a person. */
export class UnusableStore extends Error {}

/** What lies under the repositories: one file, one server, or the memory of the process. */
export interface Store {
  /** For a person: where the data lies. Holds no secret. */
  readonly location: string;
  /**
   * Makes the store ready, its schema brought up to date. May be called again after it failed.
   * @throws CatalogueError `unavailable` where a later try may succeed, else UnusableStore
   */
  open(): Promise<void>;
  /** @throws CatalogueError `unavailable` while the store cannot be reached */
  ping(): Promise<void>;
  /** Ends what runs, then lets go. Safe to call twice, and before `open`. */
  close(): Promise<void>;
}

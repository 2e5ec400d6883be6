/**
 * The version of what stores derive from records: their words, and the columns and values of their fields. With every
 * change of the tokenizer, and of a field by which tables are filtered, sorted or searched, `npm run migration` increases
 * it by 1. Every store makes what is of a lower version again before a process of this one is ready.
 */
export const DERIVED_VERSION = 4_000_002;
// tokenizer: 8f6ad291
// products: 1259d3c4
// users: 9b6fd21f
// orders: 04fff75e
// api_keys: cecf85a3
// signing_keys: 149203fd
// webhooks: 9bc4beec
// webhook_states: 643d5437

/** How long a process has the lease of {@link DerivedData} since it last took it. */
export const LEASE_MS = 5_000;

/** What a store derives from the records of one table. Writes of this release keep it current. */
export interface DerivedTable {
  readonly name: string;
  /** @returns whether a record has derived data of a lower version, which an earlier release made */
  isStale(): Promise<boolean>;
  /**
   * Makes the derived data of the next stale records. Several processes may do so at once, and while records change.
   * @returns the number of records, and whether there may be more
   * @throws AppError `unavailable`
   */
  deriveNext(): Promise<{ readonly records: number; readonly hasMore: boolean }>;
}

export interface DerivedData {
  readonly tables: readonly DerivedTable[];
  /**
   * Takes the lease for {@link LEASE_MS}, by the clock of the store, or extends it.
   * @param holder the name of this process
   * @param records the number of records that it has made, which others show
   * @returns the number of records of its holder, if another process has it
   */
  lease(holder: string, records: number): Promise<number | undefined>;
  release(holder: string): Promise<void>;
}

/**
 * An index that the adapter keeps of the records of one table. Writes keep it current. It lags only where an earlier
 * release, or an older tokenizer, made the entries of records, or none; lists and counts are complete even then, though
 * slower.
 */
export interface SearchIndex {
  /** The name of the table. */
  readonly name: string;
  /**
   * Indexes the next records without current entries. Several processes may do so at once.
   * @param limit the maximum number of records
   * @returns the number of records that were indexed; 0 if all entries are current
   * @throws AppError `unavailable`
   */
  indexNext(limit: number): Promise<number>;
}

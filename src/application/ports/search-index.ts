/**
 * The index of the words of one table. Writes keep it current. It lags only where records were written by other rules
 * than {@link SEARCH_RULES}, or before the table had an index; lists and counts are complete even then, though slower.
 */
export interface SearchIndex {
  /** The name of the table. */
  readonly name: string;
  /**
   * Indexes the next records whose words were made by lower rules than SEARCH_RULES, or never. Several processes may do
   * so at once.
   * @param limit the maximum number of records
   * @returns the number of records that were indexed; 0 if all words are current
   * @throws AppError `unavailable`
   */
  indexNext(limit: number): Promise<number>;
}

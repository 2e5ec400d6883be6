export interface Timer {
  /**
   * Calls back once, after `ms` milliseconds.
   * @returns what prevents the call
   */
  after(ms: number, call: () => void): () => void;
}

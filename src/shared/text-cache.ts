/**
 * Caches the results of a pure function of a text. A full cache is emptied, so that clients that send ever new texts
 * cost no more than without a cache.
 */
export class TextCache<Result> {
  private readonly results = new Map<string, Result>();

  /** @param maxLength longer texts are not cached */
  constructor(
    private readonly maxEntries = 100,
    private readonly maxLength = 200,
  ) {}

  get(text: string, compute: (text: string) => Result): Result {
    const known = this.results.get(text);
    if (known !== undefined) return known;
    const result = compute(text);
    if (text.length > this.maxLength) return result;
    if (this.results.size >= this.maxEntries) this.results.clear();
    this.results.set(text, result);
    return result;
  }
}

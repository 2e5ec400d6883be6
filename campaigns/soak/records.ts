interface Known {
  /** The last acknowledged representation; undefined if only the existence of the record is known. */
  text: string | undefined;
  /** How often a writer took the record. */
  takes: number;
}

/** The acknowledged records of a collection. One writer at a time takes a record, so its state is known. */
export class Records {
  readonly known = new Map<number, Known>();
  private readonly free: number[] = [];

  constructor(
    readonly path: string,
    /** Creations and deletions keep the collection at this size. */
    readonly size: number,
  ) {}

  get isFull(): boolean {
    return this.known.size >= this.size;
  }

  add(id: number, text: string | undefined): void {
    this.known.set(id, { text, takes: 0 });
    this.free.push(id);
  }

  /** Returns a random record that no other writer gets until {@link release}. */
  take(): number | undefined {
    const at = Math.floor(Math.random() * this.free.length);
    const id = this.free[at];
    const last = this.free.pop();
    if (last !== undefined && at < this.free.length) this.free[at] = last;
    const known = id === undefined ? undefined : this.known.get(id);
    if (known) known.takes++;
    return id;
  }

  /** Returns a random record that no writer has taken. */
  any(): number | undefined {
    return this.free[Math.floor(Math.random() * this.free.length)];
  }

  release(id: number, text: string | undefined): void {
    const known = this.known.get(id);
    if (known) known.text = text;
    this.free.push(id);
  }

  drop(id: number): void {
    this.known.delete(id);
  }

  /**
   * Compares the records in the store with those that were acknowledged.
   * @param stored the representations by id, without the records that somebody else made
   * @returns one line for each difference
   */
  differences(stored: ReadonlyMap<number, string>): string[] {
    const found: string[] = [];
    for (const [id, { text }] of this.known) {
      const shown = stored.get(id);
      if (shown === undefined) found.push(`${this.path}/${id} is lost`);
      else if (text !== undefined && shown !== text)
        found.push(`${this.path}/${id} is ${shown}, acknowledged was ${text}`);
    }
    for (const [id, shown] of stored)
      if (!this.known.has(id)) found.push(`${this.path}/${id} was deleted, or created twice: ${shown}`);
    return found;
  }
}

import type { ChangeFeed, ChangePage, FeedPosition, RecordChange } from '#src/application/ports/change-feed.js';
import type { Id } from '#src/domain/record.js';

interface Fields {
  readonly name: string;
}

/** A feed of which a test writes the changes. Its positions are numbers as text. */
export class FakeFeed implements ChangeFeed<Fields> {
  private last = 0;
  /** By id: the number of its last change. */
  private readonly changes = new Map<Id, { readonly at: number; readonly change: RecordChange<Fields> }>();
  /** Positions before it are expired. */
  floor = 0;
  /** A page has at most so many, as if the records were large. */
  maxChanges = Number.POSITIVE_INFINITY;
  /** Of each call of {@link read}. */
  readonly limits: number[] = [];
  /** Runs before each read returns, with the number of reads so far. */
  afterRead: (count: number) => void | Promise<void> = () => {};

  change(id: Id, name = `record ${id}`, version = 1): void {
    const change = { id, version, createdAt: 0, updatedAt: 0, fields: { name } };
    this.changes.set(id, { at: ++this.last, change });
  }

  delete(id: Id, version = 2): void {
    this.changes.set(id, { at: ++this.last, change: { id, version, deleted: true } });
  }

  async end(): Promise<FeedPosition> {
    return String(this.last);
  }

  async read(after: FeedPosition, limit: number, until?: FeedPosition): Promise<ChangePage<Fields> | undefined> {
    this.limits.push(limit);
    const [from, to] = [Number(after), Number(until ?? this.last)];
    const found = [...this.changes.values()]
      .filter(({ at }) => at > from && at <= to)
      .sort((a, b) => a.at - b.at)
      .slice(0, Math.min(limit, this.maxChanges));
    const isValid = from >= this.floor && from <= this.last;
    await this.afterRead(this.limits.length);
    if (!isValid) return undefined;
    const next = String(found.at(-1)?.at ?? Math.max(from, to));
    return { changes: found.map(({ change }) => change), next };
  }
}

import { randomBytes, randomUUID } from 'node:crypto';
import { feedIsOff, isInRange, readPosition, writePosition } from '../../../application/changes/feed-state.js';
import type {
  ChangeFeed,
  ChangePage,
  FeedPosition,
  FeedState,
  RecordChange,
} from '../../../application/ports/change-feed.js';
import { MAX_PAGE_BYTES } from '../../../application/ports/list-query.js';
import { partitionPoint } from '../../../application/records/lists.js';
import { StoredRecord } from '../../../application/records/record-json.js';
import type { Id } from '../../../domain/record.js';

/** How many entries of later changed records the log may have besides as many as there are records. */
const MIN_OBSOLETE = 1_000;

export class MemoryFeedState implements FeedState {
  /** Undefined: the feeds are off. */
  epoch: string | undefined;
  private generationName: string | undefined;

  async turnOn(): Promise<void> {
    this.epoch ??= newEpoch();
  }

  async turnOff(): Promise<void> {
    this.epoch = undefined;
  }

  async reset(): Promise<void> {
    if (this.epoch) this.epoch = newEpoch();
    this.generationName = randomBytes(5).toString('hex');
  }

  generation(): string | undefined {
    return this.generationName;
  }
}

function newEpoch(): string {
  return randomUUID().replaceAll('-', '');
}

interface LoggedChange {
  readonly change: number;
  readonly id: Id;
}

/** The changes of one table, numbered. */
export class MemoryChangeFeed<Fields> implements ChangeFeed<Fields> {
  /** In order. Only the last one of a record counts. */
  private log: LoggedChange[] = [];
  /** The number of the last change of each record and tombstone. */
  private readonly last = new Map<Id, number>();
  private newest = 0;
  private lowWatermark = 0;

  /** @param find returns a record or its deletion, as it is now */
  constructor(
    private readonly state: MemoryFeedState,
    private readonly find: (id: Id) => RecordChange<Fields> | undefined,
  ) {}

  /** The record was created, changed or deleted. */
  changed(id: Id): void {
    if (!this.state.epoch) return;
    this.newest++;
    this.last.set(id, this.newest);
    this.log.push({ change: this.newest, id });
    if (this.log.length > 2 * this.last.size + MIN_OBSOLETE) this.log = this.log.filter((entry) => this.isLast(entry));
  }

  /** The tombstone of the record was purged. */
  purged(id: Id): void {
    this.lowWatermark = Math.max(this.lowWatermark, this.last.get(id) ?? 0);
    this.last.delete(id);
  }

  async end(): Promise<FeedPosition> {
    const { epoch } = this.state;
    if (!epoch) throw feedIsOff();
    return writePosition({ epoch, change: this.newest });
  }

  async read(after: FeedPosition, limit: number, until?: FeedPosition): Promise<ChangePage<Fields> | undefined> {
    const { epoch } = this.state;
    const from = readPosition(after);
    if (!epoch || !from || !isInRange(from, { epoch, lowWatermark: this.lowWatermark, newest: this.newest }))
      return undefined;
    const to = readPosition(until ?? '')?.change ?? this.newest;
    const changes: RecordChange<Fields>[] = [];
    let bytes = 0;
    let last = from.change;
    for (let at = partitionPoint(this.log, ({ change }) => change <= from.change); ; at++) {
      const entry = this.log[at];
      if (!entry || entry.change > to) return { changes, next: writePosition({ epoch, change: to }) };
      const change = this.isLast(entry) ? this.find(entry.id) : undefined;
      if (!change) continue;
      if (changes.length === limit || bytes >= MAX_PAGE_BYTES)
        return { changes, next: writePosition({ epoch, change: last }) };
      changes.push(change);
      last = entry.change;
      if (change instanceof StoredRecord) bytes += change.fieldsBytes;
    }
  }

  private isLast({ change, id }: LoggedChange): boolean {
    return this.last.get(id) === change;
  }
}

import { expect } from 'chai';
import type { ChangeFeed, FeedPosition, RecordChange } from '#src/application/ports/change-feed.js';
import type { Repository } from '#src/application/ports/repository.js';
import { paginate } from '#src/application/records/lists.js';
import type { Id } from '#src/domain/record.js';
import { idsOf, query } from '../contract/repository/records.js';
import { until } from './until.js';

/** A client that follows a feed from page to page. */
export class Follower<Fields = unknown> {
  /** The version of each record as it was shown last, negative if the record is deleted. */
  readonly known = new Map<Id, number>();
  /** The changes that it was shown, doubles included, oldest first. */
  readonly seen: RecordChange<Fields>[] = [];

  constructor(
    private readonly feed: ChangeFeed<Fields>,
    public position: FeedPosition,
    private readonly limit = 100,
  ) {}

  /** Takes a position, then reads the list, as clients do. */
  static async of<Fields>(feed: ChangeFeed<Fields>, records: Repository<Fields>, limit?: number) {
    const follower = new Follower(feed, await feed.end(), limit);
    for await (const page of paginate(records, query({ limit: follower.limit })))
      for (const { id, version } of page) follower.known.set(id, version);
    return follower;
  }

  /** Reads the next page. @returns the number of its changes; undefined if the position has expired */
  async advance(limit = this.limit): Promise<number | undefined> {
    const page = await this.feed.read(this.position, limit);
    if (!page) return undefined;
    expect(page.changes.length).to.be.at.most(limit);
    expect(new Set(idsOf(page.changes)).size).to.equal(page.changes.length);
    expect(page.next).to.match(/^[\x21-\x7e]{1,200}$/);
    for (const change of page.changes)
      this.known.set(change.id, 'deleted' in change ? -change.version : change.version);
    this.seen.push(...page.changes);
    this.position = page.next;
    return page.changes.length;
  }

  /** Reads all changes until now. @returns false if its position has expired */
  async catchUp(limit = this.limit): Promise<boolean> {
    for (;;) {
      const count = await this.advance(limit);
      if (count === undefined || count < limit) return count !== undefined;
    }
  }

  /** Reads on until it knows at least these versions. Fails if its position has expired. */
  async sees(...wanted: readonly (readonly [Id, number])[]): Promise<void> {
    await until('the feed shows the changes', async () => {
      expect(await this.catchUp(), 'the position is kept').to.equal(true);
      return wanted.every(([id, version]) => Math.abs(this.known.get(id) ?? 0) >= version);
    });
  }

  /** `2.1`, or `2.1 deleted`, for the version 1 of the record 2. */
  get texts(): string[] {
    return this.seen.map(textOf);
  }
}

export function textOf(change: RecordChange<unknown>): string {
  return `${change.id}.${change.version}${'deleted' in change ? ' deleted' : ''}`;
}

import type { ChangeFeed, FeedPosition } from '#src/application/ports/change-feed.js';
import type { Repository } from '#src/application/ports/repository.js';
import type { Id } from '#src/domain/record.js';
import { query } from '../contract/repository/records.js';

/** What a follower of a feed knows: the version of each record, negative if the record is deleted. */
export class Follower<Fields> {
  readonly known = new Map<Id, number>();
  /** The changes that it was shown, doubles included. */
  shown = 0;

  private constructor(
    private readonly feed: ChangeFeed<Fields>,
    private position: FeedPosition,
  ) {}

  /** Takes a position, then reads the list, as clients do. */
  static async of<Fields>(feed: ChangeFeed<Fields>, records: Repository<Fields>): Promise<Follower<Fields>> {
    const follower = new Follower(feed, await feed.end());
    for (const { id, version } of (await records.list(query({ limit: 10_000 }))).records)
      follower.known.set(id, version);
    return follower;
  }

  /**
   * Reads all changes until now.
   * @param feed of the process that it asks
   * @returns false if its position has expired
   */
  async catchUp(limit = 100, feed: ChangeFeed<Fields> = this.feed): Promise<boolean> {
    for (;;) {
      const page = await feed.read(this.position, limit);
      if (!page) return false;
      for (const change of page.changes)
        this.known.set(change.id, 'deleted' in change ? -change.version : change.version);
      this.shown += page.changes.length;
      this.position = page.next;
      if (page.changes.length < limit) return true;
    }
  }
}

import type { ChangeFeed, FeedPosition } from '../ports/change-feed.js';

/** Looks at one feed again and again, for others who read it from places of their own. */
export class FeedPoll {
  private place: FeedPosition | undefined;

  constructor(private readonly feed: Pick<ChangeFeed<unknown>, 'end' | 'read'>) {}

  /**
   * Returns whether the feed has changes since the last call; true at the first. A reader who begins after it resolves
   * finds them.
   * @throws AppError `unavailable`
   */
  async hasNews(): Promise<boolean> {
    const page = this.place === undefined ? undefined : await this.feed.read(this.place, 1);
    const isQuiet = page?.changes.length === 0;
    // Before others read: they find what is not behind this place.
    this.place = isQuiet ? page.next : await this.feed.end();
    return !isQuiet;
  }
}

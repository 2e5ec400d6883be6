import { CatalogueError, type Changes, ResyncNeeded } from '#packages/client/index.js';
import { pauseFor } from '../pause.js';
import type { AnyTypes, News, Resource } from '../types.js';

/** The pause after news, so that a busy catalogue takes a small part of the rate limit. */
const PAUSE_MS = 3_000;
/** The pause after news that cannot be reported, and before another attempt. */
const LONG_PAUSE_MS = 10_000;
/** A response with so many changes is skipped: to read all records that are shown is less work. */
const MOST = 1_000;

interface FollowerOptions {
  /** Returns the changes of a resource. */
  changes(
    resource: Resource,
    options: { readonly from?: string; readonly signal: AbortSignal },
  ): Pick<Changes<AnyTypes, 'id'>, 'start' | 'pages'>;
  /** Resolves after a time, or when the signal is aborted. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Follows the feeds. It knows the place in the feed of each resource for as long as the tab lives. */
export class FeedFollower {
  private readonly places = new Map<string, string>();
  /** The resources whose changes the credential may not read, or whose feed was turned off. */
  private readonly silent = new Set<string>();

  constructor(private readonly options: FollowerOptions) {}

  /** Takes a place in the feed. What is read behind this misses no change. Failures are left to {@link follow}. */
  async begin(resource: Resource, signal: AbortSignal): Promise<void> {
    if (!this.places.has(resource.name) && this.isAudible(resource))
      await this.start(resource, signal).then(
        (place) => this.places.set(resource.name, place),
        () => {},
      );
  }

  /**
   * Reports what changes until the signal is aborted, or nothing can be reported. What could not be reported is reported
   * again.
   * @param report may throw
   */
  async follow(resource: Resource, report: (news: News) => Promise<void>, signal: AbortSignal): Promise<void> {
    const { pause = pauseFor } = this.options;
    while (!signal.aborted && this.isAudible(resource)) {
      try {
        const from = this.places.get(resource.name);
        if (from === undefined) await this.reportAnew(resource, report, signal);
        else await this.reportFrom(from, resource, report, signal);
        await pause(LONG_PAUSE_MS, signal);
      } catch (error) {
        const { status, retryAfterSeconds = 0 } = Object(error) as Partial<CatalogueError>;
        // Signing in again follows again.
        if (signal.aborted || status === 401) return;
        // The cursor of another release may be unknown.
        if (error instanceof ResyncNeeded || status === 400) this.places.delete(resource.name);
        else await pause(Math.max(LONG_PAUSE_MS, retryAfterSeconds * 1_000), signal);
      }
    }
  }

  private isAudible({ name, hasChanges }: Resource): boolean {
    return hasChanges && !this.silent.has(name);
  }

  private async start(resource: Resource, signal: AbortSignal): Promise<string> {
    try {
      return await this.options.changes(resource, { signal }).start();
    } catch (error) {
      if (error instanceof CatalogueError && [403, 404].includes(error.status)) this.silent.add(resource.name);
      throw error;
    }
  }

  private async reportAnew(resource: Resource, report: (news: News) => Promise<void>, signal: AbortSignal) {
    const place = await this.start(resource, signal);
    await report(undefined);
    if (!signal.aborted) this.places.set(resource.name, place);
  }

  private async reportFrom(
    from: string,
    resource: Resource,
    report: (news: News) => Promise<void>,
    signal: AbortSignal,
  ) {
    const { changes, pause = pauseFor } = this.options;
    for await (const { changes: news, cursor } of changes(resource, { from, signal }).pages()) {
      if (news.length >= MOST) {
        this.places.delete(resource.name);
        return this.reportAnew(resource, report, signal);
      }
      if (news.length > 0) await report(news);
      if (signal.aborted) return;
      this.places.set(resource.name, cursor);
      if (news.length > 0) await pause(PAUSE_MS, signal);
    }
  }
}

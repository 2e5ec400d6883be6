import type { Id, Instant } from '../../domain/record.js';

/** The number of requests with one method to one route. */
export interface RouteUsage {
  readonly method: string;
  /** The template of the route. */
  readonly route: string;
  readonly version: number;
  readonly requests: number;
}

/** The requests that one counter has counted for one API key in one hour. */
export interface UsageCount {
  readonly keyId: Id;
  /** When the hour began. */
  readonly hour: Instant;
  /** Identifies the counter. No two processes share one. */
  readonly counter: string;
  /** One entry for each method and route. */
  readonly routes: readonly RouteUsage[];
}

/**
 * Stores the usage of API keys for at least {@link USAGE_MS}. Usage is telemetry: it may miss the requests of a process
 * that crashed, and no other part of the service depends on it.
 */
export interface UsageStore {
  /**
   * Saves counts, each in place of the one with the same key, hour and counter. So a save can be repeated if its
   * outcome is unknown, and nothing is counted twice.
   * @param counts at most a few hundred
   * @throws AppError `unavailable`: some of them may have been saved
   */
  save(counts: readonly UsageCount[]): Promise<void>;

  /**
   * Returns the counts of these keys for the hours that began at `since` or later, in any order.
   * @throws AppError `unavailable`
   */
  find(keyIds: readonly Id[], since: Instant): Promise<readonly UsageCount[]>;
}

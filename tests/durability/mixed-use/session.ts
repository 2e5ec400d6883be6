import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpClient, HttpResponse, RequestOptions } from '../../support/http-client.js';
import type { SeededRandom } from '../../support/seeded-random.js';
import type { History, Ledger, Resource } from './ledger.js';

export const RETRY_MS = 25;
/** A guard: every request ends, also while processes and the store are killed. */
const PATIENCE_MS = 120_000;
/** Most edits are of few records, so that several writers meet. */
export const HOT_RECORDS = 12;
export const RECENT_RECORDS = 60;
/** So few unique values that creations and edits compete for them. */
const CONTESTED = 60;

/** A service that retrying clients reach at any of its processes, or not at all for a while. */
export interface Target {
  /** Returns a client of a process that serves now. */
  client(random: SeededRandom): HttpClient | undefined;
}

/** What the writers of one store share. */
export interface Shared {
  readonly target: Target;
  readonly ledger: Ledger;
  /** False in the control, where writers only create records, without idempotency keys. */
  readonly isKeyed: boolean;
  /** API keys of several principals. */
  readonly tokens: readonly string[];
  isOver: boolean;
  /** The longest pause of a writer between two requests. */
  pauseMs: number;
  /** Makes each value unique among the writers. */
  next(): number;
}

export type Send = (client: HttpClient, options: RequestOptions) => Promise<HttpResponse>;

/** The requests of one writer, and its random choices. */
export class Session {
  readonly token: string;

  constructor(
    readonly shared: Shared,
    readonly random: SeededRandom,
    readonly index: number,
  ) {
    this.token = shared.tokens[index % shared.tokens.length] ?? '';
  }

  /** Sends a request once. @returns undefined if it has no outcome */
  async attempt(send: Send): Promise<HttpResponse | undefined> {
    const { target, ledger } = this.shared;
    let client = target.client(this.random);
    while (!client) {
      await sleep(RETRY_MS);
      client = target.client(this.random);
    }
    const late = new AbortController();
    const response = await Promise.race([
      send(client, { token: this.token }).catch(() => undefined),
      sleep(PATIENCE_MS, 'late' as const, { signal: late.signal }).catch(() => undefined),
    ]);
    late.abort();
    if (response === 'late') ledger.seen.others.push(`no response within ${PATIENCE_MS} ms`);
    else if (response && response.status >= 500 && response.status !== 503)
      ledger.seen.others.push(`${response.status} ${response.text}`);
    else if (response && response.status < 500) return response;
    await sleep(RETRY_MS);
    return undefined;
  }

  /** Repeats a request until it has an outcome. @param onUnknown called after each attempt that has none */
  async persist(send: Send, onUnknown: () => void = () => {}): Promise<HttpResponse> {
    for (;;) {
      const response = await this.attempt(send);
      if (response) return response;
      onUnknown();
    }
  }

  unexpected(what: string, { status, text }: HttpResponse): void {
    this.shared.ledger.seen.others.push(`${what}: ${status} ${text}`);
  }

  /** Returns an acknowledged record that nobody tried to delete, if there is one. */
  anyRecord(): History | undefined {
    const { random } = this;
    const { ledger } = this.shared;
    const kept = ledger.kept(random.weighted({ products: 6, users: 3, orders: 2 }));
    const some = random.chance(0.5) ? kept.slice(0, HOT_RECORDS) : kept.slice(-RECENT_RECORDS);
    return some.length > 0 ? random.oneOf(some) : undefined;
  }

  contestedSku(): string {
    return `CONTESTED-${this.random.below(CONTESTED)}`;
  }

  /** Emails compare without case. */
  contestedEmail(): string {
    return `${this.random.chance(0.5) ? 'Contested' : 'contested'}${this.random.below(CONTESTED)}@example.com`;
  }
}

/** A unique value is taken, or an order refers to a record that was just deleted. */
export function isRefusal(resource: Resource, status: number): boolean {
  return resource === 'orders' ? status === 400 : status === 409;
}

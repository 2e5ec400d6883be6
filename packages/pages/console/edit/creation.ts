import { isSame, type JsonObject } from './json.js';

/** How an attempt failed: refused for its content, refused before validation, or with unknown outcome. */
export type Failure = 'refused' | 'not_carried_out' | 'unknown';

interface Attempt {
  readonly key: string;
  readonly body: JsonObject;
  isUnknown: boolean;
}

/**
 * Creates at most one record, though a person presses Save several times, connections are lost, and the text changes
 * in between. A body keeps its idempotency key; another body gets another key, as a key belongs to one body.
 */
export class Creation<Written> {
  private attempt: Attempt | undefined;

  constructor(
    private readonly create: (body: JsonObject, idempotencyKey: string) => Promise<Written>,
    private readonly failureOf: (error: unknown) => Failure,
    private readonly newKey: () => string,
  ) {}

  /**
   * @returns the record. If the outcome of an earlier attempt was unknown, that attempt is repeated first, and its
   * record is returned: it has the earlier body, and the caller changes it.
   */
  async save(body: JsonObject): Promise<Written> {
    const earlier = this.attempt;
    if (earlier && isSame(earlier.body, body)) return this.send(earlier);
    if (earlier?.isUnknown) {
      try {
        return await this.send(earlier);
      } catch (error) {
        if (this.failureOf(error) !== 'refused') throw error;
      }
    }
    this.attempt = { key: this.newKey(), body, isUnknown: false };
    return this.send(this.attempt);
  }

  private async send(attempt: Attempt): Promise<Written> {
    try {
      return await this.create(attempt.body, attempt.key);
    } catch (error) {
      const failure = this.failureOf(error);
      if (failure !== 'not_carried_out') attempt.isUnknown = failure === 'unknown';
      throw error;
    }
  }
}

import { AppError } from '../../domain/errors.js';
import type { Id, Versioned } from '../../domain/record.js';
import { usableState, type WebhookState } from '../../domain/webhook.js';
import type { Backoff, Clock } from '../ports/clock.js';
import type { Repository } from '../ports/repository.js';
import { MAX_ATTEMPTS, nextVersion, timeOfDeletion, tooManyRaces } from '../records/write-conditions.js';

export interface WebhookStatesDependencies {
  readonly records: Pick<
    Repository<WebhookState>,
    'find' | 'findAllByUnique' | 'insertAll' | 'replaceAll' | 'removeAll'
  >;
  readonly clock: Pick<Clock, 'now'>;
  readonly backoff: Backoff;
}

/** The states of webhooks, which all processes share. Every method may throw an AppError `unavailable`. */
export class WebhookStates {
  constructor(private readonly deps: WebhookStatesDependencies) {}

  async find(id: Id): Promise<WebhookState> {
    return usableState((await this.deps.records.find(id))?.fields);
  }

  /** Returns the states of these webhooks, in order. */
  async findAll(ids: readonly Id[]): Promise<WebhookState[]> {
    const found = await this.deps.records.findAllByUnique('id', ids);
    return found.map((record) => usableState(record?.fields));
  }

  /**
   * Changes a state in one compare-and-write, again with the newest one if another write was faster.
   * @param change returns undefined to leave the state as it is
   * @returns undefined if the state stays as it is, or the webhook is deleted
   */
  async change(
    id: Id,
    change: (state: WebhookState) => WebhookState | undefined,
  ): Promise<WebhookState | undefined> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const current = await this.deps.records.find(id);
      const next = change(usableState(current?.fields));
      if (!next) return undefined;
      const outcome = current ? await this.replace(current, next) : await this.insert(id, next);
      if (outcome === 'written') return next;
      // The id belongs to the tombstone of a deleted webhook.
      if (!current && outcome === 'lost' && !(await this.deps.records.find(id))) return undefined;
      await this.deps.backoff.pause(attempt);
    }
    throw tooManyRaces();
  }

  async remove(id: Id): Promise<void> {
    const current = await this.deps.records.find(id);
    if (!current) return;
    const at = timeOfDeletion(current, this.deps.clock.now());
    const [isRemoved] = await this.deps.records.removeAll([{ id, expected: current.version, at }]);
    if (!isRemoved) await this.remove(id);
  }

  private async replace(current: Versioned<WebhookState>, next: WebhookState) {
    const record = nextVersion(current, next, this.deps.clock.now());
    const [outcome] = await this.deps.records.replaceAll([{ record, expected: current.version }]);
    return written(outcome, 'replaced');
  }

  private async insert(id: Id, fields: WebhookState) {
    const now = this.deps.clock.now();
    const record = { id, version: 1, createdAt: now, updatedAt: now, fields };
    const [outcome] = await this.deps.records.insertAll([record]);
    return written(outcome, 'inserted');
  }
}

function written<Success>(outcome: Success | AppError | undefined, success: Success): 'written' | 'lost' {
  if (outcome instanceof AppError) throw outcome;
  return outcome === success ? 'written' : 'lost';
}

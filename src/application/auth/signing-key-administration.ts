import { type PhasedKey, phasesOf, type SigningKey } from '../../domain/access-token.js';
import { AppError, notFound } from '../../domain/errors.js';
import type { Id, Versioned } from '../../domain/record.js';
import type { Clock } from '../ports/clock.js';
import { BY_ID } from '../ports/list-query.js';
import type { Repository } from '../ports/repository.js';
import type { TokenSigner } from '../ports/tokens.js';
import { paginate } from '../records/lists.js';

/**
 * The id of a store's first key. It is never reserved, so its uniqueness decides which of many replicas creates it.
 */
const FIRST_ID: Id = 1;
const PAGE = 1_000;

export interface SigningKeyDependencies {
  readonly keys: Repository<SigningKey>;
  readonly signer: TokenSigner;
  readonly clock: Clock;
}

/** Lists, creates, rotates and revokes the signing keys of a store. */
export class SigningKeyAdministration {
  constructor(private readonly deps: SigningKeyDependencies) {}

  async all(): Promise<Versioned<SigningKey>[]> {
    const keys = [];
    for await (const page of paginate(this.deps.keys, { limit: PAGE, filters: [], order: BY_ID }))
      keys.push(...page);
    return keys;
  }

  /** Returns each key with its phase now, the oldest first. */
  async phased(): Promise<PhasedKey[]> {
    return phasesOf(await this.all(), this.deps.clock.now());
  }

  /** Creates the first key of a store. Of several replicas that find no key, one succeeds. */
  async makeFirst(): Promise<void> {
    const isMade = await this.insert(FIRST_ID);
    // The tombstone of a revoked first key keeps its id. Then several replicas may each create a key, without harm.
    if (!isMade && (await this.all()).length === 0) await this.makeAnother();
  }

  /**
   * Adds a key, which is published now and signs later, and deletes the retired keys.
   * @returns the id of the new key
   */
  async rotate(): Promise<Id> {
    if ((await this.all()).length === 0) await this.makeFirst();
    const id = await this.makeAnother();
    for (const { key, phase } of await this.phased()) {
      if (phase === 'retired') await this.remove(key);
    }
    return id;
  }

  /**
   * @returns the key id (`kid`) that tokens name
   * @throws AppError `not_found`
   */
  async revoke(id: Id): Promise<string> {
    const key = await this.deps.keys.find(id);
    if (!key || !(await this.remove(key))) throw notFound();
    return key.fields.kid;
  }

  private async makeAnother(): Promise<Id> {
    const id = await this.deps.keys.reserveIds(1);
    if (!(await this.insert(id))) throw new Error(`The store reserved the signing key id ${id} twice.`);
    return id;
  }

  private async insert(id: Id): Promise<boolean> {
    const fields = await this.deps.signer.makeKey();
    const now = this.deps.clock.now();
    const [outcome] = await this.deps.keys.insertAll([
      { id, version: 1, createdAt: now, updatedAt: now, fields },
    ]);
    if (outcome instanceof AppError) throw outcome;
    return outcome === 'inserted';
  }

  private async remove({ id, version }: Versioned<SigningKey>): Promise<boolean> {
    const [isRemoved] = await this.deps.keys.removeAll([
      { id, expected: version, at: this.deps.clock.now() },
    ]);
    return isRemoved === true;
  }
}

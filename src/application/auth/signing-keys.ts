import { type PhasedKey, phasesOf, type SigningKey, type SigningKeyPhase } from '../../domain/access-token.js';
import { API_KEY_FRESH_MS } from '../../domain/api-key.js';
import { AppError, notFound } from '../../domain/errors.js';
import type { Id, Versioned } from '../../domain/record.js';
import type { Clock } from '../ports/clock.js';
import { BY_ID } from '../ports/list-query.js';
import type { Logger } from '../ports/logger.js';
import type { Repository } from '../ports/repository.js';
import type { TokenKey, TokenSigner } from '../ports/tokens.js';
import { paginate } from '../records/lists.js';

/** The id of a store's first key. It is never reserved, so its uniqueness decides which of many replicas creates it. */
const FIRST_ID: Id = 1;
const PAGE = 1_000;
/**
 * How long the keys of the store are cached. A verified token stays accepted for {@link API_KEY_FRESH_MS} more, so
 * that no token of a revoked key is accepted after a minute.
 */
const FRESH_MS = 60_000 - API_KEY_FRESH_MS;
/** The least time between two reads because of an unknown `kid`, which anyone can send, once the store has keys. */
const RETRY_MS = 1_000;

const TRUSTED: readonly SigningKeyPhase[] = ['past', 'signing', 'next'];

export interface SigningKeysDependencies {
  readonly keys: Repository<SigningKey>;
  readonly signer: TokenSigner;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'error'>;
}

type Keys = readonly Versioned<SigningKey>[];

/** The keys of a store that sign access tokens. Every method may throw an AppError `unavailable`. */
export class SigningKeys {
  private cached: { readonly keys: Keys; readonly readAt: number } | undefined;
  private reading: Promise<Keys> | undefined;
  private making: Promise<Keys> | undefined;
  private readonly opened = new Map<string, TokenKey>();
  /** Those of which the log has said that they cannot be opened. */
  private readonly unusable = new Set<string>();

  constructor(private readonly deps: SigningKeysDependencies) {}

  /** Returns the key to sign with. Creates it if the store has no keys. */
  async current(): Promise<TokenKey> {
    const [key] = this.inPhase(await this.readOrCreate(), ['signing']);
    if (!key) throw new Error('No signing key is in the phase `signing`.');
    return this.open(key);
  }

  /**
   * Returns the keys to publish: every key that a valid token may have now or soon. One that this release cannot open is
   * left out: no other token is refused because of it.
   */
  async published(): Promise<TokenKey[]> {
    const keys = this.inPhase(await this.readOrCreate(), TRUSTED);
    const opened = await Promise.all(keys.map((key) => this.open(key).catch((error) => this.note(key, error))));
    return opened.filter((key) => key !== undefined);
  }

  async find(kid: string): Promise<TokenKey | undefined> {
    // The first read may have begun, for another caller, before the key was created. The second begins after it.
    const key = this.named(kid, await this.read(FRESH_MS)) ?? this.named(kid, await this.read(RETRY_MS));
    return key && this.open(key);
  }

  /** Returns each key that the store has now, with its phase, the oldest first. */
  async phased(): Promise<PhasedKey[]> {
    return phasesOf(await this.all(), this.deps.clock.now());
  }

  /**
   * Adds a key, which is published now and signs later, and deletes the retired keys.
   * @returns the id of the new key
   */
  async rotate(): Promise<Id> {
    if ((await this.all()).length === 0) await this.makeFirst();
    const id = await this.makeAnother();
    for (const { key, phase } of await this.phased()) if (phase === 'retired') await this.remove(key);
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

  private named(kid: string, keys: Keys): Versioned<SigningKey> | undefined {
    return this.inPhase(keys, TRUSTED).find(({ fields }) => fields.kid === kid);
  }

  private inPhase(keys: Keys, phases: readonly SigningKeyPhase[]): Versioned<SigningKey>[] {
    const phased = phasesOf(keys, this.deps.clock.now());
    return phased.filter(({ phase }) => phases.includes(phase)).map(({ key }) => key);
  }

  private async readOrCreate(): Promise<Keys> {
    const keys = await this.read(FRESH_MS);
    if (keys.length > 0) return keys;
    this.making ??= this.makeFirst().finally(() => {
      this.making = undefined;
    });
    return this.making;
  }

  private async read(maxAgeMs: number): Promise<Keys> {
    const { cached } = this;
    // That there were no keys is no news: another replica may have created the first one since.
    if (cached?.keys.length && this.deps.clock.elapsed() - cached.readAt < maxAgeMs) return cached.keys;
    this.reading ??= this.readAll().finally(() => {
      this.reading = undefined;
    });
    return this.reading;
  }

  private async readAll(): Promise<Keys> {
    const readAt = this.deps.clock.elapsed();
    const keys = await this.all();
    this.cached = { keys, readAt };
    const kids = new Set(keys.map(({ fields }) => fields.kid));
    for (const kid of this.opened.keys()) if (!kids.has(kid)) this.opened.delete(kid);
    return keys;
  }

  private async all(): Promise<Keys> {
    const keys = [];
    for await (const page of paginate(this.deps.keys, { limit: PAGE, filters: [], order: BY_ID })) keys.push(...page);
    return keys;
  }

  /** Creates the first key of a store. Of several replicas that find no key, one succeeds. */
  private async makeFirst(): Promise<Keys> {
    const isMade = await this.insert(FIRST_ID);
    // The tombstone of a revoked first key keeps its id. Then several replicas may each create a key, without harm.
    if (!isMade && (await this.all()).length === 0) await this.makeAnother();
    // A read that is under way may have begun before the key was there.
    return this.readAll();
  }

  private async makeAnother(): Promise<Id> {
    const id = await this.deps.keys.reserveIds(1);
    if (!(await this.insert(id))) throw new Error(`The store reserved the signing key id ${id} twice.`);
    return id;
  }

  private async insert(id: Id): Promise<boolean> {
    const fields = await this.deps.signer.makeKey();
    const now = this.deps.clock.now();
    const [outcome] = await this.deps.keys.insertAll([{ id, version: 1, createdAt: now, updatedAt: now, fields }]);
    if (outcome instanceof AppError) throw outcome;
    return outcome === 'inserted';
  }

  private async remove({ id, version }: Versioned<SigningKey>): Promise<boolean> {
    const at = this.deps.clock.now();
    const [isRemoved] = await this.deps.keys.removeAll([{ id, expected: version, at }]);
    return isRemoved === true;
  }

  /** Logs once that a key cannot be opened: anybody can ask for the published keys. */
  private note({ fields: { kid } }: Versioned<SigningKey>, error: unknown): undefined {
    if (!this.unusable.has(kid)) this.deps.logger.error('a signing key cannot be opened', { kid, error });
    this.unusable.add(kid);
  }

  private async open({ fields }: Versioned<SigningKey>): Promise<TokenKey> {
    const key = this.opened.get(fields.kid) ?? (await this.deps.signer.open(fields));
    this.opened.set(fields.kid, key);
    return key;
  }
}

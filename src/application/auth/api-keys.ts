import { insufficientScope, type Principal, SCOPES } from '../../domain/access.js';
import {
  API_KEY_FRESH_MS,
  type ApiKey,
  administersKeys,
  FOREIGN_KEY_MS,
  keyIdOf,
  keyPrincipalId,
  validateExpiry,
  validKey,
} from '../../domain/api-key.js';
import { AppError, PreconditionFailed, unavailable } from '../../domain/errors.js';
import { instantText } from '../../domain/instant.js';
import type { Id, Instant, Versioned } from '../../domain/record.js';
import { isWellFormedKey } from '../../shared/api-key-format.js';
import { FairSemaphore } from '../../shared/fair-semaphore.js';
import type { Clock } from '../ports/clock.js';
import { BY_ID } from '../ports/list-query.js';
import type { Logger } from '../ports/logger.js';
import type { Repository } from '../ports/repository.js';
import type { Credential, TokenVerifier, VerifiedCredential } from '../ports/tokens.js';
import type { UsageStore } from '../ports/usage-store.js';
import type { Draft } from '../records/record-format.js';
import type { Created, Creation, RecordService } from '../records/record-service.js';
import { ANY_VERSION, isMet, type Precondition } from '../records/write-conditions.js';
import { type CredentialCache, credentialDigest } from './credential-cache.js';
import { type KeyUsage, readUsage, type UsedApiKey } from './key-usage.js';

/** The id of the key that a store's first start creates. It is never reserved, so its uniqueness decides which start wins. */
export const FIRST_KEY_ID: Id = 1;
/** The number of keys in one page. */
const PAGE = 1_000;
/** The number of keys whose usage is read at once. */
const USAGE_PAGE = 100;
const MINUTE_MS = 60_000;

export interface ApiKeyServiceDependencies {
  /** Reads, lists, creates and deletes keys like records of any resource. */
  readonly keys: RecordService<ApiKey>;
  readonly records: Pick<Repository<ApiKey>, 'find' | 'insertAll'>;
  readonly usage: Pick<UsageStore, 'find'>;
  /** Returns a random key. */
  readonly newKey: () => string;
  /** Of this process. A revoked key leaves it immediately. */
  readonly credentials: Pick<CredentialCache, 'invalidate'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Who makes a key, and the last moment at which that key may expire. Both are absent on the command line. */
interface Origin {
  readonly maker?: Pick<ApiKey, 'createdBy' | 'createdBySubject'>;
  readonly latest?: Instant | undefined;
}

export interface IssuedApiKey {
  readonly record: Versioned<ApiKey>;
  readonly isReplay: boolean;
  /** The secret. Absent if an earlier request created the record, because the secret is not stored. */
  readonly key?: string;
}

/**
 * Issues API keys and revokes them, for clients and for the owner of the machine, who has no scopes and may give a key any
 * scope. A key is never changed.
 */
export class ApiKeyService {
  /** One at a time, so that one of the last two keys stays when both are revoked. */
  private readonly adminRevocations = new FairSemaphore({
    total: 1,
    perClient: 1,
    maxWaiting: 200,
    patienceMs: 5_000,
  });

  constructor(private readonly deps: ApiKeyServiceDependencies) {}

  /** The keys as records. */
  get keys(): RecordService<ApiKey> {
    return this.deps.keys;
  }

  /**
   * Returns a key with its usage.
   * @throws AppError `not_found`, `unavailable`
   */
  async read(id: Id): Promise<Versioned<UsedApiKey>> {
    return this.used(await this.keys.read(id));
  }

  /** Yields every key with its usage, in order of id. */
  async *all(): AsyncGenerator<Versioned<UsedApiKey>> {
    for await (const page of this.keys.pages({ limit: USAGE_PAGE, filters: [], order: BY_ID })) {
      const usage = await this.usageOf(page);
      for (const key of page) yield withUsage(key, usage);
    }
  }

  /**
   * Issues a key for a principal, who can grant only scopes that the principal has. The key outlives neither the key
   * that makes it nor, if a token of another issuer makes it, 90 days.
   * @param creation its draft without a digest
   * @throws AppError `insufficient_scope`; as {@link keyOf} if the maker's key has ended, and as {@link issue}
   */
  async issueFor(maker: Principal | undefined, creation: Creation<ApiKey>): Promise<IssuedApiKey> {
    const { fields, issues } = creation.draft;
    const refused = issues.length === 0 && insufficientScope(maker, (fields as ApiKey).scopes);
    if (refused) throw refused;
    const key = await this.keyOf(maker);
    const subject = maker?.subject;
    const origin = key
      ? { maker: { createdBy: key.id }, latest: key.fields.expiresAt }
      : {
          maker: subject ? { createdBySubject: subject } : {},
          latest: this.deps.clock.now() + FOREIGN_KEY_MS,
        };
    const issued = await this.issue(creation, origin);
    if (!issued.isReplay)
      this.deps.logger.info('an API key was created', { keyId: issued.record.id, principal: maker?.id });
    return issued;
  }

  /**
   * Issues a key for the owner of the machine.
   * @returns the key in plain text, which cannot be shown again
   * @throws AppError `validation_failed`
   */
  async create(
    fields: Pick<ApiKey, 'name' | 'scopes' | 'expiresAt'>,
  ): Promise<{ readonly record: Versioned<ApiKey>; readonly key: string }> {
    const draft = this.keys.draft({ ...fields, expiresAt: instantText(fields.expiresAt) });
    const { record, key } = await this.issue({ draft });
    if (key === undefined) throw new Error('A new API key was mistaken for a replayed one.');
    return { record, key };
  }

  /**
   * Inserts `key` as the store's first key, with every scope, unless the store has ever had one.
   * @returns whether `key` is the first key, inserted by this call or by an earlier one whose outcome was unknown
   * @throws AppError `validation_failed` if the key is not well-formed
   */
  async createFirst(key: string): Promise<boolean> {
    const { records, clock } = this.deps;
    if (!isWellFormedKey(key)) throw new AppError('validation_failed', 'The key is not well-formed.');
    const now = clock.now();
    const fields = { name: 'first key', scopes: SCOPES, digest: credentialDigest(key) };
    const record = { id: FIRST_KEY_ID, version: 1, createdAt: now, updatedAt: now, fields };
    const [outcome] = await records.insertAll([record]);
    if (outcome instanceof AppError) throw outcome;
    if (outcome === 'inserted') return true;
    const first = await records.find(FIRST_KEY_ID);
    return first?.fields.digest === fields.digest;
  }

  /**
   * @param creation its draft without a digest
   * @throws AppError `validation_failed`, `idempotency_key_reused`
   */
  async issue({ draft, idempotency }: Creation<ApiKey>, origin: Origin = {}): Promise<IssuedApiKey> {
    const key = this.deps.newKey();
    // The response shows the fields of the body. Stored fields would contain the digest of an earlier attempt.
    const idOnly = idempotency && { ...idempotency, storesFields: false };
    const created = await this.keys.create({
      draft: this.completed(draft, key, origin),
      idempotency: idOnly,
    });
    return created.isReplay ? this.asCreated(created) : { ...created, key };
  }

  /** @throws AppError `not_found`, `precondition_failed`, `unavailable`: the key may be revoked or not */
  async revoke(id: Id, precondition: Precondition = ANY_VERSION): Promise<void> {
    try {
      await this.keys.remove(id, precondition);
    } finally {
      this.deps.credentials.invalidate(keyPrincipalId(id));
    }
  }

  /**
   * Revokes a key for a principal, unless it is the last key with which keys can be administered. Exact within this
   * process.
   * @param revoker probably the holder of another such key, which is then found by one look-up
   * @throws AppError `last_admin_key`; as {@link keyOf} and {@link revoke}; `precondition_failed` with the usage of the key
   */
  async revokeFor(revoker: Principal | undefined, id: Id, precondition: Precondition): Promise<void> {
    try {
      await this.revokeUnlessLast(revoker, id, precondition);
    } catch (error) {
      if (!(error instanceof PreconditionFailed)) throw error;
      throw new PreconditionFailed(await this.used(error.current as Versioned<ApiKey>));
    }
  }

  private async revokeUnlessLast(revoker: Principal | undefined, id: Id, precondition: Precondition): Promise<void> {
    await this.keyOf(revoker);
    const { fields } = await this.keys.read(id);
    if (!administersKeys(fields, this.deps.clock.now())) return this.revoke(id, precondition);
    const permit = await this.adminRevocations.acquire(revoker?.id ?? '');
    if (!permit) throw unavailable('Too many keys are being revoked. This one was not; try again.');
    try {
      const { version } = await this.keys.read(id);
      if (isMet(precondition, version) && !(await this.hasOtherAdmin(id, revoker))) throw lastAdminKey();
      await this.revoke(id, precondition);
    } finally {
      permit.release();
    }
  }

  /** Reads at most a page of keys at a time, in order of id: the first key of a store is on the first page. */
  private async hasOtherAdmin(id: Id, revoker: Principal | undefined): Promise<boolean> {
    const now = this.deps.clock.now();
    const isOther = (key: Versioned<ApiKey> | undefined) =>
      key !== undefined && key.id !== id && administersKeys(key.fields, now);
    const revokerId = revoker && keyIdOf(revoker);
    if (revokerId !== undefined && isOther(await this.deps.records.find(revokerId))) return true;
    for await (const page of this.keys.pages({ limit: PAGE, filters: [], order: BY_ID }))
      if (page.some(isOther)) return true;
    return false;
  }

  private async used(key: Versioned<ApiKey>): Promise<Versioned<UsedApiKey>> {
    return withUsage(key, await this.usageOf([key]));
  }

  private usageOf(keys: readonly Versioned<ApiKey>[]): Promise<ReadonlyMap<Id, KeyUsage>> {
    const { usage, clock } = this.deps;
    return readUsage(
      usage,
      keys.map(({ id }) => id),
      clock.now(),
    );
  }

  /**
   * Looks the key of a principal up, whose cached credential may be that of a key that another process has revoked.
   * @returns undefined for a client of another issuer
   * @throws AppError `invalid_token`, `token_expired`
   */
  private async keyOf(principal: Principal | undefined): Promise<Versioned<ApiKey> | undefined> {
    const id = principal && keyIdOf(principal);
    if (id === undefined) return undefined;
    return validKey(await this.deps.records.find(id), this.deps.clock.now());
  }

  /** Adds the digest, the maker and, if the maker sets a limit and the body no time, the expiry. */
  private completed({ fields: sent, issues }: Draft<ApiKey>, key: string, origin: Origin): Draft<ApiKey> {
    const { maker, latest } = origin;
    const expiresAt = sent.expiresAt ?? latest;
    const expiryIssues = typeof expiresAt === 'number' ? validateExpiry(expiresAt, this.deps.clock.now(), latest) : [];
    const expiry = expiresAt === latest && latest !== undefined && { expiresAt };
    const fields = { ...sent, ...expiry, ...maker, digest: credentialDigest(key) };
    return { fields, issues: [...issues, ...expiryIssues] };
  }

  /** Returns the record as it is; with the time of the reservation if the key is deleted. */
  private async asCreated({ record, isReplay }: Created<ApiKey>): Promise<IssuedApiKey> {
    const { createdAt, fields } = (await this.deps.records.find(record.id)) ?? record;
    const { lastUsedAt: _later, ...created } = fields;
    return { record: { ...record, createdAt, fields: created }, isReplay };
  }
}

function withUsage(key: Versioned<ApiKey>, all: ReadonlyMap<Id, KeyUsage>): Versioned<UsedApiKey> {
  const usage = all.get(key.id);
  return usage ? { ...key, fields: { ...key.fields, usage } } : key;
}

function lastAdminKey(): AppError {
  return new AppError(
    'last_admin_key',
    'This is the last key with the scope keys:admin. Make another one before you revoke it.',
  );
}

/** A key as HTTP and the command line show it: without its secret and its digest. */
export function presentApiKey({ id, createdAt, fields }: Versioned<UsedApiKey>) {
  const { name, scopes, expiresAt, lastUsedAt, createdBy, createdBySubject, usage } = fields;
  return {
    id,
    name,
    scopes,
    expiresAt: instantText(expiresAt),
    createdAt: instantText(createdAt),
    lastUsedAt: instantText(lastUsedAt),
    createdBy,
    createdBySubject,
    usage: usage && { ...usage, since: instantText(usage.since) },
  };
}

export interface ApiKeyVerifierDependencies {
  readonly keys: Repository<ApiKey>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Verifies API keys by looking up their digest. */
export class ApiKeyVerifier implements TokenVerifier {
  constructor(private readonly deps: ApiKeyVerifierDependencies) {}

  async verify({ token, digest }: Credential): Promise<VerifiedCredential> {
    const { keys, clock } = this.deps;
    const found = isWellFormedKey(token) ? await keys.findByUnique('digest', digest) : undefined;
    const now = clock.now();
    const key = validKey(found, now);
    const { scopes, expiresAt } = key.fields;
    const minute = now - (now % MINUTE_MS);
    this.recordUse(key, minute);
    return {
      id: keyPrincipalId(key.id),
      scopes,
      ...(expiresAt !== undefined && { expiresAt }),
      // The first use in the next minute is recorded too.
      freshMs: Math.min(API_KEY_FRESH_MS, minute + MINUTE_MS - now),
    };
  }

  /** Returns the key with this id. Throws as {@link validKey}; AppError `unavailable`. */
  async findValid(id: Id, reason?: string): Promise<Versioned<ApiKey>> {
    return validKey(await this.deps.keys.find(id), this.deps.clock.now(), reason);
  }

  /**
   * Writes the minute of the last use, at most once a minute. No request waits for the write or fails because of it.
   * The version stays as it is, so that a client can revoke a key that is in use by the version that it saw. If the
   * write loses a race, the key has been revoked.
   */
  private recordUse(key: Versioned<ApiKey>, minute: Instant): void {
    if ((key.fields.lastUsedAt ?? 0) >= minute) return;
    const next = { ...key, fields: { ...key.fields, lastUsedAt: minute } };
    this.deps.keys.replaceAll([{ record: next, expected: key.version }]).catch((error: unknown) => {
      this.deps.logger.warn('the last use of an API key could not be noted', { keyId: key.id, error });
    });
  }
}

import {
  type ApiKey,
  administersKeys,
  expiryFaults,
  keyIdOf,
  keyPrincipalId,
  type Principal,
} from '../domain/access.js';
import { CatalogueError, unavailable } from '../domain/errors.js';
import type { Id, Versioned } from '../domain/record.js';
import { FairShares } from '../shared/fair-shares.js';
import { grantDenialReason } from './auth/authorization.js';
import type { CredentialCache } from './auth/credential-cache.js';
import type { Created, Creation } from './creation-attempt.js';
import type { Draft } from './judgement.js';
import { BY_ID } from './list-query.js';
import type { ApiKeyFormat } from './ports/api-key-format.js';
import { type RecordDependencies, RecordUseCases, type VersionCondition } from './record-use-cases.js';

/** Keys that are read at once. */
const PAGE = 1_000;

export interface ApiKeyDependencies extends RecordDependencies<ApiKey> {
  readonly format: ApiKeyFormat;
  readonly credentials: Pick<CredentialCache, 'invalidate'>;
}

export interface IssuedApiKey {
  readonly record: Versioned<ApiKey>;
  readonly isReplay: boolean;
  /** Known here and now only. Absent where the record was created before: nothing is kept that the key could be told from. */
  readonly key?: string;
}

/** A key is made with its secret, and forgotten when it is revoked. What it may do never changes. */
export class ApiKeyUseCases extends RecordUseCases<ApiKey> {
  /** One at a time, so that of the last two keys each of which is revoked one stays. */
  private readonly adminRevocations = new FairShares({
    total: 1,
    perClient: 1,
    maxWaiting: 200,
    patienceMs: 5_000,
  });

  constructor(protected override readonly deps: ApiKeyDependencies) {
    super(deps);
  }

  /**
   * Makes a key for somebody who may give out no scope of which `maker` has none.
   * @param creation its draft without a digest
   * @throws CatalogueError `insufficient_scope`, and as {@link issue}
   */
  async issueFor(maker: Principal | undefined, creation: Creation<ApiKey>): Promise<IssuedApiKey> {
    const { fields, faults } = creation.draft;
    const refused = faults.length === 0 && grantDenialReason(maker, (fields as ApiKey).scopes);
    if (refused) throw refused;
    return this.issue(creation);
  }

  /**
   * @param creation its draft without a digest
   * @throws CatalogueError `validation_failed`, `idempotency_key_reused`
   */
  async issue({ draft, once }: Creation<ApiKey>): Promise<IssuedApiKey> {
    const key = this.deps.format.generate();
    // What the answer shows is in the body again; a digest kept beside it would be that of whoever reserved the id.
    const shown = once && { ...once, showsFields: false };
    const created = await this.create({ draft: this.withDigest(draft, key), once: shown });
    return created.isReplay ? this.asCreated(created) : { ...created, key };
  }

  /** @throws CatalogueError `not_found`, `precondition_failed`, `unavailable`: it may be revoked or not */
  override async remove(id: Id, condition: VersionCondition): Promise<void> {
    try {
      await super.remove(id, condition);
    } finally {
      this.deps.credentials.invalidate(keyPrincipalId(id));
    }
  }

  /**
   * Revokes a key for somebody, but not the last one with which keys can be administered. Exact within this process.
   * @param revoker most likely the holder of another such key, which is then found by one look-up
   * @throws CatalogueError `last_admin_key`, and as {@link remove}
   */
  async revokeFor(revoker: Principal | undefined, id: Id, condition: VersionCondition): Promise<void> {
    const { fields } = await this.read(id);
    if (!administersKeys(fields, this.deps.clock.now())) return this.remove(id, condition);
    const share = await this.adminRevocations.take(revoker?.id ?? '');
    if (!share) throw unavailable('Too many keys are being revoked. This one was not; try again.');
    try {
      const { version } = await this.read(id);
      if (condition(version) && !(await this.hasOtherAdmin(id, revoker))) throw lastAdminKey();
      await this.remove(id, condition);
    } finally {
      share.release();
    }
  }

  /** Reads at most a page of keys at a time, in order of id: the first key of a store, if it is left, is on the first. */
  private async hasOtherAdmin(id: Id, revoker: Principal | undefined): Promise<boolean> {
    const now = this.deps.clock.now();
    const isOther = (key: Versioned<ApiKey> | undefined) =>
      key !== undefined && key.id !== id && administersKeys(key.fields, now);
    const revokerId = revoker && keyIdOf(revoker);
    if (revokerId !== undefined && isOther(await this.deps.records.find(revokerId))) return true;
    for await (const page of this.pages({ limit: PAGE, filters: [], order: BY_ID }))
      if (page.some(isOther)) return true;
    return false;
  }

  private withDigest({ fields, faults }: Draft<ApiKey>, key: string): Draft<ApiKey> {
    const { expiresAt } = fields;
    const tooLate = typeof expiresAt === 'number' ? expiryFaults(expiresAt, this.deps.clock.now()) : [];
    return {
      fields: { ...fields, digest: this.deps.format.digest(key) },
      faults: [...faults, ...tooLate],
    };
  }

  /** When it was created is shown too; of one that is gone by now, when it was reserved. */
  private async asCreated({ record, isReplay }: Created<ApiKey>): Promise<IssuedApiKey> {
    const current = await this.deps.records.find(record.id);
    return { record: { ...record, createdAt: current?.createdAt ?? record.createdAt }, isReplay };
  }
}

function lastAdminKey(): CatalogueError {
  return new CatalogueError(
    'last_admin_key',
    'This is the last key with the scope keys:admin. Make another one before you revoke it.',
  );
}

import { expect } from 'chai';
import { MemoryIdempotencyStore } from '#src/adapters/outbound/memory/expiring.js';
import { MemoryRepository } from '#src/adapters/outbound/memory/repository.js';
import type { ApiKeyService } from '#src/application/auth/api-keys.js';
import { credentialDigest } from '#src/application/auth/credential-cache.js';
import { BY_ID } from '#src/application/ports/list-query.js';
import { ANY_VERSION } from '#src/application/records/write-conditions.js';
import type { Scope } from '#src/domain/access.js';
import type { ApiKey } from '#src/domain/api-key.js';
import { unavailable } from '#src/domain/errors.js';
import { expectAppError } from '../../../support/expect-refusal.js';
import { FakeClock } from '../../../support/fakes.js';
import { apiKeyService } from '../../../support/key-administration.js';
import { API_KEYS, ENDLESS } from '../../../support/tables.js';

const IDEMPOTENT_REQUEST = { key: 'key', fingerprint: 'a shop', storesFields: true };

/** A store whose next insertion fails, either before or after it has written. */
class FailingRepository extends MemoryRepository<ApiKey> {
  fails: 'before' | 'after' | undefined;

  override async insertAll(...args: Parameters<MemoryRepository<ApiKey>['insertAll']>) {
    const { fails } = this;
    this.fails = undefined;
    if (fails === 'before') throw unavailable('gone');
    const outcomes = await super.insertAll(...args);
    if (fails === 'after') throw unavailable('gone');
    return outcomes;
  }
}

describe('ApiKeyService', () => {
  const digestOf = (key = '') => credentialDigest(key);
  let records: FailingRepository;
  let clock: FakeClock;
  let invalidated: string[];
  let reservations: MemoryIdempotencyStore;
  let keys: ApiKeyService;

  const shop = (fields: object = {}) => ({
    draft: { fields: { name: 'shop', scopes: ['products:read'], ...fields }, issues: [] },
    idempotency: IDEMPOTENT_REQUEST,
  });

  beforeEach(() => {
    records = new FailingRepository(API_KEYS, ENDLESS);
    clock = new FakeClock();
    invalidated = [];
    reservations = new MemoryIdempotencyStore();
    const credentials = { invalidate: (id: string) => void invalidated.push(id) };
    keys = apiKeyService(records, clock, credentials, reservations);
  });

  it('issues a valid key after an attempt that failed once its id was reserved', async () => {
    records.fails = 'before';
    await expectAppError(keys.issue(shop()), 'unavailable');
    const { key, record, isReplay } = await keys.issue(shop());
    expect(isReplay).to.equal(false);
    expect((await records.findByUnique('digest', digestOf(key)))?.id).to.equal(record.id);
  });

  it('returns no secret for a key that an earlier attempt stored', async () => {
    records.fails = 'after';
    await expectAppError(keys.issue(shop()), 'unavailable');
    const again = await keys.issue(shop());
    expect(again).to.include({ isReplay: true }).and.not.have.property('key');
  });

  it('returns the same createdAt for every retry, even after a revocation', async () => {
    records.fails = 'before';
    await expectAppError(keys.issue(shop()), 'unavailable');
    clock.time += 1_000;
    const { createdAt, id } = (await keys.issue(shop())).record;
    expect(createdAt).to.equal(clock.time);
    clock.time += 1_000;
    expect((await keys.issue(shop())).record.createdAt).to.equal(createdAt);

    clock.now = () => clock.time++;
    const another = { ...shop(), idempotency: { ...IDEMPOTENT_REQUEST, key: 'another' } };
    const first = (await keys.issue(another)).record;
    clock.time += 1_000;
    await keys.revoke(first.id, ANY_VERSION);
    expect((await keys.issue(another)).record).to.deep.include({ id: first.id, createdAt: first.createdAt });
    expect(id).to.not.equal(first.id);
  });

  it('stores nothing of the secret with the idempotency key', async () => {
    const { key } = await keys.issue(shop());
    const stored = await reservations.find(['key']);
    expect(JSON.stringify([...stored])).to.not.include(digestOf(key));
  });

  it('takes an expiry from the next millisecond on', async () => {
    await expectAppError(keys.issue(shop({ expiresAt: clock.time })), 'validation_failed', ['/expiresAt']);
    expect((await keys.issue(shop({ expiresAt: clock.time + 1 }))).isReplay).to.equal(false);
  });

  it('logs the id of a new key and its maker, once', async () => {
    const logged: unknown[][] = [];
    const log = (...line: unknown[]) => void logged.push(line);
    const logger = { info: log, warn: log, error: log };
    keys = apiKeyService(records, clock, { invalidate: () => {} }, reservations, logger);
    const { record: admin } = await apiKeyService(records, clock).create({
      name: 'admin',
      scopes: ['keys:admin', 'products:read'],
    });
    const maker = { id: `key:${admin.id}`, scopes: admin.fields.scopes };
    const { record } = await keys.issueFor(maker, shop());
    await keys.issueFor(maker, shop());
    expect(logged).to.deep.equal([['an API key was created', { keyId: record.id, principal: `key:${admin.id}` }]]);
  });

  it('lets no key that is revoked or has expired make or revoke another one', async () => {
    const owner = apiKeyService(records, clock);
    const scopes: Scope[] = ['keys:admin', 'products:read'];
    const { record: revoked } = await owner.create({ name: 'admin', scopes });
    const { record: short } = await owner.create({ name: 'admin', scopes, expiresAt: clock.time + 1 });
    await owner.revoke(revoked.id);
    clock.time++;
    const { record: shopKey } = await keys.issue(shop());
    for (const [{ id }, code] of [
      [revoked, 'invalid_token'],
      [short, 'token_expired'],
    ] as const) {
      const holder = { id: `key:${id}`, scopes };
      const another = { ...shop(), idempotency: undefined };
      await expectAppError(keys.issueFor(holder, another), code);
      await expectAppError(keys.revokeFor(holder, shopKey.id, ANY_VERSION), code);
    }
    const { records: left } = await records.list({ limit: 9, filters: [], order: BY_ID });
    expect(left.map(({ id }) => id)).to.deep.equal([short.id, shopKey.id]);
  });

  it('lists keys only if the caller does not keep a key with keys:admin', async () => {
    const owner = apiKeyService(records, clock);
    const administrators = [];
    for (let i = 0; i < 3; i++)
      administrators.push((await owner.create({ name: 'admin', scopes: ['keys:admin'] })).record);
    let pages = 0;
    const list = records.list.bind(records);
    records.list = (query) => {
      pages++;
      return list(query);
    };
    const [first, second, last] = administrators.map(({ id }) => id) as [number, number, number];
    await keys.revokeFor({ id: `key:${last}`, scopes: ['keys:admin'] }, first, ANY_VERSION);
    expect(pages).to.equal(0);
    await keys.revokeFor({ id: 'a client of another issuer', scopes: ['keys:admin'] }, second, ANY_VERSION);
    expect(pages, 'the holder is not a key').to.equal(1);
    await keys.revokeFor({ id: `key:${first}`, scopes: ['keys:admin'] }, last, ANY_VERSION).catch(() => {});
    expect(await records.find(last), 'a revoked key does not count').to.not.equal(undefined);
  });

  it('invalidates the cache even if the outcome of a revocation is unknown', async () => {
    const { record } = await keys.issue(shop());
    records.removeAll = async () => Promise.reject(unavailable('gone'));
    await expectAppError(keys.revoke(record.id, ANY_VERSION), 'unavailable');
    expect(invalidated).to.deep.equal([`key:${record.id}`]);
  });
});

import { expect } from 'chai';
import { MemoryRateLimiter } from '#src/adapters/outbound/memory/rate-limiter.js';
import { MemoryRepository } from '#src/adapters/outbound/memory/repository.js';
import { newApiKey } from '#src/adapters/outbound/system/random.js';
import { type ApiKeyService, ApiKeyVerifier } from '#src/application/auth/api-keys.js';
import { CredentialCache, credentialDigest } from '#src/application/auth/credential-cache.js';
import type { Principal } from '#src/domain/access.js';
import type { ApiKey } from '#src/domain/api-key.js';
import { testAuthenticator } from '../../../support/authenticator.js';
import { expectAppError } from '../../../support/expect-refusal.js';
import { FakeClock, RecordingLogger } from '../../../support/fakes.js';
import { apiKeyService } from '../../../support/key-administration.js';
import { API_KEYS, ENDLESS } from '../../../support/tables.js';

class CountingRepository extends MemoryRepository<ApiKey> {
  reads = 0;
  writes = 0;
  isDown = false;

  override async findByUnique(...args: Parameters<MemoryRepository<ApiKey>['findByUnique']>) {
    this.reads++;
    return super.findByUnique(...args);
  }

  override async replaceAll(...args: Parameters<MemoryRepository<ApiKey>['replaceAll']>) {
    this.writes++;
    if (this.isDown) throw new Error('down');
    return super.replaceAll(...args);
  }
}

describe('ApiKeyVerifier behind the credential cache', () => {
  let keys: CountingRepository;
  let clock: FakeClock;
  let logger: RecordingLogger;
  let cache: CredentialCache;
  let verify: (key: string) => Promise<Principal>;
  let verifier: ApiKeyVerifier;
  let administration: ApiKeyService;

  beforeEach(() => {
    keys = new CountingRepository(API_KEYS, ENDLESS);
    clock = new FakeClock();
    logger = new RecordingLogger();
    cache = new CredentialCache(clock);
    verifier = new ApiKeyVerifier({ keys, clock, logger });
    const authenticator = testAuthenticator({
      cache,
      failures: new MemoryRateLimiter({ name: 'auth', quota: 100_000, windowSeconds: 60 }, clock),
      apiKeys: verifier,
    });
    verify = async (key) => authenticator.authenticate(key, 'here');
    administration = apiKeyService(keys, clock);
  });

  const issue = () => administration.create({ name: 'x', scopes: ['products:read'] });

  it('looks a key up once in 2 seconds, so it rejects a revoked key within 5', async () => {
    const { key, record } = await issue();
    for (let i = 0; i < 5; i++) expect((await verify(key)).id).to.equal(`key:${record.id}`);
    expect(keys.reads).to.equal(1);
    await administration.revoke(record.id);
    clock.running += 1_999;
    await verify(key);
    clock.running += 1;
    await expectAppError(verify(key), 'invalid_token');
  });

  it('rejects an invalidated key immediately, even during its look-up', async () => {
    const { key, record } = await issue();
    const found = await keys.findByUnique('digest', credentialDigest(key));
    const lookUp = keys.findByUnique.bind(keys);
    let respond = (_: typeof found) => {};
    keys.findByUnique = () => new Promise((resolve) => (respond = resolve));
    const pending = verify(key);
    keys.findByUnique = lookUp;
    await verify(key);
    await administration.revoke(record.id);
    cache.invalidate(`key:${record.id}`);
    respond(found);
    await pending;
    await expectAppError(verify(key), 'invalid_token');
  });

  it('accepts a new key immediately, even if it was rejected before', async () => {
    const key = newApiKey();
    await expectAppError(verify(key), 'invalid_token');
    await administration.createFirst(key);
    await verify(key);
  });

  it('rejects a wrong checksum without a look-up', async () => {
    await expectAppError(verify(`pcs_${'0'.repeat(36)}`), 'invalid_token');
    expect(keys.reads).to.equal(0);
  });

  it('finds a key by its id until it is revoked or expires', async () => {
    const { record } = await issue();
    const expiresAt = clock.now() + 60_000;
    const { record: short } = await administration.create({ name: 'x', scopes: ['products:read'], expiresAt });
    for (const { id } of [record, short]) expect((await verifier.findValid(id)).id).to.equal(id);
    clock.time = expiresAt;
    await administration.revoke(record.id);
    await expectAppError(verifier.findValid(record.id), 'invalid_token');
    await expectAppError(verifier.findValid(short.id), 'token_expired');
  });

  it('records the last use of a key once a minute', async () => {
    const { key, record } = await issue();
    for (let i = 0; i < 5; i++) await verify(key);
    expect(keys.writes).to.equal(1);
    expect((await keys.find(record.id))?.fields.lastUsedAt).to.equal(clock.time - (clock.time % 60_000));
    clock.running += 60_000;
    clock.time += 60_000;
    for (let i = 0; i < 5; i++) await verify(key);
    expect(keys.writes).to.equal(2);
  });

  it('records the last use in a new minute, even if the key is cached', async () => {
    const { key, record } = await issue();
    clock.time += 59_000;
    await verify(key);
    [clock.time, clock.running] = [clock.time + 1_000, clock.running + 1_000];
    await verify(key);
    expect((await keys.find(record.id))?.fields.lastUsedAt).to.equal(clock.time);
  });

  it('records a use without a new version, and does not restore a revoked key', async () => {
    const { key, record } = await issue();
    await verify(key);
    const { fields, ...rest } = (await keys.find(record.id)) ?? record;
    expect(fields.lastUsedAt).to.be.a('number');
    expect(rest).to.deep.include({ version: 1, updatedAt: record.updatedAt });
    clock.running += 60_000;
    clock.time += 60_000;
    const lookUp = keys.findByUnique.bind(keys);
    keys.findByUnique = async (...args) => {
      const found = await lookUp(...args);
      await administration.revoke(record.id);
      return found;
    };
    await verify(key);
    expect([keys.writes, await keys.find(record.id)]).to.deep.equal([2, undefined]);
  });

  it('accepts the key and logs a warning if the last use cannot be recorded', async () => {
    const { key } = await issue();
    keys.isDown = true;
    await verify(key);
    await new Promise((resolve) => setImmediate(resolve));
    expect(logger.events).to.deep.equal(['the last use of an API key could not be noted']);
  });
});

import { expect } from 'chai';
import { MemoryRepository } from '#src/adapters/outbound/memory/memory-repository.js';
import { ChecksummedApiKey } from '#src/adapters/outbound/tokens/checksummed-api-key.js';
import { ApiKeyVerifier } from '#src/application/api-key-verifier.js';
import { KeyAdministration } from '#src/application/key-administration.js';
import type { ApiKey } from '#src/domain/access.js';
import { expectRefusal } from '../support/expect-refusal.js';
import { FakeClock, RecordingJournal } from '../support/fakes.js';
import { API_KEYS, ENDLESS } from '../support/tables.js';

class CountingRepository extends MemoryRepository<ApiKey> {
  reads = 0;
  writes = 0;
  isDown = false;

  override async findByUnique(...args: Parameters<MemoryRepository<ApiKey>['findByUnique']>) {
    this.reads++;
    return super.findByUnique(...args);
  }

  override async replace(...args: Parameters<MemoryRepository<ApiKey>['replace']>) {
    this.writes++;
    if (this.isDown) throw new Error('down');
    return super.replace(...args);
  }
}

describe('the verifier of API keys', () => {
  let keys: CountingRepository;
  let clock: FakeClock;
  let journal: RecordingJournal;
  let verifier: ApiKeyVerifier;
  let administration: KeyAdministration;

  beforeEach(() => {
    keys = new CountingRepository(API_KEYS, ENDLESS);
    clock = new FakeClock();
    journal = new RecordingJournal();
    const format = new ChecksummedApiKey();
    verifier = new ApiKeyVerifier({ keys, format, clock, journal });
    administration = new KeyAdministration({ keys, format, clock });
  });

  const issue = () => administration.create({ name: 'x', scopes: ['products:read'] });

  it('looks a key up once in 2 seconds, and so refuses a revoked one within 5', async () => {
    const { key, record } = await issue();
    for (let i = 0; i < 5; i++) expect((await verifier.verify(key)).id).to.equal(`key:${record.id}`);
    expect(keys.reads).to.equal(1);
    await administration.revoke(record.id);
    clock.running += 1_999;
    await verifier.verify(key);
    clock.running += 1;
    await expectRefusal(verifier.verify(key), 'invalid_token');
  });

  it('knows a new key at once, also one that was refused before', async () => {
    const format = new ChecksummedApiKey();
    const key = format.generate();
    await expectRefusal(verifier.verify(key), 'invalid_token');
    await new KeyAdministration({ keys, format, clock }).createFirst(key);
    await verifier.verify(key);
  });

  it('refuses a wrong checksum without a look-up', async () => {
    await expectRefusal(verifier.verify(`pcs_${'0'.repeat(36)}`), 'invalid_token');
    expect(keys.reads).to.equal(0);
  });

  it('heeds the moment of expiry, also of a key that it has just read', async () => {
    const expiresAt = clock.time + 1_000;
    const { key } = await administration.create({ name: 'x', scopes: ['products:read'], expiresAt });
    await verifier.verify(key);
    clock.time += 999;
    await verifier.verify(key);
    clock.time += 1;
    await expectRefusal(verifier.verify(key), 'token_expired');
  });

  it('notes the use of a key once a minute', async () => {
    const { key, record } = await issue();
    for (let i = 0; i < 5; i++) await verifier.verify(key);
    expect(keys.writes).to.equal(1);
    expect((await keys.find(record.id))?.fields.lastUsedAt).to.equal(clock.time - (clock.time % 60_000));
    clock.running += 60_000;
    clock.time += 60_000;
    for (let i = 0; i < 5; i++) await verifier.verify(key);
    expect(keys.writes).to.equal(2);
  });

  it('fails no request because the use cannot be noted, and says so in the journal', async () => {
    const { key } = await issue();
    keys.isDown = true;
    await verifier.verify(key);
    await new Promise((resolve) => setImmediate(resolve));
    expect(journal.events).to.deep.equal(['the last use of an API key could not be noted']);
  });
});

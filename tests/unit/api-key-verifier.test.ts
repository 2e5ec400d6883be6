import { expect } from 'chai';
import { MemoryRepository } from '#src/adapters/outbound/memory/repository.js';
import { ChecksummedApiKey } from '#src/adapters/outbound/tokens/checksummed-api-key.js';
import { ApiKeyVerifier } from '#src/application/api-key-verifier.js';
import type { KeyAdministration } from '#src/application/key-administration.js';
import type { ApiKey } from '#src/domain/access.js';
import { expectRefusal } from '../support/expect-refusal.js';
import { FakeClock, RecordingJournal } from '../support/fakes.js';
import { keyAdministration } from '../support/key-administration.js';
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
    administration = keyAdministration(keys, clock);
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

  it('refuses a key at once that it was told to forget, also one that is being looked up', async () => {
    const { key, record } = await issue();
    const found = await keys.findByUnique('digest', new ChecksummedApiKey().digest(key));
    const lookUp = keys.findByUnique.bind(keys);
    let answer = (_: typeof found) => {};
    keys.findByUnique = () => new Promise((resolve) => (answer = resolve));
    const underWay = verifier.verify(key);
    keys.findByUnique = lookUp;
    await verifier.verify(key);
    await administration.revoke(record.id);
    verifier.forget(record.id);
    answer(found);
    await underWay;
    await expectRefusal(verifier.verify(key), 'invalid_token');
  });

  it('forgets no other key', async () => {
    const [one, other] = [await issue(), await issue()];
    for (const { key } of [one, other]) await verifier.verify(key);
    verifier.forget(one.record.id);
    for (const { key } of [one, other]) await verifier.verify(key);
    expect(keys.reads).to.equal(3);
  });

  it('is as quick with the keys that it knows, and no larger, after a flood of keys that nobody has', async () => {
    const { key } = await issue();
    await verifier.verify(key);
    const format = new ChecksummedApiKey();
    const flood = Array.from({ length: 20_000 }, () =>
      verifier.verify(format.generate()).catch(() => 'refused'),
    );
    expect(new Set(await Promise.all(flood))).to.deep.equal(new Set(['refused']));
    expect(verifier['known'].size).to.equal(1);
    const { reads } = keys;
    await verifier.verify(key);
    expect(keys.reads).to.equal(reads);
  });

  it('knows a bounded number of keys, those that it read last', async () => {
    keys.findByUnique = async (_, digest) => {
      keys.reads++;
      const fields: ApiKey = { name: 'x', scopes: [], digest, lastUsedAt: clock.time };
      return { id: keys.reads, version: 1, createdAt: 0, updatedAt: 0, fields };
    };
    const format = new ChecksummedApiKey();
    const all = Array.from({ length: 10_001 }, () => format.generate());
    for (const key of all) await verifier.verify(key);
    expect(verifier['known'].size).to.equal(10_000);
    await verifier.verify(all[1] ?? '');
    expect(keys.reads).to.equal(10_001);
    await verifier.verify(all[0] ?? '');
    expect(keys.reads).to.equal(10_002);
  });

  it('knows a new key at once, also one that was refused before', async () => {
    const format = new ChecksummedApiKey();
    const key = format.generate();
    await expectRefusal(verifier.verify(key), 'invalid_token');
    await administration.createFirst(key);
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

  it('leaves the version as it is when it notes a use, and brings no revoked key back', async () => {
    const { key, record } = await issue();
    await verifier.verify(key);
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
    await verifier.verify(key);
    expect([keys.writes, await keys.find(record.id)]).to.deep.equal([2, undefined]);
  });

  it('fails no request because the use cannot be noted, and says so in the journal', async () => {
    const { key } = await issue();
    keys.isDown = true;
    await verifier.verify(key);
    await new Promise((resolve) => setImmediate(resolve));
    expect(journal.events).to.deep.equal(['the last use of an API key could not be noted']);
  });
});

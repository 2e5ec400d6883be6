import { expect } from 'chai';
import { CredentialCache } from '#src/application/auth/credential-cache.js';
import { FakeClock } from '../../../support/fakes.js';

describe('CredentialCache', () => {
  let clock: FakeClock;
  let cache: CredentialCache;

  beforeEach(() => {
    clock = new FakeClock();
    cache = new CredentialCache(clock);
  });

  const set = (digest: string, id = digest, lifeMs = 3_600_000) =>
    cache.set(digest, { id, scopes: [], expiresAt: clock.time + lifeMs, freshMs: 5_000 }, cache.begin());
  const isFresh = (digest: string) => cache.getFresh(digest) !== undefined;

  it('keeps a credential fresh for the time that its verifier sets, and remembers it for 10 minutes', () => {
    set('a');
    clock.running += 4_999;
    expect(isFresh('a')).to.equal(true);
    clock.running += 1;
    expect(isFresh('a')).to.equal(false);
    clock.running = 600_000 - 1;
    expect(cache.wasValidRecently('a')).to.equal(true);
    clock.running += 1;
    expect(cache.wasValidRecently('a')).to.equal(false);
  });

  it('keeps no credential fresh after its expiry', () => {
    set('a', 'a', 1_000);
    clock.time += 999;
    expect(isFresh('a')).to.equal(true);
    clock.time += 1;
    expect(isFresh('a')).to.equal(false);
  });

  it('keeps no credential fresh for longer if the clock is set back', () => {
    set('a', 'a', 1_000);
    clock.time -= 3_600_000;
    clock.running += 5_000;
    expect(isFresh('a')).to.equal(false);
  });

  it('invalidates all credentials of one principal, and no others', () => {
    for (const digest of ['a', 'b']) set(digest, 'one');
    set('c', 'two');
    cache.invalidate('one');
    expect(['a', 'b', 'c'].map(isFresh)).to.deep.equal([false, false, true]);
    expect(cache.wasValidRecently('a'), 'still passes the throttle').to.equal(true);
    set('a', 'one');
    expect(isFresh('a')).to.equal(true);
  });

  it('forgets a credential that is deleted, and no other of its principal', () => {
    for (const digest of ['a', 'b']) set(digest, 'one');
    cache.delete('a');
    cache.delete('unknown');
    expect(['a', 'b'].map(isFresh)).to.deep.equal([false, true]);
    expect(['a', 'b'].map((digest) => cache.wasValidRecently(digest))).to.deep.equal([false, true]);
  });

  it('does not trust a verification that began before an invalidation', () => {
    const start = cache.begin();
    cache.invalidate('one');
    cache.set('a', { id: 'one', scopes: [], freshMs: 5_000 }, start);
    expect(isFresh('a')).to.equal(false);
    expect(cache.wasValidRecently('a')).to.equal(true);
  });

  it('counts the age of a credential from the beginning of its verification', () => {
    const start = cache.begin();
    clock.running += 3_000;
    cache.set('a', { id: 'one', scopes: [], freshMs: 5_000 }, start);
    clock.running += 1_999;
    expect(isFresh('a')).to.equal(true);
    clock.running += 1;
    expect(isFresh('a')).to.equal(false);
  });

  it('keeps the credentials of other principals if one principal floods the cache', () => {
    set('quiet');
    for (let i = 0; i < 20_000; i++) set(`flood ${i}`, 'flooder');
    expect(isFresh('quiet')).to.equal(true);
    expect(isFresh('flood 19899')).to.equal(false);
    expect(isFresh('flood 19900')).to.equal(true);
  });

  it('evicts the credential of a principal that was verified least recently', () => {
    for (let i = 0; i < 100; i++) set(`${i}`, 'one');
    set('0', 'one');
    set('100', 'one');
    expect(['0', '1', '2'].map(isFresh)).to.deep.equal([true, false, true]);
  });

  it('holds at most 10,000 credentials, and keeps those that are verified again', () => {
    for (let i = 0; i < 30_000; i++) {
      if (i % 5_000 === 0) set('used');
      set(`${i}`);
    }
    expect(isFresh('used')).to.equal(true);
    const left = Array.from({ length: 30_000 }, (_, i) => `${i}`).filter((digest) => cache.wasValidRecently(digest));
    expect(left).to.have.length(9_999);
  });

  it('holds one entry for a credential that is set repeatedly', () => {
    for (let i = 0; i < 500; i++) set('again', 'one');
    for (let i = 0; i < 99; i++) set(`${i}`, 'one');
    expect(isFresh('again')).to.equal(true);
    set('99', 'one');
    expect(['again', '0', '99'].map(isFresh)).to.deep.equal([false, true, true]);
  });
});

import { expect } from 'chai';
import { VerifiedCredentials } from '#src/application/verified-credentials.js';
import { FakeClock } from '../support/fakes.js';

describe('verified credentials', () => {
  let clock: FakeClock;
  let verified: VerifiedCredentials;

  beforeEach(() => {
    clock = new FakeClock();
    verified = new VerifiedCredentials(clock);
  });

  const keep = (digest: string, id = digest, lifeMs = 3_600_000) =>
    verified.keep(digest, { id, scopes: [], expiresAt: clock.time + lifeMs });
  const isBelieved = (digest: string) => verified.believed(digest) !== undefined;

  it('are believed for 5 seconds, and remembered for 10 minutes', () => {
    keep('a');
    clock.running += 4_999;
    expect(isBelieved('a')).to.equal(true);
    clock.running += 1;
    expect(isBelieved('a')).to.equal(false);
    clock.running = 600_000 - 1;
    expect(verified.isRemembered('a')).to.equal(true);
    clock.running += 1;
    expect(verified.isRemembered('a')).to.equal(false);
  });

  it('are not believed beyond their own end', () => {
    keep('a', 'a', 1_000);
    clock.time += 999;
    expect(isBelieved('a')).to.equal(true);
    clock.time += 1;
    expect(isBelieved('a')).to.equal(false);
  });

  it('are not believed for longer because a clock was set back', () => {
    keep('a', 'a', 1_000);
    clock.time -= 3_600_000;
    clock.running += 5_000;
    expect(isBelieved('a')).to.equal(false);
  });

  it('are not believed where they name no end: those are asked about each time', () => {
    verified.keep('key', { id: 'key:1', scopes: [] });
    expect(isBelieved('key')).to.equal(false);
    expect(verified.isRemembered('key')).to.equal(true);
  });

  it('are not displaced by one who comes with token after token', () => {
    keep('quiet');
    for (let i = 0; i < 20_000; i++) keep(`flood ${i}`, 'flooder');
    expect(isBelieved('quiet')).to.equal(true);
    expect(isBelieved('flood 19899')).to.equal(false);
    expect(isBelieved('flood 19900')).to.equal(true);
  });

  it('of one principal go in the order of their last use', () => {
    for (let i = 0; i < 100; i++) keep(`${i}`, 'one');
    isBelieved('0');
    keep('100', 'one');
    expect(['0', '1', '2'].map(isBelieved)).to.deep.equal([true, false, true]);
  });

  it('are 10,000 at the most; those in use stay', () => {
    keep('used');
    for (let i = 0; i < 30_000; i++) {
      keep(`${i}`);
      if (i % 5_000 === 0) expect(isBelieved('used')).to.equal(true);
    }
    expect(isBelieved('used')).to.equal(true);
    const left = Array.from({ length: 30_000 }, (_, i) => `${i}`).filter((digest) =>
      verified.isRemembered(digest),
    );
    expect(left).to.have.length(9_999);
  });

  it('that are kept again stand there once', () => {
    for (let i = 0; i < 500; i++) keep('again', 'one');
    for (let i = 0; i < 99; i++) keep(`${i}`, 'one');
    expect(isBelieved('again')).to.equal(true);
    keep('99', 'one');
    expect(isBelieved('0')).to.equal(false);
  });
});

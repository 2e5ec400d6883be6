import { expect } from 'chai';
import { IssuerKeys } from '#src/adapters/outbound/tokens/issuer-keys.js';
import { expectAppError } from '../../../../support/expect-refusal.js';
import { FakeClock, RecordingLogger } from '../../../../support/fakes.js';
import { makePair, publicJwk } from '../../../../support/jws.js';

const HOUR = 3_600_000;

describe('IssuerKeys', () => {
  const pairs = { one: makePair('one'), two: makePair('two') };
  const named = (kid: string) => ({ kid, alg: 'ES256' });
  let clock: FakeClock;
  let logger: RecordingLogger;
  let published: (keyof typeof pairs)[];
  let isDown: boolean;
  /** A fetch waits for this promise. */
  let gate: Promise<void> | undefined;
  let fetches: number;
  let keys: IssuerKeys;

  beforeEach(() => {
    [clock, logger] = [new FakeClock(), new RecordingLogger()];
    [published, isDown, gate, fetches] = [['one'], false, undefined, 0];
    const fetchKeySet = async () => {
      fetches++;
      await gate;
      if (isDown) throw new Error('down');
      return { keys: published.map((kid) => publicJwk(pairs[kid])) };
    };
    keys = new IssuerKeys({ issuer: 'http://localhost', fetchKeySet, clock, logger });
  });

  /** Waits until fetches in the background have ended. */
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  it('fetches the keys at the first use, once for concurrent callers', async () => {
    expect(fetches).to.equal(0);
    const found = await Promise.all(Array.from({ length: 50 }, () => keys.find(named('one'))));
    expect(found.every((key) => key?.type === 'public')).to.equal(true);
    expect(fetches).to.equal(1);
  });

  it('fetches the keys again after 5 minutes, and then rejects a withdrawn key', async () => {
    await keys.find(named('one'));
    published = ['two'];
    clock.running += 300_000 - 1;
    expect(await keys.find(named('one'))).to.not.equal(undefined);
    expect(fetches).to.equal(1);
    clock.running += 1;
    expect(await keys.find(named('one'))).to.equal(undefined);
    expect(await keys.find(named('two'))).to.not.equal(undefined);
    expect(fetches).to.equal(2);
  });

  it('fetches the keys for an unknown kid, at most once in 5 seconds', async () => {
    await keys.find(named('one'));
    published = ['one', 'two'];
    for (let i = 0; i < 50; i++) expect(await keys.find(named('two'))).to.equal(undefined);
    expect(fetches).to.equal(1);
    clock.running += 4_999;
    expect(await keys.find(named('two'))).to.equal(undefined);
    clock.running += 1;
    const found = await Promise.all([keys.find(named('two')), keys.find(named('two')), keys.find(named('x'))]);
    expect(found.map((key) => key?.type)).to.deep.equal(['public', 'public', undefined]);
    expect(fetches).to.equal(2);
  });

  it('finds no key for an algorithm other than its own', async () => {
    for (const alg of ['RS256', 'ES384', 'EdDSA', 'HS256', 'none'])
      expect(await keys.find({ kid: 'one', alg }), alg).to.equal(undefined);
  });

  it('is unavailable until the first fetch succeeds, and retries every 2 seconds', async () => {
    isDown = true;
    for (let i = 0; i < 10; i++) await expectAppError(keys.find(named('one')), 'unavailable');
    expect(fetches).to.equal(1);
    clock.running += 2_000;
    await expectAppError(keys.find(named('one')), 'unavailable');
    expect(fetches).to.equal(2);
    isDown = false;
    clock.running += 2_000;
    expect(await keys.find(named('one'))).to.not.equal(undefined);
    expect(logger.events).to.deep.equal([
      'the keys of the issuer of access tokens cannot be fetched',
      'the keys of the issuer of access tokens were fetched again',
    ]);
  });

  it('keeps the keys for a day while the issuer is down', async () => {
    await keys.find(named('one'));
    isDown = true;
    for (clock.running += 300_000; clock.running < 24 * HOUR; clock.running += HOUR)
      expect((await keys.find(named('one')))?.type).to.equal('public');
    await settled();
    clock.running = 24 * HOUR;
    await expectAppError(keys.find(named('one')), 'unavailable');
  });

  it('does not wait for a hanging issuer after a failed fetch', async () => {
    await keys.find(named('one'));
    isDown = true;
    clock.running += 300_000;
    await keys.find(named('one'));
    let open = () => {};
    gate = new Promise((resolve) => (open = resolve));
    clock.running += 2_000;
    expect(await keys.find(named('one')), 'while a fetch hangs').to.not.equal(undefined);
    expect(fetches).to.equal(3);
    isDown = false;
    published = ['two'];
    open();
    await settled();
    expect(await keys.find(named('one')), 'once it is back').to.equal(undefined);
  });

  it('is unavailable for an unknown kid while the issuer is down', async () => {
    await keys.find(named('one'));
    isDown = true;
    clock.running += 5_000;
    await expectAppError(keys.find(named('two')), 'unavailable');
    await expectAppError(keys.find(named('two')), 'unavailable');
    expect(await keys.find(named('one'))).to.not.equal(undefined);
    expect(fetches).to.equal(2);
  });

  it('is unavailable if the issuer publishes an invalid document', async () => {
    for (const document of [undefined, null, 'x', {}, { keys: {} }, { keys: ['x'] }]) {
      const cache = new IssuerKeys({ issuer: 'x', fetchKeySet: async () => document, clock, logger });
      await expectAppError(cache.find(named('one')), 'unavailable');
    }
  });

  it('ignores invalid, symmetric and private keys', async () => {
    const { one } = pairs;
    const wrong = [
      { ...publicJwk(one), x: 'AA' },
      { kty: 'oct', k: 'AAAA', kid: 'one', alg: 'HS256' },
      { ...one.privateKey.export({ format: 'jwk' }), kid: 'one' },
      { ...publicJwk(one), use: 'enc' },
    ];
    for (const jwk of wrong) {
      const fetchKeySet = async () => ({ keys: [jwk, publicJwk(pairs.two)] });
      const cache = new IssuerKeys({ issuer: 'x', fetchKeySet, clock, logger });
      expect(await cache.find(named('one')), JSON.stringify(jwk)).to.equal(undefined);
      expect(await cache.find({ kid: 'one', alg: 'HS256' })).to.equal(undefined);
      expect(await cache.find(named('two'))).to.not.equal(undefined);
    }
  });
});

import { expect } from 'chai';
import { MemoryRepository } from '#src/adapters/outbound/memory/repository.js';
import { SigningKeys, type SigningKeysDependencies } from '#src/application/auth/signing-keys.js';
import type { TokenKey, TokenSigner } from '#src/application/ports/tokens.js';
import { PUBLISHED_BEFORE_MS, type SigningKey, TRUSTED_AFTER_MS } from '#src/domain/access-token.js';
import { unavailable } from '#src/domain/errors.js';
import { expectAppError } from '../../../support/expect-refusal.js';
import { FakeClock, RecordingLogger } from '../../../support/fakes.js';
import { ENDLESS, SIGNING_KEYS } from '../../../support/tables.js';

/** Makes keys without cryptography, and counts how many it made and opened. */
class CountingSigner implements TokenSigner {
  keysMade = 0;
  keysOpened = 0;
  /** The `kid` of a key that cannot be opened. */
  foreign: string | undefined;

  makeKey = async (): Promise<SigningKey> => {
    this.keysMade++;
    return { kid: `k${this.keysMade}`, algorithm: 'RS256', privateJwk: 'secret' };
  };
  open = async ({ kid }: SigningKey): Promise<TokenKey> => {
    this.keysOpened++;
    if (kid === this.foreign) throw new Error('not a key of this release');
    const never = () => Promise.reject(new Error('not used here'));
    return { kid, publicJwk: { kid }, sign: never, verify: never };
  };
  claimedBy = () => undefined;
}

describe('SigningKeys', () => {
  let clock: FakeClock;
  let signer: CountingSigner;
  let stored: MemoryRepository<SigningKey>;
  /** The keys as the command line administers them. */
  let administration: SigningKeys;
  let reads: number;
  let failure: Error | undefined;
  let keys: SigningKeys;
  let logger: RecordingLogger;

  beforeEach(() => {
    clock = new FakeClock();
    signer = new CountingSigner();
    stored = new MemoryRepository<SigningKey>(SIGNING_KEYS, ENDLESS);
    [reads, failure] = [0, undefined];
    logger = new RecordingLogger();
    keys = replica();
    administration = new SigningKeys({ keys: stored, signer, clock, logger });
  });

  /** A replica whose reads are counted, or fail. */
  const replica = (over: Partial<SigningKeysDependencies['keys']> = {}) => {
    const list: typeof stored.list = async (query) => {
      reads++;
      if (failure) throw failure;
      return stored.list(query);
    };
    const own = Object.assign(Object.create(stored) as typeof stored, { list, ...over });
    return new SigningKeys({ keys: own, signer, clock, logger });
  };
  /** Makes one read late: it returns the keys of its beginning, and ends when `answer` is called. */
  const lateRead = (isLate: () => boolean) => {
    let answer = () => {};
    const list: typeof stored.list = async (query) => {
      const isThis = isLate();
      const found = await stored.list(query);
      if (isThis) await new Promise<void>((resolve) => (answer = resolve));
      return found;
    };
    return { list, answer: () => answer() };
  };
  const pass = (ms: number) => {
    clock.time += ms;
    clock.running += ms;
  };
  const published = async (of: SigningKeys) => (await of.published()).map(({ kid }) => kid);

  it('are created once, at their first use', async () => {
    const [one, two] = await Promise.all([keys.current(), keys.published(), keys.current()]);
    expect([one?.kid, two?.map(({ kid }) => kid), signer.keysMade]).to.deep.equal(['k1', ['k1'], 1]);
    expect(await published(replica())).to.deep.equal(['k1']);
    expect(signer.keysMade).to.equal(1);
  });

  it('are not created by a look-up of an unknown kid', async () => {
    expect(await keys.find('x')).to.equal(undefined);
    expect(signer.keysMade).to.equal(0);
  });

  it('are read again after 58 seconds, and each is opened once', async () => {
    await keys.current();
    const before = reads;
    pass(57_999);
    for (let i = 0; i < 100; i++) {
      await keys.current();
      await keys.find('k1');
    }
    expect([reads, signer.keysOpened]).to.deep.equal([before, 1]);
    pass(1);
    await Promise.all([keys.current(), keys.find('k1'), keys.published()]);
    expect([reads, signer.keysOpened]).to.deep.equal([before + 1, 1]);
  });

  it('of another replica are found immediately if there were none before', async () => {
    const other = replica();
    expect(await keys.find('k1')).to.equal(undefined);
    await other.current();
    expect((await keys.find('k1'))?.kid).to.equal('k1');
  });

  it('of another replica are found even if a read began before they were created', async () => {
    let isLate = true;
    const { list, answer } = lateRead(() => isLate);
    const reader = replica({ list });
    const unknown = reader.find('x');
    isLate = false;
    await replica().current();
    const found = reader.find('k1');
    answer();
    expect([await unknown, (await found)?.kid]).to.deep.equal([undefined, 'k1']);
  });

  it('are used by their creator even if a read began before they were created', async () => {
    let isLate = false;
    let unknown: Promise<unknown> | undefined;
    const { list, answer } = lateRead(() => isLate);
    const creator = replica({
      list,
      insertAll: async (records) => {
        isLate = true;
        unknown = creator.find('x');
        isLate = false;
        const outcomes = await stored.insertAll(records);
        setImmediate(answer);
        return outcomes;
      },
    });
    expect((await creator.current()).kid).to.equal('k1');
    expect(await unknown).to.equal(undefined);
  });

  it('are read again for an unknown kid, at most once a second', async () => {
    await keys.current();
    await administration.rotate();
    pass(999);
    expect(await keys.find('k2')).to.equal(undefined);
    pass(1);
    expect((await keys.find('k2'))?.kid).to.equal('k2');
    const before = reads;
    for (let i = 0; i < 100; i++) await keys.find(`unknown ${i}`);
    expect(reads).to.equal(before);
    pass(1_000);
    await Promise.all(Array.from({ length: 100 }, (_, i) => keys.find(`unknown ${i}`)));
    expect(reads).to.equal(before + 1);
  });

  it('are published on every replica before they sign, and trusted after the next rotation', async () => {
    const other = replica();
    expect((await keys.current()).kid).to.equal((await other.current()).kid);
    expect(await administration.rotate()).to.equal(2);
    pass(60_000);
    expect(await published(other)).to.deep.equal(['k1', 'k2']);
    expect((await other.current()).kid).to.equal('k1');
    pass(PUBLISHED_BEFORE_MS);
    expect((await other.current()).kid).to.equal('k2');
    expect((await keys.find('k1'))?.kid).to.equal('k1');
    pass(TRUSTED_AFTER_MS);
    expect(await keys.find('k1')).to.equal(undefined);
    expect(await published(keys)).to.deep.equal(['k2']);
    expect(await administration.rotate()).to.equal(3);
    expect(
      (await administration.phased()).map(({ key }) => key.id),
      'the retired one is gone',
    ).to.deep.equal([2, 3]);
  });

  it('are published without one that this release cannot open, which the log names once', async () => {
    await keys.current();
    await administration.rotate();
    signer.foreign = 'k2';
    const reader = replica();
    const outcome = () => published(reader).catch((error: Error) => error.message);
    expect([await outcome(), await outcome()]).to.deep.equal([['k1'], ['k1']]);
    expect(logger.events).to.deep.equal(['a signing key cannot be opened']);
  });

  it('are dropped within a minute of their revocation, and replaced if none is left', async () => {
    await keys.current();
    await administration.revoke(1);
    await expectAppError(administration.revoke(1), 'not_found');
    pass(60_000);
    expect(await keys.find('k1')).to.equal(undefined);
    const current = await keys.current();
    expect([current.kid, await published(replica())]).to.deep.equal(['k3', ['k3']]);
    expect((await administration.phased()).map(({ key }) => key.id)).to.deep.equal([2]);
  });

  it('are unavailable while the store is unavailable, and available again afterwards', async () => {
    failure = unavailable('down');
    await expectAppError(keys.current(), 'unavailable');
    await expectAppError(keys.find('k1'), 'unavailable');
    failure = undefined;
    expect((await keys.current()).kid).to.equal('k1');
    failure = unavailable('down');
    expect((await keys.find('k1'))?.kid, 'read less than a minute ago').to.equal('k1');
    pass(60_000);
    await expectAppError(keys.find('k1'), 'unavailable');
  });

  it('are created by the next call after a failure', async () => {
    const { makeKey } = signer;
    signer.makeKey = () => Promise.reject(unavailable('no entropy'));
    await expectAppError(keys.current(), 'unavailable');
    signer.makeKey = makeKey;
    expect((await keys.current()).kid).to.equal('k1');
  });
});

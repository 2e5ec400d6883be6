import { expect } from 'chai';
import { CircuitBreaker } from '#src/application/maintenance/circuit-breaker.js';
import { type AppError, unavailable } from '#src/domain/errors.js';

const SILENCE_MS = 1_500;
/** Longer than any test waits. */
const LONG_MS = 600_000;

type Sign = 'response' | 'silence' | 'down';

describe('an outage of a store', () => {
  let now: number;
  let outage: CircuitBreaker;
  let respond: () => void;

  beforeEach(() => {
    now = 0;
    outage = new CircuitBreaker({
      silenceMs: SILENCE_MS,
      probe: () => new Promise<void>((resolve) => (respond = resolve)),
      translate: (sign) => (sign === 'response' ? 'a definite error' : unavailable('x')),
      signOf: (sign) => sign as Sign,
      now: () => now,
    });
  });
  afterEach(() => outage.close());

  const isOn = () => {
    try {
      outage.check();
      return false;
    } catch (error) {
      expect((error as AppError).code).to.equal('unavailable');
      return true;
    }
  };
  /** A call that fails. @returns what its caller gets */
  const fail = (sign: Sign) => outage.wait(LONG_MS, Promise.reject(sign)).catch((error: unknown) => error);

  it('begins if a call says that the store is down', async () => {
    await fail('down');
    expect(isOn()).to.equal(true);
  });

  it('begins if calls fail and nothing else has been heard for a time', async () => {
    await fail('silence');
    now = SILENCE_MS - 1;
    await fail('silence');
    expect(isOn()).to.equal(false);
    now = SILENCE_MS;
    await fail('silence');
    expect(isOn()).to.equal(true);
  });

  it('begins if a call takes too long and nothing else has been heard for a time', async () => {
    const late = outage.wait(1, new Promise(() => {}), 'It takes too long.').catch((error: Error) => error);
    now = SILENCE_MS;
    expect(await late).to.include({ code: 'unavailable', message: 'It takes too long.' });
    expect(isOn()).to.equal(true);
  });

  it('does not begin if the response is read right after the time of the call', async () => {
    const strict = new CircuitBreaker({
      silenceMs: 0,
      probe: () => new Promise(() => {}),
      translate: (error) => error,
      signOf: () => 'down',
      now: () => now,
    });
    let respond = () => {};
    const call = strict.wait(1, new Promise<void>((resolve) => (respond = resolve)));
    setTimeout(() => respond(), 1);
    // The process is busy until the time is over, and reads the response in the same turn of the event loop.
    for (const end = performance.now() + 5; performance.now() < end; );
    await call;
    await new Promise((resolve) => setImmediate(resolve));
    strict.check();
  });

  it('does not begin if a call fails and nobody had asked for a time', async () => {
    for (const _ of [1, 2]) {
      now += 2 * SILENCE_MS;
      await fail('silence');
      expect(isOn()).to.equal(false);
      await fail('response');
    }
  });

  it('begins if a heartbeat fails and nothing else has been heard for a time', async () => {
    now = SILENCE_MS - 1;
    await fail('silence');
    outage.missed(undefined);
    expect(isOn()).to.equal(false);
    now = SILENCE_MS;
    outage.missed(undefined);
    expect(isOn()).to.equal(true);
  });

  it('does not begin while the store responds to others, be it with an error', async () => {
    now = SILENCE_MS;
    expect(await outage.wait(LONG_MS, Promise.resolve('a result'))).to.equal('a result');
    now = 2 * SILENCE_MS - 1;
    expect(await fail('response')).to.equal('a definite error');
    now = 3 * SILENCE_MS - 2;
    outage.missed(undefined);
    expect(isOn()).to.equal(false);
  });

  it('rejects those that wait when it begins', async () => {
    const rejected: unknown[] = [];
    let finish = () => {};
    const call = new Promise<void>((resolve) => (finish = resolve));
    const waiting = outage.wait(LONG_MS, call).catch((error: AppError) => rejected.push(error.code));
    await fail('down');
    await new Promise(setImmediate);
    finish();
    await waiting;
    expect(rejected).to.deep.equal(['unavailable']);
  });

  it('ends when a probe gets a response', async () => {
    await fail('down');
    respond();
    await new Promise(setImmediate);
    expect(isOn()).to.equal(false);
  });

  it('does not begin any more when the store is closed', async () => {
    outage.close();
    await fail('down');
    expect(isOn()).to.equal(false);
  });
});

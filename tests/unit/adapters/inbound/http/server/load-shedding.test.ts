import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { shedLoad } from '#src/adapters/inbound/http/server/load-shedding.js';
import { FakeClock } from '../../../../../support/fakes.js';

/** As many as a turn serves in any case, without an overload before it. */
const SERVED = 256;
/** As many of each network, and of all together, are served beyond that. */
const EXTRA = 4;
const EXTRA_OF_ALL = 64;
/** Longer than a turn should take. */
const LONG_MS = 60;

describe('load shedding', () => {
  const outcomes: string[] = [];
  let isSlow = false;
  /** Milliseconds that each request takes. */
  let eachMs = 0;
  const clock = new FakeClock();
  const listener = shedLoad({
    serve: () => {
      outcomes.push('served');
      if (isSlow) clock.running += LONG_MS;
      isSlow = false;
      clock.running += eachMs;
    },
    refuse: () => void outcomes.push('refused'),
    networkOf: ({ headers }) => headers.from ?? '',
    elapsed: clock.elapsed,
  });
  const send = (count: number, { isClosed = false, from = '' } = {}) => {
    for (let at = 0; at < count; at++)
      listener({ headers: { from } } as IncomingMessage, { closed: isClosed } as ServerResponse);
  };
  const untilRefused = async (count: number) => {
    while (outcomes.filter((outcome) => outcome === 'refused').length < count) await nextTurn();
  };
  beforeEach(async () => {
    // The end of an overload that another test made.
    for (let turn = 0; turn < 3; turn++) await nextTurn();
    outcomes.length = 0;
    eachMs = 0;
  });

  it('a short turn serves any number of requests', () => {
    send(5 * SERVED);
    expect(outcomes).to.deep.equal(Array(5 * SERVED).fill('served'));
  });

  it('a long turn serves a number of requests; it refuses those behind them, later and in order', async () => {
    isSlow = true;
    send(SERVED + EXTRA + 20);
    expect(outcomes).to.deep.equal(Array(SERVED + EXTRA).fill('served'));
    await untilRefused(20);
    expect(outcomes).to.have.length(SERVED + EXTRA + 20);
  });

  it('after an overload, all are served', async () => {
    isSlow = true;
    send(SERVED + EXTRA + 1);
    await untilRefused(1);
    await nextTurn();
    outcomes.length = 0;
    send(2 * SERVED);
    expect(outcomes).to.deep.equal(Array(2 * SERVED).fill('served'));
  });

  it('a client that has disconnected gets no refusal', async () => {
    isSlow = true;
    send(SERVED + EXTRA);
    send(1, { isClosed: true });
    send(1);
    await untilRefused(1);
    expect(outcomes).to.have.length(SERVED + EXTRA + 1);
  });

  it('a burst after an overload and a pause is served, although its requests take time', async () => {
    isSlow = true;
    send(SERVED + EXTRA + 1);
    await untilRefused(1);
    await nextTurn();
    clock.running += 100;
    outcomes.length = 0;
    eachMs = 0.3;
    send(200);
    expect(outcomes).to.deep.equal(Array(200).fill('served'));
  });

  it('one network does not displace others, as long as they are few', async () => {
    isSlow = true;
    send(SERVED + 100, { from: 'a' });
    outcomes.length = 0;
    send(EXTRA, { from: 'b' });
    expect(outcomes).to.deep.equal(Array(EXTRA).fill('served'));
    send(1, { from: 'b' });
    for (let other = 0; other < 100; other++) send(1, { from: `other ${other}` });
    expect(outcomes).to.have.length(EXTRA_OF_ALL - EXTRA);
    await untilRefused(1);
  });
});

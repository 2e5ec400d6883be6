import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { shedLoad } from '#src/adapters/inbound/http/server/load-shedding.js';

/** As many as a turn serves in any case, without an overload before it. */
const SERVED = 256;
/** Longer than a turn should take. */
const LONG_MS = 60;

describe('load shedding', () => {
  const outcomes: string[] = [];
  let isSlow = false;
  const listener = shedLoad(
    () => {
      outcomes.push('served');
      const end = performance.now() + LONG_MS;
      while (isSlow && performance.now() < end);
      isSlow = false;
    },
    () => void outcomes.push('refused'),
  );
  const send = (count: number, isClosed = false) => {
    for (let at = 0; at < count; at++)
      listener({} as IncomingMessage, { closed: isClosed } as ServerResponse);
  };
  const untilRefused = async (count: number) => {
    while (outcomes.filter((outcome) => outcome === 'refused').length < count) await nextTurn();
  };
  beforeEach(async () => {
    outcomes.length = 0;
    // The end of an overload that another test made.
    for (let turn = 0; turn < 3; turn++) await nextTurn();
  });

  it('a short turn serves any number of requests', () => {
    send(5 * SERVED);
    expect(outcomes).to.deep.equal(Array(5 * SERVED).fill('served'));
  });

  it('a long turn serves a number of requests; it refuses those behind them, later and in order', async () => {
    isSlow = true;
    send(SERVED + 20);
    expect(outcomes).to.deep.equal(Array(SERVED).fill('served'));
    await untilRefused(20);
    expect(outcomes).to.have.length(SERVED + 20);
  });

  it('after an overload, all are served', async () => {
    isSlow = true;
    send(SERVED + 1);
    await untilRefused(1);
    await nextTurn();
    outcomes.length = 0;
    send(2 * SERVED);
    expect(outcomes).to.deep.equal(Array(2 * SERVED).fill('served'));
  });

  it('a client that has disconnected gets no refusal', async () => {
    isSlow = true;
    send(SERVED);
    send(1, true);
    send(1);
    await untilRefused(1);
    expect(outcomes).to.have.length(SERVED + 1);
  });
});

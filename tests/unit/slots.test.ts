import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { inTime } from '#src/application/in-time.js';
import { Slots } from '#src/application/slots.js';

describe('slots', () => {
  const taking = (slots: Slots, count: number) =>
    Promise.all(Array.from({ length: count }, () => slots.take()));

  it('bound what is under way, and what waits for it', async () => {
    const slots = new Slots({ slots: 2, maxWaiting: 3, patienceMs: 10 });
    expect(await taking(slots, 100)).to.deep.equal([true, true, ...Array(98).fill(false)]);
  });

  it('are given on to who waits, first come, first served', async () => {
    const slots = new Slots({ slots: 1, maxWaiting: 2, patienceMs: 10_000 });
    const order: string[] = [];
    const turn = async (name: string) => {
      if (!(await slots.take())) return;
      order.push(name);
      slots.giveBack();
    };
    await Promise.all(['a', 'b', 'c', 'too many'].map(turn));
    expect(order).to.deep.equal(['a', 'b', 'c']);
    expect(await slots.take()).to.equal(true);
  });

  it('go to nobody who has given up waiting', async () => {
    const slots = new Slots({ slots: 1, maxWaiting: 2, patienceMs: 5 });
    await slots.take();
    expect(await slots.take()).to.equal(false);
    slots.giveBack();
    expect(await slots.take()).to.equal(true);
  });
});

describe('an answer in time', () => {
  it('is passed on, and so is a failure', async () => {
    expect(await inTime(Promise.resolve(1), 5)).to.equal(1);
    const failure = new Error('no');
    expect(await inTime(Promise.reject(failure), 5).catch((error: unknown) => error)).to.equal(failure);
  });

  it('that does not come is an error, and what comes later is dropped', async () => {
    const late = sleep(30).then(() => Promise.reject(new Error('late')));
    const outcome = await inTime(late, 5).catch((error: Error) => error.message);
    expect(outcome).to.equal('no answer within 5 ms');
    await sleep(40);
  });

  it('that lies ready counts as in time, however long this process paused', async () => {
    const ready = new Promise<string>((resolve) => setTimeout(() => setImmediate(resolve, 'ready'), 4));
    const answer = inTime(ready, 5);
    const end = performance.now() + 30;
    while (performance.now() < end);
    expect(await answer).to.equal('ready');
  });
});

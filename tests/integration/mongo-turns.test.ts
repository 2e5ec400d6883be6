import { expect } from 'chai';
import { Turns } from '#src/adapters/outbound/mongo/mongo-turns.js';
import { expectRefusal } from '../support/expect-refusal.js';

describe('turns', () => {
  it('are taken by so many at a time, and then by those who wait, in the order in which they came', async () => {
    const turns = new Turns(2, 60_000);
    const events: string[] = [];
    const work = (name: string) => turns.take().then(() => events.push(name));
    const all = ['a', 'b', 'c', 'd', 'e'].map(work);
    await Promise.all(all.slice(0, 2));
    await new Promise(setImmediate);
    expect(events).to.deep.equal(['a', 'b']);
    for (let given = 0; given < 3; given++) turns.give();
    await Promise.all(all);
    expect(events).to.deep.equal(['a', 'b', 'c', 'd', 'e']);
  });

  it('that do not come in time are refused, and lost to nobody', async () => {
    const turns = new Turns(1, 10);
    await turns.take();
    await expectRefusal(turns.take(), 'unavailable');
    turns.give();
    await turns.take();
  });

  it('that were given back are there for more than one', async () => {
    const turns = new Turns(2, 10);
    await Promise.all([turns.take(), turns.take()]);
    turns.give();
    turns.give();
    await Promise.all([turns.take(), turns.take()]);
    await expectRefusal(turns.take(), 'unavailable');
  });
});

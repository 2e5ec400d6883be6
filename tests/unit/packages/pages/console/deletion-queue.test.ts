import { expect } from 'chai';
import { DeletionQueue, UNDO_MS } from '#packages/pages/console/edit/deletion-queue.js';
import type { Resource } from '#packages/pages/console/types.js';

const RESOURCE = { path: '/v1/products' } as Resource;

describe('the queue of deletions', () => {
  const setUp = (outcome: () => Promise<void> = async () => {}) => {
    let [now, due, run] = [0, Number.POSITIVE_INFINITY, () => {}];
    const timers = {
      async pass(ms: number): Promise<void> {
        now += ms;
        if (due <= now) {
          due = Number.POSITIVE_INFINITY;
          run();
        }
        await new Promise(setImmediate);
      },
    };
    const sent: number[] = [];
    const send = ({ record: { id } }: { readonly record: { readonly id: number } }) => {
      sent.push(id);
      return outcome();
    };
    const queue = new DeletionQueue(send, (next, ms) => {
      [due, run] = [now + ms, next];
      return () => {
        due = Number.POSITIVE_INFINITY;
      };
    });
    const add = (id: number) => queue.enqueue(RESOURCE, { id }, '"1"');
    return { timers, queue, sent, add };
  };

  it('hides a record at once, and sends its deletion once, after the time to undo', async () => {
    const { timers, queue, sent, add } = setUp();
    add(1);
    add(1);
    expect(queue.isWaiting(RESOURCE, 1)).to.equal(true);
    await timers.pass(UNDO_MS - 1);
    expect(sent).to.deep.equal([]);
    await timers.pass(1);
    expect(sent).to.deep.equal([1]);
    expect(queue.deletions).to.deep.equal([]);
    await timers.pass(UNDO_MS);
    expect(sent).to.deep.equal([1]);
  });

  it('sends nothing after an undo, and sends the others', async () => {
    const { timers, queue, sent, add } = setUp();
    add(1);
    add(2);
    queue.undo(RESOURCE, 1);
    expect(queue.isWaiting(RESOURCE, 1)).to.equal(false);
    await timers.pass(UNDO_MS);
    expect(sent).to.deep.equal([2]);
  });

  it('cannot undo what is being sent', async () => {
    const { timers, queue, add } = setUp(() => new Promise(() => {}));
    add(1);
    await timers.pass(UNDO_MS);
    queue.undo(RESOURCE, 1);
    expect(queue.isWaiting(RESOURCE, 1)).to.equal(true);
  });

  it('shows the record again with the error if the deletion fails, and it can be deleted again', async () => {
    const error = new Error('conflict');
    let fails = true;
    const { timers, queue, sent, add } = setUp(async () => {
      if (fails) throw error;
    });
    add(1);
    await timers.pass(UNDO_MS);
    expect(queue.isWaiting(RESOURCE, 1)).to.equal(false);
    expect(queue.deletions.map(({ state, error: why }) => [state, why])).to.deep.equal([['failed', error]]);
    fails = false;
    add(1);
    await timers.pass(UNDO_MS);
    expect(sent).to.deep.equal([1, 1]);
    expect(queue.deletions).to.deep.equal([]);
  });

  it('waits while it is held, and gives the whole time afterwards', async () => {
    const { timers, queue, sent, add } = setUp();
    add(1);
    queue.hold(true);
    await timers.pass(10 * UNDO_MS);
    expect(sent).to.deep.equal([]);
    queue.hold(false);
    await timers.pass(UNDO_MS - 1);
    expect(sent).to.deep.equal([]);
    await timers.pass(1);
    expect(sent).to.deep.equal([1]);
  });

  it('is not held for ever by a row that went away with the focus', async () => {
    const { timers, queue, sent, add } = setUp();
    add(1);
    add(2);
    queue.hold(true);
    queue.undo(RESOURCE, 1);
    await timers.pass(UNDO_MS);
    expect(sent).to.deep.equal([2]);
  });

  it('tells its listeners of every change', async () => {
    const { timers, queue, add } = setUp();
    const states: string[][] = [];
    const stop = queue.subscribe(() => states.push(queue.deletions.map(({ state }) => state)));
    add(1);
    await timers.pass(UNDO_MS);
    expect(states).to.deep.equal([['waiting'], ['sending'], []]);
    stop();
    add(2);
    expect(states).to.have.length(3);
  });
});

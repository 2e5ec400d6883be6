import { expect } from 'chai';
import { ChangeWatch } from '#src/application/changes/change-watch.js';
import { unavailable } from '#src/domain/errors.js';
import { BACKGROUND } from '#src/shared/task-scheduler.js';
import { FakeFeed } from '../../../support/fake-feed.js';
import { FakeTimer } from '../../../support/fakes.js';

describe('ChangeWatch', () => {
  let feed: FakeFeed;
  let timer: FakeTimer;
  let watch: ChangeWatch;
  /** What has ended, in order. */
  let ended: string[];

  const settle = async () => {
    // Turns take one each.
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  const start = async (
    name: string,
    { after = '0', ms = 30_000, check = () => {}, onEnd = (_end: () => void) => {} } = {},
  ) => {
    void watch.wait(after, { ms, task: BACKGROUND, check, onEnd }).then(
      () => ended.push(name),
      (error) => ended.push(`${name}: ${error.code}`),
    );
    await settle();
  };

  beforeEach(() => {
    feed = new FakeFeed();
    timer = new FakeTimer();
    watch = new ChangeWatch(feed, timer);
    ended = [];
  });

  it('ends at once if there is a change already, or changes may be missing', async () => {
    feed.change(1);
    await start('a');
    feed.floor = 1;
    await start('b');
    expect(ended).to.deep.equal(['a', 'b']);
  });

  it('ends all waits at the next poll after a change', async () => {
    await start('a');
    await start('b');
    await timer.pass(1_000);
    expect(ended).to.deep.equal([]);
    feed.change(1);
    await timer.pass(249);
    expect(ended).to.deep.equal([]);
    await timer.pass(1);
    expect(ended).to.deep.equal(['a', 'b']);
  });

  it('ends a wait without a change when its time is over', async () => {
    await start('a', { ms: 2_000 });
    await start('b', { ms: 0 });
    await timer.pass(0);
    expect(ended).to.deep.equal(['b']);
    await timer.pass(1_999);
    expect(ended).to.deep.equal(['b']);
    await timer.pass(1);
    expect(ended).to.deep.equal(['b', 'a']);
  });

  it('reads once for each wait, and four times a second for all together', async () => {
    for (let at = 0; at < 100; at++) await start(`${at}`);
    expect(feed.limits).to.have.length(100);
    await timer.pass(10_000);
    expect(feed.limits).to.have.length(140);
    expect(feed.limits.every((limit) => limit === 1)).to.equal(true);
  });

  it('reads nothing and plans nothing while nobody waits', async () => {
    await start('a', { ms: 1_000 });
    await timer.pass(2_000);
    const reads = feed.limits.length;
    await timer.pass(60_000);
    expect([ended, feed.limits.length, timer.planned]).to.deep.equal([['a'], reads, 0]);
    await start('b');
    feed.change(1);
    await timer.pass(250);
    expect(ended).to.deep.equal(['a', 'b']);
  });

  it('misses no change that comes while it reads for a wait', async () => {
    feed.afterRead = (count) => {
      if (count === 1) feed.change(1);
    };
    await start('a');
    expect(ended).to.deep.equal([]);
    await timer.pass(250);
    expect(ended).to.deep.equal(['a']);
  });

  it('misses no change that comes while the poll reads', async () => {
    await start('a', { after: '0' });
    const poll = feed.limits.length + 1;
    feed.afterRead = (count) => {
      if (count === poll) feed.change(1);
    };
    await timer.pass(250);
    expect(ended).to.deep.equal([]);
    await timer.pass(250);
    expect(ended).to.deep.equal(['a']);
  });

  it('goes on if the change is not behind the position of the wait', async () => {
    await start('a');
    feed.change(1);
    feed.change(2);
    await start('b', { after: '2' });
    await timer.pass(250);
    expect(ended).to.deep.equal(['a']);
    const reads = feed.limits.length;
    await timer.pass(500);
    expect(feed.limits.length - reads, 'no change is seen twice').to.equal(2);
    feed.change(3);
    await timer.pass(250);
    expect(ended).to.deep.equal(['a', 'b']);
  });

  it('ends waits if changes may be missing', async () => {
    await start('a');
    feed.floor = 1;
    await timer.pass(250);
    expect(ended).to.deep.equal(['a']);
  });

  it('ends the waits with the error of the store, and begins anew', async () => {
    await start('a');
    feed.afterRead = () => {
      throw unavailable('down');
    };
    await timer.pass(250);
    await start('b');
    feed.afterRead = () => {};
    const { end } = feed;
    feed.end = async () => {
      throw unavailable('down');
    };
    await timer.pass(250);
    await start('c');
    feed.end = end;
    await start('d');
    feed.change(1);
    await timer.pass(250);
    expect(ended).to.deep.equal(['a: unavailable', 'b: unavailable', 'c: unavailable', 'd']);
    await timer.pass(250);
    expect(timer.planned).to.equal(0);
  });

  it('checks each wait every three seconds, and ends one that fails', async () => {
    let checks = 0;
    const check = () => {
      if (++checks === 2) throw unavailable('revoked');
    };
    await start('a', { check });
    await start('b');
    await timer.pass(5_999);
    expect([checks, ended]).to.deep.equal([1, []]);
    await timer.pass(1);
    expect([checks, ended]).to.deep.equal([2, ['a: unavailable']]);
    await timer.pass(24_000);
    expect([checks, ended.length]).to.deep.equal([2, 2]);
  });

  it('ends a wait whose client is gone', async () => {
    let leave = () => {};
    await start('a', { onEnd: (end) => (leave = end) });
    leave();
    await settle();
    expect(ended).to.deep.equal(['a']);
    await timer.pass(250);
    expect(timer.planned).to.equal(0);
  });

  it('ends all waits when it stops, and later ones at once', async () => {
    await start('a');
    watch.stop();
    await settle();
    await start('b');
    expect(ended).to.deep.equal(['a', 'b']);
  });
});

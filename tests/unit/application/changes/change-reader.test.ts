import { expect } from 'chai';
import { ChangeReader, POSITION_MS } from '#src/application/changes/change-reader.js';
import { BACKGROUND } from '#src/shared/task-scheduler.js';
import { FakeFeed } from '../../../support/fake-feed.js';
import { FakeClock } from '../../../support/fakes.js';

describe('ChangeReader', () => {
  let feed: FakeFeed;
  let clock: FakeClock;
  let reader: ChangeReader<unknown>;
  const place = (position: string, at = clock.now()) => ({ position, at });
  const page = (position: string, limit: number) => reader.page(place(position), limit);
  const codeOf = (work: Promise<unknown>) =>
    work.then(
      () => 'none',
      (error) => error.code,
    );

  beforeEach(() => {
    feed = new FakeFeed();
    clock = new FakeClock();
    reader = new ChangeReader({ feed, clock, watch: { wait: async () => {} } });
  });

  it('refuses a place of which the feed or its age says that changes may be missing', async () => {
    feed.change(1);
    const { next } = await page('0', 1);
    clock.time += POSITION_MS;
    expect(await codeOf(reader.page(next, 1))).to.equal('none');
    clock.time += 1;
    const wait = { ms: 1, task: BACKGROUND, check: () => {}, onEnd: () => {} };
    for (const work of [
      reader.page(next, 1),
      reader.slices(next, await reader.end()).next(),
      reader.wait(next, wait),
      page('2', 1),
    ])
      expect(await codeOf(work)).to.equal('cursor_expired');
    feed.floor = 1;
    expect(await codeOf(page('0', 1))).to.equal('cursor_expired');
  });

  it('takes a place for as old as the moment before it was read', async () => {
    const [start, position] = [clock.now(), feed.end];
    feed.end = async () => {
      clock.time += 1_000;
      return position.call(feed);
    };
    expect(await reader.end()).to.deep.equal({ position: '0', at: start });
    feed.afterRead = () => {
      clock.time += 1_000;
    };
    expect((await page('0', 1)).next.at).to.equal(start + 1_000);
  });
});

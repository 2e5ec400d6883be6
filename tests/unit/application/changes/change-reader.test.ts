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

  it('reads a page up to its limit, and on from its end', async () => {
    for (let id = 1; id <= 100; id++) feed.change(id);
    const first = await page('0', 70);
    expect(first.changes.map(({ id }) => id)).to.deep.equal(Array.from({ length: 70 }, (_, at) => at + 1));
    expect(first.next).to.deep.equal(place('70'));
    const rest = await reader.page(first.next, 1_000);
    expect([rest.changes.length, rest.changes[0]?.id, rest.next]).to.deep.equal([30, 71, place('100')]);
    expect((await reader.page(rest.next, 1)).changes).to.deep.equal([]);
  });

  it('yields everything up to a place, and nothing behind it', async () => {
    for (let id = 1; id <= 200; id++) feed.change(id);
    feed.delete(3);
    feed.maxChanges = 60;
    const until = await reader.end();
    feed.change(201);
    const ids: number[] = [];
    for await (const slice of reader.slices(place('0'), until)) ids.push(...slice.map(({ id }) => id));
    expect(ids).to.have.length(200);
    expect(ids.at(-1)).to.equal(3);
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

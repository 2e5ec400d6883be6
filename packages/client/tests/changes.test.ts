import { expect } from 'chai';
import type { Fetch, ResyncNeeded } from 'product-catalogue-client';
import { until } from '../../../tests/support/until.js';
import { all, catalogueService, refused, rejection } from './catalogue-service.js';

/** Takes so many changes, and stops. */
async function take<T>(changes: AsyncIterable<T>, count: number): Promise<T[]> {
  const taken: T[] = [];
  for await (const change of changes) if (taken.push(change) === count) break;
  return taken;
}

/** As behind a proxy that removes what asks the service to wait. */
const impatient =
  (fetch: Fetch): Fetch =>
  (request) => {
    request.headers.delete('Prefer');
    return fetch(request);
  };

describe('the changes of the client', () => {
  const { service, connect, attempts, waits } = catalogueService();
  const untilWaiting = () => until('it waits', () => service.application.limits.figures('waits').inUse === 1);
  const cursorNow = () => connect().products.changes().start();

  it('are those behind a cursor, records and deletions, and end if they are not followed', async () => {
    const { products } = connect();
    const from = await products.changes().start();
    const [lamp, desk] = [await products.create({ name: 'Lamp' }), await products.create({ name: 'Desk' })];
    await products.delete(desk.id);
    const changes = products.changes({ from, follow: false });
    expect(await all(changes)).to.deep.equal([
      { id: lamp.id, name: 'Lamp', version: 1 },
      { id: desk.id, version: 2, deleted: true },
    ]);
    expect(await all(products.changes({ from: changes.cursor, follow: false }))).to.deep.equal([]);
    const few = products.changes({ from: await products.changes({ fields: ['sku'] }).start(), fields: ['sku'] });
    await products.create({ name: 'Lamp', sku: 'C-1' });
    expect((await take(few, 1))[0])
      .to.include({ sku: 'C-1', version: 1 })
      .and.not.have.property('name');
  });

  it('come in pages too, of which an empty one is the last', async () => {
    const { products } = connect();
    const from = await products.changes().start();
    for (const name of ['a', 'b']) await products.create({ name });
    const [page, last, ...more] = await all(products.changes({ from, follow: false }).pages());
    expect([page?.changes.length, last?.changes, more]).to.deep.equal([2, [], []]);
    expect(await all(products.changes({ from: page?.cursor, follow: false }))).to.deep.equal([]);
  });

  it('have a newer cursor after each wait in which nothing changes', async () => {
    const from = await cursorNow();
    const dayAndMore = () => service.clock.pass(30 * 3_600_000);
    const { products } = connect({}, impatient);
    const pages = products.changes({ from }).pages();
    dayAndMore();
    const { value: page } = await pages.next();
    await pages.return();
    dayAndMore();
    expect(await rejection(all(products.changes({ from, follow: false })))).to.include({ name: 'ResyncNeeded' });
    expect(page?.changes).to.deep.equal([]);
    expect(await all(products.changes({ from: page?.cursor, follow: false }))).to.deep.equal([]);
  });

  it('begin now, and are waited for', async () => {
    const { products } = connect();
    const changes = products.changes()[Symbol.asyncIterator]();
    for (const name of ['a', 'b']) {
      const next = changes.next();
      await untilWaiting();
      await products.create({ name });
      expect((await next).value).to.include({ name });
    }
    await changes.return();
    expect(attempts.filter(({ request }) => request.headers.get('Prefer') === 'wait=30')).to.have.length(2);
  });

  it('have a cursor from which nothing that is not applied is missing', async () => {
    const from = await cursorNow();
    const { products } = connect();
    for (const name of ['a', 'b', 'c']) await products.create({ name });
    const changes = products.changes({ from });
    const cursors: (string | undefined)[] = [];
    let count = 0;
    for await (const _ of changes) {
      cursors.push(changes.cursor);
      if (++count === 3) break;
    }
    expect(cursors.slice(0, 2)).to.deep.equal([from, from]);
    expect(await all(products.changes({ from: cursors[2], follow: false }))).to.deep.equal([]);
  });

  it('go on after any number of lost connections, and refusals for a time', async () => {
    const from = await cursorNow();
    const failures = [
      ...Array.from({ length: 10 }, () => () => Promise.reject(new TypeError('fetch failed'))),
      async () => refused(503, { 'Retry-After': '2' }),
      async () => refused(429, { 'Retry-After': '3' }),
      async () => new Response('<h1>Bad Gateway</h1>', { status: 502 }),
    ];
    const failing =
      (fetch: Fetch): Fetch =>
      (request) =>
        (failures.shift() ?? (() => fetch(request)))();
    await connect().products.create({ name: 'Lamp' });
    const { products } = connect({ retry: { maxRetries: 0 } }, failing);
    expect(await take(products.changes({ from }), 1)).to.have.length(1);
    expect(failures).to.have.length(0);
    expect(waits).to.include.members([2_000, 3_000]);
    expect(waits).to.have.length(13);
  });

  it('pause if nobody waited for them', async () => {
    const { products } = connect({}, impatient);
    const stop = new AbortController();
    const taking = all(products.changes({ signal: stop.signal }));
    await until('it has paused', () => waits.includes(1_000));
    stop.abort(new Error('enough'));
    expect(((await rejection(taking)) as Error).message).to.equal('enough');
  });

  it('say that the client has to list again', async () => {
    const from = await cursorNow();
    await service.application.feedState.reset();
    const error = (await rejection(all(connect().products.changes({ from })))) as ResyncNeeded;
    expect([error.name, (error.cause as { code?: string }).code]).to.deep.equal(['ResyncNeeded', 'cursor_expired']);
  });

  it('end with any other error', async () => {
    for (const [options, code] of [
      [{ from: 'x' }, 'invalid_cursor'],
      [{ from: await cursorNow(), fields: ['id'] }, 'cursor_mismatch'],
    ] as const)
      expect(await rejection(all(connect().products.changes(options)))).to.include({ code });
    const stranger = connect({ token: 'none' }).products;
    expect(await rejection(all(stranger.changes()))).to.include({ code: 'invalid_token' });
  });
});

import { expect } from 'chai';
import { GENERATION_MS } from '#src/application/changes/feed-state.js';
import { ALTERED_TAGS } from '../http/resource/conditions.js';
import type { TestStoreProvider } from '../stores/provider.js';
import { inProcessService } from '../support/in-process-service.js';

const ifMatch = (tag: string) => ({ headers: { 'If-Match': tag } });
const ifNoneMatch = (tag: string) => ({ headers: { 'If-None-Match': tag } });

/** The tests of the tags of a store that is replaced while its service runs. */
export function generationContract({ name: STORE }: TestStoreProvider): void {
  describe(`the tags of ${STORE} that was replaced`, () => {
    const service = inProcessService({ STORE, WEBHOOK_NETWORKS: '127.0.0.0/8' });
    const request = () => service.client;
    const tagOf = async (path: string) => `${(await request().get(path)).headers.etag}`;
    const statusOf = async (path: string, tag: string) => (await request().get(path, ifNoneMatch(tag))).status;
    const create = async (path: string, body: object) => {
      const response = await request().post(path, body, { headers: { 'Idempotency-Key': `of ${path}` } });
      expect(response.status, response.text).to.equal(201);
      return response;
    };
    const replace = async () => {
      await service.application.feedState.reset();
      service.clock.pass(GENERATION_MS);
    };
    const lamp = { name: 'Lamp', sku: 'G-1' };

    it('have a new generation, and match nothing of another', async () => {
      const item = `${(await create('/v1/products', lamp)).headers.location}`;
      await request().patch(item, { name: 'Blue lamp' });
      const key = await create('/v1/api-keys', { name: 'x', scopes: ['products:read'] });
      const url = 'https://127.0.0.1:9/hook';
      // Paused, so that no attempt to send changes its tag.
      const receiver = { name: 'x', url, resources: ['products'], status: 'paused' };
      const webhook = await create('/v1/webhooks', receiver);
      const [, used] = [key, webhook].map(({ headers }) => `${headers.location}`);
      const bySku = '/v1/products/sku/G-1';
      const paths = [item, `${item}?fields=name`, bySku, `${key.headers.location}`, `${used}`];
      const before = new Map<string, string>();
      for (const path of paths) before.set(path, await tagOf(path));
      expect([...before.values()]).to.deep.equal(['"2"', '"2:name"', '"2"', '"1"', '"1"']);
      const list = await tagOf('/v1/products');

      let generation = '';
      for (let round = 1; round <= 2; round++) {
        await replace();
        const [, version, found = ''] = /^"(\d+)-([0-9a-z]{4,10})"$/.exec(await tagOf(item)) ?? [];
        expect(version).to.equal('2');
        expect(found).to.not.equal(generation);
        const stale = generation === '' ? '"2"' : `"2-${generation}"`;
        generation = found;
        for (const [path, old] of before) {
          const tag = old.replace(/^"\d+/, `$&-${generation}`);
          expect([await tagOf(path), await statusOf(path, old)], path).to.deep.equal([tag, 200]);
          for (const altered of [tag, ...ALTERED_TAGS.map((alter) => alter(tag)), `"9", ${tag}`, '*'])
            expect(await statusOf(path, altered), altered).to.equal(304);
        }
        for (const old of ['"2"', stale, `W/${stale}`, '"2-"', '"2-0000000000"', `"2-${generation}-"`]) {
          const refused = await request().patch(item, { name: 'Lost' }, ifMatch(old));
          expect([refused.status, refused.headers.etag], old).to.deep.equal([412, `"2-${generation}"`]);
          expect(await statusOf(item, old), old).to.equal(200);
        }
        // What stays the same is the same.
        expect(await statusOf('/v1/products', list)).to.equal(304);
      }

      const of = (at: number) => `"${at}-${generation}"`;
      let at = 2;
      for (const alter of ALTERED_TAGS) {
        const { status, headers } = await request().patch(item, { name: `v${at + 1}` }, ifMatch(alter(of(at))));
        expect([status, headers.etag], alter(of(at))).to.deep.equal([200, of(++at)]);
      }
      const only = await request().put(bySku, lamp, ifNoneMatch('*'));
      expect([only.status, only.headers.etag]).to.deep.equal([412, of(at)]);
      expect((await request().put(bySku, lamp, ifMatch(`"${at}"`))).status).to.equal(412);
      expect((await request().put(item, lamp, ifNoneMatch(of(at)))).status).to.equal(412);
      // Not the same state, so it does not prevent the write.
      expect((await request().put(item, lamp, ifNoneMatch(`"${at}"`))).headers.etag).to.equal(of(++at));

      const secret = `${used}/secret`;
      expect((await request().post(secret, undefined, ifMatch('"1"'))).status).to.equal(412);
      expect((await request().post(secret, undefined, ifMatch(of(1)))).headers.etag).to.equal(of(2));
      for (const [path, version] of [
        [`${key.headers.location}`, 1],
        [`${used}`, 2],
      ] as const) {
        expect((await request().delete(path, ifMatch(`"${version}"`))).status, path).to.equal(412);
        expect((await request().delete(path, ifMatch(of(version)))).status, path).to.equal(204);
      }

      const again = await create('/v1/products', lamp);
      expect([again.headers['idempotency-replayed'], again.headers.etag]).to.deep.equal(['true', of(1)]);
      expect((await request().delete(item, ifMatch(of(1)))).status).to.equal(412);
    });
  });
}

import { join } from 'node:path';
import { expect } from 'chai';
import { ChildProcessService } from '../../tests/support/child-process-service.js';
import { figuresOf } from '../../tests/support/figure.js';
import type { HttpClient, HttpResponse } from '../../tests/support/http-client.js';
import { FIRST_KEY } from '../../tests/support/in-process-service.js';
import { LOOPBACK, nginx, nginxServer, type Place, RunningProxy } from '../../tests/support/reverse-proxies.js';
import { sized, TEST_SEED } from '../../tests/support/run-settings.js';
import { SeededRandom } from '../../tests/support/seeded-random.js';
import { temporaryFolder } from '../../tests/support/temporary-folder.js';
import { until } from '../../tests/support/until.js';

const figure = figuresOf('public-cache');

const MAX_AGE_SECONDS = 1;
const NDJSON = 'application/x-ndjson';

/** nginx with a cache as its manual has it. It says of each response whether it comes from the cache, and the time. */
const caching = (place: Place) =>
  `proxy_cache_path ${join(place.folder, 'cache')} keys_zone=products:1m;
${nginxServer(
  place,
  `location / {
  proxy_pass http://${LOOPBACK}:${place.service};
  proxy_set_header X-Forwarded-Proto https;
  proxy_cache products;
  proxy_cache_revalidate on;
  add_header X-Cache $upstream_cache_status always;
  add_header X-Now $msec always;
}`,
)}`;

/** Whether nginx gave a response that it kept, without asking the service. */
const isKept = ({ headers }: HttpResponse) => headers['x-cache'] === 'HIT';
const secondsOf = ({ headers }: HttpResponse) => Number(headers['x-now']);

/** Starts the service, and nginx before it, for the tests of one `describe`. */
function cached(maxAge: number) {
  const folder = temporaryFolder();
  const running: { service?: ChildProcessService; proxy?: RunningProxy } = {};
  const keys: Record<string, string> = {};
  before(async () => {
    const service = new ChildProcessService(folder, {
      TLS: 'proxy',
      TRUSTED_PROXIES: LOOPBACK,
      BOOTSTRAP_API_KEY: FIRST_KEY,
      PUBLIC_READ: 'products',
      PUBLIC_MAX_AGE: String(maxAge),
    });
    running.service = service;
    const port = Number((await service.prints(/port (\d+), in plain HTTP behind a proxy/))[1]);
    running.proxy = await RunningProxy.start(nginx(caching), folder, { port });
    for (const [name, scopes] of Object.entries({ editor: ['products:read'], writer: ['products:write'] }))
      keys[name] = (await client().post('/v1/api-keys', { name, scopes })).json.key;
  });
  after(async () => {
    await running.proxy?.stop();
    await running.service?.stop();
  });
  const client = () => (running.proxy as RunningProxy).client as HttpClient;
  return {
    client,
    get: (reader: string, path: string, headers: Record<string, string> = {}) =>
      client().get(path, { token: keys[reader] ?? null, headers }),
  };
}

describe('nginx that caches, with PUBLIC_READ=products', () => {
  const { client, get } = cached(MAX_AGE_SECONDS);

  it('keeps what everybody sees, in each format, and says nothing of who asked first', async () => {
    await client().post('/v1/products', { name: 'Lamp', sku: 'KEPT' });
    await client().post('/v1/products', { name: 'Draft', status: 'draft' });
    for (const [path, headers] of [
      ['/v1/products/sku/KEPT', {}],
      ['/v1/products', {}],
      ['/v1/products', { Prefer: 'count=exact' }],
      ['/v1/products?limit=1', { Accept: NDJSON }],
      ['/v1/products', { Accept: 'text/csv' }],
    ] as const) {
      const first = await get('nobody', path, headers);
      await until('a response is kept', async () => {
        const again = await get('nobody', path, headers);
        expect([again.status, again.text]).to.deep.equal([200, first.text]);
        expect(again.headers).to.not.have.any.keys('ratelimit', 'ratelimit-policy');
        expect(again.headers['x-total-count']).to.equal(first.headers['x-total-count']);
        return isKept(again);
      });
    }
  });

  it('gives an editor each product as it is, whatever the public has got, and keeps nothing of it', async () => {
    const { id } = (await client().post('/v1/products', { name: 'Chair', status: 'draft' })).json;
    for (const path of [`/v1/products/${id}`, '/v1/products?name=Chair', '/v1/products?name=Chair&limit=1']) {
      await until('the public view is kept', async () => {
        const { status } = await get('nobody', path);
        return status === 404 || isKept(await get('nobody', path));
      });
      for (const status of ['draft', 'archived']) {
        await client().patch(`/v1/products/${id}`, { status });
        for (let n = 0; n < 3; n++) {
          const seen = await get('editor', path);
          expect([seen.json].flat()[0].status, path).to.equal(status);
          expect(isKept(seen), path).to.equal(false);
          const shown = await get('nobody', path);
          expect([shown.status, shown.json.length ?? shown.json.code], path).to.deep.equal(
            path.includes('?') ? [200, 0] : [404, 'not_found'],
          );
        }
      }
    }
  });

  it('shows a product that became a draft only from what it kept, and then no more', async () => {
    const { id } = (await client().post('/v1/products', { name: 'Desk', sku: 'GONE' })).json;
    for (const [path, headers] of [
      [`/v1/products/${id}`, {}],
      ['/v1/products/sku/GONE', {}],
      ['/v1/products?name=Desk', {}],
      ['/v1/products?name=Desk', { Accept: NDJSON }],
    ] as const) {
      await client().patch(`/v1/products/${id}`, { status: null });
      await until('the live product is kept', async () => {
        const response = await get('nobody', path, headers);
        return response.text.includes('Desk') && isKept(await get('nobody', path, headers));
      });
      await client().patch(`/v1/products/${id}`, { status: 'draft' });
      await until('the draft is gone', async () => {
        const response = await get('nobody', path, headers);
        if (response.text.includes('Desk')) expect(isKept(response), path).to.equal(true);
        return !response.text.includes('Desk');
      });
      for (let n = 0; n < 20; n++) expect((await get('nobody', path, headers)).text, path).to.not.include('Desk');
    }
  });

  it('gives each reader what it may see, after any edits and reads', async () => {
    const random = new SeededRandom(TEST_SEED);
    const skus = ['R-0', 'R-1', 'R-2', 'R-3'];
    const statuses = new Map<string, string | null>();
    const ids = new Map<string, number>();
    for (const sku of skus) ids.set(sku, (await client().post('/v1/products', { name: sku, sku })).json.id);
    const counts = { kept: 0, asked: 0, edits: 0 };
    /** The last response to everybody that nginx got from the service, for each address and form. */
    const got = new Map<string, HttpResponse>();
    const expectedOf = (path: string, isEditor: boolean) => {
      const sku = skus.find((one) => path.includes(one) || path.includes(`products/${ids.get(one)}`));
      const shown = (one: string) => isEditor || !statuses.get(one);
      return (sku === undefined ? skus : [sku]).filter(shown);
    };
    const steps = sized({ gate: 500, night: 5_000 });
    for (let step = 0; step < steps; step++) {
      const sku = random.oneOf(skus);
      if (random.chance(0.1)) {
        const status = random.oneOf(['draft', 'archived', null]);
        statuses.set(sku, status);
        const { status: code } = await client().patch(`/v1/products/sku/${sku}`, { status });
        expect(code).to.equal(200);
        counts.edits++;
        continue;
      }
      const list = '/v1/products?sku.prefix=R-';
      const path = random.oneOf([
        `/v1/products/sku/${sku}`,
        `/v1/products/${ids.get(sku)}`,
        list,
        `${list}&sort=-name`,
        '/products?sku.prefix=R-',
      ]);
      const isItem = !path.includes('?');
      const headers = isItem ? {} : random.oneOf([{}, { Accept: NDJSON }, { Prefer: 'count=exact' }]);
      const reader = random.oneOf(['nobody', 'nobody', 'editor', 'writer']);
      const response = await get(reader, path, headers);
      const what = `step ${step}, ${reader} ${path} ${JSON.stringify(headers)}: ${response.headers['x-cache']}`;
      const key = `${path} ${JSON.stringify(headers)}`;
      if (isKept(response)) {
        counts.kept++;
        expect(reader, what).to.equal('nobody');
        const source = got.get(key) as HttpResponse;
        expect(response.text, what).to.equal(source.text);
        // nginx counts whole seconds.
        expect(secondsOf(response) - secondsOf(source), what).to.be.below(MAX_AGE_SECONDS + 1);
        continue;
      }
      counts.asked++;
      if (reader === 'nobody') got.set(key, response);
      const expected = expectedOf(path, reader === 'editor');
      expect(response.status, what).to.equal(isItem && expected.length === 0 ? 404 : 200);
      const found = skus.filter((one) => response.status === 200 && response.text.includes(`"${one}"`));
      expect(found, what).to.deep.equal(expected);
    }
    for (const [name, count] of Object.entries(counts)) figure(name, count);
  });
});

describe('nginx that caches, with PUBLIC_MAX_AGE=0', () => {
  const { client, get } = cached(0);

  it('keeps nothing', async () => {
    await client().post('/v1/products', { name: 'Lamp', sku: 'LAMP' });
    for (const path of ['/v1/products', '/v1/products/sku/LAMP'])
      for (let n = 0; n < 5; n++) {
        const response = await get('nobody', path);
        expect([response.status, isKept(response)], path).to.deep.equal([200, false]);
      }
    await client().patch('/v1/products/sku/LAMP', { status: 'draft' });
    expect((await get('nobody', '/v1/products/sku/LAMP')).status).to.equal(404);
    expect((await get('nobody', '/v1/products')).json).to.deep.equal([]);
  });
});

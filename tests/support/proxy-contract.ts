import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { HttpClient, HttpResponse, RequestOptions } from './http-client.js';
import { inProcessService } from './in-process-service.js';
import { jsonLines } from './line-stream.js';
import { linksOf } from './links.js';
import { LOOPBACK, type ReverseProxy, RunningProxy } from './reverse-proxies.js';
import { temporaryFolder } from './temporary-folder.js';
import { until } from './until.js';

/** What a configuration of a proxy is expected to do. */
export interface ProxyTraits {
  readonly proxy: ReverseProxy;
  /** The proxy compresses JSON, and changes the entity tag of what it compresses. */
  readonly altersTags?: boolean;
  /** The configuration carries everything that the service documents, and not only what the defaults of the proxy do. */
  readonly carriesAll?: boolean;
  /** The proxy ends a response in order that was cut before it. */
  readonly hidesCuts?: boolean;
  /** The path that the proxy removes. */
  readonly prefix?: string;
}

const KIB = 1_024;
const NDJSON = 'application/x-ndjson';
/** Long enough to be compressed by every proxy. */
const DESCRIPTION = 'a green lamp, '.repeat(100);
const numbered = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}${10_000 + i}`);

/**
 * Describes what a client finds behind a proxy: the documented limits and features, one by one, over the proxy's own
 * connections to the service in this process.
 */
export function describeProxy(
  name: string,
  { proxy, altersTags, carriesAll, hidesCuts, prefix = '' }: ProxyTraits,
): void {
  describe(name, () => {
    const folder = temporaryFolder();
    const service = inProcessService({
      TLS: 'proxy',
      TRUSTED_PROXIES: LOOPBACK,
      PUBLIC_URL: `https://localhost${prefix}`,
    });
    let running: RunningProxy;
    let client: HttpClient;
    const products = `${prefix}/v1/products`;

    before(async () => {
      running = await RunningProxy.start(proxy, folder, service, `${prefix}/health/ready`);
      client = running.client;
    });
    after(() => running?.stop());

    const shown = ({ headers, bytes }: HttpResponse) =>
      JSON.parse((headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString());

    const importLines = async (records: readonly object[]) => {
      const body = records.map((record) => `${JSON.stringify(record)}\n`).join('');
      const headers = { 'Content-Type': NDJSON };
      const { status, text } = await client.post(`${products}/imports`, body, { headers });
      expect(status, text).to.equal(200);
      return jsonLines(text).map((result): number => result.status);
    };

    it('lets a client edit by the tag that it got, with a coding, and gives 304 for it', async () => {
      const coded = { 'Accept-Encoding': 'gzip' };
      const created = await client.post(products, { name: 'Lamp', description: DESCRIPTION });
      const path = String(created.headers.location);
      const tagNow = async () => {
        const response = await client.get(path, { headers: coded });
        expect(shown(response)).to.include({ name: 'Lamp', description: DESCRIPTION });
        const tag = String(response.headers.etag);
        if (altersTags) expect(tag).to.not.match(/^"\d+"$/);
        return tag;
      };
      const tag = await tagNow();
      for (const method of ['GET', 'HEAD']) {
        const response = await client.request(method, path, { headers: { ...coded, 'If-None-Match': tag } });
        expect([response.status, response.text], `${method} ${tag}`).to.deep.equal([304, '']);
      }
      const write = async (method: string, body?: object) => {
        const current = { headers: { ...coded, 'If-Match': await tagNow() }, body };
        return (await client.request(method, path, current)).status;
      };
      const changed = { name: 'Lamp', description: DESCRIPTION };
      expect(await write('PUT', { ...changed, sku: 'edited' })).to.equal(200);
      expect(await write('PATCH', { sku: null })).to.equal(200);
      const stale = await client.delete(path, { headers: { ...coded, 'If-Match': tag } });
      expect([stale.status, shown(stale).code]).to.deep.equal([412, 'precondition_failed']);
      expect(await write('DELETE')).to.equal(204);
    });

    it('pages a list by 100 values to its end', async () => {
      const skus = [numbered('BIG-', 100), ...(carriesAll ? [numbered(`L${'x'.repeat(58)}`, 100)] : [])];
      for (const all of skus) {
        expect(new Set(await importLines(all.map((sku) => ({ name: `P ${sku}`, sku }))))).to.deep.equal(new Set([201]));
        const found: string[] = [];
        let next: string | undefined = `${products}?sku.in=${all.join(',')}&limit=20&sort=name&fields=sku`;
        while (next !== undefined) {
          const { status, json, headers } = await client.get(next);
          expect(status, next).to.equal(200);
          found.push(...json.map(({ sku }: { sku: string }) => sku));
          next = linksOf(headers['link'])['next'];
        }
        expect(found).to.deep.equal(all);
      }
    });

    it('finds a sku with dots, and an email with / and +', async () => {
      const sku = '..a.b_c-D..';
      const email = 'ann/a+shop@example.com';
      await client.post(products, { name: 'Dots', sku });
      await client.post(`${prefix}/v1/users`, { name: 'Ann', email });
      expect((await client.get(`${products}?sku=${sku}`)).json[0]).to.include({ sku });
      for (const encoded of [encodeURIComponent(email), 'ann/a%2Bshop@example.com'])
        expect((await client.get(`${prefix}/v1/users?email=${encoded}`)).json[0]).to.include({ email });
    });

    it('passes on a change while the client waits for it, and the end of a wait without one', async () => {
      const { limits } = service.application;
      const changes = `${products}/changes`;
      const waitFor = async (seconds: number, accepted = 'application/json') => {
        const place = linksOf((await client.get(changes)).headers['link'])['next'] ?? '';
        const headers = { Accept: accepted, 'Accept-Encoding': 'gzip', Prefer: `wait=${seconds}` };
        return client.get(accepted === NDJSON ? place.replace('limit=100&', '') : place, { headers });
      };
      for (const accepted of ['application/json', NDJSON]) {
        const waiting = waitFor(30, accepted);
        await until('it waits', () => limits.figures('waits').inUse === 1);
        await client.post(products, { name: 'Lamp', description: DESCRIPTION });
        const response = await waiting;
        expect([response.status, response.headers['preference-applied']]).to.deep.equal([200, 'wait=30']);
        expect([shown(response)].flat()[0]).to.include({ name: 'Lamp', version: 1 });
      }
      const response = await waitFor(1);
      expect([response.status, shown(response)]).to.deep.equal([200, []]);
    });

    it('gives the client addresses of the service', async () => {
      const root = await client.get(`${prefix}/`);
      expect((await client.get(root.json.openapi)).json.servers).to.deep.equal([{ url: `https://localhost${prefix}` }]);
      const page = await client.get(`${prefix}/`, { headers: { Accept: 'text/html' } });
      const target = new URL(String(page.headers.location), `https://localhost:${client.port}`);
      expect([page.status, target.pathname]).to.deep.equal([303, `${prefix}/docs`]);
    });

    it(`${hidesCuts ? 'does not show' : 'shows'} the client that an export was cut`, async () => {
      const { storage } = service.application;
      const list = storage.products.list.bind(storage.products);
      // Each below the 1 MiB that nginx accepts by default.
      for (let i = 0; i < 3; i++)
        await importLines(Array.from({ length: 300 }, () => ({ name: 'E', description: DESCRIPTION })));
      const exported = (options: RequestOptions) =>
        client.get(products, options).then(
          ({ status, text }) => [status, text.length > 0],
          () => 'an error',
        );
      for (const Accept of [NDJSON, 'text/csv'])
        for (const coding of ['identity', 'gzip']) {
          let pages = 0;
          storage.products.list = (query) => (++pages > 8 ? Promise.reject(new Error('disk')) : list(query));
          const headers = { Accept, 'Accept-Encoding': coding };
          const cut = await exported({ headers });
          storage.products.list = list;
          expect(cut, `${Accept} ${coding}`).to.deep.equal(hidesCuts ? [200, true] : 'an error');
          expect(await exported({ headers }), `${Accept} ${coding}`).to.deep.equal([200, true]);
        }
    });

    if (!carriesAll) return;

    it('imports 5 MB', async () => {
      const records = Array.from({ length: 5_000 }, () => ({ name: 'many', description: 'x'.repeat(1_000) }));
      const statuses = await importLines(records);
      expect([statuses.length, ...new Set(statuses)]).to.deep.equal([5_000, 201]);
    });

    it('carries a URL of 8 KiB, headers of 16 KiB and a body of 1 MiB', async () => {
      const long = '/v1/products?name='.padEnd(8 * KIB, 'x');
      expect((await client.get(prefix + long)).status).to.equal(200);
      expect((await client.get(`${prefix}${long}x`)).json.code).to.equal('uri_too_long');
      // The proxy and the client add some headers.
      const headers = Object.fromEntries(numbered('X-', 3).map((header) => [header, 'x'.repeat(5 * KIB)]));
      expect((await client.get(`${products}?limit=1`, { headers })).status).to.equal(200);
      const body = '{"name":"Padded"}'.padEnd(KIB * KIB, ' ');
      expect((await client.post(products, body)).status).to.equal(201);
    });
  });
}

import { expect } from 'chai';
import { HTTP_STORE_NAMES } from '../stores/index.js';
import { expectRefusal, refusalOf } from '../support/http-client.js';
import { inProcessService } from '../support/in-process-service.js';
import { cursorIn, linksOf } from '../support/links.js';
import { list } from '../support/list.js';

const FACETS = '/v1/products/facets';

const PRODUCTS = [
  {
    name: 'Desk lamp',
    brand: 'Acme',
    group: 'G-1',
    tags: ['lighting', 'lighting/lamps'],
    price: { amount: 100, currency: 'EUR' },
    attributes: { colour: 'brass', watts: 7.5, dimmable: true, 'a].b': 'odd', mixed: 'x' },
  },
  {
    name: 'Floor lamp',
    brand: 'Acme',
    group: 'G-1',
    tags: ['lighting', 'lighting/lamps', 'new'],
    price: { amount: 200, currency: 'EUR' },
    attributes: { colour: 'brass', watts: 10, dimmable: false, mixed: 7 },
  },
  {
    name: 'Shade',
    brand: 'Blank',
    status: 'draft',
    tags: ['lighting', 'new'],
    price: { amount: 300, currency: 'USD' },
    attributes: { colour: 'green', watts: 7.5, mixed: 7 },
  },
  { name: 'Desk', brand: '\u{1f600}', attributes: { colour: 'black', mixed: true } },
  { name: 'Bench', brand: '\uffee', status: 'archived', attributes: { colour: 'green', mixed: '7' } },
  { name: 'Nothing' },
] as const;

for (const store of HTTP_STORE_NAMES)
  describe(`the facets of products, on ${store}`, () => {
    const service = inProcessService({ STORE: store });
    const get = (query: string, headers: Record<string, string> = {}) => service.get(`${FACETS}?${query}`, { headers });
    const facets = async (query: string) => {
      const { status, json, text } = await get(query);
      expect(status, text).to.equal(200);
      return json as { field: string; values: { value: unknown; count: number }[]; more: boolean }[];
    };
    /** The values of each field with their counts, in the order of the response. */
    const counts = async (query: string) =>
      (await facets(query)).map(({ values }) =>
        values.map(({ value, count }) => `${JSON.stringify(value)} ${count}`).join(', '),
      );
    const refusal = async (query: string, path = FACETS) => refusalOf(await service.get(`${path}?${query}`));

    before(async () => {
      for (const product of PRODUCTS) expect((await service.post('/v1/products', product)).status).to.equal(201);
    });

    it('are the values of each field with their counts, the highest first, in the order of the fields', async () => {
      const fields = ['tags', 'brand', 'group', 'status', 'price.currency'];
      const { status, headers, text } = await get(`fields=${fields}`);
      expect([status, headers['content-type'], headers['link']]).to.deep.equal([200, 'application/json', undefined]);
      expect(JSON.parse(text).map(({ field, more }: { field: string; more: boolean }) => [field, more])).to.deep.equal(
        fields.map((field) => [field, false]),
      );
      expect(await counts(`fields=${fields}`)).to.deep.equal([
        '"lighting" 3, "lighting/lamps" 2, "new" 2',
        '"Acme" 2, "Blank" 1, "\uffee" 1, "\u{1f600}" 1',
        '"G-1" 2',
        '"archived" 1, "draft" 1',
        '"EUR" 2, "USD" 1',
      ]);
      expect(text).to.match(/^\[\{"field":"tags","values":\[\{"value":"lighting","count":3\},/);
    });

    it('keep the type of an attribute: texts, then numbers, then booleans', async () => {
      const fields = ['mixed', 'watts', 'dimmable', 'absent', '__proto__'].map((key) => `attributes[${key}]`);
      expect(await counts(`fields=${fields}`)).to.deep.equal([
        '7 2, "7" 1, "x" 1, true 1',
        '7.5 2, 10 1',
        'false 1, true 1',
        '',
        '',
      ]);
    });

    it('have names that lists take too, written in any way, and show each in one way', async () => {
      const names = async (query: string) => (await facets(query)).map(({ field }) => field);
      const expected = ['attributes[colour]', 'brand', 'attributes[a].b]'];
      for (const query of [
        'fields=attributes[colour],brand,attributes[a].b]',
        'fields=attributes.colour&fields=brand&fields=attributes[a].b]',
        'fields[]=attributes%5Bcolour%5D,brand&fields[]=attributes.a%5D.b',
      ])
        expect(await names(query), query).to.deep.equal(expected);
      expect(await counts('fields=attributes[a].b]')).to.deep.equal(['"odd" 1']);
    });

    it('are served without the version in the path, to HEAD too', async () => {
      const long = await get('fields=brand&limit=1');
      const short = await service.get('/products/facets?fields=brand&limit=1');
      expect(short.text).to.equal(long.text);
      expect(linksOf(short.headers['link'])['next']).to.match(/^\/products\/facets\?/);
      expect(linksOf(long.headers['link'])['next']).to.match(/^\/v1\/products\/facets\?/);
      expect(short.headers.etag, 'the links differ').to.not.equal(long.headers.etag);
      const head = await service.request('HEAD', `${FACETS}?fields=brand&limit=1`);
      expect([head.status, head.text]).to.deep.equal([200, '']);
      expect(head.headers).to.include({ etag: long.headers.etag, link: long.headers['link'] });
    });

    it('of a field are not narrowed by its own =, .in and .prefix, but by its other filters', async () => {
      for (const [field, ...filters] of [
        ['brand', 'brand=Acme', 'brand.in=Acme,Blank', 'brand.prefix=A', 'brand=Acme&brand.prefix=B'],
        ['status', 'status=live', 'status.in=live', 'status.in=live,archived', 'status.ne=live'],
        ['attributes[colour]', 'attributes[colour]=green', 'attributes[colour].in=green,brass', 'attributes.colour=x'],
      ])
        for (const filter of filters)
          expect(await counts(`fields=${field}&${filter}`), filter).to.deep.equal(await counts(`fields=${field}`));
      for (const [query, ...expected] of [
        ['fields=status&status.exists=false', ''],
        ['fields=brand&brand.ne=Acme&brand.lt=C', '"Blank" 1'],
        ['fields=brand&q=lamp&price.currency=EUR', '"Acme" 2'],
        ['fields=attributes[watts]&attributes[watts].lt=8', '7.5 2'],
        ['fields=attributes[colour]&attributes[watts]=7.5', '"brass" 1, "green" 1'],
        ['fields=tags,brand&tags=new', '"lighting" 3, "lighting/lamps" 2, "new" 2', '"Acme" 1, "Blank" 1'],
        ['fields=tags&tags.all=lighting/lamps,new', '"lighting" 1, "lighting/lamps" 1, "new" 1'],
      ])
        expect(await counts(`${query}`), query).to.deep.equal(expected);
    });

    it('of one field show only the values with a prefix', async () => {
      expect(await counts('fields=tags&prefix=lighting/')).to.deep.equal(['"lighting/lamps" 2']);
      expect(await counts('fields=tags&prefix=')).to.deep.equal(await counts('fields=tags'));
      expect(await counts('fields=attributes[mixed]&prefix=7')).to.deep.equal(['"7" 1']);
      expect(await counts('fields=brand&prefix=a')).to.deep.equal(['']);
      expect(await refusal('fields=tags,brand&prefix=l')).to.deep.equal([400, 'invalid_parameter', 'too_long fields']);
    });

    it('of one field come in pages, whose limit may change', async () => {
      for (const [field, more] of Object.entries({ 'attributes[mixed]': '', tags: '&price.currency=EUR&q=lamp' })) {
        const [whole] = await facets(`fields=${field}${more}`);
        const found: unknown[] = [];
        let next: string | undefined = `${FACETS}?limit=1&fields=${field}${more}`;
        for (let page = 1; next !== undefined; page++) {
          const { json, headers, text } = await service.get(next);
          expect(json, text).to.have.length(1);
          const isLast = page === whole?.values.length;
          expect([json[0].values.length, json[0].more], `${next}`).to.deep.equal([1, !isLast]);
          found.push(...json[0].values);
          next = linksOf(headers['link'])['next'];
          expect(next === undefined, `${field} ${page}`).to.equal(isLast);
        }
        expect(found).to.deep.equal(whole?.values);
        const { headers } = await get(`fields=${field}&limit=1${more}`);
        const cursor = cursorIn(linksOf(headers['link'])['next']);
        const [rest] = await facets(`fields=${field}&limit=100${more}&cursor=${cursor}`);
        expect(rest?.values).to.deep.equal(whole?.values.slice(1));
      }
    });

    it('of several fields have no further pages, but say that there are more values', async () => {
      const { json, headers } = await get('fields=brand,group&limit=1');
      expect(json.map(({ more }: { more: boolean }) => more)).to.deep.equal([true, false]);
      expect(headers['link']).to.equal(undefined);
    });

    it('go on only at a cursor of the same field, prefix and filters', async () => {
      const { headers } = await get('fields=attributes[mixed]&limit=1&q=lamp&brand=Acme');
      const cursor = cursorIn(linksOf(headers['link'])['next']);
      const same = `fields[]=attributes.mixed&brand=Acme&q=lamp&cursor=${cursor}`;
      expect((await get(same)).status).to.equal(200);
      const whole = 'fields=attributes[mixed]&q=lamp&brand=Acme';
      const ofList = cursorIn(linksOf((await service.get('/v1/products?limit=1')).headers['link'])['next']);
      for (const [query, code, path] of [
        [`fields=attributes[colour]&q=lamp&brand=Acme&cursor=${cursor}`, 'cursor_mismatch'],
        [`fields=attributes[mixed],brand&q=lamp&brand=Acme&cursor=${cursor}`, 'cursor_mismatch'],
        [`fields=attributes[mixed]&q=lam&brand=Acme&cursor=${cursor}`, 'cursor_mismatch'],
        [`${whole}&prefix=&cursor=${cursor}`, 'cursor_mismatch'],
        [`${whole}&cursor=`, 'invalid_cursor'],
        [`${whole}&cursor=${cursor}A`, 'invalid_cursor'],
        [`${whole}&cursor=${ofList}`, 'invalid_cursor'],
        [`cursor=${cursor}`, 'invalid_cursor', '/v1/products'],
      ] as const)
        expect(await refusal(query, path), query).to.deep.equal([400, code, 'invalid_format cursor']);
    });

    it('have a tag, with which the client asks whether anything changed', async () => {
      const { headers } = await get('fields=brand&limit=1');
      expect(headers.etag).to.match(/^W\/"[\w-]{20,}"$/);
      expect(headers['cache-control']).to.equal('private, no-cache');
      const known = { 'If-None-Match': `${headers.etag}` };
      for (const method of ['GET', 'HEAD']) {
        const response = await service.request(method, `${FACETS}?fields=brand&limit=1`, { headers: known });
        expect([response.status, response.text, response.headers['link']]).to.deep.equal([304, '', headers['link']]);
      }
      const whole = await get('fields=brand');
      const { json } = await service.post('/v1/products', { name: 'One more', brand: 'Acme' });
      expect((await get('fields=brand')).headers.etag).to.not.equal(whole.headers.etag);
      expect((await get('fields=brand&limit=1', known)).status).to.equal(200);
      await service.delete(`/v1/products/${json.id}`);
      expect((await get('fields=brand&limit=1', known)).status).to.equal(304);
    });
  });

describe('the parameters of facets', () => {
  const service = inProcessService();
  const refusal = async (query: string) => refusalOf(await service.get(`${FACETS}?${query}`));
  const many = (count: number) => Array.from({ length: count }, (_, at) => `attributes[k${at}]`).join();

  it('are refused with the parameter that is wrong', async () => {
    const fields = (all: readonly string[], issue: string) => all.map((one) => [`fields=${one}`, `${issue} fields`]);
    for (const [query, issue = ''] of [
      ['', 'required fields'],
      ['limit=5', 'required fields'],
      ...fields(['', 'brand,'], 'too_short'),
      ...fields(list`name  price  price.amount  attributes  attributes[]  attributes.  constructor`, 'unknown_field'),
      ...fields(list`brand,tags,brand  attributes[a],attributes.a`, 'duplicate_value'),
      ...fields([many(11)], 'too_long'),
      ...list`limit=0  limit=101`.map((limit) => [`fields=brand&${limit}`, 'out_of_range limit']),
      ['fields=brand&limit=x', 'invalid_type limit'],
      ['fields=brand&limit=1&limit=2', 'duplicate_value limit'],
      ['fields=brand&prefix=a&prefix=b', 'duplicate_value prefix'],
      ['fields=brand&prefix=%FF', 'invalid_format prefix'],
      ...list`sort=brand  count=1  brand.gtt=1`.map((one) => [
        `fields=brand&${one}`,
        `unknown_parameter ${one.split('=')[0]}`,
      ]),
      ['fields=brand&q=', 'too_short q'],
    ]) {
      const code = issue.startsWith('unknown_parameter') ? 'unknown_parameter' : 'invalid_parameter';
      expect(await refusal(`${query}`), query).to.deep.equal([400, code, issue]);
    }
  });

  it('take 10 fields, 100 values and 100 filters', async () => {
    const filters = Array.from({ length: 100 }, (_, at) => `attributes.f${at}=x`).join('&');
    const { status, json } = await service.get(`${FACETS}?fields=${many(10)}&limit=100&${filters}`);
    expect([status, json.length]).to.deep.equal([200, 10]);
    const tooMany = await refusal(`fields=brand&${filters}&brand=x`);
    expect(tooMany).to.deep.equal([400, 'invalid_parameter', 'too_long brand']);
  });

  it('are named in the message about an unknown one', async () => {
    const { json } = await service.get(`${FACETS}?fields=brand&sort=brand`);
    expect(json.message).to.match(/: there are fields, limit, prefix, distinct, cursor, q, and the filters id, /);
  });
});

describe('the path of facets', () => {
  const service = inProcessService();

  it('has GET and HEAD alone', async () => {
    const options = await service.request('OPTIONS', FACETS, { token: null });
    expect(options.headers.allow).to.equal('GET, HEAD, OPTIONS');
  });

  it('exists for products alone, and has nothing below it', async () => {
    for (const path of ['users/facets', 'orders/facets', 'api-keys/facets', 'webhooks/facets', 'products/facets/1'])
      expect((await service.get(`/v1/${path}?fields=tags`)).status, path).to.equal(404);
  });

  it('has JSON alone', async () => {
    for (const type of ['application/x-ndjson', 'text/csv', 'text/html'])
      await expectRefusal(service.get(`${FACETS}?fields=brand`, { headers: { Accept: type } }), 'not_acceptable', type);
  });
});

describe('facets under PUBLIC_READ=products', () => {
  const service = inProcessService({ PUBLIC_READ: 'products', PUBLIC_MAX_AGE: '7' });
  const get = (query: string, token: string | null, headers: Record<string, string> = {}) =>
    service.get(`${FACETS}?${query}`, { token, headers });

  before(async () => {
    for (const product of PRODUCTS) await service.post('/v1/products', product);
  });

  it('count live products alone for everybody', async () => {
    const writer = (await service.post('/v1/api-keys', { name: 'w', scopes: ['products:write'] })).json.key;
    const expected = [
      {
        field: 'attributes[colour]',
        values: [
          { value: 'brass', count: 2 },
          { value: 'black', count: 1 },
        ],
        more: false,
      },
      { field: 'status', values: [], more: false },
    ];
    for (const token of [null, writer])
      for (const filter of ['', '&status=draft', '&status.in=draft,archived', '&status.prefix=d']) {
        const [colours, statuses] = (await get(`fields=attributes[colour],status${filter}`, token)).json;
        expect(statuses, filter).to.deep.equal(expected[1]);
        expect(colours, filter).to.deep.equal(filter ? { ...expected[0], values: [] } : expected[0]);
      }
    const { json } = await service.get(`${FACETS}?fields=status`);
    expect(json[0].values).to.have.length(2);
  });

  it('tell caches what they may keep', async () => {
    const { headers } = await get('fields=brand', null, { 'X-Request-Id': 'mine' });
    expect(headers['cache-control']).to.equal('public, max-age=7');
    expect(headers).to.not.have.any.keys('ratelimit', 'ratelimit-policy');
    expect(headers['x-request-id']).to.not.equal('mine');
    const known = { 'If-None-Match': `${headers.etag}` };
    const again = await get('fields=brand', null, known);
    expect([again.status, again.headers['cache-control']]).to.deep.equal([304, 'public, max-age=7']);
    for (const response of [again, await service.get(`${FACETS}?fields=brand`)])
      expect(`${response.headers.vary}`.split(', ')).to.include.members(['Accept', 'Accept-Encoding', 'Authorization']);
    const reader = await service.get(`${FACETS}?fields=brand`);
    expect(reader.headers['cache-control']).to.equal('private, no-cache');
    expect((await get('', null)).headers['cache-control']).to.equal('no-store');
  });
});

import { expect } from 'chai';
import { parse } from 'csv-parse/sync';
import { LOCAL_STORE_NAMES } from '../stores/index.js';
import { issueLocations } from '../support/http-client.js';
import { inProcessService } from '../support/in-process-service.js';
import { cursorIn, linksOf } from '../support/links.js';

const PRODUCTS = [
  {
    name: 'a',
    status: 'draft',
    tags: ['lighting/lamps', 'new'],
    images: [{ url: 'https://a/1.jpg' }],
    url: 'https://a',
    brand: 'Nordlicht',
    gtin: '96385074',
    group: 'G1',
    stock: 0,
  },
  {
    name: 'b',
    status: 'archived',
    tags: ['lighting', 'lighting/lamps', 'lighting/lamps/desk', 'Sale'],
    brand: 'nordlicht',
    gtin: '4006381333931',
    group: 'g1',
    stock: 5,
  },
  {
    name: 'c',
    tags: ['sale', 'new'],
    images: [{ url: 'https://a' }],
    brand: 'Halden',
    group: 'G2',
    stock: 500,
  },
  { name: 'd' },
  {
    name: 'e',
    tags: ['a b', 'é', '$ne', '.*', '%', '\\', '"', 'null'],
    url: 'https://a',
    stock: 2 ** 53 - 1,
  },
  { name: 'f', tags: ['e\u0301', '😀', '\uffee'], brand: ' a ', gtin: '036000291452' },
  { name: 'g', tags: [], images: [], status: null },
];

const MATCHES: readonly (readonly [query: Record<string, string>, names: string])[] = [
  [{ tags: 'new' }, 'ac'],
  [{ tags: 'lighting/lamps' }, 'ab'],
  [{ tags: 'lighting' }, 'b'],
  [{ tags: 'Sale' }, 'b'],
  [{ tags: 'sale' }, 'c'],
  [{ tags: 'SALE' }, ''],
  [{ tags: 'ne' }, ''],
  [{ tags: '' }, ''],
  [{ tags: 'a b' }, 'e'],
  [{ tags: 'é' }, 'e'],
  [{ tags: 'e\u0301' }, 'f'],
  [{ tags: '😀' }, 'f'],
  [{ tags: '$ne' }, 'e'],
  [{ tags: '.*' }, 'e'],
  [{ tags: '%' }, 'e'],
  [{ tags: '\\' }, 'e'],
  [{ tags: '"' }, 'e'],
  [{ tags: 'null' }, 'e'],
  [{ tags: 'lighting/lamps,new' }, ''],
  [{ tags: 'lighting/lamps|new' }, ''],
  [{ 'tags.in': 'new' }, 'ac'],
  [{ 'tags.in': 'new,lighting' }, 'abc'],
  [{ 'tags.in': 'lighting,lighting/lamps,lighting/lamps/desk' }, 'ab'],
  [{ 'tags.in': 'new,new,sale,none' }, 'ac'],
  [{ 'tags.in': 'none' }, ''],
  [{ 'tags.all': 'new' }, 'ac'],
  [{ 'tags.all': 'new,sale' }, 'c'],
  [{ 'tags.all': 'sale,new,sale' }, 'c'],
  [{ 'tags.all': 'lighting/lamps,new,sale' }, ''],
  [{ 'tags.all': 'lighting,lighting/lamps,lighting/lamps/desk,Sale' }, 'b'],
  [{ 'tags.prefix': 'lighting' }, 'ab'],
  [{ 'tags.prefix': 'lighting/' }, 'ab'],
  [{ 'tags.prefix': 'lighting/lamps/' }, 'b'],
  [{ 'tags.prefix': 's' }, 'c'],
  [{ 'tags.prefix': 'e' }, 'f'],
  [{ 'tags.prefix': '' }, 'abcef'],
  [{ 'tags.prefix': '\uffee' }, 'f'],
  [{ 'tags.prefix': '.' }, 'e'],
  [{ 'tags.exists': 'true' }, 'abcef'],
  [{ 'tags.exists': 'false' }, 'dg'],
  [{ tags: 'new', 'tags.all': 'sale' }, 'c'],
  [{ tags: 'new', 'tags.in': 'lighting/lamps,sale', 'tags.prefix': 'l' }, 'a'],
  [{ 'tags.exists': 'false', tags: 'new' }, ''],
  [{ tags: 'new', q: 'lamps' }, 'a'],
  [{ tags: 'new', 'stock.gt': '0' }, 'c'],
  [{ status: 'draft' }, 'a'],
  [{ status: 'live' }, 'cdefg'],
  [{ 'status.ne': 'draft' }, 'b'],
  [{ 'status.ne': 'live' }, 'ab'],
  [{ 'status.in': 'live' }, 'cdefg'],
  [{ 'status.in': 'live,draft' }, 'acdefg'],
  [{ 'status.in': 'archived,live', tags: 'new' }, 'c'],
  [{ 'status.in': 'draft,live,archived' }, 'abcdefg'],
  [{ status: 'live', 'status.in': 'live,draft', 'tags.exists': 'true' }, 'cef'],
  [{ 'status.prefix': 'live' }, ''],
  [{ 'status.in': 'draft,archived' }, 'ab'],
  [{ 'status.prefix': 'ar' }, 'b'],
  [{ 'status.gt': 'archived' }, 'a'],
  [{ 'status.exists': 'false' }, 'cdefg'],
  [{ 'status.exists': 'true' }, 'ab'],
  [{ brand: 'Nordlicht' }, 'a'],
  [{ 'brand.ne': 'Nordlicht' }, 'bcf'],
  [{ 'brand.in': 'Nordlicht,nordlicht,x' }, 'ab'],
  [{ 'brand.prefix': 'N' }, 'a'],
  [{ 'brand.lt': 'I' }, 'cf'],
  [{ 'brand.gte': 'Nordlicht' }, 'ab'],
  [{ brand: ' a ' }, 'f'],
  [{ 'brand.exists': 'false' }, 'deg'],
  [{ gtin: '96385074' }, 'a'],
  [{ gtin: '096385074' }, 'a'],
  [{ 'gtin.prefix': '0' }, 'f'],
  [{ 'gtin.in': '036000291452,4006381333931' }, 'bf'],
  [{ 'gtin.ne': '96385074' }, 'bf'],
  [{ 'gtin.lte': '4006381333931' }, 'bf'],
  [{ 'gtin.exists': 'true' }, 'abf'],
  [{ group: 'G1' }, 'a'],
  [{ group: 'g1' }, 'b'],
  [{ 'group.in': 'G1,G2' }, 'ac'],
  [{ 'group.prefix': 'G' }, 'ac'],
  [{ 'group.ne': 'G1' }, 'bc'],
  [{ 'group.gt': 'G1' }, 'bc'],
  [{ 'group.exists': 'false' }, 'defg'],
  [{ stock: '0' }, 'a'],
  [{ stock: '-0' }, 'a'],
  [{ 'stock.ne': '0' }, 'bce'],
  [{ 'stock.lt': '5' }, 'a'],
  [{ 'stock.lte': '5' }, 'ab'],
  [{ 'stock.gt': '5' }, 'ce'],
  [{ 'stock.gte': '9007199254740991' }, 'e'],
  [{ 'stock.in': '0,500,-1' }, 'ac'],
  [{ 'stock.exists': 'false' }, 'dfg'],
  [{ 'stock.exists': 'true', 'stock.gte': '1', 'stock.lt': '500' }, 'b'],
  [{ 'url.exists': 'true' }, 'ae'],
  [{ 'url.exists': 'false' }, 'bcdfg'],
  [{ 'images.exists': 'true' }, 'ac'],
  [{ 'images.exists': 'false' }, 'bdefg'],
  [{ 'images.exists': 'true', 'url.exists': 'false' }, 'c'],
];

/** Filters as clients of other services write them, with the right spellings in the message. */
const OTHER_STYLES: readonly (readonly [name: string, message: string])[] = [
  [
    'attributes.watts.gte',
    'write attributes[watts].gte; the attribute with the key "watts.gte" is attributes[watts.gte].',
  ],
  [
    'attributes.a.b.in',
    'write attributes[a.b].in; the attribute with the key "a.b.in" is attributes[a.b.in].',
  ],
  [
    'attributes.colour.ne',
    'attributes[KEY] takes .in .exists .lt .lte .gt .gte; the attribute with the key "colour.ne" is attributes[colour.ne].',
  ],
  ['attributes..lt', 'write attributes[KEY].lt; the attribute with the key ".lt" is attributes[.lt].'],
  ...['attributes[watts][gte]', 'attributes[watts][$gte]', 'attributes[watts][gte][]'].map(
    (name) => [name, 'write attributes[watts].gte; the attribute with the key "watts]['] as const,
  ),
  ['attributes[a][prefix]', 'the attribute with the key "a][prefix" is attributes.a][prefix.'],
  ['attributes[watts][gte]', 'is attributes.watts][gte.'],
  [
    'attributes.watts[gte]',
    'write attributes[watts].gte; the attribute with the key "watts[gte]" is attributes[watts[gte]].',
  ],
  [
    'attributes[attributes.colour]',
    'write attributes[colour], or attributes[colour].in for several values; the attribute with the key "attributes.colour" is attributes.attributes.colour.',
  ],
  ['attributes[attributes.watts].gte', 'write attributes[watts].gte;'],
  ['attributes[attributes.watts.gte]', 'write attributes[watts].gte;'],
  ['attributes[attributes[watts].gte]', 'write attributes[watts].gte;'],
  ['attributes[].gte[attributes[watts].gte]', 'write attributes[watts].gte;'],
  ['attributes[].in[attributes[colour].in]', 'write attributes[colour].in;'],
  ['attributes[].gte.attributes[watts].gte', 'write attributes[KEY].gte;'],
  ...['attributes.colour[]', 'attributes[colour][0]', 'attributes[colour][]'].map(
    (name) => [name, 'write attributes[colour], or attributes[colour].in for several values;'] as const,
  ),
  ...[
    'attributes.colour.in[]',
    'attributes.colour[in][]',
    'attributes[colour][in][0]',
    'attributes.colour.in[1]',
  ].map((name) => [name, 'write attributes[colour].in;'] as const),
  ...['attributes__watts__gte', 'filter[attributes][watts][gte]', 'filters[attributes][watts][$gte]'].map(
    (name) => [name, 'write attributes[watts].gte;'] as const,
  ),
  ...[
    'price.amount[gte]',
    'price[amount][gte]',
    'price.amount[$gte]',
    'price__amount__gte',
    'filter[price.amount][gte]',
    'price[amount].gte',
    'price.amount.gte[]',
  ].map(
    (name) => [name, 'write price.amount.gte; price.amount takes .ne .lt .lte .gt .gte .in .exists'] as const,
  ),
  ...['filter[status]', 'filters[status][]', 'status[]'].map(
    (name) => [name, 'write status; status takes .ne'] as const,
  ),
  ['tags[all][0]', 'tags takes .prefix .in .all .exists'],
  ['name__startswith', 'name takes .ne .lt .lte .gt .gte .prefix .in'],
];

/** Each operator with a colon, as `tags:in`. */
const withColons = (query: Record<string, string>) =>
  Object.fromEntries(Object.entries(query).map(([name, value]) => [name.replace('.', ':'), value]));

for (const [place, store] of LOCAL_STORE_NAMES.entries())
  describe(`filters of the details of products on ${store}`, () => {
    const service = inProcessService({ STORE: store });
    const get = (query: string, headers: Record<string, string> = {}) =>
      service.client.get(`/v1/products?${query}`, { headers });
    const namesIn = (records: readonly { name: string }[]) => records.map(({ name }) => name).join('');
    const names = async (query: string) => {
      const { status, text, json } = await get(query);
      expect(status, text).to.equal(200);
      return namesIn(json);
    };

    before(async () => {
      for (const product of PRODUCTS)
        expect((await service.client.post('/v1/products', product)).status).to.equal(201);
    });

    for (const [at, [pairs, found]] of MATCHES.entries()) {
      const title = `match ${found || 'nothing'} for ${JSON.stringify(pairs)}`;
      // Each has one store in every way: the way to list does not depend on the store.
      if (at % LOCAL_STORE_NAMES.length !== place) {
        it(title, async () => {
          expect(await names(String(new URLSearchParams(pairs)))).to.equal(found);
        });
        continue;
      }
      it(`${title}, in every way to list`, async () => {
        for (const spelling of [pairs, withColons(pairs)]) {
          const query = String(new URLSearchParams(spelling));
          expect(await names(query)).to.equal(found);
          expect(await names(`${query}&sort=-name`)).to.equal([...found].reverse().join(''));
        }
        const query = String(new URLSearchParams(pairs));
        const counted = await get(`${query}&limit=1`, { Prefer: 'count=exact' });
        expect(counted.headers['x-total-count']).to.equal(String(found.length));
        const lines = (await get(query, { Accept: 'application/x-ndjson' })).text.split('\n').slice(0, -1);
        expect(namesIn(lines.map((line) => JSON.parse(line)))).to.equal(found);
        const csv = (await get(query, { Accept: 'text/csv' })).text;
        expect(namesIn(parse(csv, { columns: true }))).to.equal(found);
      });
    }

    it('take several values with commas, repeated, or both, under names that may end in []', async () => {
      for (const query of [
        'tags.in=new,lighting,Sale',
        'tags.in=new&tags.in=lighting&tags.in=Sale',
        'tags.in[]=new&tags.in[]=lighting,Sale',
        'tags:in[]=new&tags.in=lighting&tags%2Ein%5B%5D=Sale',
      ])
        expect(await names(query), query).to.equal('abc');
      for (const query of [
        'tags.all=new,sale',
        'tags.all=new&tags.all=sale',
        'tags.all[]=new&tags.all[]=sale',
        'tags:all=new&tags.all[]=sale,new',
      ])
        expect(await names(query), query).to.equal('c');
      for (const query of ['stock.in[]=0&stock.in[]=5', 'status.in=draft&status:in[]=archived'])
        expect(await names(query), query).to.equal('ab');
    });

    it('list a record once, however many of its tags match, page by page in both directions', async () => {
      for (const filter of [
        'tags.prefix=l',
        'tags.prefix=',
        'tags.in=lighting,lighting/lamps,lighting/lamps/desk,new,Sale,sale',
        'tags.all=lighting/lamps',
      ])
        for (const sort of ['id', '-id', 'name', '-name']) {
          const whole = await names(`${filter}&sort=${sort}`);
          let path = `/v1/products?${filter}&sort=${sort}&limit=1`;
          let seen = '';
          let last = '';
          while (path !== '') {
            const { json, headers } = await service.client.get(path);
            seen += namesIn(json);
            last = path;
            path = linksOf(headers['link'])['next'] ?? '';
          }
          expect(seen, `${filter} ${sort}`).to.equal(whole);
          let back = '';
          for (path = last; path !== ''; ) {
            const { json, headers } = await service.client.get(path);
            back = namesIn(json) + back;
            path = linksOf(headers['link'])['prev'] ?? '';
          }
          expect(back, `${filter} ${sort}, backwards`).to.equal(whole);
        }
    });

    it('stay in the links of a page, whose cursor is good for the same filters alone', async () => {
      const { headers } = await get('tags.all=lighting/lamps&tags.prefix=l&limit=1');
      const { next, first } = linksOf(headers['link']);
      for (const link of [next, first]) {
        const query = new URLSearchParams(link?.split('?')[1]);
        expect([query.get('tags.all'), query.get('tags.prefix')]).to.deep.equal(['lighting/lamps', 'l']);
      }
      const cursor = cursorIn(next);
      const follow = (query: string) => get(`${query}&limit=1&cursor=${cursor}`);
      for (const same of [
        'tags.all=lighting/lamps&tags.prefix=l',
        'tags:prefix=l&tags.all[]=lighting/lamps',
        'tags.all=lighting/lamps,lighting/lamps&tags.prefix=l',
      ])
        expect(namesIn((await follow(same)).json), same).to.equal('b');
      for (const other of [
        'tags.prefix=l',
        'tags.all=lighting/lamps,new&tags.prefix=l',
        'tags.in=lighting/lamps&tags.prefix=l',
        'tags.all=lighting/lamps&tags.prefix=li',
      ]) {
        const { status, json } = await follow(other);
        expect([status, json.code], other).to.deep.equal([400, 'cursor_mismatch']);
      }
    });

    it('take up to 100 values', async () => {
      const values = [...Array.from({ length: 99 }, (_, at) => `t${at}`), 'new'].join();
      expect(await names(`tags.in=${values}`)).to.equal('ac');
      expect(await names(`tags.all=${values}`)).to.equal('');
    });

    it('are by what a product has now', async () => {
      const { client } = service;
      const { id } = (await client.post('/v1/products', { name: 'h', tags: ['now/a', 'now/b'] })).json;
      expect([await names('tags=now/a'), await names('tags.prefix=now/')]).to.deep.equal(['h', 'h']);
      await client.patch(`/v1/products/${id}`, { tags: ['now/b', 'now/c'] });
      expect([await names('tags=now/a'), await names('tags=now/c')]).to.deep.equal(['', 'h']);
      await client.patch(`/v1/products/${id}`, { tags: null });
      expect([await names('tags.prefix=now/'), await names(`tags.exists=false&id=${id}`)]).to.deep.equal([
        '',
        'h',
      ]);
      await client.delete(`/v1/products/${id}`);
      expect(await names('tags.exists=false&name=h')).to.equal('');
    });
  });

describe('filters of the details of products', () => {
  const service = inProcessService();

  it('that there are not are refused with those that there are', async () => {
    for (const [parameter, names] of [
      ['tags.ne', 'tags takes .prefix .in .all .exists'],
      ['tags:lt', 'tags takes .prefix .in .all .exists'],
      ['tags.any', 'tags takes .prefix .in .all .exists'],
      ['url', 'url takes .exists'],
      ['url.prefix', 'url takes .exists'],
      ['images', 'images takes .exists'],
      ['images.url', 'images takes .exists'],
      ['status.all', 'status takes .ne .lt .lte .gt .gte .prefix .in .exists'],
      ['attributes[a].ne', 'attributes[KEY] takes .in .exists .lt .lte .gt .gte'],
      ['attributes[a]:prefix', 'attributes[KEY] takes .in .exists .lt .lte .gt .gte'],
      ...OTHER_STYLES,
      ['stock.prefix', 'stock takes .ne .lt .lte .gt .gte .in .exists'],
      [
        'alt',
        'id, createdAt, updatedAt, name, sku, price.amount, price.currency, attributes[KEY], status, tags, images.exists, url.exists, brand, gtin, group, stock',
      ],
    ] as const) {
      const response = await service.client.get(`/v1/products?${parameter}=x`);
      expect([response.status, response.json.code], parameter).to.deep.equal([400, 'unknown_parameter']);
      expect(issueLocations(response)).to.deep.equal([['unknown_parameter', parameter]]);
      expect(response.json.message, parameter).to.include(names);
    }
  });

  it('name the values that there are, and refuse others', async () => {
    for (const [query, name] of [
      ['status=Draft', 'status'],
      ['status=', 'status'],
      ['status.ne=published', 'status.ne'],
      ['status:in=draft,Live', 'status:in'],
    ] as const) {
      const response = await service.client.get(`/v1/products?${query}`);
      expect([response.status, response.json.code], query).to.deep.equal([400, 'invalid_parameter']);
      expect(issueLocations(response), query).to.deep.equal([['invalid_format', name]]);
      expect(response.json.message, query).to.include(`${name} takes one of draft, archived, live.`);
    }
  });

  it('are no order: lists of products have none by tags, pictures or URL', async () => {
    for (const sort of ['tags', '-tags', 'images', 'url', '-url', 'images.url', 'name,tags']) {
      const response = await service.client.get(`/v1/products?sort=${sort}`);
      expect([response.status, response.json.code], sort).to.deep.equal([400, 'invalid_parameter']);
      expect(issueLocations(response), sort).to.deep.equal([['unknown_field', 'sort']]);
    }
  });

  it('belong to products alone', async () => {
    for (const path of ['users', 'orders', 'api-keys'])
      for (const name of ['tags', 'tags.all', 'status', 'stock.exists', 'url.exists']) {
        const { status, json } = await service.client.get(`/v1/${path}?${name}=true`);
        expect([status, json.code], `${path} ${name}`).to.deep.equal([400, 'unknown_parameter']);
      }
  });
});

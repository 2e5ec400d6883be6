import { expect } from 'chai';
import { expectIssues, expectRefusal } from '../support/http-client.js';
import { inProcessService } from '../support/in-process-service.js';
import { list } from '../support/list.js';

type Fields = Record<string, unknown>;

/** Filters as clients of other services write them, with the right spellings in the message. */
const OTHER_STYLES: readonly (readonly [name: string, message: string])[] = [
  [
    'attributes.watts.gte',
    'write attributes[watts].gte; the attribute with the key "watts.gte" is attributes[watts.gte].',
  ],
  ['attributes.a.b.in', 'write attributes[a.b].in; the attribute with the key "a.b.in" is attributes[a.b.in].'],
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
  ...['attributes.colour.in[]', 'attributes.colour[in][]', 'attributes[colour][in][0]', 'attributes.colour.in[1]'].map(
    (name) => [name, 'write attributes[colour].in;'] as const,
  ),
  ...['attributes__watts__gte', 'filter[attributes][watts][gte]', 'filters[attributes][watts][$gte]'].map(
    (name) => [name, 'write attributes[watts].gte;'] as const,
  ),
  ...list`price.amount[gte]  price[amount][gte]  price.amount[$gte]  price__amount__gte  filter[price.amount][gte]
    price[amount].gte  price.amount.gte[]`.map(
    (name) => [name, 'write price.amount.gte; price.amount takes .ne .lt .lte .gt .gte .in .exists'] as const,
  ),
  ...['filter[status]', 'filters[status][]', 'status[]'].map(
    (name) => [name, 'write status; status takes .ne'] as const,
  ),
  ['tags[all][0]', 'tags takes .prefix .in .all .exists'],
  ['name__startswith', 'name takes .ne .lt .lte .gt .gte .prefix .in'],
];

const query = (pairs: Record<string, string>) =>
  Object.entries(pairs)
    .map((pair) => pair.map(encodeURIComponent).join('='))
    .join('&');

/** The other spelling of the operators. What follows `attributes.` is a key. */
const withColons = (pairs: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(pairs).map(([name, value]) => [
      name.startsWith('attributes.') ? name : name.replace(/\.(?=(?:ne|[lg]te?|prefix|in|exists)$)/, ':'),
      value,
    ]),
  );

describe('filters', () => {
  const service = inProcessService();
  const names = async (pairs: Record<string, string> | string): Promise<string[]> => {
    const response = await service.get(`/products?${typeof pairs === 'string' ? pairs : query(pairs)}`);
    expect(response.status, response.text).to.equal(200);
    return response.json.map(({ name }: { name: string }) => name);
  };

  const PRODUCTS: Fields[] = [
    { name: 'a', sku: 'A-1', price: { amount: 0, currency: 'EUR' }, attributes: { colour: 'red', size: 5 } },
    { name: 'ab', sku: 'a-1', price: { amount: 100, currency: 'USD' }, attributes: { colour: 'Red', new: true } },
    { name: 'a%', price: { amount: 9007199254740991, currency: 'EUR' }, attributes: { 'a.b.c': '1', $gt: 'x' } },
    {
      name: 'a_c',
      sku: 'x.y',
      attributes: {
        constructor: 'red',
        toString: '5',
        'a:b': 'x',
        'a:ne': 'y',
        'a.in': 'z',
        'glow.exists': 'yes',
        exists: 1,
      },
    },
    { name: '.*', gtin: '96385074', tags: ['lighting/lamps', 'new'], stock: 0, status: 'draft' },
    {
      name: '$ne',
      attributes: { colour: '' },
      tags: ['lighting', 'lighting/lamps', 'Sale'],
      stock: 5,
      status: 'archived',
    },
    { name: 'b,c+d&e=f#g', gtin: '036000291452' },
    { name: '\u{1f600}\u{1f601}', attributes: { '\u{1f600}': 'é' } },
    { name: '\uffee', tags: ['new', 'sale', 'é'], url: 'https://a' },
    { name: 'O\'Brien "x" \\ <b> 100% {}' },
  ];

  before(async () => {
    for (const product of PRODUCTS) expect((await service.post('/products', product)).status).to.equal(201);
  });

  // The query property has what each operator finds, on every store. Here is how a query names operators and values.
  const MATCHES: [Record<string, string>, string[]][] = [
    ...(PRODUCTS as { name: string }[]).map(({ name }): [Record<string, string>, string[]] => [{ name }, [name]]),
    [{ 'name.prefix': 'a' }, ['a', 'ab', 'a%', 'a_c']],
    [{ 'name.prefix': 'a%' }, ['a%']],
    [{ 'name.in': 'ab,a%,nothing' }, ['ab', 'a%']],
    [{ 'name.gte': '\uffee' }, ['\u{1f600}\u{1f601}', '\uffee']],
    [{ 'name.lte': '$ne' }, ['$ne']],
    [{ name: 'a\u0000' }, []],
    [{ 'sku.ne': 'A-1' }, ['ab', 'a_c']],
    [{ gtin: '0036000291452' }, ['b,c+d&e=f#g']],
    [{ gtin: '000036000291452' }, []],
    [{ 'gtin.ne': '00000096385074' }, ['b,c+d&e=f#g']],
    [{ 'gtin.in': '0000096385074,36000291452' }, ['.*', 'b,c+d&e=f#g']],
    [{ 'gtin.prefix': '00' }, []],
    [{ q: '0036000291452' }, []],
    [{ q: '036000291452' }, ['b,c+d&e=f#g']],
    [{ 'price.amount': '-0' }, ['a']],
    [{ 'price.amount.gt': '0' }, ['ab', 'a%']],
    [{ 'price.amount.gte': '9007199254740991' }, ['a%']],
    [{ 'price.amount.lt': '-9007199254740991' }, []],
    [{ 'price.currency': 'eur' }, []],
    [{ 'price.currency': 'EUR', 'price.amount.gt': '5' }, ['a%']],
    [{ 'id.gte': '2', 'id.lt': '4' }, ['ab', 'a%']],
    [{ 'id.in': '4,2,2' }, ['ab', 'a_c']],
    [{ id: '9007199254740991' }, []],
    [{ 'attributes.colour': '' }, ['$ne']],
    [{ 'attributes.size': '5' }, ['a']],
    [{ 'attributes.size': '5.0' }, []],
    [{ 'attributes.new': 'true' }, ['ab']],
    [{ 'attributes.a.b.c': '1' }, ['a%']],
    [{ 'attributes.$gt': 'x' }, ['a%']],
    [{ 'attributes.constructor': 'red' }, ['a_c']],
    [{ 'attributes.__proto__': '' }, []],
    [{ 'attributes.\u{1f600}': 'é' }, ['\u{1f600}\u{1f601}']],
    [{ 'attributes..': 'x' }, []],
    [{ 'attributes.a:b': 'x' }, ['a_c']],
    [{ 'attributes.a:ne': 'y' }, ['a_c']],
    [{ 'attributes[colour]': 'red' }, ['a']],
    [{ 'attributes[glow.exists]': 'yes' }, ['a_c']],
    [{ 'attributes[a.in]': 'z' }, ['a_c']],
    [{ 'attributes[a.in]': 'z,y' }, []],
    [{ 'attributes.attributes.colour': 'red' }, []],
    [{ 'attributes.a][gte': 'red' }, []],
    [{ 'attributes[exists]': '1' }, ['a_c']],
    [{ 'attributes[colour].in': 'red,Red,blue' }, ['a', 'ab']],
    [{ 'attributes[colour].exists': 'false', 'name.prefix': 'a' }, ['a%', 'a_c']],
    [{ 'attributes[exists].exists': 'true' }, ['a_c']],
    [{ 'attributes[size].lte': '5.0' }, ['a']],
    [{ 'attributes[size].gt': '-1e3', 'attributes[size].lt': '5.5' }, ['a']],
    [{ 'attributes[colour].in': 'red', 'attributes[size]': '5', 'attributes[size].gt': '4' }, ['a']],
    [{ 'attributes.exists': '1' }, ['a_c']],
    [{ 'sku.exists': 'false', 'name.prefix': 'a' }, ['a%']],
    [{ 'price.currency.exists': 'true', 'sku.exists': 'false' }, ['a%']],
    [{ 'url.exists': 'true' }, ['\uffee']],
    [{ 'images.exists': 'true' }, []],
    [{ tags: 'new' }, ['.*', '\uffee']],
    [{ tags: 'lighting/lamps,new' }, []],
    [{ 'tags.in': 'new,new,lighting,none' }, ['.*', '$ne', '\uffee']],
    [{ 'tags.all': 'new,sale' }, ['\uffee']],
    [{ 'tags.prefix': 'lighting/' }, ['.*', '$ne']],
    [{ tags: 'new', 'tags.in': 'lighting/lamps,sale', 'tags.prefix': 'l' }, ['.*']],
    [{ status: 'draft' }, ['.*']],
    [{ status: 'live', 'tags.exists': 'true' }, ['\uffee']],
    [{ 'status.ne': 'live' }, ['.*', '$ne']],
    [{ 'status.in': 'live,draft', 'tags.exists': 'true' }, ['.*', '\uffee']],
    [{ 'status.prefix': 'live' }, []],
    [{ 'status.gt': 'archived' }, ['.*']],
    [{ 'stock.in': '0,5,-1' }, ['.*', '$ne']],
    [{ 'createdAt.gt': '2000-01-01T00:00:00Z', 'updatedAt.lt': '9999-12-31T23:59:59Z', id: '1' }, ['a']],
    [{ 'createdAt.lt': '2000-01-01t00:00:00z' }, []],
  ];
  it('match the right records, with a dot or a colon before the operator', async () => {
    for (const [pairs, found] of MATCHES)
      for (const spelling of [pairs, withColons(pairs)])
        expect((await names(spelling)).sort(), JSON.stringify(spelling)).to.deep.equal([...found].sort());
  });

  it('match the exact creation time, at any offset', async () => {
    const { createdAt } = (await service.get('/products/3?fields=createdAt')).json;
    const at = Date.parse(createdAt);
    const offset = `${new Date(at + 90 * 60_000).toISOString().slice(0, -1)}+01:30`;
    expect(await names({ createdAt: offset.replace('01:30', '0130'), id: '3' })).to.deep.equal(['a%']);
    expect(await names({ createdAt, id: '3' })).to.deep.equal(['a%']);
    expect(await names({ createdAt: offset, id: '3' })).to.deep.equal(['a%']);
    expect(await names({ 'createdAt.in': `2001-01-01T00:00:00Z,${createdAt}`, id: '3' })).to.deep.equal(['a%']);
    expect(await names({ 'createdAt.gt': createdAt, id: '3' })).to.deep.equal([]);
    const justAfter = createdAt.replace('Z', '000001Z');
    expect(await names({ createdAt: justAfter, id: '3' })).to.deep.equal([]);
    expect(await names({ 'createdAt.lt': justAfter, id: '3' })).to.deep.equal(['a%']);
    expect(await names({ 'createdAt.gte': justAfter, id: '3' })).to.deep.equal([]);
  });

  it('match parameters in any URL encoding', async () => {
    for (const raw of list`name=b%2Cc%2Bd%26e%3Df%23g  name=b,c%2bd%26e=f%23g  %6eame=b%2Cc%2Bd%26e%3Df%23g
      &&name=b%2Cc%2Bd%26e%3Df%23g&`)
      expect(await names(raw), raw).to.deep.equal(['b,c+d&e=f#g']);
    for (const raw of ['name%2Eprefix=O%27Brien%20%22', 'name%3Aprefix=O%27Brien%20%22', "name.prefix=O'Brien+%22"])
      expect(await names(raw), raw).to.deep.equal(['O\'Brien "x" \\ <b> 100% {}']);
    expect(await names('name=%EF%BF%AE')).to.deep.equal(['\uffee']);
  });

  it('take a value up to the maximum length of the URL', async () => {
    const maxLength = 8 * 1024 - '/products?name.ne='.length;
    expect(await names(`name.ne=${'x'.repeat(maxLength)}`)).to.have.length(PRODUCTS.length);
    await expectRefusal(service.get(`/products?name.ne=${'x'.repeat(maxLength + 1)}`), 'uri_too_long');
  });

  it('take several values with commas, repeated, or both, under names that may end in []', async () => {
    for (const [parameters, found] of [
      ['tags.in=new&tags.in=lighting', ['.*', '$ne', '\uffee']],
      ['tags:in[]=new&tags.in=x&tags%2Ein%5B%5D=lighting', ['.*', '$ne', '\uffee']],
      ['tags.all=new&tags:all[]=sale', ['\uffee']],
      ['stock.in[]=0&stock.in[]=5', ['.*', '$ne']],
      ['status.in=draft&status:in[]=archived', ['.*', '$ne']],
    ] as const)
      expect(await names(parameters), parameters).to.deep.equal(found);
    const values = [...Array.from({ length: 99 }, (_, at) => `t${at}`), 'new'].join();
    expect(await names(`tags.in=${values}`)).to.have.length(2);
    expect(await names(`tags.all=${values}`)).to.deep.equal([]);
  });

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
      const response = await service.get(`/v1/products?${parameter}=x`);
      const code = 'unknown_parameter';
      await expectIssues(response, code, [`${code} ${parameter}`], parameter);
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
      const response = await expectIssues(
        service.get(`/v1/products?${query}`),
        'invalid_parameter',
        [`invalid_format ${name}`],
        query,
      );
      expect(response.json.message, query).to.include(`${name} takes one of draft, archived, live.`);
    }
  });

  it('are refused with at most 100 issues in one response', async () => {
    const response = await service.get(`/products?${'a&'.repeat(4_000)}`);
    expect([response.status, response.json.details.length]).to.deep.equal([400, 100]);
  });
  it('of an email with a space, which is a + that was not encoded, are rejected with the way to write it', async () => {
    await service.post('/users', { name: 'Ann', email: 'ann+shop@example.com' });
    for (const filter of list`email=ann+shop@example.com  email.in=x@example.com,ann+shop@example.com
      email.prefix=ann+  email.ne=ann%20shop@example.com  email:lt=a+`) {
      const { json } = await expectRefusal(service.get(`/users?${filter}`), 'invalid_parameter', filter);
      expect(json.details).to.have.length(1);
      expect(json.details[0]).to.include({ code: 'invalid_format', name: filter.slice(0, filter.indexOf('=')) });
      expect(json.message).to.include('in a query + is written %2B');
    }
    for (const filter of ['email=ann%2Bshop@example.com', 'email.prefix=ann%2B', 'email.in=x,ann%2Bshop@example.com'])
      expect((await service.get(`/users?${filter}`)).json, filter).to.have.length(1);
    expect((await service.get('/products?sku=A+B')).json, 'a sku has no +').to.deep.equal([]);
  });

  it('are limited to 100', async () => {
    const pairs = (count: number) =>
      query(Object.fromEntries(Array.from({ length: count }, (_, i) => [`attributes.key${i}`, 'x'])));
    expect(await names(pairs(100))).to.deep.equal([]);
    await expectIssues(service.get(`/products?${pairs(101)}`), 'invalid_parameter', ['too_long attributes.key100']);
  });
});

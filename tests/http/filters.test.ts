import { expect } from 'chai';
import { issueLocations } from '../support/http-client.js';
import { inProcessService } from '../support/in-process-service.js';

type Fields = Record<string, unknown>;

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
  const request = () => service.client;
  const names = async (pairs: Record<string, string> | string): Promise<string[]> => {
    const response = await request().get(`/products?${typeof pairs === 'string' ? pairs : query(pairs)}`);
    expect(response.status, response.text).to.equal(200);
    return response.json.map(({ name }: { name: string }) => name);
  };

  const PRODUCTS: Fields[] = [
    { name: 'a', sku: 'A-1', price: { amount: 0, currency: 'EUR' }, attributes: { colour: 'red', size: 5 } },
    {
      name: 'ab',
      sku: 'a-1',
      price: { amount: 100, currency: 'USD' },
      attributes: { colour: 'Red', new: true },
    },
    {
      name: 'a%',
      price: { amount: 9007199254740991, currency: 'EUR' },
      attributes: { 'a.b.c': '1', $gt: 'x' },
    },
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
    { name: '.*', gtin: '96385074' },
    { name: '$ne', attributes: { colour: '' } },
    { name: 'b,c+d&e=f#g', gtin: '036000291452' },
    { name: '\u{1f600}\u{1f601}', attributes: { '\u{1f600}': 'é' } },
    { name: '\uffee' },
    { name: 'O\'Brien "x" \\ <b> 100% {}' },
  ];

  before(async () => {
    for (const product of PRODUCTS) expect((await request().post('/products', product)).status).to.equal(201);
  });

  describe('match', () => {
    for (const { name } of PRODUCTS as { name: string }[]) {
      it(`a text literally: ${name}`, async () => {
        expect(await names({ name })).to.deep.equal([name]);
        expect(await names({ 'name.ne': name })).to.have.length(PRODUCTS.length - 1);
      });
    }

    const MATCHES: [Record<string, string>, string[]][] = [
      [{ 'name.prefix': 'a' }, ['a', 'ab', 'a%', 'a_c']],
      [{ 'name.prefix': 'a%' }, ['a%']],
      [{ 'name.prefix': 'a_' }, ['a_c']],
      [{ 'name.prefix': '.' }, ['.*']],
      [{ 'name.prefix': 'A' }, []],
      [{ 'name.prefix': '\u{1f600}' }, ['\u{1f600}\u{1f601}']],
      [{ 'name.prefix': '', 'id.lte': '2' }, ['a', 'ab']],
      [{ 'name.in': 'ab,a%,nothing' }, ['ab', 'a%']],
      [{ 'name.gt': '\uffee' }, ['\u{1f600}\u{1f601}']],
      [{ 'name.gte': '\uffee' }, ['\u{1f600}\u{1f601}', '\uffee']],
      [{ 'name.lt': '.' }, ['$ne']],
      [{ 'name.lte': '$ne' }, ['$ne']],
      [{ name: 'nothing' }, []],
      [{ name: 'a\u0000' }, []],
      [{ name: '' }, []],
      [{ sku: 'A-1' }, ['a']],
      [{ 'sku.ne': 'A-1' }, ['ab', 'a_c']],
      [{ 'sku.prefix': '' }, ['a', 'ab', 'a_c']],
      [{ 'sku.in': 'x.y,A-1' }, ['a', 'a_c']],
      [{ gtin: '0036000291452' }, ['b,c+d&e=f#g']],
      [{ gtin: '00036000291452' }, ['b,c+d&e=f#g']],
      [{ gtin: '000036000291452' }, []],
      [{ 'gtin.ne': '00000096385074' }, ['b,c+d&e=f#g']],
      [{ 'gtin.in': '0000096385074,36000291452' }, ['.*', 'b,c+d&e=f#g']],
      [{ 'gtin.prefix': '00' }, []],
      [{ q: '0036000291452' }, []],
      [{ q: '036000291452' }, ['b,c+d&e=f#g']],
      [{ 'price.amount': '100' }, ['ab']],
      [{ 'price.amount': '-0' }, ['a']],
      [{ 'price.amount.ne': '100' }, ['a', 'a%']],
      [{ 'price.amount.gt': '0' }, ['ab', 'a%']],
      [{ 'price.amount.gte': '9007199254740991' }, ['a%']],
      [{ 'price.amount.lt': '-9007199254740991' }, []],
      [{ 'price.amount.in': '0,100' }, ['a', 'ab']],
      [{ 'price.currency': 'EUR' }, ['a', 'a%']],
      [{ 'price.currency': 'eur' }, []],
      [{ 'price.currency': 'EUR', 'price.amount.gt': '5' }, ['a%']],
      [{ 'id.gte': '2', 'id.lt': '4' }, ['ab', 'a%']],
      [{ 'id.in': '4,2,2' }, ['ab', 'a_c']],
      [{ id: '9007199254740991' }, []],
      [{ 'attributes.colour': 'red' }, ['a']],
      [{ 'attributes.colour': '' }, ['$ne']],
      [{ 'attributes.size': '5' }, ['a']],
      [{ 'attributes.size': '5.0' }, []],
      [{ 'attributes.new': 'true' }, ['ab']],
      [{ 'attributes.a.b.c': '1' }, ['a%']],
      [{ 'attributes.$gt': 'x' }, ['a%']],
      [{ 'attributes.constructor': 'red' }, ['a_c']],
      [{ 'attributes.toString': '5' }, ['a_c']],
      [{ 'attributes.hasOwnProperty': 'x' }, []],
      [{ 'attributes.__proto__': 'x' }, []],
      [{ 'attributes.__proto__': '' }, []],
      [{ 'attributes.\u{1f600}': 'é' }, ['\u{1f600}\u{1f601}']],
      [{ 'attributes.a': '1' }, []],
      [{ 'attributes..': 'x' }, []],
      [{ 'attributes.a:b': 'x' }, ['a_c']],
      [{ 'attributes.a:ne': 'y' }, ['a_c']],
      [{ 'attributes.a:ne': 'x' }, []],
      [{ 'attributes[colour]': 'red' }, ['a']],
      [{ 'attributes[glow.exists]': 'yes' }, ['a_c']],
      [{ 'attributes[a.in]': 'z' }, ['a_c']],
      [{ 'attributes[a.in]': 'z,y' }, []],
      [{ 'attributes.attributes.colour': 'red' }, []],
      [{ 'attributes.a][gte': 'red' }, []],
      [{ 'attributes[exists]': '1' }, ['a_c']],
      [{ 'attributes.:': 'x' }, []],
      [{ 'attributes[colour].in': 'red,Red,blue' }, ['a', 'ab']],
      [{ 'attributes[size].in': '4,5,5.0' }, ['a']],
      [{ 'attributes[new].in': 'true,x' }, ['ab']],
      [{ 'attributes[colour].exists': 'true' }, ['a', 'ab', '$ne']],
      [{ 'attributes[colour].exists': 'false', 'name.prefix': 'a' }, ['a%', 'a_c']],
      [{ 'attributes[glow.exists].exists': 'true' }, ['a_c']],
      [{ 'attributes[exists].exists': 'true' }, ['a_c']],
      [{ 'attributes[__proto__].exists': 'true' }, []],
      [{ 'attributes[hasOwnProperty].in': 'x' }, []],
      [{ 'attributes[size].lt': '5' }, []],
      [{ 'attributes[size].lte': '5.0' }, ['a']],
      [{ 'attributes[size].gt': '-1e3', 'attributes[size].lt': '5.5' }, ['a']],
      [{ 'attributes[size].gte': '5' }, ['a']],
      [{ 'attributes[exists].gt': '0' }, ['a_c']],
      [{ 'attributes[a.b.c].gt': '0' }, []],
      [{ 'attributes[new].gte': '0' }, []],
      [{ 'attributes[colour].in': 'red', 'attributes[size]': '5', 'attributes[size].gt': '4' }, ['a']],
      [{ 'sku.exists': 'true' }, ['a', 'ab', 'a_c']],
      [{ 'sku.exists': 'false', 'name.prefix': 'a' }, ['a%']],
      [{ 'price.amount.exists': 'true' }, ['a', 'ab', 'a%']],
      [{ 'price.amount.exists': 'false', 'sku.exists': 'true' }, ['a_c']],
      [{ 'price.currency.exists': 'true', 'sku.exists': 'false' }, ['a%']],
      [{ 'price.currency.exists': 'true', 'price.amount.exists': 'false' }, []],
      [{ 'sku.exists': 'true', sku: 'A-1' }, ['a']],
      [{ 'sku.exists': 'false', 'sku.ne': 'A-1' }, []],
      [{ 'sku.exists': 'false', 'id.lte': '6', q: 'ne' }, ['$ne']],
      [{ 'attributes.exists': '1' }, ['a_c']],
      [{ 'createdAt.gt': '2000-01-01T00:00:00Z', 'updatedAt.lt': '9999-12-31T23:59:59Z', id: '1' }, ['a']],
      [{ 'createdAt.lt': '2000-01-01t00:00:00z' }, []],
    ];
    for (const [pairs, found] of MATCHES) {
      it(`the right records for ${JSON.stringify(pairs)}`, async () => {
        expect((await names(pairs)).sort()).to.deep.equal([...found].sort());
        expect((await names(withColons(pairs))).sort()).to.deep.equal([...found].sort());
      });
    }

    it('the exact creation time, at any offset', async () => {
      const { createdAt } = (await request().get('/products/3?fields=createdAt')).json;
      const at = Date.parse(createdAt);
      const offset = `${new Date(at + 90 * 60_000).toISOString().slice(0, -1)}+01:30`;
      expect(await names({ createdAt: offset.replace('01:30', '0130'), id: '3' })).to.deep.equal(['a%']);
      expect(await names({ createdAt, id: '3' })).to.deep.equal(['a%']);
      expect(await names({ createdAt: offset, id: '3' })).to.deep.equal(['a%']);
      expect(await names({ 'createdAt.in': `2001-01-01T00:00:00Z,${createdAt}`, id: '3' })).to.deep.equal([
        'a%',
      ]);
      expect(await names({ 'createdAt.gt': createdAt, id: '3' })).to.deep.equal([]);
      const justAfter = createdAt.replace('Z', '000001Z');
      expect(await names({ createdAt: justAfter, id: '3' })).to.deep.equal([]);
      expect(await names({ 'createdAt.lt': justAfter, id: '3' })).to.deep.equal(['a%']);
      expect(await names({ 'createdAt.gte': justAfter, id: '3' })).to.deep.equal([]);
    });

    it('parameters in any URL encoding', async () => {
      for (const raw of [
        'name=b%2Cc%2Bd%26e%3Df%23g',
        'name=b,c%2bd%26e=f%23g',
        '%6eame=b%2Cc%2Bd%26e%3Df%23g',
        '&&name=b%2Cc%2Bd%26e%3Df%23g&',
      ]) {
        expect(await names(raw), raw).to.deep.equal(['b,c+d&e=f#g']);
      }
      for (const raw of [
        'name%2Eprefix=O%27Brien%20%22',
        'name%3Aprefix=O%27Brien%20%22',
        "name.prefix=O'Brien+%22",
      ]) {
        expect(await names(raw), raw).to.deep.equal(['O\'Brien "x" \\ <b> 100% {}']);
      }
      expect(await names('name=%EF%BF%AE')).to.deep.equal(['\uffee']);
    });

    it('no product by a field of others, and no other record by a field of products', async () => {
      for (const [path, name] of [
        ['users', 'email.exists'],
        ['users', 'sku.exists'],
        ['orders', 'userId.exists'],
        ['api-keys', 'name.exists'],
        ['api-keys', 'expiresAt.exists'],
      ]) {
        const { status, json } = await request().get(`/${path}?${name}=true`);
        expect([status, json.code], name).to.deep.equal([400, 'unknown_parameter']);
      }
    });

    it('up to 100 values of .in', async () => {
      const ids = Array.from({ length: 100 }, (_, i) => i + 1).join(',');
      expect(await names({ 'id.in': ids })).to.have.length(PRODUCTS.length);
    });

    it('a value up to the maximum length of the URL', async () => {
      const maxLength = 8 * 1024 - '/products?name.ne='.length;
      expect(await names(`name.ne=${'x'.repeat(maxLength)}`)).to.have.length(PRODUCTS.length);
      const response = await request().get(`/products?name.ne=${'x'.repeat(maxLength + 1)}`);
      expect([response.status, response.json.code]).to.deep.equal([414, 'uri_too_long']);
    });
  });

  describe('are rejected', () => {
    it('with at most 100 issues in one response', async () => {
      const response = await request().get(`/products?${'a&'.repeat(4_000)}`);
      expect([response.status, response.json.details.length]).to.deep.equal([400, 100]);
    });

    it('on an item and on writes', async () => {
      for (const [method, path] of [
        ['GET', '/products/1'],
        ['PUT', '/products/1'],
        ['POST', '/products'],
        ['DELETE', '/products/1'],
      ] as const) {
        const response = await request().request(
          method,
          `${path}?name=a`,
          method === 'GET' ? {} : { body: {} },
        );
        expect([response.status, response.json.code], method).to.deep.equal([400, 'unknown_parameter']);
      }
    });
  });

  it('of an email with a space, which is a + that was not encoded, are rejected with the way to write it', async () => {
    await request().post('/users', { name: 'Ann', email: 'ann+shop@example.com' });
    for (const filter of [
      'email=ann+shop@example.com',
      'email.in=x@example.com,ann+shop@example.com',
      'email.prefix=ann+',
      'email.ne=ann%20shop@example.com',
      'email:lt=a+',
    ]) {
      const { status, json } = await request().get(`/users?${filter}`);
      expect([status, json.code], filter).to.deep.equal([400, 'invalid_parameter']);
      expect(json.details).to.have.length(1);
      expect(json.details[0]).to.include({
        code: 'invalid_format',
        name: filter.slice(0, filter.indexOf('=')),
      });
      expect(json.message).to.include('in a query + is written %2B');
    }
    for (const filter of [
      'email=ann%2Bshop@example.com',
      'email.prefix=ann%2B',
      'email.in=x,ann%2Bshop@example.com',
    ])
      expect((await request().get(`/users?${filter}`)).json, filter).to.have.length(1);
    expect((await request().get('/products?sku=A+B')).json, 'a sku has no +').to.deep.equal([]);
  });

  it('are limited to 100', async () => {
    const pairs = (count: number) =>
      query(Object.fromEntries(Array.from({ length: count }, (_, i) => [`attributes.key${i}`, 'x'])));
    expect(await names(pairs(100))).to.deep.equal([]);
    const response = await request().get(`/products?${pairs(101)}`);
    expect([response.status, response.json.code]).to.deep.equal([400, 'invalid_parameter']);
    expect(issueLocations(response)).to.deep.equal([['too_long', 'attributes.key100']]);
  });
});

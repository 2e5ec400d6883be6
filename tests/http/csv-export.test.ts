import { expect } from 'chai';
import { expectIssues } from '../support/http-client.js';
import { inProcessService } from '../support/in-process-service.js';
import { linksOf } from '../support/links.js';
import { list } from '../support/list.js';

const CSV = { Accept: 'text/csv' };
const TYPE = 'text/csv; charset=utf-8; header=present';

/** An issue of the parameter `fields`. */
const ofFields = (code: string) => `${code} fields`;

// export.test.ts has what an export does, in whatever form.
describe('a list as CSV', () => {
  const service = inProcessService();
  const priced = inProcessService();
  const exported = async (path: string, headers: Record<string, string> = {}) => {
    const response = await service.get(path, { headers: { ...CSV, ...headers } });
    expect([response.status, response.headers['content-type']], response.text).to.deep.equal([200, TYPE]);
    expect(response.headers.etag).to.equal(undefined);
    return response;
  };
  const text = async (path: string) => (await exported(path)).text;
  const TEXTS = 'a,"b"\n=SUM(A1)\r\n\ufeffé 😀\u2028';

  before(async () => {
    const lamp = {
      name: 'Lamp, green',
      description: TEXTS,
      sku: 'L-1',
      price: { amount: 9007199254740991, currency: 'EUR' },
      attributes: { colour: 'a "b"', watts: 7.5, on: true, off: false, 'a.b:c': '', '': undefined, zero: 0 },
    };
    for (const fields of [
      lamp,
      { name: ' =1+1' },
      { name: 'x', description: '' },
      { name: 'lone\u0085', description: 'a\rb' },
    ])
      expect((await service.post('/products', fields)).status).to.equal(201);
    await service.post('/users', { name: 'Ann', email: 'Ann@example.com' });
    const items = [
      { productId: 2, quantity: 3 },
      { productId: 1, quantity: 1 },
    ];
    await service.post('/orders', { userId: 1, items });
    await service.post('/orders', { userId: 1, items: [{ productId: 3, quantity: 1_000_000 }] });
  });

  it('has a header row, and the fields in their order, quoted by RFC 4180', async () => {
    const attributes =
      '"{""colour"":""a \\""b\\"""",""watts"":7.5,""on"":true,""off"":false,""a.b:c"":"""",""zero"":0}"';
    const fields = 'id,name,description,sku,price.amount,price.currency,attributes';
    const shown = fields.split(',');
    const [header = ''] = (await text('/products')).split('\r\n');
    expect(header.split(',').filter((name) => shown.includes(name))).to.deep.equal(shown);
    expect(await text(`/products?fields=${fields}`)).to.equal(
      [
        fields,
        `1,"Lamp, green","a,""b""\n=SUM(A1)\r\n\ufeffé 😀\u2028",L-1,9007199254740991,EUR,${attributes}`,
        '2, =1+1,,,,,',
        '3,x,"",,,,',
        '4,"lone\u0085","a\rb",,,,',
        '',
      ].join('\r\n'),
    );
    expect(await text('/v1/users')).to.equal('id,name,email\r\n1,Ann,Ann@example.com\r\n');
  });

  it('writes the line ends of Unicode escaped in JSON, and in quotes in text, which has no escape', async () => {
    const attributes = { 'a\u2028': '\u2029\u0085' };
    const { json } = await service.post('/products', { name: 'ends', attributes });
    expect(await text('/products?name=ends&fields=name,attributes')).to.equal(
      'name,attributes\r\nends,"{""a\\u2028"":""\\u2029\\u0085""}"\r\n',
    );
    await service.delete(`/products/${json.id}`);
  });

  it('has tags with bars between them, and images as JSON', async () => {
    const { json } = await service.post('/products', {
      name: 'details',
      tags: ['a b', ' "new" ', '=1\u2028'],
      images: [{ url: 'https://a/1.jpg', alt: 'a "b", c\u2029' }, { url: 'https://a' }],
      url: 'https://a/?b=c,d',
      gtin: '0036000291452',
      stock: 0,
    });
    expect(await text('/products?name=details&fields=stock,images,tags,url,gtin')).to.equal(
      'stock,images,tags,url,gtin\r\n' +
        '0,"[{""url"":""https://a/1.jpg"",""alt"":""a \\""b\\"", c\\u2029""},{""url"":""https://a""}]",' +
        '"a b| ""new"" |=1\u2028","https://a/?b=c,d",0036000291452\r\n',
    );
    await service.delete(`/products/${json.id}`);
  });

  it('has the header row if nothing matches, also on a page', async () => {
    for (const path of ['/products?name=none&fields=name', '/products?name=none&fields=name&limit=5'])
      expect(await text(path)).to.equal('name\r\n');
  });

  it('has the columns that fields names, in its order, each once', async () => {
    for (const [fields, csv] of [
      ['name,id', 'name,id\r\nx,3\r\n'],
      ['id,name,id', 'id,name\r\n3,x\r\n'],
      ['version', 'version\r\n1\r\n'],
      ['sku', 'sku\r\n\r\n'],
      ['description', 'description\r\n""\r\n'],
      ['price', 'price.amount,price.currency\r\n,\r\n'],
      ['price.currency,price,id', 'price.currency,price.amount,id\r\n,,3\r\n'],
    ] as const)
      expect(await text(`/products?id=3&fields=${fields}`), fields).to.equal(csv);
    expect(await text('/products?id=3&fields=name&fields=id')).to.equal('name,id\r\nx,3\r\n');
    const { createdAt, updatedAt } = (await service.get('/products/1?fields=createdAt,updatedAt')).json;
    expect(await text('/products?id=1&fields=updatedAt,version,createdAt')).to.equal(
      `updatedAt,version,createdAt\r\n${updatedAt},1,${createdAt}\r\n`,
    );
  });

  it('has a column for each attribute that fields names', async () => {
    const fields = ['on', 'off', 'watts', 'a.b:c', 'none', 'zero', 'colour', 'constructor', '__proto__']
      .map((key) => `attributes.${key}`)
      .join(',');
    expect(await text(`/products?id.lt=3&fields=${fields}`)).to.equal(
      `${fields}\r\ntrue,false,7.5,"",,0,"a ""b""",,\r\n,,,,,,,,\r\n`,
    );
    expect(await text('/products?id=1&fields=attributes[a.b:c],attributes[zero],attributes.zero')).to.equal(
      'attributes.a.b:c,attributes.zero\r\n"",0\r\n',
    );
    expect(await text('/products?id=1&fields=attributes.zero,attributes')).to.match(
      /^attributes.zero,attributes\r\n0,"\{/,
    );
  });

  it('has the amount in the major unit if fields names it, with all digits of the currency', async () => {
    const prices: [amount: number, currency: string, decimal: string][] = [
      [1999, 'EUR', '19.99'],
      [1990, 'EUR', '19.90'],
      [7, 'EUR', '0.07'],
      [0, 'EUR', '0.00'],
      [9007199254740991, 'EUR', '90071992547409.91'],
      [1999, 'JPY', '1999'],
      [5, 'KWD', '0.005'],
      [12345, 'CLF', '1.2345'],
      [115, 'XYZ', '1.15'],
    ];
    for (const [amount, currency] of prices) await priced.post('/products', { name: 'x', price: { amount, currency } });
    await priced.post('/products', { name: 'x' });
    const { status, text } = await priced.get('/products?fields=price.decimal,price.currency', { headers: CSV });
    expect([status, text]).to.deep.equal([
      200,
      ['price.decimal,price.currency', ...prices.map(([, code, decimal]) => `${decimal},${code}`), ',', ''].join(
        '\r\n',
      ),
    ]);
    for (const [fields, codes] of [
      ['price.decimal', ['required']],
      ['price.decimal,price.amount,price.currency', ['duplicate_value']],
      ['price,price.decimal', ['duplicate_value']],
      ['price.decimal,price.amount,x', ['unknown_field', 'duplicate_value', 'required']],
    ] as const)
      await expectIssues(
        priced.get(`/products?fields=${fields}`, { headers: CSV }),
        'invalid_parameter',
        codes.map(ofFields),
        fields,
      );
  });

  it('has a row for each item of an order, with the other columns repeated', async () => {
    expect(await text('/orders')).to.equal(
      'id,userId,items.productId,items.quantity\r\n1,1,2,3\r\n1,1,1,1\r\n2,1,3,1000000\r\n',
    );
    expect(await text('/orders?fields=items.quantity,version,items.productId&limit=1')).to.equal(
      'items.quantity,version,items.productId\r\n3,1,2\r\n1,1,1\r\n',
    );
    expect(await text('/orders?fields=items')).to.equal(
      'items.productId,items.quantity\r\n2,3\r\n1,1\r\n3,1000000\r\n',
    );
    expect(await text('/orders?fields=id,userId')).to.equal('id,userId\r\n1,1\r\n2,1\r\n');
  });

  it('shows API keys without their secret, and their scopes as JSON', async () => {
    const [header, ...rows] = (await text('/api-keys?fields=name,scopes,expiresAt')).split('\r\n');
    expect(header).to.equal('name,scopes,expiresAt');
    expect(rows[0]).to.match(/,"\[""products:read""/);
    expect((await text('/api-keys')).split('\r\n')[0]).to.equal(
      'id,name,scopes,expiresAt,createdAt,lastUsedAt,createdBy,createdBySubject',
    );
  });

  it('rejects names that the resource does not have, and those of CSV in JSON', async () => {
    for (const [path, ...codes] of [
      ...list`/products?fields=colour  /products?fields=attributes.  /products?fields=price.tax  /products?fields=tags.0`,
      ...list`/products?fields=images.url  /products?fields=url.x  /products?fields=tag  /products?fields=attributes[]`,
      ...list`/products?fields=attributes[zero]:number  /users?fields=attributes.x  /users?fields=constructor`,
      ...list`/orders?fields=price  /api-keys?fields=digest  /api-keys?fields=usage`,
    ]
      .map((path) => [path, 'unknown_field'])
      .concat([['/products?fields=Name,,items', 'too_short', 'unknown_field']]))
      await expectIssues(service.get(`${path}`, { headers: CSV }), 'invalid_parameter', codes.map(ofFields), path);
    for (const field of ['price.amount', 'price.decimal', 'attributes.watts'])
      for (const Accept of ['application/json', 'application/x-ndjson'])
        expect((await service.get(`/products?fields=${field}`, { headers: { Accept } })).status).to.equal(400);
  });

  it('is one page with Link if a limit is given, else everything', async () => {
    const first = await exported('/products?limit=2&fields=name,attributes.a:b&sort=-id');
    expect(first.text).to.equal('name,attributes.a:b\r\n"lone\u0085",\r\nx,\r\n');
    const { next } = linksOf(first.headers['link']);
    const second = await exported(`${next}`);
    expect(second.text.split('\r\n')[0]).to.equal('name,attributes.a:b');
    expect(second.text).to.include(' =1+1');
    expect((await exported('/products')).headers['link']).to.equal('</products/changes>; rel="monitor"');
  });

  it('can be counted', async () => {
    for (const path of ['/products?limit=1', '/products']) {
      const { headers } = await exported(path, { Prefer: 'count=exact' });
      expect([headers['x-total-count'], headers['preference-applied']]).to.deep.equal(['4', 'count=exact']);
    }
  });
});

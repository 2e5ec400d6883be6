import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { inProcessService } from '../support/in-process-service.js';
import { cursorIn, linksOf } from '../support/links.js';

const check = (list: string, text: string) =>
  createHash('sha256').update(`${list}\n${text}`).digest('base64url').slice(0, 8);
/** @returns a cursor with a correct check, which anyone who has read the source can make */
const forged = (text: string, list = 'products') => Buffer.from(check(list, text) + text).toString('base64url');
const inside = (cursor: string) => JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8').slice(8));

describe('a cursor of facets', () => {
  const service = inProcessService();

  it('is rejected if its content is invalid, even with a correct check', async () => {
    for (const brand of ['a', 'b']) await service.post('/products', { name: 'x', brand, attributes: { k: brand } });
    const codeOf = async (field: string, cursor: string) => {
      const { status, json } = await service.get(`/products/facets?fields=${field}&limit=1&cursor=${cursor}`);
      return status === 200 ? 200 : json.code;
    };
    for (const [field, isText] of Object.entries({ brand: true, 'attributes[k]': false })) {
      const { headers } = await service.get(`/products/facets?fields=${field}&limit=1`);
      const [fingerprint, value, count] = inside(cursorIn(linksOf(headers['link'])['next']));
      expect([value, count]).to.deep.equal(['a', 1]);
      const at = (...values: unknown[]) => forged(JSON.stringify(values), 'products/facets');
      expect(await codeOf(field, at(fingerprint, 'x', 7))).to.equal(200);
      for (const other of [5, -0.5, true])
        expect(await codeOf(field, at(fingerprint, other, 1)), `${other}`).to.equal(isText ? 'invalid_cursor' : 200);
      for (const wrong of [
        [fingerprint, null, 1],
        [fingerprint, ['a'], 1],
        [fingerprint, '\ud800', 1],
        [fingerprint, 'a', 0],
        [fingerprint, 'a', 1.5],
        [fingerprint, 'a', '1'],
        [fingerprint, 'a', 2 ** 53],
        [fingerprint, 'a'],
        [fingerprint, 'a', 1, 1],
        [7, 'a', 1],
        [],
      ])
        expect(await codeOf(field, at(...wrong)), JSON.stringify(wrong)).to.equal('invalid_cursor');
      expect(await codeOf(field, forged(JSON.stringify([fingerprint, 'a', 1])))).to.equal('invalid_cursor');
      expect(await codeOf(field, forged(`["${fingerprint}",1e999,1]`, 'products/facets'))).to.equal('invalid_cursor');
      expect(await codeOf(field, at('x', 'a', 1))).to.equal('cursor_mismatch');
    }
  });
});

describe('a cursor', () => {
  const service = inProcessService();
  const next = async (query: string) =>
    linksOf((await service.get(`/products?${query}`)).headers['link'])['next'] ?? '';
  const codeOf = async (query: string, cursor: string) => {
    const response = await service.get(`/products?${query}&cursor=${encodeURIComponent(cursor)}`);
    if (response.status === 200) return 200;
    expect([response.status, response.json.details.length], cursor).to.deep.equal([400, 1]);
    expect(response.json.details[0]).to.include({ code: 'invalid_format', in: 'query', name: 'cursor' });
    return response.json.code;
  };

  before(async () => {
    for (const name of ['a', 'b', 'é"\\', '\u{1f600}', 'a%', ' x']) await service.post('/products', { name });
  });

  for (const query of ['limit=1', 'sort=-name,createdAt&limit=3', 'sort=name&limit=4&name.ne=a'])
    it(`is rejected if it is cut, extended or changed, with ${query}`, async () => {
      const cursor = cursorIn(await next(query));
      expect(await codeOf(query, cursor)).to.equal(200);
      const flipped = [...cursor].map((letter, at) => {
        return cursor.slice(0, at) + (letter === 'A' ? 'B' : 'A') + cursor.slice(at + 1);
      });
      const cut = [...cursor].flatMap((_, at) => [cursor.slice(0, at), cursor.slice(at + 1)]);
      for (const bad of new Set([
        ...flipped,
        ...cut.filter((one) => one !== cursor),
        `${cursor}A`,
        `${cursor}AAAA`,
        `${cursor}=`,
        ` ${cursor}`,
        `${cursor}\n`,
        `${cursor}\u0000`,
        cursor + cursor,
        cursor.toUpperCase(),
        Buffer.from(cursor, 'base64url')
          .toString('base64')
          .padEnd(cursor.length + 1, '='),
      ]))
        expect(await codeOf(query, bad), bad).to.equal('invalid_cursor');
    });

  it('is rejected if its content is invalid, even with a correct check', async () => {
    const [side, inclusive, fingerprint, values] = inside(cursorIn(await next('limit=1')));
    expect([side, inclusive, values]).to.deep.equal(['after', false, [1]]);
    const good = JSON.stringify([side, inclusive, fingerprint, [2]]);
    expect(await codeOf('limit=1', forged(good))).to.equal(200);
    for (const bad of [
      ...[[], [1, 2], ['1'], [null], [true], [[1]], [{}], [1.5], [2 ** 53], [1e300], [-(2 ** 53)], 1, null, {}].map(
        (wrong) => JSON.stringify([side, inclusive, fingerprint, wrong]),
      ),
      ...['aside', 1, null, ['after'], '__proto__'].map((wrong) =>
        JSON.stringify([wrong, inclusive, fingerprint, values]),
      ),
      ...[0, 'false', null].map((wrong) => JSON.stringify([side, wrong, fingerprint, values])),
      ...[0, null, ['x'], {}].map((wrong) => JSON.stringify([side, inclusive, wrong, values])),
      JSON.stringify([side, inclusive, fingerprint, values, 1]),
      JSON.stringify([side, inclusive, fingerprint]),
      `${good} `,
      good.replace('[2]', '[2.0]'),
      good.replace('[2]', '[2e0]'),
      good.replace('[2]', '[-0]'),
      good.replace('[2]', '[9007199254740993]'),
      good.replace('"after"', '"\\u0061fter"'),
      '{"side":"after"}',
      '"after"',
      'null',
      '[]',
      '['.repeat(3_000),
      '',
    ])
      expect(await codeOf('limit=1', forged(bad)), bad).to.equal('invalid_cursor');
    expect(await codeOf('limit=1', forged(good, 'users')), 'of another list').to.equal('invalid_cursor');
    const invalidText = Buffer.concat([Buffer.from(check('products', '\ufffd')), Buffer.from([0xff])]);
    expect(await codeOf('limit=1', invalidText.toString('base64url'))).to.equal('invalid_cursor');
  });

  it('has one value of the right type for each sort key', async () => {
    const query = 'sort=name,-createdAt&limit=1';
    const [side, inclusive, fingerprint, values] = inside(cursorIn(await next(query)));
    expect(values).to.have.length(3);
    const [name, time, id] = values;
    const withValues = (wrong: unknown[]) => forged(JSON.stringify([side, inclusive, fingerprint, wrong]));
    expect(await codeOf(query, withValues([name, time, id]))).to.equal(200);
    expect(await codeOf(query, withValues(['x'.repeat(1_000), -1, id]))).to.equal(200);
    for (const wrong of [
      [1, time, id],
      [name, 'x', id],
      [name, time, '1'],
      [name, time + 0.5, id],
      [name, 8_640_000_000_000_001, id],
      [name, -8_640_000_000_000_001, id],
      [name, time],
      [name, time, id, id],
      ['\ud800', time, id],
      [id, time, name],
    ])
      expect(await codeOf(query, withValues(wrong)), JSON.stringify(wrong)).to.equal('invalid_cursor');
  });

  it('has null for a field that the record lacks, and for no other field', async () => {
    const query = 'sort=-stock,name&limit=1';
    const [side, inclusive, fingerprint, values] = inside(cursorIn(await next(query)));
    expect(values).to.deep.equal([null, ' x', 6]);
    for (const from of ['after', 'before'])
      for (const [good, found] of [
        [[null, 'a', 0], true],
        [[5, 'a', 1], true],
        [[null, null, 1], false],
        [[null, 'a', null], false],
        [[], false],
        [[null], false],
      ] as const) {
        const cursor = forged(JSON.stringify([from, inclusive, fingerprint, good]));
        expect(await codeOf(query, cursor), JSON.stringify(good)).to.equal(found ? 200 : 'invalid_cursor');
      }
    expect(side).to.equal('after');
  });

  it('may have null for a field that no record lacks because of a filter: it is a place behind them all', async () => {
    const { id } = (await service.post('/products', { name: 'with stock', stock: 1 })).json;
    const query = 'sort=stock&stock.gte=0&limit=1';
    const more = (await service.post('/products', { name: 'more stock', stock: 2 })).json.id;
    const [, inclusive, fingerprint, values] = inside(cursorIn(await next(query)));
    expect(values).to.deep.equal([1, id]);
    for (const [from, expected] of Object.entries({ after: [], before: ['more stock'] })) {
      const cursor = forged(JSON.stringify([from, inclusive, fingerprint, [null, 5]]));
      const { status, json } = await service.get(`/products?${query}&cursor=${cursor}`);
      expect([status, json.map(({ name }: { name: string }) => name)]).to.deep.equal([200, expected]);
    }
    for (const one of [id, more]) await service.delete(`/products/${one}`);
  });

  it('belongs to its sort and filters, however they are written', async () => {
    const query = 'sort=-name&id.gt=0&name.ne=q&createdAt.lt=9000-01-01T00:00:00Z';
    const cursor = cursorIn(await next(`${query}&limit=2`));
    for (const same of [
      query,
      'createdAt.lt=9000-01-01T01:00:00.000%2B01:00&name.ne=q&id.gt=-0&sort=-name,id',
      'createdAt:lt=9000-01-01T01:00:00.000%2B01:00&name%3Ane=q&id:gt=-0&sort=-name&sort=id',
      `${query}&limit=1000`,
      `${query}&fields=id`,
    ])
      expect(await codeOf(same, cursor), same).to.equal(200);
    for (const other of [
      '',
      'sort=-name',
      query.replace('-name', 'name'),
      query.replace('-name', '-name,-id'),
      query.replace('id.gt=0', 'id.gt=1'),
      query.replace('id.gt', 'id.gte'),
      query.replace('name.ne=q', 'name.ne=Q'),
      `${query}&sku.ne=x`,
      `${query}&attributes.a=1`,
    ])
      expect(await codeOf(other, cursor), other).to.equal('cursor_mismatch');
    const plain = cursorIn(await next('limit=2'));
    expect(await codeOf('sort=id', plain)).to.equal(200);
    expect(await codeOf('sort=-id', plain)).to.equal('cursor_mismatch');
    const back = cursorIn(await next('sort=-id,name&limit=2'));
    expect(await codeOf('sort=-id', back), 'keys after the id do not matter').to.equal(200);
    expect(inside(back)[3]).to.deep.equal([5]);
    const filtered = cursorIn(await next('name.in=a,b&limit=1'));
    expect(await codeOf('name.in=a&limit=1', filtered)).to.equal('cursor_mismatch');
  });
});

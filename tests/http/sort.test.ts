import { expect } from 'chai';
import { issueLocations } from '../support/http-client.js';
import { inProcessService } from '../support/in-process-service.js';
import { linksOf } from '../support/links.js';

describe('sort', () => {
  const service = inProcessService();
  const request = () => service.client;
  const NAMES = ['b', 'a', '\u{1f600}', 'B', '\uffee', 'a', 'é', 'ab', 'a b', 'z', 'a', '"', '\\'];
  const ascending = ['"', 'B', '\\', 'a', 'a', 'a', 'a b', 'ab', 'b', 'z', 'é', '\uffee', '\u{1f600}'];

  async function all(query: string): Promise<{ id: number; name: string }[]> {
    const found: { id: number; name: string }[] = [];
    for (let next: string | undefined = `/products?${query}`; next !== undefined; ) {
      const response = await request().get(next);
      expect(response.status, response.text).to.equal(200);
      found.push(...response.json);
      next = linksOf(response.headers['link'])['next'];
    }
    return found;
  }
  const namesOf = (records: { name: string }[]) => records.map(({ name }) => name);
  const idsOf = (records: { id: number }[]) => records.map(({ id }) => id);

  before(async () => {
    for (const name of NAMES) await request().post('/products', { name });
  });

  for (const limit of [1, 2, 5, 100]) {
    it(`orders text by code point, ties by id, in pages of ${limit}`, async () => {
      const found = await all(`sort=name&limit=${limit}`);
      expect(namesOf(found)).to.deep.equal(ascending);
      expect(idsOf(found.filter(({ name }) => name === 'a'))).to.deep.equal([2, 6, 11]);
    });

    it(`reverses an order, with ties by ascending id by default, in pages of ${limit}`, async () => {
      const idsOfTies = async (sort: string) => {
        const found = await all(`sort=${sort}&limit=${limit}`);
        expect(namesOf(found)).to.deep.equal([...ascending].reverse());
        return idsOf(found.filter(({ name }) => name === 'a'));
      };
      expect(await idsOfTies('-name')).to.deep.equal([2, 6, 11]);
      expect(await idsOfTies('-name,id')).to.deep.equal([2, 6, 11]);
      expect(await idsOfTies('-name,-id')).to.deep.equal([11, 6, 2]);
    });
  }

  it('orders by id, by time and by several keys', async () => {
    const ids = NAMES.map((_, i) => i + 1);
    for (const [sort, expected] of [
      ['id', ids],
      ['-id', [...ids].reverse()],
      ['-id,name', [...ids].reverse()],
      ['createdAt,id', ids],
      ['-createdAt,-id', [...ids].reverse()],
    ] as const) {
      expect(idsOf(await all(`sort=${sort}&limit=4`)), sort).to.deep.equal(expected);
    }
    await request().patch('/products/1', { description: 'changed last' });
    expect(idsOf(await all('sort=-updatedAt,id')).at(0)).to.equal(1);
  });

  it('returns the same pages when following prev', async () => {
    const pages: string[] = [];
    let links: Record<string, string> = { next: '/products?sort=-name,-id&limit=3' };
    for (let next = links['next']; next !== undefined; next = links['next']) {
      const response = await request().get(next);
      links = linksOf(response.headers['link']);
      pages.push(response.text);
    }
    const back: string[] = [pages.at(-1) ?? ''];
    for (let prev = links['prev']; prev !== undefined; prev = links['prev']) {
      const response = await request().get(prev);
      links = linksOf(response.headers['link']);
      back.unshift(response.text);
    }
    expect(back).to.deep.equal(pages);
  });

  const REJECTED: [string, string[]][] = [
    ['', ['too_short']],
    [',', ['too_short', 'duplicate_value']],
    ['name,', ['too_short']],
    ['description', ['unknown_field']],
    ['price', ['unknown_field']],
    ['tags', ['unknown_field']],
    ['images', ['unknown_field']],
    ['url', ['unknown_field']],
    ['attributes[a]', ['unknown_field']],
    ['attributes', ['unknown_field']],
    ['attributes.a', ['unknown_field']],
    ['version', ['unknown_field']],
    ['Name', ['unknown_field']],
    ['%2Bname', ['unknown_field']],
    ['+name', ['unknown_field']],
    ['name,%20id', ['unknown_field']],
    ['--name', ['unknown_field']],
    ['-', ['too_short']],
    ['name:desc', ['unknown_field']],
    ['sku,tags', ['unknown_field']],
    ['name%00', ['unknown_field']],
    ['__proto__', ['unknown_field']],
    ['-__proto__', ['unknown_field']],
    ['constructor', ['unknown_field']],
    ['name,name', ['duplicate_value']],
    ['name,-name', ['duplicate_value']],
    ['id,id', ['duplicate_value']],
    ['email', ['unknown_field']],
    ['x'.repeat(8_000), ['unknown_field']],
    ['a,'.repeat(4_000), ['too_short', 'unknown_field', 'duplicate_value']],
  ];
  for (const [sort, codes] of REJECTED) {
    it(`rejects ${sort.slice(0, 40) || 'an empty value'}`, async () => {
      const response = await request().get(`/products?sort=${sort}`);
      expect([response.status, response.json.code]).to.deep.equal([400, 'invalid_parameter']);
      expect(issueLocations(response)).to.deep.equal(codes.map((code) => [code, 'sort']));
      expect(response.text.length, 'the length of the response').to.be.lessThan(2_000);
    });
  }
});

import { expect } from 'chai';
import type { HttpClient } from '../support/http-client.js';
import { runningService } from '../support/running-service.js';

type Links = Record<string, string>;

const linksOf = (header: unknown): Links =>
  Object.fromEntries(
    [...String(header).matchAll(/<([^>]*)>; rel="([a-z]+)"/g)].map(([, target, rel]) => [rel, target]),
  );

async function page(client: HttpClient, path: string): Promise<{ ids: number[]; links: Links }> {
  const answer = await client.get(path);
  expect(answer.status, answer.text).to.equal(200);
  return { ids: answer.json.map(({ id }: { id: number }) => id), links: linksOf(answer.headers['link']) };
}

describe('paging', () => {
  const service = runningService();
  let all: number[];

  before(async () => {
    for (let i = 0; i < 250; i++) await service.client.post('/products', { name: `product ${i}` });
    all = Array.from({ length: 250 }, (_, i) => i + 1);
  });

  for (const base of ['/v1/products', '/products']) {
    it(`gives a bare array of 100 and links in the form that was asked, at ${base}`, async () => {
      const { ids, links } = await page(service.client, base);
      expect(ids).to.deep.equal(all.slice(0, 100));
      expect(Object.keys(links)).to.deep.equal(['first', 'next']);
      expect(links['first']).to.equal(`${base}?limit=100`);
      expect(links['next']).to.match(new RegExp(`^${base}\\?limit=100&cursor=[\\w-]+$`));
    });

    it(`shows every product once by following next, and again by following prev, at ${base}`, async () => {
      const forward: number[][] = [];
      let links: Links = { next: `${base}?limit=60` };
      for (let next = links['next']; next !== undefined; next = links['next']) {
        const { ids, links: found } = await page(service.client, next);
        forward.push(ids);
        links = found;
      }
      expect(forward.flat()).to.deep.equal(all);
      expect(forward.map(({ length }) => length)).to.deep.equal([60, 60, 60, 60, 10]);
      const back: number[][] = [];
      for (let prev = links['prev']; prev !== undefined; prev = links['prev']) {
        const { ids, links: found } = await page(service.client, prev);
        back.unshift(ids);
        links = found;
        expect(found['next'], 'a page before another has a next').to.not.equal(undefined);
      }
      expect([...back.flat(), ...(forward.at(-1) ?? [])]).to.deep.equal(all);
    });
  }

  it('names no next on a last page that is full', async () => {
    const { links } = await page(service.client, '/products?limit=250');
    expect(Object.keys(links)).to.deep.equal(['first']);
  });

  it('lets the limit change while a cursor is followed', async () => {
    const { links } = await page(service.client, '/products?limit=10');
    const { ids } = await page(service.client, `${links['next']?.replace('limit=10', 'limit=1000')}`);
    expect(ids).to.deep.equal(all.slice(10));
  });

  it('goes on where it was when records before and after are gone', async () => {
    const { links } = await page(service.client, '/products?limit=20');
    for (const id of [20, 21]) await service.client.delete(`/products/${id}`);
    const { ids } = await page(service.client, `${links['next']}`);
    expect(ids[0]).to.equal(22);
  });

  it('has links alike whichever address form the cursor came from', async () => {
    const { links } = await page(service.client, '/v1/products?limit=5');
    const { ids } = await page(service.client, `${links['next']?.replace('/v1', '')}`);
    expect(ids).to.deep.equal([6, 7, 8, 9, 10]);
  });

  it('refuses a cursor that this list did not give', async () => {
    const { links } = await page(service.client, '/products?limit=5');
    const cursor = new URLSearchParams(links['next']?.split('?')[1]).get('cursor') ?? '';
    const forged = Buffer.from(cursor, 'base64url').toString('latin1').replace('after:5', 'after:6');
    for (const bad of [
      '',
      'x',
      cursor.slice(0, -1),
      cursor.slice(1),
      `${cursor}A`,
      `${cursor}=`,
      cursor.toUpperCase(),
      Buffer.from(forged, 'latin1').toString('base64url'),
      Buffer.from('after:5').toString('base64url'),
      '%00',
      'é'.repeat(500),
    ]) {
      const answer = await service.client.get(`/products?cursor=${encodeURIComponent(bad)}`);
      expect([answer.status, answer.json.code], bad).to.deep.equal([400, 'invalid_cursor']);
      expect(answer.json.details[0]).to.include({ in: 'query', name: 'cursor' });
    }
  });

  it('marks the list for the reader alone, and answers HEAD', async () => {
    const got = await service.client.get('/products?limit=2');
    expect(got.headers['cache-control']).to.equal('private, no-cache');
    const head = await service.client.ask('HEAD', '/products?limit=2');
    expect([head.status, head.text, head.headers['link']]).to.deep.equal([200, '', got.headers['link']]);
    expect(head.headers['content-length']).to.equal(got.headers['content-length']);
  });
});

describe('an empty list', () => {
  const service = runningService();

  it('is an empty array with a first page', async () => {
    const answer = await service.client.get('/v1/products');
    expect([answer.text, answer.headers['link']]).to.deep.equal([
      '[]',
      '</v1/products?limit=100>; rel="first"',
    ]);
  });
});

describe('pages that are empty by now', () => {
  const service = runningService();

  before(async () => {
    for (let i = 0; i < 4; i++) await service.client.post('/products', { name: 'x' });
  });

  it('lead back', async () => {
    const { links } = await page(service.client, '/products?limit=2');
    for (const id of [3, 4]) await service.client.delete(`/products/${id}`);
    const emptied = await page(service.client, `${links['next']}`);
    expect(emptied.ids).to.deep.equal([]);
    expect(Object.keys(emptied.links)).to.deep.equal(['first', 'prev']);
    expect((await page(service.client, `${emptied.links['prev']}`)).ids).to.deep.equal([1, 2]);
  });

  it('lead on', async () => {
    const { links } = await page(service.client, '/products?limit=1');
    const second = await page(service.client, `${links['next']}`);
    await service.client.delete('/products/1');
    const emptied = await page(service.client, `${second.links['prev']}`);
    expect(emptied.ids).to.deep.equal([]);
    expect(Object.keys(emptied.links)).to.deep.equal(['first', 'next']);
    expect((await page(service.client, `${emptied.links['next']}`)).ids).to.deep.equal([2]);
  });
});

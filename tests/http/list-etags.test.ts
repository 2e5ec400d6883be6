import { expect } from 'chai';
import { inProcessService } from '../support/in-process-service.js';
import { linksOf } from '../support/links.js';
import { list } from '../support/list.js';
import { listService } from '../support/middleware-harness.js';

const WEAK = /^W\/"[\w-]{20,}"$/;

describe('the ETag of a list', () => {
  const service = inProcessService();
  const tagOf = async (path: string, headers: Record<string, string> = {}) => {
    const response = await service.get(path, { headers });
    expect(response.status).to.equal(200);
    expect(response.headers.etag).to.match(WEAK);
    return `${response.headers.etag}`;
  };

  before(async () => {
    for (const name of ['a', 'b', 'c']) await service.post('/products', { name });
  });

  it('gives 304 for GET and HEAD if the client has the page', async () => {
    for (const path of ['/products', '/v1/products?limit=2&sort=-name&fields=name&id.gt=0']) {
      const tag = await tagOf(path);
      const { headers } = await service.get(path);
      for (const known of [tag, tag.slice(2), tag.replace(/"$/, '-gzip"'), '*', `"x" , ${tag}`, `W/"x",${tag},"y"`])
        for (const method of ['GET', 'HEAD']) {
          const response = await service.request(method, path, { headers: { 'If-None-Match': known } });
          expect([response.status, response.text, response.headers.etag], known).to.deep.equal([304, '', tag]);
          for (const name of ['link', 'cache-control', 'vary'])
            expect(response.headers[name], name).to.equal(headers[name]);
          expect(response.headers['content-type']).to.equal(undefined);
        }
      for (const unknown of ['""', '"x"', `"${tag.slice(3, -2)}"`, 'W/"1"']) {
        const response = await service.get(path, { headers: { 'If-None-Match': unknown } });
        expect([response.status, response.headers.etag], unknown).to.deep.equal([200, tag]);
      }
    }
  });

  it('gives 200 if If-None-Match is malformed', async () => {
    const tag = await tagOf('/products?limit=1');
    for (const malformed of ['x', '1', '', '*, "1"', `${tag}x`]) {
      const headers = { 'If-None-Match': malformed };
      const response = await service.get('/products?limit=1', { headers });
      expect([response.status, response.headers.etag], malformed).to.deep.equal([200, tag]);
    }
  });

  it('differs by page, fields, sort, filter, path and count', async () => {
    const count = { Prefer: 'count=exact' };
    const tags = [await tagOf('/products', count)];
    for (const query of ['', ...list`?limit=2  ?limit=3  ?sort=-id  ?fields=id  ?name=a`])
      tags.push(await tagOf(`/products${query}`));
    tags.push(await tagOf('/v1/products'));
    expect(new Set(tags)).to.have.length(8);
  });

  it('changes only with the page, its links and the count', async () => {
    const next = linksOf((await service.get('/products?limit=2')).headers['link'])['next'] ?? '';
    const count = { Prefer: 'count=exact' };
    const one = '/products?limit=1';
    const two = '/products?limit=2';
    const seen = async () => [await tagOf(two), await tagOf(next), await tagOf(one), await tagOf(one, count)];
    const before = await seen();
    expect(await seen()).to.deep.equal(before);
    await service.patch('/products/3', { name: 'changed' });
    const changed = await seen();
    expect(changed.map((tag, at) => tag === before[at])).to.deep.equal([true, false, true, true]);
    await service.post('/products', { name: 'd' });
    const added = await seen();
    expect(added.map((tag, at) => tag === changed[at])).to.deep.equal([true, false, true, false]);
  });
});

describe('the ETag of a list in another replica', () => {
  const one = listService();
  const other = listService();

  it('is the same for the same records', async () => {
    for (const { records } of [one, other]) await records.fill(150);
    for (const path of ['/products', '/v1/products?sort=-name&fields=id,updatedAt', '/products?name.in=p1,p2']) {
      const [a, b] = [await one.client.get(path, { token: null }), await other.client.get(path, { token: null })];
      expect(a.headers.etag).to.match(WEAK);
      expect([a.headers.etag, a.headers['link']], path).to.deep.equal([b.headers.etag, b.headers['link']]);
      const headers = { 'If-None-Match': `${a.headers.etag}` };
      expect((await other.client.get(path, { token: null, headers })).status).to.equal(304);
    }
  });
});

import { expect } from 'chai';
import { HTTP_STORE_NAMES } from '../stores/index.js';
import { expectRefusal } from '../support/http-client.js';
import { inProcessService } from '../support/in-process-service.js';
import { cursorIn, linksOf } from '../support/links.js';
import { list } from '../support/list.js';

for (const STORE of HTTP_STORE_NAMES)
  describe(`repeated parameters, in the store ${STORE}`, () => {
    const service = inProcessService({ STORE });
    const get = (query: string) => service.get(`/v1/products?${query}`);
    const idsOf = async (query: string): Promise<number[]> => {
      const response = await get(query);
      expect(response.status, response.text).to.equal(200);
      return response.json.map(({ id }: { id: number }) => id);
    };

    before(async () => {
      for (const [name, amount] of [
        ['b', 1],
        ['a', 2],
        ['b', 3],
        ['c', 4],
      ] as const)
        await service.post('/products', { name, price: { amount, currency: 'EUR' } });
    });

    it('are read as one list', async () => {
      for (const [query, ids] of [
        ['sort=name,-id', [2, 3, 1, 4]],
        ['sort=name&sort=-id', [2, 3, 1, 4]],
        ['sort=-name&sort=createdAt,-id', [4, 1, 3, 2]],
        ['sort=-id&limit=9&sort=name', [4, 3, 2, 1]],
        ['id.in=1,2&id.in=3', [1, 2, 3]],
        ['id.in=1&id:in=2&id%3Ain=2,4', [1, 2, 4]],
        ['name.in=a&name.in=c&id.in=1,2,3', [2]],
        ['price.amount.gte=2&price.amount:lte=3', [2, 3]],
        ['id.ne=1&id.in=1&id.in=2', [2]],
        ['sort[]=name&sort[]=-id', [2, 3, 1, 4]],
        ['sort%5B%5D=name,-id', [2, 3, 1, 4]],
        ['sort=name&sort[]=-id', [2, 3, 1, 4]],
        ['id.in[]=1&id:in[]=2&id%3Ain%5B%5D=2,4&id.in=3', [1, 2, 3, 4]],
      ] as const)
        expect(await idsOf(query), query).to.deep.equal(ids);
    });

    it('select fields of a list and of an item', async () => {
      for (const fields of list`fields=id,name  fields=name&fields=id  fields=id&fields=name,id
        fields[]=name&fields[]=id  fields=id&fields%5B%5D=name,id`) {
        expect((await get(`${fields}&id=1`)).text).to.equal('[{"id":1,"name":"b"}]');
        const item = await service.get(`/v1/products/1?${fields}`);
        expect([item.status, item.text, item.headers.etag]).to.deep.equal([200, '{"id":1,"name":"b"}', '"1:id,name"']);
      }
    });

    it('are one parameter in cursors: attributes.KEY and attributes[KEY]', async () => {
      for (const id of [1, 2]) await service.patch(`/products/${id}`, { attributes: { 'a.b[0]': 'x' } });
      const { headers } = await get('attributes[a.b[0]]=x&limit=1');
      const { first, next } = linksOf(headers['link']);
      expect(first).to.equal('/v1/products?attributes.a.b%5B0%5D=x&limit=1');
      for (const query of ['attributes.a.b[0]=x', 'attributes%5Ba.b%5B0%5D%5D=x'])
        expect(await idsOf(`${query}&limit=1&cursor=${cursorIn(next)}`), query).to.deep.equal([2]);
      expect((await service.get(next ?? '')).json[0].id).to.equal(2);
    });

    it('are one list in links, tags and cursors, with a dot before the operator', async () => {
      const once = 'name.in=a,b,c&id.gte=1&sort=name,-id&fields=id,name&limit=2';
      const several = 'name:in[]=a&id:gte=1&name.in=b,c&sort=name&fields[]=id&sort[]=-id&fields=name&limit=2';
      const [one, other] = [await get(once), await get(several)];
      const first = '/v1/products?name.in=a%2Cb%2Cc&id.gte=1&sort=name%2C-id&fields=id%2Cname&limit=2';
      expect(linksOf(one.headers['link'])['first']).to.equal(first);
      expect(other.headers['link']).to.equal(one.headers['link']);
      expect([other.headers['etag'], other.text]).to.deep.equal([one.headers['etag'], one.text]);
      const cursor = cursorIn(linksOf(one.headers['link'])['next'] ?? '');
      for (const query of [once, several])
        expect(await idsOf(`${query}&cursor=${cursor}`), query).to.deep.equal([1, 4]);
      const mismatch = await get(`${several}&sort=createdAt&cursor=${cursor}`);
      expect(mismatch.status, 'keys after the id do not matter').to.equal(200);
      for (const query of [`sort=createdAt&${several}`, `${several}&name.in=d`, `${several}&id.lt=9`])
        await expectRefusal(get(`${query}&cursor=${cursor}`), 'cursor_mismatch', query);
    });

    it('name both spellings if a parameter is given in two', async () => {
      const { json } = await get('id.gt=1&id:gt=1');
      expect(json.message).to.equal('The parameter id:gt is the same as id.gt, which is given too.');
      expect((await get('id.gt=1&id.gt=1')).json.message).to.equal('The parameter id.gt is given more than once.');
    });
  });

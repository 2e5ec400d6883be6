import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { LOCAL_STORE_NAMES } from '../stores/index.js';
import { expectIssues, type HttpResponse, issuesOf } from '../support/http-client.js';
import { cursorIn, linksOf } from '../support/links.js';
import { splitUsers, twoVersions } from '../support/two-versions.js';

const SECOND = { 'API-Version': '2' };
const ifMatch = (tag: unknown) => ({ headers: { 'If-Match': String(tag) } });
const withIdempotencyKey = (key: string) => ({ headers: { 'Idempotency-Key': key } });
const outcome = ({ status, json }: HttpResponse) => [status, json.code];

for (const STORE of LOCAL_STORE_NAMES) {
  describe(`a product in two versions, on ${STORE}`, () => {
    const service = twoVersions({ STORE });
    let number = 0;
    /** Creates a product with all the fields that version 2 does not show. */
    async function createProduct(): Promise<{ id: number; name: string; description: string }> {
      const fields = { name: `Lamp ${++number}`, description: 'bright', attributes: { colour: 'red' } };
      return (await service.post('/v1/products', fields)).json;
    }

    it('is one record, with a Location in the version that created it', async () => {
      for (const [path, headers] of Object.entries({ '/v2/products': {}, '/products': SECOND })) {
        const response = await service.post(path, { title: 'Torch' }, { headers });
        const { id } = response.json;
        expect([response.status, response.json]).to.deep.equal([201, { id, title: 'Torch' }]);
        expect(response.headers['location']).to.equal(`/v2/products/${id}`);
        expect((await service.get(`/v1/products/${id}`)).json).to.deep.equal({ id, name: 'Torch' });
      }
    });

    it('keeps the fields that the other version does not show', async () => {
      const { id, ...rest } = await createProduct();
      for (const [method, title, options] of [
        ['PUT', 'by PUT', { body: { title: 'by PUT' } }],
        ['PATCH', 'by merge patch', { body: { title: 'by merge patch' } }],
        [
          'PATCH',
          'by JSON Patch',
          {
            body: [{ op: 'replace', path: '/title', value: 'by JSON Patch' }],
            headers: { 'Content-Type': 'application/json-patch+json' },
          },
        ],
      ] as const) {
        const response = await service.request(method, `/v2/products/${id}`, options);
        expect([response.status, response.json]).to.deep.equal([200, { id, title }]);
        expect((await service.get(`/v1/products/${id}`)).json).to.deep.equal({ id, ...rest, name: title });
      }
      expect((await service.delete(`/v2/products/${id}`)).status).to.equal(204);
      expect((await service.get(`/v1/products/${id}`)).status).to.equal(404);
    });

    it('is changed by key in version 2, and keeps what that does not show', async () => {
      const sku = `KEY-${++number}`;
      const hidden = { description: 'bright', attributes: { colour: 'red' } };
      const { id } = (await service.post('/v1/products', { name: 'Lamp', sku, ...hidden })).json;
      const shown = async () => (await service.get(`/v1/products/${id}`)).json;
      const put = await service.put(`/v2/products/sku/${sku}`, { title: 'by PUT' });
      expect([put.status, put.json]).to.deep.equal([200, { id, title: 'by PUT', sku }]);
      expect(await shown()).to.deep.equal({ id, name: 'by PUT', sku, ...hidden });
      const headers = { 'Content-Type': 'application/x-ndjson' };
      for (const [existing, line, version] of [
        ['merge', { sku, title: 'by line' }, 3],
        ['replace', { sku, title: 'by another' }, 4],
        ['skip', { sku, title: 'not at all' }, 4],
      ] as const) {
        const path = `/v2/products/imports?match=sku&existing=${existing}`;
        const { text } = await service.post(path, JSON.stringify(line), { headers });
        expect(JSON.parse(text), existing).to.include({ status: 200, id, version });
        const name = existing === 'skip' ? 'by another' : line.title;
        expect(await shown()).to.deep.equal({ id, name, sku, ...hidden });
      }
      const { text } = await service.post(
        '/products/imports?match=sku',
        JSON.stringify({ sku: `${sku}-new`, name: 'x' }),
        { headers: { ...headers, ...SECOND } },
      );
      const pointers = JSON.parse(text).error.details.map((detail: { pointer: string }) => detail.pointer);
      expect(pointers).to.have.members(['/name', '/title']);
    });

    describe('has an ETag in each version', () => {
      it('that differs from all others', async () => {
        const { id } = await createProduct();
        const tags = [];
        for (const query of ['', '?fields=id'])
          for (const headers of [{}, SECOND]) {
            const { headers: got } = await service.get(`/products/${id}${query}`, { headers });
            tags.push(got['etag']);
          }
        expect(tags).to.deep.equal(['"1"', '"v2.1"', '"1:id"', '"v2.1:id"']);
        const known = await service.get(`/products/${id}`, { headers: { ...SECOND, 'If-None-Match': '"1"' } });
        expect(known.status).to.equal(200);
        const same = await service.get(`/products/${id}`, { headers: { ...SECOND, 'If-None-Match': '"v2.1"' } });
        expect([same.status, same.headers['etag']]).to.deep.equal([304, '"v2.1"']);
      });

      it('that If-Match accepts in that version only', async () => {
        const { id } = await createProduct();
        const tag = (path: string) => service.get(path).then(({ headers }) => headers['etag']);
        const [first, second] = [await tag(`/v1/products/${id}`), await tag(`/v2/products/${id}`)];
        for (const [path, wrong, right] of [
          [`/v2/products/${id}`, first, second],
          [`/v1/products/${id}`, second, first],
        ] as const) {
          const field = path.startsWith('/v2') ? 'title' : 'name';
          const refused = await service.patch(path, { [field]: 'no' }, ifMatch(wrong));
          expect([...outcome(refused), refused.headers['etag']]).to.deep.equal([412, 'precondition_failed', right]);
          expect((await service.delete(path, ifMatch(wrong))).status).to.equal(412);
        }
        const written = await service.patch(`/v2/products/${id}`, { title: 'yes' }, ifMatch(second));
        expect([written.status, written.headers['etag']]).to.deep.equal([200, '"v2.2"']);
      });
    });

    describe('is created once per Idempotency-Key', () => {
      it('and replayed in the version of the repeated request', async () => {
        const key = withIdempotencyKey(randomUUID());
        const first = await service.post('/v2/products', { title: 'once' }, key);
        await service.patch(`/v2/products/${first.json.id}`, { title: 'changed since' });
        const again = await service.post('/v1/products', { title: 'once' }, key);
        expect([again.status, again.headers['idempotency-replayed']]).to.deep.equal([201, 'true']);
        expect(again.json).to.deep.equal({ id: first.json.id, name: 'once' });
      });
    });
  });

  describe(`a user whose name is split in version 2, on ${STORE}`, () => {
    const service = twoVersions({ STORE }, splitUsers);
    const emailOf = (name: string) => `${name}-${randomUUID()}@example.com`;
    const inBothVersions = async (id: number) => {
      const versions = await Promise.all(['v1', 'v2'].map((version) => service.get(`/${version}/users/${id}`)));
      return versions.map(({ json: { id: _id, ...rest } }) => rest);
    };

    it('is one record', async () => {
      const email = emailOf('dick');
      const { json } = await service.post('/v2/users', { firstName: 'Dick', lastName: 'van Dyke', email });
      expect(json).to.deep.equal({ id: json.id, firstName: 'Dick', lastName: 'van Dyke', email });
      const both = [
        { name: 'Dick van Dyke', email },
        { firstName: 'Dick', lastName: 'van Dyke', email },
      ];
      expect(await inBothVersions(json.id)).to.deep.equal(both);
    });

    it('has issues with pointers in the requested version', async () => {
      const response = await service.post('/v2/users', { name: 'x', firstName: '', lastName: 'x'.repeat(101) });
      const issues = ['unknown_field /name', 'too_short /firstName', 'too_long /lastName', 'required /email'];
      expect(issuesOf(response)).to.have.deep.members(issues);
      const email = emailOf('twice');
      await service.post('/v1/users', { name: 'x', email });
      const user = { firstName: 'x', email };
      await expectIssues(service.post('/v2/users', user), 'duplicate_value', ['duplicate_value /email']);
    });

    describe('is listed', () => {
      const prefix = randomUUID();
      const expectNames = (names: string[], path: string, headers = {}) =>
        service
          .get(path, { headers })
          .then(({ json }) => expect(json.map((one: object) => Object.values(one)[1])).to.deep.equal(names));

      before(async () => {
        for (const name of ['c', 'a', 'b'])
          await service.post('/v1/users', { name, email: `${prefix}-${name}@example.com` });
      });

      it('by the fields of the requested version', async () => {
        const [all, filter] = [['a', 'b', 'c'], `email.prefix=${prefix}`];
        await expectNames(all, `/v1/users?${filter}&sort=name`);
        await expectNames(all, `/v2/users?${filter}&sort=email`);
        await expectNames(all, `/users?${filter}&sort=email&fields=id,firstName`, SECOND);
        await expectNames(all.toReversed(), `/v2/users?${filter}&sort=-email`);
        for (const [path, parameter] of [
          ['/v2/users?name=x', 'name'],
          ['/v1/users?firstName=x', 'firstName'],
          ['/v2/users?sort=name', 'sort'],
          ['/v2/users?fields=name', 'fields'],
        ] as const) {
          const response = await service.get(path);
          expect([response.status, issuesOf(response)[0]?.split(' ')[1]], path).to.deep.equal([400, parameter]);
        }
      });

      it('with links to its own path, and cursors that the other version rejects', async () => {
        const cursor = async (path: string, headers = {}) => {
          const links = linksOf((await service.get(`${path}?limit=1`, { headers })).headers['link']);
          for (const target of Object.values(links)) expect(target.split('?')[0]).to.equal(path);
          return cursorIn(links['next']);
        };
        const [first, second] = [await cursor('/v1/users'), await cursor('/users', SECOND)];
        for (const [path, wrong, right] of [
          ['/v1/users', second, first],
          ['/v2/users', first, second],
        ] as const) {
          const refused = await service.get(`${path}?limit=1&cursor=${wrong}`);
          expect(outcome(refused)).to.deep.equal([400, 'invalid_cursor']);
          expect((await service.get(`${path}?limit=1&cursor=${right}`)).status).to.equal(200);
        }
      });
    });
  });
}

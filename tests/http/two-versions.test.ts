import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type HttpResponse, issueLocations } from '../support/http-client.js';
import { cursorIn, linksOf } from '../support/links.js';
import { LOCAL_STORE_NAMES } from '../support/local-stores.js';
import { splitUsers, twoVersions } from '../support/two-versions.js';

const SECOND = { 'API-Version': '2' };
const match = (tag: unknown) => ({ headers: { 'If-Match': String(tag) } });
const keyed = (key: string) => ({ headers: { 'Idempotency-Key': key } });
const outcome = ({ status, json }: HttpResponse) => [status, json.code];

for (const STORE of LOCAL_STORE_NAMES) {
  describe(`what is written in one version and read in another, on ${STORE}`, () => {
    const service = twoVersions({ STORE });
    const request = () => service.client;
    let number = 0;
    /** A product with everything that the second version does not show. */
    async function made(): Promise<{ id: number; name: string; description: string }> {
      const fields = { name: `Lamp ${++number}`, description: 'bright', attributes: { colour: 'red' } };
      return (await request().post('/v1/products', fields)).json;
    }

    it('is one record, whose address stays in the version that made it', async () => {
      for (const [path, headers] of [
        ['/v2/products', {}],
        ['/products', SECOND],
      ] as const) {
        const response = await request().post(path, { title: 'Torch' }, { headers });
        const { id } = response.json;
        expect([response.status, response.json]).to.deep.equal([201, { id, title: 'Torch' }]);
        expect(response.headers['location']).to.equal(`/v2/products/${id}`);
        expect((await request().get(`/v1/products/${id}`)).json).to.deep.equal({ id, name: 'Torch' });
      }
    });

    it('keeps what the other version does not show', async () => {
      const { id, ...rest } = await made();
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
        const response = await request().request(method, `/v2/products/${id}`, options);
        expect([response.status, response.json]).to.deep.equal([200, { id, title }]);
        expect((await request().get(`/v1/products/${id}`)).json).to.deep.equal({ id, ...rest, name: title });
      }
      expect((await request().delete(`/v2/products/${id}`)).status).to.equal(204);
      expect((await request().get(`/v1/products/${id}`)).status).to.equal(404);
    });

    it('moves no version when nothing changes', async () => {
      const { id, name } = await made();
      const response = await request().put(`/v2/products/${id}`, { title: name });
      expect([response.status, response.headers['etag']]).to.deep.equal([200, '"v2.1"']);
    });

    it('is judged in the words of the version that was asked', async () => {
      const { id } = await made();
      for (const response of [
        await request().post('/v2/products', { name: 'x', title: '' }),
        await request().put(`/v2/products/${id}`, { name: 'x', title: '' }),
        await request().patch(`/v2/products/${id}`, { name: 'x', title: '' }),
      ]) {
        expect(outcome(response)).to.deep.equal([400, 'validation_failed']);
        expect(issueLocations(response)).to.have.deep.members([
          ['unknown_field', '/name'],
          ['too_short', '/title'],
        ]);
      }
      await request().post('/v1/products', { name: 'x', sku: 'ONE' });
      const twice = await request().post('/v2/products', { title: 'x', sku: 'ONE' });
      expect([...outcome(twice), issueLocations(twice)]).to.deep.equal([
        409,
        'duplicate_value',
        [['duplicate_value', '/sku']],
      ]);
    });

    it('is imported line by line in either', async () => {
      const lines = '{"title":"one"}\n{"name":"two"}\n';
      const headers = { 'Content-Type': 'application/x-ndjson' };
      const response = await request().post('/v2/products', lines, { headers });
      const [first, second] = response.text
        .split('\n')
        .slice(0, 2)
        .map((line) => JSON.parse(line));
      expect((await request().get(`/v1/products/${first.id}`)).json.name).to.equal('one');
      expect([second.status, second.error.details[0].pointer]).to.deep.equal([400, '/title']);
    });

    describe('has a tag in each', () => {
      it('of which no two are alike', async () => {
        const { id } = await made();
        const tags = [];
        for (const query of ['', '?fields=id']) {
          for (const headers of [{}, SECOND]) {
            const { headers: got } = await request().get(`/products/${id}${query}`, { headers });
            tags.push(got['etag']);
          }
        }
        expect(tags).to.deep.equal(['"1"', '"v2.1"', '"1:id"', '"v2.1:id"']);
        const known = await request().get(`/products/${id}`, {
          headers: { ...SECOND, 'If-None-Match': '"1"' },
        });
        expect(known.status).to.equal(200);
        const same = await request().get(`/products/${id}`, {
          headers: { ...SECOND, 'If-None-Match': '"v2.1"' },
        });
        expect([same.status, same.headers['etag']]).to.deep.equal([304, '"v2.1"']);
      });

      it('by which it is written in that version, and in no other', async () => {
        const { id } = await made();
        const tag = (path: string) =>
          request()
            .get(path)
            .then(({ headers }) => headers['etag']);
        const [first, second] = [await tag(`/v1/products/${id}`), await tag(`/v2/products/${id}`)];
        for (const [path, wrong, right] of [
          [`/v2/products/${id}`, first, second],
          [`/v1/products/${id}`, second, first],
        ] as const) {
          const field = path.startsWith('/v2') ? 'title' : 'name';
          const refused = await request().patch(path, { [field]: 'no' }, match(wrong));
          expect([...outcome(refused), refused.headers['etag']]).to.deep.equal([
            412,
            'precondition_failed',
            right,
          ]);
          expect((await request().delete(path, match(wrong))).status).to.equal(412);
        }
        const written = await request().patch(`/v2/products/${id}`, { title: 'yes' }, match(second));
        expect([written.status, written.headers['etag']]).to.deep.equal([200, '"v2.2"']);
      });

      it('that a write in the other version makes old', async () => {
        const { id } = await made();
        await request().patch(`/v1/products/${id}`, { description: 'which version 2 does not show' });
        const late = await request().patch(`/v2/products/${id}`, { title: 'late' }, match('"v2.1"'));
        expect([late.status, late.headers['etag']]).to.deep.equal([412, '"v2.2"']);
        expect(
          (await request().patch(`/v2/products/${id}`, { title: 'now' }, match('"v2.2"'))).status,
        ).to.equal(200);
        expect((await request().patch(`/v1/products/${id}`, { name: 'late' }, match('"2"'))).status).to.equal(
          412,
        );
      });
    });

    describe('is made once under a key', () => {
      it('which another body in another version cannot have', async () => {
        const key = keyed(randomUUID());
        const first = await request().post('/v1/products', { name: 'once' }, key);
        const other = await request().post('/v2/products', { title: 'once' }, key);
        expect(outcome(other)).to.deep.equal([422, 'idempotency_key_reused']);
        const again = await request().post('/products', { name: 'once' }, key);
        expect([again.status, again.json, again.headers['idempotency-replayed']]).to.deep.equal([
          201,
          first.json,
          'true',
        ]);
      });

      it('and shown again in whichever version the same body comes in', async () => {
        const key = keyed(randomUUID());
        const first = await request().post('/v2/products', { title: 'once' }, key);
        await request().patch(`/v2/products/${first.json.id}`, { title: 'changed since' });
        const again = await request().post('/v1/products', { title: 'once' }, key);
        expect([again.status, again.headers['idempotency-replayed']]).to.deep.equal([201, 'true']);
        expect(again.json).to.deep.equal({ id: first.json.id, name: 'once' });
      });

      it('however many race for it in both', async () => {
        const [key, name] = [keyed(randomUUID()), `raced ${randomUUID()}`];
        const responses = await Promise.all(
          Array.from({ length: 20 }, (_, at) =>
            at % 2
              ? request().post('/v1/products', { name }, key)
              : request().post('/v2/products', { title: name }, key),
          ),
        );
        const won = responses.filter(({ status }) => status === 201);
        expect(responses.filter(({ status }) => status === 422)).to.have.length(10);
        expect(won.filter(({ headers }) => !headers['idempotency-replayed'])).to.have.length(1);
        expect((await request().get(`/v1/products?name=${encodeURIComponent(name)}`)).json).to.have.length(1);
      });
    });
  });

  describe(`a user whose name version 2 splits, on ${STORE}`, () => {
    const service = twoVersions({ STORE }, splitUsers);
    const request = () => service.client;
    const emailOf = (name: string) => `${name}-${randomUUID()}@example.com`;
    const shown = async (id: number) => {
      const versions = await Promise.all(
        ['v1', 'v2'].map((version) => request().get(`/${version}/users/${id}`)),
      );
      return versions.map(({ json: { id: _id, ...rest } }) => rest);
    };
    const made = async (fields: object): Promise<number> =>
      (await request().post('/v2/users', { email: emailOf('made'), ...fields })).json.id;

    it('is one record', async () => {
      const email = emailOf('dick');
      const { json } = await request().post('/v2/users', { firstName: 'Dick', lastName: 'van Dyke', email });
      expect(json).to.deep.equal({ id: json.id, firstName: 'Dick', lastName: 'van Dyke', email });
      expect(await shown(json.id)).to.deep.equal([
        { name: 'Dick van Dyke', email },
        { firstName: 'Dick', lastName: 'van Dyke', email },
      ]);
    });

    for (const [what, write] of [
      ['a merge patch', (id: number, email: string) => request().patch(`/v1/users/${id}`, { email })],
      [
        'a JSON Patch',
        (id: number, email: string) =>
          request().patch(`/v1/users/${id}`, [{ op: 'replace', path: '/email', value: email }], {
            headers: { 'Content-Type': 'application/json-patch+json' },
          }),
      ],
      [
        'a PUT',
        (id: number, email: string) => request().put(`/v1/users/${id}`, { name: 'Dick van Dyke', email }),
      ],
      [
        'a PATCH without a version',
        (id: number, email: string) => request().patch(`/users/${id}`, { email }),
      ],
    ] as const) {
      it(`keeps its last name over ${what} of the e-mail address in version 1`, async () => {
        const id = await made({ firstName: 'Dick', lastName: 'van Dyke' });
        const email = emailOf('new');
        expect((await write(id, email)).status).to.equal(200);
        expect(await shown(id)).to.deep.equal([
          { name: 'Dick van Dyke', email },
          { firstName: 'Dick', lastName: 'van Dyke', email },
        ]);
      });
    }

    it('keeps its last name also if version 1 changes the first', async () => {
      const id = await made({ firstName: 'Dick', lastName: 'van Dyke' });
      await request().patch(`/v1/users/${id}`, { name: 'Barry van Dyke' });
      const [, second] = await shown(id);
      expect(second).to.include({ firstName: 'Barry', lastName: 'van Dyke' });
      await request().patch(`/v1/users/${id}`, { name: 'Mary Tyler Moore' });
      const [, other] = await shown(id);
      expect(other).to.include({ firstName: 'Mary Tyler', lastName: 'Moore' });
    });

    it('loses its last name in version 2 alone', async () => {
      const id = await made({ firstName: 'Dick', lastName: 'van Dyke' });
      const { json } = await request().patch(`/v2/users/${id}`, { lastName: null });
      expect(json).to.include({ firstName: 'Dick' }).and.not.have.property('lastName');
      expect((await shown(id))[0]).to.include({ name: 'Dick' });
    });

    it('has issues at the fields of the version that was asked', async () => {
      const response = await request().post('/v2/users', {
        name: 'x',
        firstName: '',
        lastName: 'x'.repeat(101),
      });
      expect(issueLocations(response)).to.have.deep.members([
        ['unknown_field', '/name'],
        ['too_short', '/firstName'],
        ['too_long', '/lastName'],
        ['required', '/email'],
      ]);
      const email = emailOf('twice');
      await request().post('/v1/users', { name: 'x', email });
      const twice = await request().post('/v2/users', { firstName: 'x', email });
      expect([...outcome(twice), issueLocations(twice)]).to.deep.equal([
        409,
        'duplicate_value',
        [['duplicate_value', '/email']],
      ]);
    });

    describe('is listed', () => {
      const prefix = randomUUID();
      const named = (names: string[], path: string, headers = {}) =>
        request()
          .get(path, { headers })
          .then(({ json }) => expect(json.map((one: object) => Object.values(one)[1])).to.deep.equal(names));

      before(async () => {
        for (const name of ['c', 'a', 'b'])
          await request().post('/v1/users', { name, email: `${prefix}-${name}@example.com` });
      });

      it('by the fields of the version that was asked', async () => {
        const [all, filter] = [['a', 'b', 'c'], `email:prefix=${prefix}`];
        await named(all, `/v1/users?${filter}&sort=name`);
        await named(all, `/v2/users?${filter}&sort=email`);
        await named(all, `/users?${filter}&sort=email&fields=id,firstName`, SECOND);
        await named(all.toReversed(), `/v2/users?${filter}&sort=-email`);
        for (const [path, parameter] of [
          ['/v2/users?name=x', 'name'],
          ['/v1/users?firstName=x', 'firstName'],
          ['/v2/users?sort=name', 'sort'],
          ['/v2/users?fields=name', 'fields'],
        ] as const) {
          const response = await request().get(path);
          expect([response.status, issueLocations(response)[0]?.[1]], path).to.deep.equal([400, parameter]);
        }
      });

      it('counted and exported alike', async () => {
        const headers = { Prefer: 'count=exact', Accept: 'application/x-ndjson' };
        const response = await request().get(`/v2/users?email:prefix=${prefix}&sort=email`, { headers });
        expect(response.headers['x-total-count']).to.equal('3');
        const names = response.text
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line).firstName);
        expect(names).to.deep.equal(['a', 'b', 'c']);
      });

      for (const [path, headers] of [
        ['/v2/users', {}],
        ['/users', SECOND],
      ] as const) {
        it(`page by page, at ${path} to the end`, async () => {
          const names: string[] = [];
          let next: string | undefined = `${path}?email:prefix=${prefix}&sort=-email&limit=1`;
          while (next) {
            const response: HttpResponse = await request().get(next, { headers });
            names.push(...response.json.map(({ firstName }: { firstName: string }) => firstName));
            const links = linksOf(response.headers['link']);
            for (const target of Object.values(links)) expect(target.split('?')[0]).to.equal(path);
            next = links['next'];
          }
          expect(names).to.deep.equal(['c', 'b', 'a']);
        });
      }

      it('from places that no other version knows', async () => {
        const cursor = async (path: string, headers = {}) =>
          cursorIn(linksOf((await request().get(`${path}?limit=1`, { headers })).headers['link'])['next']);
        const [first, second] = [await cursor('/v1/users'), await cursor('/users', SECOND)];
        for (const [path, wrong, right] of [
          ['/v1/users', second, first],
          ['/v2/users', first, second],
        ] as const) {
          const refused = await request().get(`${path}?limit=1&cursor=${wrong}`);
          expect(outcome(refused)).to.deep.equal([400, 'invalid_cursor']);
          expect((await request().get(`${path}?limit=1&cursor=${right}`)).status).to.equal(200);
        }
      });
    });
  });
}

import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type HttpResponse, issueLocations } from '../support/http-client.js';
import { cursorIn, linksOf } from '../support/links.js';
import { twoVersions } from '../support/two-versions.js';

const SECOND = { 'API-Version': '2' };
const match = (tag: unknown) => ({ headers: { 'If-Match': String(tag) } });
const keyed = (key: string) => ({ headers: { 'Idempotency-Key': key } });
const outcome = ({ status, json }: HttpResponse) => [status, json.code];

for (const STORE of ['memory', 'sqlite']) {
  describe(`what is written in one version and read in another, on ${STORE}`, () => {
    const service = twoVersions({ STORE });
    const ask = () => service.client;
    let number = 0;
    /** A product with everything that the second version does not show. */
    async function made(): Promise<{ id: number; name: string; description: string }> {
      const fields = { name: `Lamp ${++number}`, description: 'bright', attributes: { colour: 'red' } };
      return (await ask().post('/v1/products', fields)).json;
    }

    it('is one record, whose address stays in the version that made it', async () => {
      for (const [path, headers] of [
        ['/v2/products', {}],
        ['/products', SECOND],
      ] as const) {
        const answer = await ask().post(path, { title: 'Torch' }, { headers });
        const { id } = answer.json;
        expect([answer.status, answer.json]).to.deep.equal([201, { id, title: 'Torch' }]);
        expect(answer.headers['location']).to.equal(`/v2/products/${id}`);
        expect((await ask().get(`/v1/products/${id}`)).json).to.deep.equal({ id, name: 'Torch' });
      }
    });

    it('keeps what the other version does not show', async () => {
      const { id, ...rest } = await made();
      for (const [method, title, asking] of [
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
        const answer = await ask().request(method, `/v2/products/${id}`, asking);
        expect([answer.status, answer.json]).to.deep.equal([200, { id, title }]);
        expect((await ask().get(`/v1/products/${id}`)).json).to.deep.equal({ id, ...rest, name: title });
      }
      expect((await ask().delete(`/v2/products/${id}`)).status).to.equal(204);
      expect((await ask().get(`/v1/products/${id}`)).status).to.equal(404);
    });

    it('moves no version when nothing changes', async () => {
      const { id, name } = await made();
      const answer = await ask().put(`/v2/products/${id}`, { title: name });
      expect([answer.status, answer.headers['etag']]).to.deep.equal([200, '"v2.1"']);
    });

    it('is judged in the words of the version that was asked', async () => {
      const { id } = await made();
      for (const answer of [
        await ask().post('/v2/products', { name: 'x', title: '' }),
        await ask().put(`/v2/products/${id}`, { name: 'x', title: '' }),
        await ask().patch(`/v2/products/${id}`, { name: 'x', title: '' }),
      ]) {
        expect(outcome(answer)).to.deep.equal([400, 'validation_failed']);
        expect(issueLocations(answer)).to.have.deep.members([
          ['unknown_field', '/name'],
          ['too_short', '/title'],
        ]);
      }
      await ask().post('/v1/products', { name: 'x', sku: 'ONE' });
      const twice = await ask().post('/v2/products', { title: 'x', sku: 'ONE' });
      expect([...outcome(twice), issueLocations(twice)]).to.deep.equal([
        409,
        'duplicate_value',
        [['duplicate_value', '/sku']],
      ]);
    });

    it('is imported line by line in either', async () => {
      const lines = '{"title":"one"}\n{"name":"two"}\n';
      const headers = { 'Content-Type': 'application/x-ndjson' };
      const answer = await ask().post('/v2/products', lines, { headers });
      const [first, second] = answer.text
        .split('\n')
        .slice(0, 2)
        .map((line) => JSON.parse(line));
      expect((await ask().get(`/v1/products/${first.id}`)).json.name).to.equal('one');
      expect([second.status, second.error.details[0].pointer]).to.deep.equal([400, '/title']);
    });

    describe('has a tag in each', () => {
      it('of which no two are alike', async () => {
        const { id } = await made();
        const tags = [];
        for (const query of ['', '?fields=id']) {
          for (const headers of [{}, SECOND]) {
            const { headers: got } = await ask().get(`/products/${id}${query}`, { headers });
            tags.push(got['etag']);
          }
        }
        expect(tags).to.deep.equal(['"1"', '"v2.1"', '"1:id"', '"v2.1:id"']);
        const known = await ask().get(`/products/${id}`, { headers: { ...SECOND, 'If-None-Match': '"1"' } });
        expect(known.status).to.equal(200);
        const same = await ask().get(`/products/${id}`, {
          headers: { ...SECOND, 'If-None-Match': '"v2.1"' },
        });
        expect([same.status, same.headers['etag']]).to.deep.equal([304, '"v2.1"']);
      });

      it('by which it is written in that version, and in no other', async () => {
        const { id } = await made();
        const tag = (path: string) =>
          ask()
            .get(path)
            .then(({ headers }) => headers['etag']);
        const [first, second] = [await tag(`/v1/products/${id}`), await tag(`/v2/products/${id}`)];
        for (const [path, wrong, right] of [
          [`/v2/products/${id}`, first, second],
          [`/v1/products/${id}`, second, first],
        ] as const) {
          const field = path.startsWith('/v2') ? 'title' : 'name';
          const refused = await ask().patch(path, { [field]: 'no' }, match(wrong));
          expect([...outcome(refused), refused.headers['etag']]).to.deep.equal([
            412,
            'precondition_failed',
            right,
          ]);
          expect((await ask().delete(path, match(wrong))).status).to.equal(412);
        }
        const written = await ask().patch(`/v2/products/${id}`, { title: 'yes' }, match(second));
        expect([written.status, written.headers['etag']]).to.deep.equal([200, '"v2.2"']);
      });

      it('that a write in the other version makes old', async () => {
        const { id } = await made();
        await ask().patch(`/v1/products/${id}`, { description: 'which version 2 does not show' });
        const late = await ask().patch(`/v2/products/${id}`, { title: 'late' }, match('"v2.1"'));
        expect([late.status, late.headers['etag']]).to.deep.equal([412, '"v2.2"']);
        expect((await ask().patch(`/v2/products/${id}`, { title: 'now' }, match('"v2.2"'))).status).to.equal(
          200,
        );
        expect((await ask().patch(`/v1/products/${id}`, { name: 'late' }, match('"2"'))).status).to.equal(
          412,
        );
      });
    });

    describe('is made once under a key', () => {
      it('which another body in another version cannot have', async () => {
        const key = keyed(randomUUID());
        const first = await ask().post('/v1/products', { name: 'once' }, key);
        const other = await ask().post('/v2/products', { title: 'once' }, key);
        expect(outcome(other)).to.deep.equal([422, 'idempotency_key_reused']);
        const again = await ask().post('/products', { name: 'once' }, key);
        expect([again.status, again.json, again.headers['idempotency-replayed']]).to.deep.equal([
          201,
          first.json,
          'true',
        ]);
      });

      it('and shown again in whichever version the same body comes in', async () => {
        const key = keyed(randomUUID());
        const first = await ask().post('/v2/products', { title: 'once' }, key);
        await ask().patch(`/v2/products/${first.json.id}`, { title: 'changed since' });
        const again = await ask().post('/v1/products', { title: 'once' }, key);
        expect([again.status, again.headers['idempotency-replayed']]).to.deep.equal([201, 'true']);
        expect(again.json).to.deep.equal({ id: first.json.id, name: 'once' });
      });

      it('however many race for it in both', async () => {
        const [key, name] = [keyed(randomUUID()), `raced ${randomUUID()}`];
        const answers = await Promise.all(
          Array.from({ length: 20 }, (_, at) =>
            at % 2
              ? ask().post('/v1/products', { name }, key)
              : ask().post('/v2/products', { title: name }, key),
          ),
        );
        const won = answers.filter(({ status }) => status === 201);
        expect(answers.filter(({ status }) => status === 422)).to.have.length(10);
        expect(won.filter(({ headers }) => !headers['idempotency-replayed'])).to.have.length(1);
        expect((await ask().get(`/v2/products?title=${encodeURIComponent(name)}`)).json).to.have.length(1);
      });
    });

    describe('is listed', () => {
      const named = (names: string[], path: string, headers = {}) =>
        ask()
          .get(path, { headers })
          .then(({ json }) => expect(json.map((one: object) => Object.values(one)[1])).to.deep.equal(names));

      before(async () => {
        for (const name of ['list c', 'list a', 'list b']) await ask().post('/v1/products', { name });
      });

      it('by the names of the version that was asked', async () => {
        const all = ['list a', 'list b', 'list c'];
        await named(all, '/v1/products?name:prefix=list&sort=name');
        await named(all, '/v2/products?title:prefix=list&sort=title');
        await named(all, '/products?title:prefix=list&sort=title&fields=id,title', SECOND);
        await named(['list b'], '/v2/products?title:in=list b,list x'.replaceAll(' ', '%20'));
        await named(all.toReversed(), '/v2/products?title:gte=list&title:lt=lisu&sort=-title');
        for (const [path, parameter] of [
          ['/v2/products?name=x', 'name'],
          ['/v1/products?title=x', 'title'],
          ['/v2/products?sort=name', 'sort'],
          ['/v2/products?fields=name', 'fields'],
          ['/v2/products?attributes.colour=red', 'attributes.colour'],
        ] as const) {
          const answer = await ask().get(path);
          expect([answer.status, issueLocations(answer)[0]?.[1]], path).to.deep.equal([400, parameter]);
        }
      });

      it('counted and exported alike', async () => {
        const headers = { Prefer: 'count=exact', Accept: 'application/x-ndjson' };
        const answer = await ask().get('/v2/products?title:prefix=list&sort=title', { headers });
        expect(answer.headers['x-total-count']).to.equal('3');
        const titles = answer.text
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line).title);
        expect(titles).to.deep.equal(['list a', 'list b', 'list c']);
      });

      for (const [path, headers] of [
        ['/v2/products', {}],
        ['/products', SECOND],
      ] as const) {
        it(`page by page, at ${path} to the end`, async () => {
          const titles: string[] = [];
          let next: string | undefined = `${path}?title:prefix=list&sort=-title&limit=1`;
          while (next) {
            const answer: HttpResponse = await ask().get(next, { headers });
            titles.push(...answer.json.map(({ title }: { title: string }) => title));
            const links = linksOf(answer.headers['link']);
            for (const target of Object.values(links)) expect(target.split('?')[0]).to.equal(path);
            next = links['next'];
          }
          expect(titles).to.deep.equal(['list c', 'list b', 'list a']);
        });
      }

      it('from places that no other version knows', async () => {
        const cursor = async (path: string, headers = {}) =>
          cursorIn(linksOf((await ask().get(`${path}?limit=1`, { headers })).headers['link'])['next']);
        const [first, second] = [await cursor('/v1/products'), await cursor('/products', SECOND)];
        for (const [path, wrong, right] of [
          ['/v1/products', second, first],
          ['/v2/products', first, second],
        ] as const) {
          const refused = await ask().get(`${path}?limit=1&cursor=${wrong}`);
          expect(outcome(refused)).to.deep.equal([400, 'invalid_cursor']);
          expect((await ask().get(`${path}?limit=1&cursor=${right}`)).status).to.equal(200);
        }
      });
    });
  });
}

import { expect } from 'chai';
import { placed } from '../support/http-client.js';
import { runningService } from '../support/running-service.js';

const FULL = {
  name: 'Lamp',
  description: 'Bright\n',
  sku: 'L-1.a_b',
  price: { amount: 1999, currency: 'EUR' },
  attributes: { 'a.b': 'x', $k: 1.5, on: true },
};

for (const base of ['/v1/products', '/products']) {
  describe(`products at ${base}`, () => {
    const service = runningService();
    const ask = () => service.client;
    const created = async (body: object = { name: 'Lamp' }) =>
      (await ask().post(base, body)).json.id as number;

    describe('POST', () => {
      it('creates a product from a name alone and shows just what has a value', async () => {
        const answer = await ask().post(base, { name: 'Lamp' });
        const { id } = answer.json;
        expect(answer.status).to.equal(201);
        expect(answer.text).to.equal(`{"id":${id},"name":"Lamp"}`);
        expect(answer.headers.location).to.equal(`/v1/products/${id}`);
        expect(answer.headers.etag).to.equal('"1"');
        expect(answer.headers['content-type']).to.equal('application/json');
        expect(answer.headers['cache-control']).to.equal('no-store');
        expect(answer.headers['api-version']).to.equal('1');
      });

      it('keeps every field as it was sent', async () => {
        const { id, ...rest } = (await ask().post(base, FULL)).json;
        expect(rest).to.deep.equal(FULL);
        expect((await ask().get(`${base}/${id}`)).json).to.deep.equal({ id, ...FULL });
        await ask().delete(`${base}/${id}`);
      });

      it('gives ascending ids', async () => {
        const ids = [await created(), await created(), await created()];
        expect(ids).to.deep.equal(ids.toSorted((a, b) => a - b));
        expect(new Set(ids)).to.have.length(3);
      });

      it('takes 1e2 and 100.0 for the integer 100', async () => {
        for (const amount of ['1e2', '100.0', '100']) {
          const body = `{"name":"Lamp","price":{"amount":${amount},"currency":"EUR"}}`;
          expect((await ask().post(base, body)).json.price.amount, amount).to.equal(100);
        }
      });

      it('shows no empty attributes, but an empty description and an empty text', async () => {
        const empty = (await ask().post(base, { name: 'Lamp', description: '', attributes: {} })).json;
        expect(empty).to.deep.equal({ id: empty.id, name: 'Lamp', description: '' });
        expect(
          (await ask().post(base, { name: 'Lamp', attributes: { a: '' } })).json.attributes,
        ).to.deep.equal({ a: '' });
      });

      it('leaves the body out under Prefer: return=minimal', async () => {
        for (const prefer of [
          'return=minimal',
          'respond-async, Return="minimal"; x=y, return=representation',
        ]) {
          const answer = await ask().post(base, { name: 'Lamp' }, { headers: { Prefer: prefer } });
          expect([answer.status, answer.text, answer.headers['content-type']]).to.deep.equal([
            201,
            '',
            undefined,
          ]);
          expect(answer.headers['preference-applied']).to.equal('return=minimal');
          expect(answer.headers.location).to.match(/^\/v1\/products\/\d+$/);
          expect(answer.headers.etag).to.equal('"1"');
        }
      });

      it('heeds no preference that is not one', async () => {
        for (const prefer of [
          'foo="a, return=minimal"',
          'return="mini mal"',
          're turn=minimal',
          'return=representation, return=minimal',
        ]) {
          expect(
            (await ask().post(base, { name: 'x' }, { headers: { Prefer: prefer } })).text,
            prefer,
          ).to.not.equal('');
        }
      });

      it('refuses a sku that another product has, and frees it with its product', async () => {
        const id = await created({ name: 'One', sku: 'unique' });
        const answer = await ask().post(base, { name: 'Two', sku: 'unique' });
        expect([answer.status, answer.json.code]).to.deep.equal([409, 'duplicate_value']);
        expect(answer.json.details).to.deep.equal([
          { code: 'duplicate_value', message: 'Another record has this sku.', in: 'body', pointer: '/sku' },
        ]);
        await ask().delete(`${base}/${id}`);
        expect((await ask().post(base, { name: 'Two', sku: 'unique' })).status).to.equal(201);
      });
    });

    describe('GET of an item', () => {
      it('shows the product with its version as a strong tag', async () => {
        const id = await created();
        const answer = await ask().get(`${base}/${id}`);
        expect([answer.status, answer.text]).to.deep.equal([200, `{"id":${id},"name":"Lamp"}`]);
        expect(answer.headers.etag).to.equal('"1"');
        expect(answer.headers['cache-control']).to.equal('private, no-cache');
        expect(answer.headers.vary).to.equal(base === '/products' ? 'API-Version, Accept' : 'Accept');
      });

      it('answers HEAD with the same headers and no body', async () => {
        const id = await created();
        const {
          date: _,
          ratelimit: __,
          'x-request-id': ___,
          ...got
        } = (await ask().get(`${base}/${id}`)).headers;
        const head = await ask().ask('HEAD', `${base}/${id}`);
        const { date: _d, ratelimit: _r, 'x-request-id': _x, ...headers } = head.headers;
        expect([head.status, head.text]).to.deep.equal([200, '']);
        expect(headers).to.deep.equal(got);
      });

      it('answers 404 for an id that was never given', async () => {
        const answer = await ask().get(`${base}/9007199254740991`);
        expect([answer.status, answer.json.code, answer.json.details]).to.deep.equal([404, 'not_found', []]);
      });
    });

    describe('PUT', () => {
      it('replaces all: absent optional fields go', async () => {
        const id = await created(FULL);
        const answer = await ask().put(`${base}/${id}`, { name: 'Torch' });
        expect([answer.status, answer.text]).to.deep.equal([200, `{"id":${id},"name":"Torch"}`]);
        expect(answer.headers.etag).to.equal('"2"');
        expect((await ask().get(`${base}/${id}`)).text).to.equal(answer.text);
      });

      it('never creates', async () => {
        expect((await ask().put(`${base}/9007199254740991`, { name: 'Torch' })).status).to.equal(404);
      });

      it('takes back what GET showed, id and metadata with their stored values', async () => {
        const id = await created();
        const shown = (await ask().get(`${base}/${id}`)).json;
        expect((await ask().put(`${base}/${id}`, { ...shown, name: 'Edited', version: 1 })).status).to.equal(
          200,
        );
        const stale = await ask().put(`${base}/${id}`, {
          ...shown,
          id: id + 1,
          version: 1,
          createdAt: 'then',
          updatedAt: null,
        });
        expect([stale.status, stale.json.code]).to.deep.equal([400, 'validation_failed']);
        expect(placed(stale)).to.deep.equal(
          ['/id', '/version', '/createdAt', '/updatedAt'].map((pointer) => ['read_only_field', pointer]),
        );
      });

      it('leaves the version where nothing changes, whatever the order of the fields', async () => {
        const id = await created({
          name: 'Lamp',
          attributes: { a: 1, b: 2 },
          price: { amount: 0, currency: 'EUR' },
        });
        const same = `{"price":{"currency":"EUR","amount":-0},"attributes":{"b":2,"a":1},"name":"Lamp"}`;
        const answer = await ask().put(`${base}/${id}`, same);
        expect([answer.status, answer.headers.etag]).to.deep.equal([200, '"1"']);
      });

      it('answers 204 under Prefer: return=minimal', async () => {
        const id = await created();
        const answer = await ask().put(
          `${base}/${id}`,
          { name: 'x' },
          { headers: { Prefer: 'return=minimal' } },
        );
        expect([answer.status, answer.text, answer.headers.etag]).to.deep.equal([204, '', '"2"']);
        expect(answer.headers['preference-applied']).to.equal('return=minimal');
      });
    });

    describe('PATCH', () => {
      for (const type of [
        'application/json',
        'application/merge-patch+json',
        'Application/JSON; Charset="UTF-8"',
      ]) {
        it(`merges what comes as ${type}`, async () => {
          const id = await created(FULL);
          const patch = {
            name: 'Torch',
            sku: null,
            price: { amount: 5 },
            attributes: { 'a.b': null, new: 'n' },
          };
          const answer = await ask().patch(`${base}/${id}`, patch, { headers: { 'Content-Type': type } });
          expect(answer.status).to.equal(200);
          expect(answer.json).to.deep.equal({
            id,
            name: 'Torch',
            description: 'Bright\n',
            price: { amount: 5, currency: 'EUR' },
            attributes: { $k: 1.5, on: true, new: 'n' },
          });
          expect(answer.headers.etag).to.equal('"2"');
          await ask().delete(`${base}/${id}`);
        });
      }

      it('judges the outcome by the rules of the resource', async () => {
        const id = await created(FULL);
        const answer = await ask().patch(`${base}/${id}`, {
          name: null,
          price: { currency: null },
          id: 0,
          x: 1,
        });
        expect(placed(answer)).to.deep.equal([
          ['read_only_field', '/id'],
          ['required', '/name'],
          ['required', '/price/currency'],
          ['unknown_field', '/x'],
        ]);
        expect((await ask().get(`${base}/${id}`)).headers.etag).to.equal('"1"');
        await ask().delete(`${base}/${id}`);
      });

      it('removes all attributes when the last goes', async () => {
        const id = await created({ name: 'Lamp', attributes: { a: 1 } });
        expect((await ask().patch(`${base}/${id}`, { attributes: { a: null } })).json).to.deep.equal({
          id,
          name: 'Lamp',
        });
      });

      it('changes nothing, and no version, by an empty patch', async () => {
        const id = await created();
        const answer = await ask().patch(`${base}/${id}`, {});
        expect([answer.status, answer.headers.etag]).to.deep.equal([200, '"1"']);
      });

      it('loses none of many patches of other fields that race', async () => {
        const id = await created();
        const keys = Array.from({ length: 50 }, (_, i) => `k${i}`);
        const answers = await Promise.all(
          keys.map((key) => ask().patch(`${base}/${id}`, { attributes: { [key]: 1 } })),
        );
        expect(answers.map(({ status }) => status)).to.deep.equal(keys.map(() => 200));
        const final = await ask().get(`${base}/${id}`);
        expect(Object.keys(final.json.attributes)).to.have.members(keys);
        expect(final.headers.etag).to.equal('"51"');
      });

      it('answers 404 where there is nothing to patch', async () => {
        expect((await ask().patch(`${base}/9007199254740991`, {})).status).to.equal(404);
      });
    });

    describe('DELETE', () => {
      it('answers 204 without a body, and 404 to everything afterwards', async () => {
        const id = await created();
        const gone = await ask().delete(`${base}/${id}`);
        expect([gone.status, gone.text]).to.deep.equal([204, '']);
        expect(gone.headers['content-type']).to.equal(undefined);
        for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE']) {
          const body = method === 'PUT' || method === 'PATCH' ? { name: 'x' } : undefined;
          expect((await ask().ask(method, `${base}/${id}`, { body })).status, method).to.equal(404);
        }
      });

      it('makes everything about it 404, whatever else is wrong with the request', async () => {
        const id = await created();
        await ask().delete(`${base}/${id}`);
        for (const [method, asking] of [
          ['PUT', { body: '{' }],
          ['PATCH', { body: '{}', headers: { 'Content-Type': 'text/plain' } }],
          ['GET', { headers: { Accept: 'text/html' } }],
          ['DELETE', { headers: { 'If-Match': 'nonsense' } }],
        ] as const) {
          expect((await ask().ask(method, `${base}/${id}?x=1`, asking)).status, method).to.equal(404);
        }
      });

      it('lets exactly one of many racing deletions succeed', async () => {
        const id = await created();
        const answers = await Promise.all(Array.from({ length: 10 }, () => ask().delete(`${base}/${id}`)));
        expect(answers.map(({ status }) => status).toSorted()).to.deep.equal([204, ...Array(9).fill(404)]);
      });
    });

    describe('methods', () => {
      it('are told by OPTIONS, to anyone', async () => {
        const list = await ask().ask('OPTIONS', `${base}?limit=1`, { token: null });
        expect([list.status, list.text, list.headers.allow]).to.deep.equal([
          204,
          '',
          'GET, HEAD, POST, OPTIONS',
        ]);
        const item = await ask().ask('OPTIONS', `${base}/1`, { token: null });
        expect([item.status, item.headers.allow]).to.deep.equal([
          204,
          'GET, HEAD, PUT, PATCH, DELETE, OPTIONS',
        ]);
        expect(item.headers['accept-patch']).to.equal('application/merge-patch+json, application/json');
      });

      it('that a path lacks are 405 with Allow', async () => {
        for (const [method, path] of [
          ['PUT', base],
          ['PATCH', base],
          ['DELETE', base],
          ['TRACE', base],
          ['POST', `${base}/1`],
          ['PURGE', `${base}/1`],
        ] as const) {
          const answer = await ask().ask(method, path);
          expect([answer.status, answer.json.code], `${method} ${path}`).to.deep.equal([
            405,
            'method_not_allowed',
          ]);
          expect(answer.headers.allow).to.include('GET, HEAD');
        }
      });
    });
  });
}

import { expect } from 'chai';
import type { StoreName } from '#src/composition/stores/index.js';
import { ORDER } from '#src/domain/order.js';
import { PRODUCT } from '#src/domain/product.js';
import { USER } from '#src/domain/user.js';
import { figuresOf } from '../support/figure.js';
import type { HttpResponse, RequestOptions } from '../support/http-client.js';
import { inProcessService } from '../support/in-process-service.js';
import { jsonLines } from '../support/line-stream.js';
import { list } from '../support/list.js';
import { inParallel } from '../support/parallel-limits.js';
import { findsByDefinition } from '../support/reference-search.js';

const figure = figuresOf('injection');

const LANES = 8;
const NDJSON = { 'Content-Type': 'application/x-ndjson' };
const CSV = { 'Content-Type': 'text/csv' };

/** A product as the test stores it: a payload in every field that can have it. */
interface Stored {
  readonly id: number;
  readonly name: string;
  readonly description: string;
  readonly attributes: Readonly<Record<string, string>>;
}

const THEN = '2000-01-01T00:00:00.000Z';
const READ_ONLY: Readonly<Record<string, unknown>> = { id: 4_000_000, version: 99, createdAt: THEN, updatedAt: THEN };

/** Each field filter with what it means, for texts ordered by UTF-8. */
const OPERATORS: Readonly<Record<string, (value: string, wanted: string) => boolean>> = {
  '': (value, wanted) => value === wanted,
  '.ne': (value, wanted) => value !== wanted,
  '.prefix': (value, wanted) => value.startsWith(wanted),
  '.lt': (value, wanted) => Buffer.compare(Buffer.from(value), Buffer.from(wanted)) < 0,
  '.gte': (value, wanted) => Buffer.compare(Buffer.from(value), Buffer.from(wanted)) >= 0,
  '.in': (value, wanted) => value === wanted,
};

/** The texts of a run, which `payloads.ts` has. */
export interface HostileTexts {
  readonly payloads: readonly string[];
  /** With characters that no field of one line accepts. */
  readonly controls: readonly string[];
  /** Names that no request declares. */
  readonly undeclared: readonly string[];
}

/** Tests that texts are data in every parameter, header, path and field of a service. */
export function hostileTexts(store: StoreName, all: HostileTexts): void {
  describe(`hostile texts, on ${store}`, function () {
    this.timeout(600_000);
    const service = inProcessService({ STORE: store });
    const texts = [...all.payloads, ...all.controls];
    const faults: string[] = [];
    let requests = 0;
    let serverErrors = 0;
    let stored: Stored[] = [];

    const send = async (method: string, path: string, options: RequestOptions = {}): Promise<HttpResponse> => {
      requests++;
      const response = await service.request(method, path, options);
      if (response.status >= 500) {
        serverErrors++;
        faults.push(`${method} ${path}: ${response.status} ${response.text}`);
      }
      return response;
    };
    const query = (parameters: Record<string, string>) =>
      `/v1/products?${new URLSearchParams({ ...parameters, limit: '1000', fields: 'id' })}`;
    const idsOf = ({ json }: HttpResponse): number[] => json.map(({ id }: { id: number }) => id);

    /** The records whose texts match; 400 is right for a text that the parameter cannot have. */
    const expectRecords = async (
      parameters: Record<string, string>,
      matches: (record: Stored) => boolean,
      mayRefuse = false,
    ) => {
      const response = await send('GET', query(parameters));
      if (response.status === 400 && mayRefuse) return;
      const expected = stored.filter(matches).map(({ id }) => id);
      const got = response.status === 200 ? idsOf(response) : [];
      if (response.status !== 200 || got.join() !== expected.join())
        faults.push(`${JSON.stringify(parameters)}: ${response.status} ${got.length} records, not ${expected.length}`);
    };

    /** The values of an attribute that begin with a text. A text of a record is at most one of them. */
    const expectFacet = async (prefix: string) => {
      const parameters = new URLSearchParams({ fields: 'attributes[k]', limit: '100', prefix });
      const { status, json } = await send('GET', `/v1/products/facets?${parameters}`);
      const values: string[] = status === 200 ? json[0].values.map(({ value }: { value: string }) => value) : [];
      const expected = new Set(
        stored.map(({ attributes }) => attributes['k'] ?? '').filter((one) => one.startsWith(prefix)),
      );
      if (status !== 200 || values.length !== Math.min(100, expected.size) || !values.every((one) => expected.has(one)))
        faults.push(`the facet of ${JSON.stringify(prefix)}: ${status} ${values.length} values, not ${expected.size}`);
    };

    const expectStatus = async (
      method: string,
      path: string,
      statuses: readonly number[],
      options?: RequestOptions,
    ) => {
      const response = await send(method, path, options);
      if (!statuses.includes(response.status))
        faults.push(`${method} ${path} ${JSON.stringify(options?.headers ?? {})}: ${response.status}`);
      return response;
    };

    const expectNoFaults = () => {
      figure(`requests on ${store}`, requests);
      figure('5xx', serverErrors);
      figure('other wrong responses', faults.length - serverErrors);
      expect(faults, `${faults.length} faults:\n${faults.slice(0, 15).join('\n')}`).to.have.length(0);
      [requests, serverErrors] = [0, 0];
    };

    before(async () => {
      const names = all.payloads.filter((text) => !/^[\s\u0085]*$/u.test(text));
      const records = names.map((text) => ({
        name: text,
        description: `${text}\n${text}`,
        attributes: { k: text, [[...text].slice(0, 64).join('')]: 'v' },
      }));
      const lines = records.map((one) => `${JSON.stringify(one)}\n`).join('');
      const { text } = await service.post('/v1/products/imports', lines, { headers: NDJSON });
      const results = jsonLines(text);
      stored = records.map((one, at) => ({ ...one, id: results[at].id }));
      for (const { status } of results) expect(status, text).to.equal(201);
    });
    beforeEach(() => {
      faults.length = 0;
      [requests, serverErrors] = [0, 0];
    });

    it('are stored and shown as data, and mean themselves in every filter', async () => {
      figure('payloads', texts.length);
      expect((await send('GET', '/v1/products?limit=1000')).json).to.deep.equal(stored);
      await inParallel(LANES, texts, async (text) => {
        for (const [operator, matches] of Object.entries(OPERATORS)) {
          if (operator === '.in' && text.includes(',')) continue;
          await expectRecords(
            { [`name${operator}`]: text },
            ({ name }) => matches(name, text),
            all.controls.includes(text),
          );
        }
        const isControl = all.controls.includes(text);
        await expectRecords({ 'attributes.k': text }, ({ attributes }) => attributes['k'] === text, isControl);
        const key = [...text].slice(0, 64).join('');
        // Behind a dot, such an end is refused: it is how other services write an operator or a list.
        const isOtherStyle = /\[\]$|\.(?:ne|lte?|gte?|in|all|prefix|exists)$/.test(key);
        const name = isOtherStyle ? `attributes[${key}]` : `attributes.${key}`;
        await expectRecords(
          { [name]: 'v' },
          ({ attributes }) => Object.hasOwn(attributes, key) && attributes[key] === 'v',
          isControl,
        );
        await expectRecords(
          { [name]: text },
          ({ attributes }) => Object.hasOwn(attributes, key) && attributes[key] === text,
          isControl,
        );
        await expectRecords(
          { [`attributes[${key}].exists`]: 'true' },
          ({ attributes }) => Object.hasOwn(attributes, key),
          isControl || key.startsWith('attributes.'),
        );
        await expectFacet(text);
        // Without a word, and with over ten, `q` is refused.
        await expectRecords(
          { q: text },
          ({ name, description, attributes }) =>
            findsByDefinition(text, [name, description, ...Object.values(attributes)].join('\n')),
          true,
        );
      });
      expectNoFaults();
    });

    it('are refused or harmless in every other parameter, header and path', async () => {
      const before = await send('GET', '/v1/products?limit=1000&fields=id,version');
      const [first] = stored;
      const itemPath = `/v1/products/${first?.id}`;
      await inParallel(LANES, texts, async (text) => {
        const value = encodeURIComponent(text);
        const integers = /^-?(0|[1-9]\d*)$/.test(text);
        for (const name of list`sort  fields  cursor  limit  price.amount  id.gt  createdAt.lt  sku.exists  price.amount.in`)
          await expectStatus(
            'GET',
            `/v1/products?${name}=${value}`,
            integers || /^(id|name|true|false|attributes|name,id)$/.test(text) ? [200, 400] : [400],
          );
        await expectStatus('GET', `/v1/products?${value}=x`, [200, 400]);
        await expectStatus('GET', `${itemPath}?${value}=x`, [400]);
        await expectStatus('GET', `/v1/products?name.${value}=x`, [400]);
        const isAttribute = text.startsWith('attributes.');
        await expectStatus('GET', `/v1/products/facets?fields=${value}`, isAttribute ? [200, 400] : [400]);
        await expectStatus('GET', `/v1/products/facets?fields=attributes[${value}]`, [200, 400]);
        for (const path of [
          `/v1/products/${value}`,
          `/v1/${value}`,
          `/${value}`,
          `/v1/products/1/${value}`,
          `/docs/${value}`,
          `/.well-known/${value}`,
        ])
          await expectStatus('GET', path, /^[1-9]\d*$|^\.{1,2}$/.test(text) ? [200, 404, 303] : [404, 405]);
        // A number means the record with this id.
        if (!/^[1-9]\d*$/.test(text)) await expectStatus('DELETE', `/v1/products/${value}`, [404, 405]);
        if (!/^[\x20-\x7e]+$/.test(text)) return;
        for (const name of list`If-None-Match  Prefer  Accept  X-Request-Id  Accept-Language  Cookie  X-Forwarded-For`)
          await expectStatus('GET', itemPath, [200, 304, 406], { headers: { [name]: text } });
        await expectStatus('GET', itemPath, text === '1' ? [200] : [400], { headers: { 'API-Version': text } });
        await expectStatus('DELETE', itemPath, [400, 412], { headers: { 'If-Match': text === '*' ? '"x"' : text } });
        await expectStatus('GET', itemPath, [401], { token: null });
        const keyed = { body: { name: 'key' }, headers: { 'Idempotency-Key': text } };
        const created = await expectStatus('POST', '/v1/products', [201, 400], keyed);
        if (created.status === 201) await expectStatus('DELETE', String(created.headers.location), [204]);
      });
      const after = await send('GET', '/v1/products?limit=1000&fields=id,version');
      if (after.text !== before.text) faults.push('a request changed the records');
      expectNoFaults();
    });

    it('with control characters are refused in every field', async () => {
      for (const text of all.controls) {
        const isLine = /^[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]*$/.test(text);
        for (const body of [
          { name: text },
          { name: 'x', sku: text },
          { name: 'x', attributes: { k: text } },
          { name: 'x', attributes: { [text]: 1 } },
        ])
          await expectStatus('POST', '/v1/products', [400], { body });
        await expectStatus('POST', '/v1/users', [400], { body: { name: 'x', email: `${text}@x` } });
        await expectStatus('POST', '/v1/api-keys', [400], { body: { name: text, scopes: ['products:read'] } });
        if (!isLine) await expectStatus('POST', '/v1/products', [400], { body: { name: 'x', description: text } });
      }
      expectNoFaults();
    });

    it('cannot set, show, filter or sort by a field that no request declares', async () => {
      const declared: Readonly<Record<string, readonly string[]>> = {
        products: Object.keys(PRODUCT),
        users: Object.keys(USER),
        orders: Object.keys(ORDER),
        'api-keys': ['name', 'scopes', 'expiresAt'],
      };
      const valid: Readonly<Record<string, object>> = {
        products: { name: 'mass' },
        users: { name: 'mass', email: 'mass@example.com' },
        orders: { userId: 1, items: [{ productId: stored[0]?.id, quantity: 1 }] },
        'api-keys': { name: 'mass', scopes: ['products:read'] },
      };
      let accepted = 0;
      await send('POST', '/v1/users', { body: { name: 'Ada', email: 'first@example.com' } });
      for (const [plural, fields] of Object.entries(valid)) {
        const path = `/v1/${plural}`;
        const body =
          plural === 'orders' ? { ...fields, userId: (await send('GET', '/v1/users?limit=1')).json[0].id } : fields;
        const created = await send('POST', path, { body });
        expect(created.status, created.text).to.equal(201);
        const itemPath = `${path}/${created.json.id}`;
        const before = (await send('GET', itemPath)).text;
        const names = all.undeclared.filter((name) => !declared[plural]?.includes(name));
        const bad = [...names.map((name): [string, unknown] => [name, 'x']), ...Object.entries(READ_ONLY)];
        await inParallel(LANES, bad, async ([name, value]) => {
          const whole = { ...body, ...(plural === 'users' && { email: 'other@example.com' }), [name]: value };
          const step = name.replaceAll('~', '~0').replaceAll('/', '~1');
          const patch = JSON.stringify([{ op: 'add', path: `/${step}`, value }]);
          const attempts: HttpResponse[] = [await expectStatus('POST', path, [400], { body: whole })];
          if (plural !== 'api-keys') {
            attempts.push(
              await expectStatus('PUT', itemPath, [400], { body: whole }),
              await expectStatus('PATCH', itemPath, [400], { body: { [name]: value } }),
              await expectStatus('PATCH', itemPath, [400], {
                body: patch,
                headers: { 'Content-Type': 'application/json-patch+json' },
              }),
            );
            const line = await send('POST', `${path}/imports`, { body: `${JSON.stringify(whole)}\n`, headers: NDJSON });
            if (JSON.parse(line.text).status !== 400) faults.push(`NDJSON ${plural} with ${name}: ${line.text}`);
          }
          const isColumn = plural === 'products' && /^(price\.|attributes\.)/.test(name);
          if (['products', 'users'].includes(plural) && !isColumn)
            attempts.push(
              await expectStatus('POST', `${path}/imports`, [400], {
                body: `name,email,${name}\nx,x@y,1\n`,
                headers: CSV,
              }),
            );
          for (const { status } of attempts) if (status < 400) accepted++;
          if (name in READ_ONLY || plural === 'api-keys' || isColumn) return;
          const encoded = encodeURIComponent(name);
          await expectStatus('GET', `${path}?sort=${encoded}`, [400]);
          await expectStatus('GET', `${path}?fields=${encoded}`, [400]);
          if (!(plural === 'orders' && name === 'userId')) await expectStatus('GET', `${path}?${encoded}=x`, [400]);
        });
        const after = await send('GET', itemPath);
        if (after.text !== before) faults.push(`${itemPath} was ${before} and is ${after.text}`);
        const shown = new Set<string>((await send('GET', `${path}?limit=1000`)).json.flatMap(Object.keys));
        const extra = [...shown].filter(
          (name) => ![...(declared[plural] ?? []), 'id', 'createdAt', 'createdBy', 'lastUsedAt'].includes(name),
        );
        if (extra.length > 0) faults.push(`${path} shows ${extra}`);
      }
      figure('undeclared fields accepted', accepted);
      expectNoFaults();
    });
  });
}

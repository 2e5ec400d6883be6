import { expect } from 'chai';
import { MAX_ID } from '#src/domain/record.js';
import { catalogue } from '../support/child-process-service.js';
import { inProcessService } from '../support/in-process-service.js';
import { PLURALS } from '../support/tables.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const PUBLIC_URL = 'https://catalogue.test';

describe('/openapi.json', () => {
  const service = inProcessService({ PUBLIC_URL, RATE_LIMIT_REQUESTS: '1000' });
  const get = (headers: Record<string, string> = {}) =>
    service.client.get('/openapi.json', { token: null, headers });

  it('is public, and lists the paths of the service', async () => {
    const response = await get();
    expect([response.status, response.headers['content-type']]).to.deep.equal([200, 'application/json']);
    expect(response.json.openapi).to.match(/^3\.1\./);
    expect(response.json.paths).to.include.all.keys('/v1/products', '/v1/products/{id}', '/oauth/token');
  });

  it('names PUBLIC_URL as the server', async () => {
    expect((await get()).json.servers).to.deep.equal([{ url: PUBLIC_URL }]);
  });

  it('has responses to HEAD with the headers of GET, without a body', async () => {
    for (const path of ['/openapi.json', '/v1/products', '/v1/api-keys/1', '/health/ready', '/oauth/jwks']) {
      const [whole, head] = [await service.client.get(path), await service.client.request('HEAD', path)];
      expect([head.status, head.text], path).to.deep.equal([whole.status, '']);
      const names = ({ headers }: typeof whole) => Object.keys(headers).sort();
      expect(names(head), path).to.deep.equal(names(whole));
    }
  });

  it('must be revalidated, and is 304 if unchanged', async () => {
    const { headers } = await get();
    expect(headers['cache-control']).to.equal('no-cache');
    const again = await get({ 'If-None-Match': headers.etag ?? '' });
    expect([again.status, again.text]).to.deep.equal([304, '']);
    expect((await get({ 'If-None-Match': '"other"' })).status).to.equal(200);
  });

  it('is compressed if the client accepts it', async () => {
    const [whole, coded] = [await get(), await get({ 'Accept-Encoding': 'br' })];
    expect(coded.headers['content-encoding']).to.equal('br');
    expect(coded.bytes.length * 6).to.be.below(whole.bytes.length);
  });

  it('equals the output of catalogue openapi', async () => {
    const printed = await catalogue(temporaryFolder(), ['openapi'], { PUBLIC_URL, STORE: 'memory' });
    expect(JSON.parse(printed.out)).to.deep.equal((await get()).json);
  });

  it('is printed even if the store and the limiter are unreachable', async () => {
    const unreachable = {
      STORE: 'mongodb',
      MONGODB_URL: 'mongodb://127.0.0.1:1',
      RATE_LIMITER: 'redis',
      REDIS_URL: 'redis://127.0.0.1:1',
    };
    const printed = await catalogue(temporaryFolder(), ['openapi'], { PUBLIC_URL, ...unreachable });
    expect([printed.code, JSON.parse(printed.out)]).to.deep.equal([0, (await get()).json]);
  });

  it('has 413 for bodies with a limit alone, and for header rows: a long line of an import gets a result of its own', async () => {
    const { paths } = (await get()).json;
    const withLimit = (path: string) => [
      '413' in paths[path].post.responses,
      paths[path].post['x-error-codes'].includes('payload_too_large'),
    ];
    for (const path of ['/v1/products', '/v1/api-keys', '/oauth/token'])
      expect(withLimit(path), path).to.deep.equal([true, true]);
    expect(withLimit('/v1/orders/imports')).to.deep.equal([false, false]);
    for (const resource of ['products', 'users'])
      expect(withLimit(`/v1/${resource}/imports`), resource).to.deep.equal([true, true]);
  });

  it('has exactly the operations of the service', async () => {
    const { paths } = (await get()).json;
    for (const [route, { parameters: _parameters, ...item }] of Object.entries<
      object & { parameters?: unknown }
    >(paths)) {
      const methods = Object.keys(item).map((method) => method.toUpperCase());
      const path = route
        .replace('{id}', String(MAX_ID))
        .replace('{folder}/{file}', 'client/index.js')
        .replace('{file}', 'main.js');
      const { headers } = await service.client.request('OPTIONS', path);
      // The introduction describes HEAD and OPTIONS.
      const more = methods.includes('GET') ? ['HEAD', 'OPTIONS'] : ['OPTIONS'];
      expect(headers['allow']?.split(', '), route).to.have.members([...methods, ...more]);
    }
  });
});

interface Filterable {
  readonly strings: readonly string[];
  /** Fields of other ordered types. */
  readonly others?: readonly string[];
  readonly optional?: readonly string[];
  /** Parameters that are no field with an operator. */
  readonly more?: readonly string[];
}

/** The filterable fields of the contract. */
const FILTERABLE: Readonly<Record<string, Filterable>> = {
  products: {
    strings: ['name', 'sku', 'price.currency'],
    others: ['price.amount'],
    optional: ['sku', 'price.amount', 'price.currency'],
    more: ['q', 'attributes'],
  },
  users: { strings: ['name', 'email'], more: ['q'] },
  orders: { strings: [], others: ['userId'] },
  'api-keys': { strings: ['name'], others: ['createdBy'], optional: ['createdBy'] },
};
const OPERATORS = ['', '.ne', '.lt', '.lte', '.gt', '.gte', '.in'];

describe('the documented parameters of lists', () => {
  const service = inProcessService();

  it('are in the contract for every resource', () => {
    expect(Object.keys(FILTERABLE)).to.have.members(PLURALS);
  });

  for (const [path, { strings, others = [], optional = [], more = [] }] of Object.entries(FILTERABLE))
    it(`are exactly those of the contract: ${path}`, async () => {
      const { paths, components } = (await service.client.get('/openapi.json')).json;
      const fields = [...strings, ...others, 'id', 'createdAt', 'updatedAt'];
      const expected = [
        ...['limit', 'cursor', 'sort', 'fields'],
        ...fields.flatMap((field) => OPERATORS.map((operator) => field + operator)),
        ...strings.map((field) => `${field}.prefix`),
        ...optional.map((field) => `${field}.exists`),
        ...more,
      ];
      const names = queryParameters({ paths, components }, path).map(({ name }) => name);
      expect(names).to.have.members(expected);
    });

  for (const path of PLURALS)
    it(`are accepted by ${path}, one by one and all together`, async () => {
      const document = (await service.client.get('/openapi.json')).json;
      const values = queryParameters(document, path)
        .filter(({ name }) => name !== 'cursor')
        .map(({ name, example }): [string, string] =>
          name === 'attributes' ? ['attributes.colour', 'green'] : [name, [example].flat().join(',')],
        );
      expect(values.length).to.be.above(20);
      for (const pairs of [...values.map((value) => [value]), values]) {
        const response = await service.client.get(`/${path}?${new URLSearchParams(pairs)}`);
        expect(response.status, response.text).to.equal(200);
      }
    });
});

interface QueryParameter {
  readonly in: string;
  readonly name: string;
  readonly example: unknown;
}

/** The parameters of the query of a list, with references resolved. */
// biome-ignore lint/suspicious/noExplicitAny: a document of any shape
function queryParameters({ paths, components }: any, path: string): QueryParameter[] {
  const found: (QueryParameter & { readonly $ref?: string })[] = paths[`/v1/${path}`].get.parameters;
  return found
    .map((one) => (one.$ref ? components.parameters[one.$ref.split('/').pop() ?? ''] : one))
    .filter((parameter) => parameter.in === 'query');
}

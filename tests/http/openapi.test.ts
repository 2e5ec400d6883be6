import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { DEFINITIONS } from '#src/composition/resources.js';
import { uniqueFields } from '#src/domain/fields.js';
import { MAX_ID } from '#src/domain/record.js';
import { catalogue } from '../support/child-process-service.js';
import { inProcessService } from '../support/in-process-service.js';
import { RECORD_PLURALS } from '../support/tables.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { definitionOf } from './resource/collection.js';
import { describeParameters } from './resource/parameters.js';

/** The unique fields of each resource, and the noun of its operations. */
const UNIQUE_FIELDS = Object.fromEntries(
  RECORD_PLURALS.map((plural) => {
    const { docs, fields } = DEFINITIONS[plural];
    return [plural, { name: docs.name, unique: uniqueFields(fields) }];
  }),
) as Record<(typeof RECORD_PLURALS)[number], { name: string; unique: string[] }>;
const PUBLIC_URL = 'https://catalogue.test';

describe('/openapi.json', () => {
  const service = inProcessService({ PUBLIC_URL, RATE_LIMIT_REQUESTS: '1000' });
  const get = (headers: Record<string, string> = {}) => service.get('/openapi.json', { token: null, headers });

  it('is public, and lists the paths of the service', async () => {
    const response = await get();
    expect([response.status, response.headers['content-type']]).to.deep.equal([200, 'application/json']);
    expect(response.json.openapi).to.match(/^3\.1\./);
    const paths = Object.keys(response.json.paths);
    expect(paths).to.include.members(['/v1/products', '/v1/products/{id}', '/oauth/token']);
    // The resources, keys, webhooks and the token endpoint: no pages, probes and metadata.
    expect(paths.filter((path) => !/^\/v[1-9]/.test(path))).to.deep.equal(['/oauth/token']);
  });

  it('names PUBLIC_URL as the server', async () => {
    expect((await get()).json.servers).to.deep.equal([{ url: PUBLIC_URL }]);
  });

  it('has responses to HEAD with the headers of GET, without a body', async () => {
    for (const path of ['/openapi.json', '/v1/products', '/v1/api-keys/1', '/health/ready', '/oauth/jwks']) {
      const [whole, head] = [await service.get(path), await service.request('HEAD', path)];
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
    const databases = { MONGODB_URL: 'mongodb://127.0.0.1:1', REDIS_URL: 'redis://127.0.0.1:1' };
    const unreachable = { STORE: 'mongodb', RATE_LIMITER: 'redis', ...databases };
    const printed = await catalogue(temporaryFolder(), ['openapi'], { PUBLIC_URL, ...unreachable });
    expect([printed.code, JSON.parse(printed.out)]).to.deep.equal([0, (await get()).json]);
  });

  it('has 413 for bodies with a limit alone, and for header rows: a long line of an import gets a result of its own', async () => {
    const { paths } = (await get()).json;
    const hasLimit = (path: string) => paths[path].post['x-error-codes'].includes('payload_too_large');
    for (const path of ['/v1/products', '/v1/api-keys', '/oauth/token', '/v1/products/imports'])
      expect(hasLimit(path), path).to.equal(true);
    expect(hasLimit('/v1/users/imports')).to.equal(true);
    expect(hasLimit('/v1/orders/imports')).to.equal(false);
  });

  it('has the operations of a record by each unique field, and no others by a field', async () => {
    const { paths } = (await get()).json;
    const byKey = Object.entries<Record<string, { operationId?: string }>>(paths).flatMap(([path, item]) =>
      /^\/v1\/[a-z-]+\/[a-z]+\/\{/i.test(path)
        ? Object.values(item).flatMap(({ operationId }) => operationId ?? [])
        : [],
    );
    expect(byKey).to.have.members(
      Object.values(UNIQUE_FIELDS).flatMap(({ name, unique }) =>
        unique.flatMap((field) =>
          ['get', 'put', 'patch', 'delete'].map(
            (verb) => `${verb}${name}By${field.charAt(0).toUpperCase()}${field.slice(1)}`,
          ),
        ),
      ),
    );
    const { put } = paths['/v1/products/sku/{sku}'];
    expect(Object.keys(put.responses)).to.have.members(['200', '201', '4XX', 'default']);
    expect(put['x-error-codes']).to.include.members(['not_found', 'duplicate_value', 'precondition_failed']);
    expect(put.responses['201'].headers).to.include.keys('Location', 'Content-Location', 'ETag');
    expect(put.responses['200']).to.deep.equal({ $ref: '#/components/responses/ProductBySkuResponse' });
  });

  it('has the fields by which the imports of each resource match', async () => {
    const { paths, components } = (await get()).json;
    type Parameter = { $ref?: string; name?: string; schema?: { enum?: string[] } };
    const matching = (plural: string) => {
      const parameters: Parameter[] = paths[`/v1/${plural}/imports`].post.parameters;
      const resolved = parameters.map((one) =>
        one.$ref ? (components.parameters[one.$ref.split('/').at(-1) ?? ''] as Parameter) : one,
      );
      return resolved.find(({ name }) => name === 'match')?.schema?.enum;
    };
    expect(RECORD_PLURALS.map(matching)).to.deep.equal(
      RECORD_PLURALS.map((plural) => ['id', ...UNIQUE_FIELDS[plural].unique]),
    );
  });

  it('has exactly the operations of the service', async () => {
    const { paths } = (await get()).json;
    for (const [route, { parameters: _parameters, ...item }] of Object.entries<object & { parameters?: unknown }>(
      paths,
    )) {
      const methods = Object.keys(item).map((method) => method.toUpperCase());
      const path = route.replace(/([^/]+)\/([^/]+)\/\{(\w+)\}|\{id\}/, (text, plural, field, parameter) =>
        field === parameter
          ? `${plural}/${field}/${definitionOf(plural).example[field]}`
          : text.replace('{id}', String(MAX_ID)),
      );
      const { headers } = await service.request('OPTIONS', path);
      // The introduction describes HEAD and OPTIONS.
      const more = methods.includes('GET') ? ['HEAD', 'OPTIONS'] : ['OPTIONS'];
      expect(headers['allow']?.split(', '), route).to.have.members([...methods, ...more]);
    }
  });
});

describe('the documented parameters of API keys', () => {
  describeParameters(inProcessService(), 'api-keys');
});

describe('every resource', () => {
  it('has a file in tests/http that runs the resource contract', () => {
    for (const plural of RECORD_PLURALS) {
      const file = `tests/http/${plural}.test.ts`;
      expect(existsSync(file) && readFileSync(file, 'utf8'), file).to.include(`plural: '${plural}'`);
    }
  });
});

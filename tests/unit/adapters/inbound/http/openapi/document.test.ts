import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect } from 'chai';
import { ERRORS } from '#src/adapters/inbound/http/response/error-codes.js';
import { documentOf } from '../../../../../support/openapi/described.js';
import { OpenApiDocument } from '../../../../../support/openapi/document.js';
import { RECORD_PLURALS } from '../../../../../support/tables.js';

const PROXIED = { TLS: 'proxy', TRUSTED_PROXIES: '127.0.0.1' };
const VARIANTS: Readonly<Record<string, string>>[] = [
  {},
  { PUBLIC_READ: 'products' },
  { REQUIRE_IF_MATCH: 'true', CORS_ORIGINS: 'https://shop.example' },
  { ...PROXIED, PUBLIC_URL: 'https://shop.example.net/catalogue' },
];

const settings = (variant: Readonly<Record<string, string>>) => ({
  STORE: 'memory',
  PUBLIC_URL: 'https://catalogue.test',
  ...variant,
});

interface Operation {
  readonly operationId: string;
  readonly security: readonly object[];
  readonly responses: Readonly<Record<string, unknown>>;
}

/** The operations, each with its method and path as its name. */
function operations(document: OpenApiDocument): [name: string, steps: string[], operation: Operation][] {
  return Object.entries<object>(document.root.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => method !== 'parameters')
      .map(([method, operation]): [string, string[], Operation] => [
        `${method.toUpperCase()} ${path}`,
        ['paths', path, method],
        operation,
      ]),
  );
}

for (const variant of VARIANTS) {
  describe(`the OpenAPI document under ${JSON.stringify(variant)}`, () => {
    const root = documentOf(settings(variant));
    const document = new OpenApiDocument(root);

    it('passes the strict rules of Redocly', async () => {
      const config = await createConfig({ extends: ['recommended-strict'] });
      const problems = await lintFromString({
        source: JSON.stringify(root),
        absoluteRef: 'openapi.json',
        config,
      });
      expect(
        problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]),
      ).to.deep.equal([]);
    });

    it('names every error code in some response', () => {
      const codes = new Set<string>();
      for (const [, steps, { responses }] of operations(document))
        for (const status of Object.keys(responses)) {
          const schema = document.at(...steps, 'responses', status, 'content', 'application/json', 'schema');
          for (const code of schema?.node.allOf?.[1]?.properties.code.enum ?? []) {
            expect(ERRORS[code as keyof typeof ERRORS].status).to.equal(Number(status));
            codes.add(code);
          }
        }
      const { method_not_allowed: _withoutOperation, ...all } = ERRORS;
      const missing = Object.keys(all).filter((code) => !codes.has(code));
      expect(missing).to.deep.equal(
        [
          ...('REQUIRE_IF_MATCH' in variant ? [] : ['precondition_required']),
          ...('TLS' in variant ? [] : ['https_required']),
        ].sort((a, b) => Object.keys(all).indexOf(a) - Object.keys(all).indexOf(b)),
      );
    });

    it('has examples that match its own schemas', () => {
      let count = 0;
      const check = (steps: (string | number)[]) => {
        const { node } = document.at(...steps) ?? {};
        const schema = document.at(...steps, 'schema');
        for (const name of Object.keys(node.examples ?? {})) {
          if (!schema) throw new Error(`no schema at ${steps}`);
          count++;
          const example = document.at(...steps, 'examples', name)?.node.value;
          expect(document.issues(schema, example), `${steps} ${name}`).to.deep.equal([]);
        }
      };
      for (const [, steps, operation] of operations(document)) {
        const contents = [
          [...steps, 'requestBody'],
          ...Object.keys(operation.responses).map((status) => [...steps, 'responses', status]),
        ];
        for (const location of contents)
          for (const type of Object.keys(document.at(...location, 'content')?.node ?? {}))
            check([...location, 'content', type]);
      }
      expect(count).to.be.above(300);
    });
  });
}

describe('the OpenAPI document', () => {
  const security = (variant: Readonly<Record<string, string>>, name: string) => {
    const document = new OpenApiDocument(documentOf(settings(variant)));
    return operations(document).find(([known]) => known === name)?.[2].security;
  };

  it('names the required scope of each operation', () => {
    const requires = (scope: string) => [{ bearer: [scope] }, { oauth2: [scope] }];
    expect(security({}, 'GET /v1/products')).to.deep.equal(requires('products:read'));
    expect(security({}, 'HEAD /v1/products/{id}')).to.deep.equal(requires('products:read'));
    expect(security({}, 'POST /v1/users')).to.deep.equal(requires('users:write'));
    expect(security({}, 'PATCH /v1/orders/{id}')).to.deep.equal(requires('orders:write'));
    expect(security({}, 'DELETE /v1/api-keys/{id}')).to.deep.equal(requires('keys:admin'));
    expect(security({}, 'OPTIONS /v1/products')).to.deep.equal([]);
    expect(security({}, 'GET /health/live')).to.deep.equal([]);
  });

  it('requires no scope for public reads', () => {
    const reading = security({ PUBLIC_READ: 'products' }, 'GET /v1/products');
    expect(reading).to.deep.equal([{}, { bearer: [] }, { oauth2: [] }]);
    expect(security({ PUBLIC_READ: 'products' }, 'GET /v1/users')).to.not.deep.include({});
  });

  it('has the public URL, and no URL of the host that made it', () => {
    const { root } = new OpenApiDocument(documentOf(settings({ PUBLIC_URL: 'https://a.example/b' })));
    expect(root.servers).to.deep.equal([{ url: 'https://a.example/b' }]);
    expect(root.components.securitySchemes.oauth2.flows.clientCredentials.tokenUrl).to.equal(
      'https://a.example/b/oauth/token',
    );
    expect(JSON.stringify(root)).to.not.contain('localhost');
  });
});

const JSON_TYPE = 'application/json';
const NDJSON_TYPE = 'application/x-ndjson';
const PATCHES = ['application/merge-patch+json', 'application/json-patch+json', JSON_TYPE];

type Contract = readonly [headers: string[], bodies: string[], successes: number[]];

/** The headers, body types and success statuses of the contract. */
const OF_COLLECTION: Readonly<Record<string, Contract>> = {
  get: [['If-None-Match', 'Prefer', 'Accept-Encoding'], [], [200, 304]],
  head: [['If-None-Match', 'Prefer', 'Accept-Encoding'], [], [200, 304]],
  post: [
    ['Idempotency-Key', 'Prefer', 'Accept-Encoding'],
    [JSON_TYPE, NDJSON_TYPE],
    [200, 201],
  ],
  options: [[], [], [204]],
};
const OF_ITEM: Readonly<Record<string, Contract>> = {
  get: [['If-None-Match'], [], [200, 304]],
  head: [['If-None-Match'], [], [200, 304]],
  put: [['If-Match', 'If-None-Match', 'Prefer'], [JSON_TYPE], [200, 204]],
  patch: [['If-Match', 'If-None-Match', 'Prefer'], PATCHES, [200, 204]],
  delete: [['If-Match', 'If-None-Match'], [], [204]],
  options: [[], [], [204]],
};
const { put: _put, patch: _patch, ...OF_KEY } = OF_ITEM;
const CONTRACTS: Readonly<Record<string, Readonly<Record<string, Contract>>>> = {
  ...Object.fromEntries(RECORD_PLURALS.map((path) => [`/v1/${path}`, OF_COLLECTION])),
  ...Object.fromEntries(RECORD_PLURALS.map((path) => [`/v1/${path}/{id}`, OF_ITEM])),
  '/v1/api-keys': { ...OF_COLLECTION, post: [['Idempotency-Key'], [JSON_TYPE], [201]] },
  '/v1/api-keys/{id}': OF_KEY,
};

describe('the operations of resources in the OpenAPI document', () => {
  const document = new OpenApiDocument(documentOf(settings({})));
  const parametersOf = (from: OpenApiDocument, steps: string[]) =>
    Object.keys(from.at(...steps, 'parameters')?.node ?? {})
      .map((at) => from.at(...steps, 'parameters', at)?.node)
      .filter((parameter) => parameter.in === 'header');

  for (const [path, methods] of Object.entries(CONTRACTS))
    it(`have the headers, bodies and statuses of the contract: ${path}`, () => {
      const { parameters: _parameters, ...item } = document.at('paths', path)?.node ?? {};
      expect(Object.keys(item)).to.have.members(Object.keys(methods));
      for (const [method, [headers, bodies, successes]] of Object.entries(methods)) {
        const names = parametersOf(document, ['paths', path, method]).map(({ name }) => name);
        expect(names, method).to.have.members(['API-Version', 'X-Request-Id', ...headers]);
        const { requestBody, responses } = item[method];
        expect(Object.keys(requestBody?.content ?? {}), method).to.have.members(bodies);
        const statuses = Object.keys(responses).map(Number);
        expect(
          statuses.filter((status) => status < 400),
          method,
        ).to.have.members(successes);
      }
    });

  it('require If-Match if the service requires it', () => {
    const strict = new OpenApiDocument(documentOf(settings({ REQUIRE_IF_MATCH: 'true' })));
    for (const method of ['put', 'patch', 'delete'])
      for (const [from, isRequired] of [
        [document, undefined],
        [strict, true],
      ] as const) {
        const found = parametersOf(from, ['paths', '/v1/orders/{id}', method]);
        expect(found.find(({ name }) => name === 'If-Match')?.required, method).to.equal(isRequired);
      }
  });
});

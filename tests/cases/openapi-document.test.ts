import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect } from 'chai';
import { ERRORS } from '#src/adapters/inbound/http/core/error-codes.js';
import { DEFINITIONS } from '#src/composition/resources.js';
import { inProcessService } from '../support/in-process-service.js';
import { documentOf } from '../support/openapi/described.js';
import { type Node, OpenApiDocument } from '../support/openapi/document.js';
import { RECORD_PLURALS } from '../support/tables.js';

const PROXIED = { TLS: 'proxy', TRUSTED_PROXIES: '127.0.0.1' };
const VARIANTS: Readonly<Record<string, string>>[] = [
  {},
  { PUBLIC_READ: 'products', REQUIRE_IF_MATCH: 'true', CORS_ORIGINS: 'https://shop.example' },
  { ...PROXIED, PUBLIC_URL: 'https://shop.example.net/catalogue' },
];

const settings = (variant: Readonly<Record<string, string>>) => ({
  STORE: 'memory',
  PUBLIC_URL: 'https://catalogue.test',
  ...variant,
});

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly security?: readonly object[];
  readonly parameters?: readonly object[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: unknown }>> };
  readonly responses: Readonly<Record<string, { readonly description?: string }>>;
  readonly 'x-scopes'?: readonly string[];
  readonly 'x-error-codes': readonly string[];
}

/** Calls a function with every object of a document. */
function walk(node: Node, visit: (node: Node) => void): void {
  if (typeof node !== 'object' || node === null) return;
  visit(node);
  for (const value of Object.values(node)) walk(value, visit);
}

/** The parameters, and the members of objects, whose description is missing or empty, with the number of all. */
function undescribed(root: Node): { names: string[]; seen: number } {
  const document = new OpenApiDocument(root);
  const found: [string, Node][] = Object.entries(root.components.parameters);
  walk(root, ({ properties, parameters }) => {
    // An object in which a pattern counts has no members of its own.
    for (const [name, schema] of Object.entries<Node>(properties ?? {}))
      if (typeof schema === 'object') found.push([name, schema]);
    if (Array.isArray(parameters)) for (const one of parameters) found.push([`${one.name}`, one]);
  });
  const targetOf = ({ $ref }: Node) => document.at(...`${$ref}`.slice('#/'.length).split('/'))?.node.description;
  const names = found.filter(([, node]) => !(node.description ?? ('$ref' in node && targetOf(node))));
  return { names: names.map(([name]) => name), seen: found.length };
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

for (const variant of VARIANTS)
  describe(`the OpenAPI document under ${JSON.stringify(variant)}`, () => {
    const root: Node = documentOf(settings(variant));
    const document = new OpenApiDocument(root);

    it('passes the strict rules of Redocly', async () => {
      const config = await createConfig({ extends: ['recommended-strict'] });
      const problems = await lintFromString({ source: JSON.stringify(root), absoluteRef: 'openapi.json', config });
      const found = problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]);
      expect(found).to.deep.equal([]);
    });

    it('is small: each collection, by the number of its fields, and what they share', () => {
      const sizeOf = (node: Node) => JSON.stringify(node).length;
      const nodeAt = ($ref: string) => document.at(...$ref.slice('#/'.length).split('/'))?.node;
      const partsOf = (node: Node, found = new Set<string>()) => {
        walk(node, ({ $ref }) => {
          if (typeof $ref !== 'string' || found.has($ref)) return;
          found.add($ref);
          partsOf(nodeAt($ref), found);
        });
        return found;
      };
      const collections = Object.values(DEFINITIONS).map(({ path, docs }) => {
        const paths = Object.entries(root.paths).filter(([one]) => one.split('/')[2] === path);
        const versions = new Set(paths.map(([one]) => one.split('/')[1])).size;
        return { docs, paths, versions, parts: partsOf(paths) };
      });
      let total = 0;
      for (const { docs, paths, versions, parts } of collections) {
        const own = [...parts].filter((one) =>
          collections.every((each) => each.parts === parts || !each.parts.has(one)),
        );
        const size = own.reduce((sum, one) => sum + sizeOf(nodeAt(one)), sizeOf(paths));
        const fields = Object.keys(root.components.schemas[docs.name].properties).length;
        const remedy = 'shorten descriptions and patterns, or share what several operations have';
        const limit = versions * (12_000 + 3_250 * fields);
        expect(size, `${docs.plural}: 12,000 bytes and 3,250 a field, for each version; ${remedy}`).to.be.below(limit);
        total += size;
      }
      expect(sizeOf(root) - total, 'what they share: the introduction, errors, headers').to.be.below(31_500);
    });

    it('describes every field of every schema, and every parameter', () => {
      const found = undescribed(root);
      expect(found.names).to.deep.equal([]);
      expect(found.seen).to.be.greaterThan(80);
    });

    it('names every error code, also in the description of each operation that has it', () => {
      const codes = new Set<string>(document.root['x-error-codes']);
      for (const [name, , operation] of operations(document))
        for (const code of operation['x-error-codes']) {
          codes.add(code);
          expect(operation.responses['4XX']?.description, `${name} ${code}`).to.include(`\`${code}\``);
          expect(ERRORS[code as keyof typeof ERRORS].status, `${name} ${code}`).to.be.within(400, 499);
        }
      const { method_not_allowed: _withoutOperation, ...all } = ERRORS;
      const missing = Object.keys(all).filter((code) => !codes.has(code));
      expect(missing).to.have.members([
        ...('REQUIRE_IF_MATCH' in variant ? [] : ['precondition_required']),
        ...('TLS' in variant ? [] : ['https_required']),
      ]);
      for (const code of document.root['x-error-codes'])
        expect(document.root.info.description, code).to.include(`\`${code}\``);
    });

    it('describes errors by one response and one schema', () => {
      for (const [name, steps, { responses }] of operations(document))
        for (const status of Object.keys(responses).filter((one) => !/^[23]/.test(one))) {
          expect(responses[status], `${name} ${status}`).to.include({ $ref: '#/components/responses/Failed' });
          const found = document.at(...steps, 'responses', status)?.node.content['application/json'];
          expect(found.schema.$ref).to.equal('#/components/schemas/Error');
        }
    });

    it('has requests that are closed and responses that are open', () => {
      const check = (node: Node, isOpen: boolean, seen = new Set<string>()) =>
        walk(node, ({ $ref, properties, additionalProperties }) => {
          // A JSON Patch and a token request may have more members (RFC 6902 section 4, RFC 6749 section 3.2).
          if (properties && !properties.op && !properties.grant_type)
            expect(additionalProperties, JSON.stringify(properties)).to.equal(isOpen);
          if (typeof $ref !== 'string' || seen.has($ref)) return;
          seen.add($ref);
          check(document.at(...$ref.slice(2).split('/'))?.node, isOpen, seen);
        });
      for (const [, steps, operation] of operations(document)) {
        check(document.at(...steps, 'requestBody')?.node.content, false);
        for (const status of Object.keys(operation.responses))
          check(document.at(...steps, 'responses', status)?.node.content, true);
      }
    });

    it('has nothing that generators of clients cannot read', () => {
      walk(structuredClone({ ...root.paths, ...root.components }), (node) => {
        // Generators do not read these.
        if (node.patternProperties) delete node.patternProperties;
        expect(node).to.not.have.any.keys('anyOf', 'oneOf', 'uniqueItems', 'readOnly');
        // They merge the members of a part into those of the model that it is.
        if (node.allOf) expect(node.allOf.map(Object.keys)[0]).to.deep.equal(['$ref']);
        if (node.type === 'string' && node.contentSchema) delete node.contentSchema;
        if (node.type === 'array') expect(node.maxItems, JSON.stringify(node)).to.be.above(0);
        const isLarge = Math.max(Math.abs(node.minimum ?? 0), node.maximum ?? 0) >= 2 ** 31;
        if (node.type === 'integer' && isLarge) expect(node.format).to.equal('int64');
      });
      const names = Object.keys(root.components.schemas);
      expect(names).to.include.members(['Scope', 'Price', 'OrderItem', 'ProductInput', 'Error', 'Token']);
      expect(names.filter((name) => /^(New|Fault|Nullable)|View$|Answer$/.test(name))).to.deep.equal([]);
      expect(Object.keys(root.components.securitySchemes)).to.deep.equal(['bearer']);
    });

    it('has parameters that validators and generators can tell apart', () => {
      for (const [name, steps, { parameters = [] }] of operations(document)) {
        const found = parameters.map((_, at) => document.at(...steps, 'parameters', at)?.node);
        const words = found.map((one) => one.name.replaceAll(/[^A-Za-z0-9]/g, '').toLowerCase());
        expect(new Set(words).size, name).to.equal(words.length);
        // With another style, an object takes every parameter of the query for a member.
        for (const { schema, style } of found.filter((one) => one.schema.type === 'object')) {
          expect(style, name).to.equal('deepObject');
          expect(schema, name).to.not.have.property('propertyNames');
        }
      }
    });

    it('describes every operation, and every parameter with a valid example', () => {
      let count = 0;
      for (const [name, steps, operation] of operations(document)) {
        for (const text of [operation.summary, operation.description, ...operation.tags])
          expect(text, name).to.match(/\w/);
        const all = [...steps, 'parameters'];
        for (const at of Object.keys(operation.parameters ?? {})) {
          const parameter = document.at(...all, at)?.node;
          const schema = document.at(...all, at, 'schema');
          if (!schema) throw new Error(`no schema of ${parameter.name}`);
          expect(parameter.description, parameter.name).to.match(/\w/);
          expect(document.issues(schema, parameter.example), parameter.name).to.deep.equal([]);
          count++;
        }
        for (const [type, { example }] of Object.entries(operation.requestBody?.content ?? {})) {
          const schema = document.at(...steps, 'requestBody', 'content', type, 'schema');
          // Without an example, Postman fills in values that the service refuses.
          if (type !== 'application/x-www-form-urlencoded') expect(example, `${name} ${type}`).to.not.equal(undefined);
          if (schema && example !== undefined)
            expect(document.issues(schema, example), `${name} ${type}`).to.deep.equal([]);
        }
      }
      expect(count).to.be.above(150);
      for (const [name, { examples = [] }] of Object.entries<Node>(root.components.schemas))
        for (const example of examples) {
          const schema = document.at('components', 'schemas', name);
          expect(schema && document.issues(schema, example), name).to.deep.equal([]);
        }
    });
  });

describe('the OpenAPI document', () => {
  const operation = (variant: Readonly<Record<string, string>>, name: string) => {
    const document = new OpenApiDocument(documentOf(settings(variant)));
    return operations(document).find(([known]) => known === name)?.[2];
  };

  it('names the required scope of each operation', () => {
    const scopes = Object.entries({
      'GET /v1/products': ['products:read'],
      'POST /v1/users': ['users:write'],
      'PATCH /v1/orders/{id}': ['orders:write', 'orders:read'],
      'DELETE /v1/api-keys/{id}': ['keys:admin'],
    });
    for (const [name, needed] of scopes) {
      const found = operation({}, name);
      expect(found?.['x-scopes']).to.deep.equal(needed);
      const text = needed.map((scope) => `\`${scope}\``).join(' and ');
      expect(found?.description).to.include(`Scope: ${text}.`);
      // The security of the document applies.
      expect(found?.security).to.equal(undefined);
    }
    expect(new OpenApiDocument(documentOf(settings({}))).root.security).to.deep.equal([{ bearer: [] }]);
    expect(operation({}, 'POST /oauth/token')?.security).to.deep.equal([]);
  });

  it('requires no scope for public reads', () => {
    const reading = operation({ PUBLIC_READ: 'products' }, 'GET /v1/products');
    expect([reading?.security, reading?.['x-scopes']]).to.deep.equal([[{}, { bearer: [] }], undefined]);
    expect(operation({ PUBLIC_READ: 'products' }, 'GET /v1/users')?.['x-scopes']).to.deep.equal(['users:read']);
  });

  it('demands the fields that a response must have', () => {
    const document = new OpenApiDocument(documentOf(settings({})));
    const parameters = ['paths', '/v1/users', 'get', 'parameters'];
    const at = document.at(...parameters)?.node.findIndex(({ name }: Node) => name === 'fields');
    const schema = document.at(...parameters, at, 'schema');
    if (!schema) throw new Error('There is no parameter fields.');
    const issues = (fields: string[]) => document.issues(schema, fields).length;
    expect(issues(['name', 'version', 'email', 'id'])).to.equal(0);
    expect(issues(['id', 'name'])).to.be.above(0);
  });

  it('has the public URL, and no URL of the host that made it', () => {
    const { root } = new OpenApiDocument(documentOf(settings({ PUBLIC_URL: 'https://a.example/b' })));
    expect(root.servers).to.deep.equal([{ url: 'https://a.example/b' }]);
    expect(root.info.contact.url).to.equal('https://a.example/b/docs');
    expect(JSON.stringify(root)).to.not.contain('localhost');
  });
});

const JSON_TYPE = 'application/json';
const NDJSON_TYPE = 'application/x-ndjson';
const PATCHES = ['application/merge-patch+json', 'application/json-patch+json', JSON_TYPE];

type Contract = readonly [headers: string[], bodies: string[], successes: number[]];

/** The headers, body types and success statuses of the contract. */
const OF_COLLECTION: Readonly<Record<string, Contract>> = {
  get: [['If-None-Match', 'Prefer'], [], [200, 304]],
  post: [['Idempotency-Key'], [JSON_TYPE], [201]],
};
const OF_ITEM: Readonly<Record<string, Contract>> = {
  get: [['If-None-Match'], [], [200, 304]],
  put: [['If-Match', 'If-None-Match'], [JSON_TYPE], [200]],
  patch: [['If-Match'], PATCHES, [200]],
  delete: [['If-Match'], [], [204]],
};
/** An order is several rows of CSV, so orders are not imported from it. */
const importsOf = (path: string): Readonly<Record<string, Contract>> => ({
  post: [['Idempotency-Key'], [NDJSON_TYPE, ...(path === 'orders' ? [] : ['text/csv'])], [200]],
});
const { put: _put, patch: _patch, ...OF_KEY } = OF_ITEM;
const CONTRACTS: Readonly<Record<string, Readonly<Record<string, Contract>>>> = {
  ...Object.fromEntries(RECORD_PLURALS.map((path) => [`/v1/${path}`, OF_COLLECTION])),
  ...Object.fromEntries(RECORD_PLURALS.map((path) => [`/v1/${path}/{id}`, OF_ITEM])),
  ...Object.fromEntries(RECORD_PLURALS.map((path) => [`/v1/${path}/imports`, importsOf(path)])),
  ...Object.fromEntries(
    RECORD_PLURALS.map((path) => [`/v1/${path}/changes`, { get: [['Prefer'], [], [200]] } as const]),
  ),
  '/v1/products/facets': { get: [['If-None-Match'], [], [200, 304]] },
  '/v1/api-keys': OF_COLLECTION,
  '/v1/api-keys/{id}': OF_KEY,
};

describe('the operations of resources in the OpenAPI document', () => {
  const service = inProcessService();
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
        expect(names, method).to.have.members(headers);
        const { requestBody, responses } = item[method];
        expect(Object.keys(requestBody?.content ?? {}), method).to.have.members(bodies);
        const statuses = Object.keys(responses).map(Number);
        const found = statuses.filter((status) => status < 400);
        expect(found, method).to.have.members(successes);
      }
    });

  it('have examples of conditions that every record meets', async () => {
    const { IfMatch, IfNoneMatch } = document.root.components.parameters;
    const headers = { 'If-Match': IfMatch.example, 'If-None-Match': IfNoneMatch.example };
    const { json } = await service.post('/v1/products', { name: 'Lamp' });
    for (const send of [
      () => service.put(`/v1/products/${json.id}`, { name: 'Desk' }, { headers }),
      () => service.patch(`/v1/products/${json.id}`, { name: 'Lamp' }, { headers }),
    ])
      expect((await send()).status).to.equal(200);
    expect(IfMatch.description).to.include('`"3"`');
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

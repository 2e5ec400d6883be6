import { expect } from 'chai';
import { accessOf } from '#packages/pages/docs/access.js';
import { exampleOf, examplesOf } from '#packages/pages/docs/examples.js';
import type { OpenApi, Schema } from '#packages/pages/docs/openapi.js';
import { groupsOf } from '#packages/pages/docs/operations.js';
import { References } from '#packages/pages/docs/references.js';
import { constraintsOf, typeText } from '#packages/pages/docs/schema-terms.js';

const INFO = { openapi: '3.1.0', info: { title: 'x', version: '1' } };

function documentOf(more: object): { document: OpenApi; references: References } {
  const document = { ...INFO, ...more } as OpenApi;
  return { document, references: new References(document) };
}

describe('the operations of a document', () => {
  const operation = {
    operationId: 'b',
    tags: ['two'],
    parameters: [{ $ref: '#/components/parameters/a~1b%20c' }],
  };
  const { document, references } = documentOf({
    tags: [{ name: 'one', description: 'First' }, { name: 'none' }],
    security: [{ key: [] }],
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'Bearer' } },
      parameters: { 'a/b c': { name: 'limit', in: 'query', description: 'Own' } },
    },
    paths: {
      '/x': {
        parameters: [
          { name: 'limit', in: 'query', description: 'Shared' },
          { name: 'limit', in: 'header' },
        ],
        get: operation,
        post: { tags: ['one'], summary: 'Makes', 'x-error-codes': ['not_found'] },
        put: { tags: ['one'], security: [] },
        summary: 'no method',
      },
      '/y': { delete: {} },
    },
  });
  const groups = groupsOf(document, references);

  it('are grouped by tag, in the order of the tags', () => {
    const shown = groups.map(({ name, operations }) => [
      name,
      operations.map(({ method, path }) => `${method} ${path}`),
    ]);
    expect(shown).to.deep.equal([
      ['one', ['POST /x', 'PUT /x']],
      ['two', ['GET /x']],
      ['other', ['DELETE /y']],
    ]);
    expect(groups[0]?.description).to.equal('First');
  });

  it('have an id for the URL fragment, even without an operationId', () => {
    expect(groups.map(({ operations }) => operations[0]?.id)).to.deep.equal(['post-x', 'b', 'delete-y']);
  });

  it('have their own parameters before those of their path', () => {
    const parameters = groups[1]?.operations[0]?.parameters ?? [];
    expect(parameters.map(({ in: location, description }) => [location, description])).to.deep.equal([
      ['query', 'Own'],
      ['header', undefined],
    ]);
  });

  it('name the codes of their errors', () => {
    expect(groups.map(({ operations }) => operations[0]?.errorCodes)).to.deep.equal([['not_found'], [], []]);
  });

  it('inherit the security of the document unless they declare their own', () => {
    expect(groups[0]?.operations[0]?.access.needsKey).to.equal(true);
    expect(groups[0]?.operations[1]?.access.takesKey).to.equal(false);
  });
});

describe('accessOf', () => {
  const { document, references } = documentOf({
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        oauth: { type: 'oauth2' },
        client: { type: 'http', scheme: 'basic', description: 'Id and secret.' },
      },
    },
  });
  const access = (...requirements: Record<string, string[]>[]) => accessOf(requirements, document, references);
  const publicAccess = { takesKey: false, needsKey: false, scopes: [], others: [] };

  it('collects the scopes of the alternatives, of which any one suffices', () => {
    expect(access()).to.deep.equal(publicAccess);
    expect(access({})).to.deep.equal(publicAccess);
    const both = access({ bearer: ['a'] }, { oauth: ['a', 'b'] });
    expect(both).to.deep.equal({ takesKey: true, needsKey: true, scopes: ['a', 'b'], others: [] });
    expect(access({}, { bearer: [] })).to.include({ takesKey: true, needsKey: false });
  });

  it('does not offer a key if the operation requires other credentials', () => {
    expect(access({ client: [] }, {})).to.deep.equal({ ...publicAccess, others: ['Id and secret.'] });
    expect(access({ unknown: [] })).to.deep.equal({ ...publicAccess, others: ['unknown'] });
  });
});

describe('the description of a schema', () => {
  const { references } = documentOf({
    components: {
      schemas: {
        Price: { type: 'object', properties: { amount: { type: 'integer' } } },
        Loop: { $ref: '#/components/schemas/Loop' },
        Tree: { type: 'object', properties: { child: { $ref: '#/components/schemas/Tree' } } },
      },
    },
  });
  const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
  const sample = (schema: Schema | { $ref: string }) => exampleOf(schema, references);

  it('names its type in words', () => {
    for (const [schema, text] of [
      [{ type: 'integer' }, 'integer'],
      [{ type: ['string', 'null'] }, 'string or null'],
      [{ type: 'array', items: ref('Price') }, 'array of Price'],
      [{ oneOf: [{ type: 'string' }, { type: 'number' }, { type: 'string' }] }, 'string or number'],
      [true, 'any value'],
      [{ enum: ['a'] }, ''],
    ] as const)
      expect(typeText(schema, references)).to.equal(text);
  });

  it('lists its constraints', () => {
    const terms = (schema: Schema) => constraintsOf(schema, references);
    expect(terms({ minimum: 1, maximum: 1_000, default: 100 })).to.deep.equal(['1 to 1,000', 'default 100']);
    expect(terms({ minLength: 1, pattern: '^a$', readOnly: true })).to.deep.equal([
      'at least 1 character',
      'matches ^a$',
      'read only',
    ]);
    expect(terms({ type: 'array', items: { enum: ['a', 'b'] }, uniqueItems: true, maxItems: 2 })).to.deep.equal([
      'any of a, b',
      'at most 2 items',
      'each once',
    ]);
    expect(terms({})).to.deep.equal([]);
  });

  it('shows an example of the writable fields', () => {
    expect(sample(ref('Price'))).to.deep.equal({ amount: 1 });
    expect(
      sample({
        properties: {
          id: { type: 'integer', readOnly: true },
          tags: { type: 'array', items: { enum: ['a'] } },
        },
      }),
    ).to.deep.equal({ tags: ['a'] });
    expect(sample({ allOf: [ref('Price'), { properties: { on: { type: 'boolean' } } }] })).to.deep.equal({
      amount: 1,
      on: true,
    });
    expect(sample({ type: 'object', examples: [{ a: 1 }] })).to.deep.equal({ a: 1 });
  });

  it('ends the example of a recursive schema', () => {
    expect(JSON.stringify(sample(ref('Tree'))).length).to.be.lessThan(200);
    expect(sample(ref('Loop'))).to.equal('text');
    expect(sample({ $ref: '#/nowhere/at/all' })).to.equal('text');
  });

  it('prefers the examples of the document', () => {
    const values = (media: object) =>
      examplesOf({ a: media, b: { example: 3 } }, 'a', references).map(({ value }) => value);
    expect(values({ example: 1, schema: { type: 'string' } })).to.deep.equal([1]);
    expect(values({ examples: { a: { summary: 'A', value: 1 }, b: { value: 2 } } })).to.deep.equal([1, 2]);
    expect(values({ schema: { type: 'boolean' } })).to.deep.equal([true]);
    expect(values({ schema: { type: 'string', contentSchema: { type: 'array' } } })).to.deep.equal([3]);
  });
});

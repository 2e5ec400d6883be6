import { expect } from 'chai';
import { ApiDocument } from '#packages/mcp/api-document.js';
import { UnknownService } from '#packages/remote/errors.js';

const JSON_TYPE = 'application/json';

/** A document whose operation `create` takes a body of this schema. */
function documentOf(schema: object, more: object = {}): ApiDocument {
  const create = { operationId: 'create', requestBody: { content: { [JSON_TYPE]: { schema } } }, ...more };
  return new ApiDocument({
    info: { title: 'Shop', version: '1.2.3' },
    paths: { '/things': { summary: 'Things', post: create } },
    components: {
      schemas: {
        Price: { type: 'object', properties: { amount: { $ref: '#/components/schemas/Amount' } } },
        Amount: { type: 'integer', examples: [1] },
      },
      parameters: { Limit: { name: 'limit', in: 'query', schema: { $ref: '#/components/schemas/Amount' } } },
    },
  });
}

describe('the schemas of tools', () => {
  it('contain what they refer to', () => {
    const schema = { type: 'object', properties: { price: { $ref: '#/components/schemas/Price', description: 'x' } } };
    expect(documentOf(schema).body('create', JSON_TYPE)).to.deep.equal({
      type: 'object',
      properties: { price: { type: 'object', description: 'x', properties: { amount: { type: 'integer' } } } },
    });
  });

  it('lack what a model or its provider does not understand, at every depth', () => {
    const text = { type: 'string', pattern: '^(?!x)', title: 'T', 'x-a': 1 };
    const schema = { additionalProperties: text, anyOf: [{ items: text, not: {} }], propertyNames: text };
    expect(documentOf(schema).body('create', JSON_TYPE)).to.deep.equal({
      additionalProperties: { type: 'string' },
      anyOf: [{ items: { type: 'string' } }],
    });
  });

  it('keep defaults and properties that are named like keywords', () => {
    const schema = {
      properties: { title: { type: 'string', default: 'a' }, not: { type: 'boolean' } },
      required: ['title'],
      default: { title: 'a', not: true },
    };
    expect(documentOf(schema).body('create', JSON_TYPE)).to.deep.equal(schema);
  });

  it('come with the query parameters of an operation, and of no other place', () => {
    const parameters = [{ $ref: '#/components/parameters/Limit' }, { name: 'Prefer', in: 'header', schema: {} }];
    expect(documentOf({}, { parameters }).queryParameters('create')).to.deep.equal([
      { name: 'limit', schema: { type: 'integer' } },
    ]);
  });

  it('need the document of a product catalogue', () => {
    const document = documentOf({});
    for (const read of [
      () => document.body('create', 'text/csv'),
      () => document.body('listProducts', JSON_TYPE),
      () => new ApiDocument([]).queryParameters('listProducts'),
      () => new ApiDocument({ paths: { '/': null } }).queryParameters('listProducts'),
      () => new ApiDocument({ paths: { '/': { get: null, put: 5, post: [1] } } }).body('list', JSON_TYPE),
      () => documentOf({}, { requestBody: {} }).body('create', JSON_TYPE),
      () => documentOf({}, { requestBody: { content: { [JSON_TYPE]: null } } }).body('create', JSON_TYPE),
    ])
      expect(read).to.throw(UnknownService, 'no product catalogue');
  });

  it('come from any document, however wrong', () => {
    for (const parameters of [{}, null, [null, 5, [], { in: 'query', name: 5, schema: {} }, { in: 'query' }]])
      expect(documentOf({}, { parameters }).queryParameters('create')).to.deep.equal([]);
    const properties = { a: null, b: [], c: 5 };
    expect(documentOf({ properties }).body('create', JSON_TYPE)).to.deep.equal({ properties });
    expect(new ApiDocument({ info: { title: 5, version: null } }).info).to.deep.equal({ title: '5', version: 'null' });
  });

  it('never contain themselves', () => {
    const $ref = '#/paths/~1things/post/requestBody/content/application~1json/schema';
    for (const schema of [{ $ref }, { properties: { a: { $ref } } }, { anyOf: [{ items: { $ref } }] }])
      expect(() => documentOf(schema).body('create', JSON_TYPE)).to.throw(UnknownService, 'of at most 50 levels');
  });
});

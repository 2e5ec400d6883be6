import { expect } from 'chai';
import { FIELD_WORDS } from '#packages/pages/console/field-words.js';
import { resourcesOf } from '#packages/pages/console/resources.js';
import { TEXTS } from '#packages/pages/console/texts.js';
import type { AnySchema, OpenApi, Schema } from '#packages/pages/docs/openapi.js';
import { References } from '#packages/pages/docs/references.js';
import { SCOPES } from '#src/domain/access.js';
import { documentOf } from '../../../../support/openapi/described.js';

const list = (schema: object, parameters: object[] = []) => ({
  tags: ['Wood types'],
  parameters,
  responses: { '200': { description: '', content: { 'application/json': { schema } } } },
});
const DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'x', version: '1' },
  tags: [{ name: 'Wood types', description: 'What things are made of.' }],
  components: {
    schemas: {
      Wood: {
        type: 'object',
        required: ['id', 'createdAt'],
        properties: {
          id: { type: 'integer' },
          hard: { type: 'boolean' },
          createdAt: { type: 'string', format: 'date-time' },
          version: { type: 'integer' },
          grain: { type: 'string', enum: ['fine', 'coarse'] },
          images: { type: 'array', items: { type: 'string' } },
          inner: { type: 'string' },
          price: {
            type: 'object',
            properties: { amount: { type: 'integer' }, currency: { type: 'string' } },
          },
        },
      },
    },
    parameters: { search: { name: 'q', in: 'query', schema: { type: 'string' } } },
  },
  paths: {
    '/v2/wood-types': {
      get: list({ type: 'array', items: { $ref: '#/components/schemas/Wood' } }, [
        { $ref: '#/components/parameters/search' },
        {
          name: 'sort',
          in: 'query',
          schema: { type: 'array', items: { enum: ['id', '-id', 'price.amount'] } },
        },
        {
          name: 'fields',
          in: 'query',
          schema: {
            type: 'array',
            items: { enum: ['id', 'hard', 'createdAt', 'version', 'grain', 'images', 'price'] },
          },
        },
        { name: 'hard', in: 'query' },
        { name: 'hard.ne', in: 'query' },
        { name: 'grain', in: 'query', schema: { type: 'string' } },
        { name: 'grain.prefix', in: 'query', schema: { type: 'string' } },
        {
          name: 'traits',
          in: 'query',
          schema: { type: 'object', additionalProperties: true },
          style: 'deepObject',
          'x-operators': { gte: { type: 'number' }, in: { type: 'string' } },
        },
      ]),
      post: { requestBody: { content: { 'application/json': { schema: { type: 'object' } } } } },
    },
    '/v2/wood-types/facets': {
      get: list({ type: 'array', items: {} }, [
        {
          name: 'fields',
          in: 'query',
          schema: { type: 'array', items: { pattern: '^(?:grain|traits\\[[^,]+\\])$' } },
        },
      ]),
    },
    '/v2/wood-types/{id}': { get: {}, delete: {} },
    '/v2/wood-types/imports': {
      post: { parameters: [{ name: 'match', in: 'query', schema: { enum: ['id', 'code'] } }] },
    },
    '/v2/summary': { get: list({ type: 'object' }) },
    '/openapi.json': { get: list({ type: 'array', items: {} }) },
  },
};

describe('the words for fields', () => {
  const references = new References(documentOf({}) as OpenApi);
  const paths = resourcesOf(documentOf({}) as OpenApi, references).flatMap(({ name, fields, distinct, input }) => {
    const inside = (path: string, own: AnySchema): [string, Schema][] => {
      const schema = references.schema(own);
      const { properties = {} } = schema.items ? references.schema(schema.items) : schema;
      const members = Object.entries(properties).flatMap(([member, one]) => inside(`${path}.${member}`, one));
      return [[path, schema], ...members];
    };
    const sent = Object.entries(input?.properties ?? {}).flatMap(([field, own]) => inside(field, own));
    return [
      ...sent,
      ...[...fields, distinct?.variants ?? []].flat().map((one): [string, Schema] => [one.name, one.schema]),
    ].map(([path, schema]) => ({
      key: Object.hasOwn(FIELD_WORDS, `${name}.${path}`) ? `${name}.${path}` : path,
      schema,
    }));
  });

  it('are there for each member of a field, and for nothing that no record has', () => {
    const keys = paths.map(({ key }) => key);
    const members = keys.filter((key) => key.includes('.'));
    expect(Object.keys(FIELD_WORDS), 'FIELD_WORDS of field-words.ts').to.include.members(members);
    expect(keys).to.include.members(Object.keys(FIELD_WORDS));
  });

  it('name a column that only a list with one row a group has', () => {
    const products = resourcesOf(documentOf({}) as OpenApi, references).find(({ name }) => name === 'products');
    expect(products?.fields.map(({ name }) => name)).to.not.include('variants');
    expect([products?.distinct?.by, products?.distinct?.variants.name]).to.deep.equal(['group', 'variants']);
  });

  it('say what to write where not every line of words is valid', () => {
    const withForm = paths.filter(({ schema: { pattern } }) => pattern && !new RegExp(pattern, 'u').test('two words'));
    expect(withForm.map(({ key }) => key)).to.include.members(['sku', 'images.url', 'email']);
    const missing = withForm.filter(({ key }) => FIELD_WORDS[key]?.form === undefined);
    expect(
      missing.map(({ key }) => key),
      'without a form in FIELD_WORDS',
    ).to.deep.equal([]);
  });
});

describe('the words for scopes', () => {
  it('are there for each', () => expect(SCOPES.map(TEXTS.scope)).to.not.include.oneOf(SCOPES));
});

describe('the resources of the console', () => {
  const found = resourcesOf(DOCUMENT as unknown as OpenApi, new References(DOCUMENT as unknown as OpenApi));

  it('are the lists of the document, so that a new one appears by itself', () => {
    expect(found.map(({ name }) => name)).to.deep.equal(['wood-types']);
    expect(found[0]).to.deep.include({
      path: '/v2/wood-types',
      title: 'Wood types',
      singular: 'wood type',
      isSearchable: true,
      canCreate: true,
      canPatch: false,
      canDelete: true,
      canImport: true,
      importMatches: ['code', 'id'],
      input: { type: 'object' },
    });
    expect(found[0]?.filters.map(({ name }) => name)).to.deep.equal(['hard', 'grain', 'traits']);
  });

  it('have filters with the values that the document names at the field alone', () => {
    const operators = found[0]?.filters.find(({ name }) => name === 'grain')?.operators ?? [];
    expect(operators.map(({ parameter }) => parameter.schema)).to.deep.equal([
      { enum: ['fine', 'coarse'] },
      { type: 'string' },
    ]);
  });

  it('have fields that mean more than their schemas, by their names', () => {
    const meanings = found[0]?.fields.flatMap(({ name, meaning }) => (meaning ? [[name, meaning]] : []));
    expect(meanings).to.deep.equal([['images', 'pictures']]);
  });

  it('have the operators that the document allows behind a key', () => {
    const traits = found[0]?.filters.find(({ name }) => name === 'traits');
    expect(traits?.operators.map(({ name, parameter }) => [name, parameter.schema])).to.deep.equal([
      ['equals', true],
      ['gte', { type: 'number' }],
      ['in', { type: 'array' }],
    ]);
  });

  it('have the fields that the document counts by', () => {
    expect(found[0]?.facets).to.deep.equal(['grain', 'traits']);
    const { '/v2/wood-types/facets': _, ...paths } = DOCUMENT.paths;
    const older = { ...DOCUMENT, paths } as unknown as OpenApi;
    expect(resourcesOf(older, new References(older))[0]?.facets).to.deep.equal([]);
  });

  it('have the fields of their records that a list can show', () => {
    const fields = found[0]?.fields.map(({ name, sort, isMetadata, isRequired }) => [
      name,
      sort,
      isMetadata,
      isRequired,
    ]);
    expect(fields).to.deep.equal([
      ['id', 'id', false, true],
      ['hard', undefined, false, false],
      ['createdAt', undefined, false, true],
      ['version', undefined, true, false],
      ['grain', undefined, false, false],
      ['images', undefined, false, false],
      ['price', 'price.amount', false, false],
    ]);
  });
});

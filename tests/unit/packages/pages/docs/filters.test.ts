import { expect } from 'chai';
import { filtersAmong } from '#packages/pages/docs/filters.js';
import type { OpenApi, Parameter } from '#packages/pages/docs/openapi.js';
import { References } from '#packages/pages/docs/references.js';

const REFERENCES = new References({ openapi: '3.1.0', info: { title: 'x', version: '1' } } as OpenApi);
const query = (name: string, more: Partial<Parameter> = {}): Parameter => ({ name, in: 'query', ...more });

function found(...parameters: Parameter[]) {
  const { filters, others } = filtersAmong(parameters, REFERENCES);
  return [
    filters.map(({ name, operators, prefix }) => [name, operators.map((one) => one.name), prefix]),
    others.map(({ name }) => name),
  ];
}

describe('the filters among the parameters of a query', () => {
  it('are the parameters with an operator after a dot or a colon, and those without it', () => {
    const names = ['limit', 'sort', 'id', 'id.in', 'price.amount', 'price.amount.gte', 'name', 'name:prefix'];
    expect(found(...names.map((name) => query(name)))).to.deep.equal([
      [
        ['id', ['equals', 'in'], undefined],
        ['price.amount', ['equals', 'gte'], undefined],
        ['name', ['equals', 'prefix'], undefined],
      ],
      ['limit', 'sort'],
    ]);
  });

  it('include parameters whose names the person chooses', () => {
    const attributes = query('attributes', {
      schema: { type: 'object' },
      style: 'deepObject',
    });
    expect(found(attributes)).to.deep.equal([[['attributes', ['equals'], 'attributes.']], []]);
    expect(found(query('any', { schema: { type: 'object' } }))).to.deep.equal([[['any', ['equals'], '']], []]);
  });

  it('have a name for each key, and the schema and example of one value', () => {
    const attributes = query('attributes', {
      schema: { type: 'object', additionalProperties: true },
      style: 'deepObject',
      example: { colour: 'black' },
      'x-operators': { gte: { type: 'number' }, exists: { type: 'boolean' } },
    });
    const { filters, others } = filtersAmong([query('limit'), attributes], REFERENCES);
    expect(others.map(({ name }) => name)).to.deep.equal(['limit']);
    expect(filters.map(({ name, prefix }) => [name, prefix])).to.deep.equal([['attributes', 'attributes.']]);
    expect(
      filters[0]?.operators.map(({ name, nameOf, parameter: { schema, example } }) => [
        name,
        nameOf('a$&.b'),
        schema,
        example,
      ]),
    ).to.deep.equal([
      ['equals', 'attributes[a$&.b]', true, 'black'],
      ['gte', 'attributes[a$&.b].gte', { type: 'number' }, undefined],
      ['exists', 'attributes[a$&.b].exists', { type: 'boolean' }, undefined],
    ]);
  });

  it('include a field that has only an operator of others', () => {
    const names = ['id', 'id.exists', 'url.exists', 'url.other'];
    expect(found(...names.map((name) => query(name)))).to.deep.equal([
      [
        ['id', ['equals', 'exists'], undefined],
        ['url', ['exists'], undefined],
      ],
      ['url.other'],
    ]);
  });

  it('do not include what an operation requires, or a name that only looks like a field', () => {
    expect(found(query('a', { required: true }), query('a.b'), query('c.d'))).to.deep.equal([
      [['a', ['b'], undefined]],
      ['a', 'c.d'],
    ]);
  });
});

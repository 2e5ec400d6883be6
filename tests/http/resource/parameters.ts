import { expect } from 'chai';
import { type FieldSpec, SYSTEM_FIELDS, variantFields } from '#src/domain/fields.js';
import type { InProcessService } from '../../support/in-process-service.js';
import { definitionOf } from './collection.js';

const OPERATORS = ['', '.ne', '.lt', '.lte', '.gt', '.gte', '.in'];
const LIST_OPERATORS = ['', '.in', '.all', '.prefix'];

function operatorsOf({ type, isList, required }: FieldSpec): readonly string[] {
  if (type === 'attributes') return [''];
  const own = type === 'presence' ? [] : isList ? LIST_OPERATORS : OPERATORS;
  const prefix = type === 'text' && !isList ? ['.prefix'] : [];
  return [...own, ...prefix, ...(required ? [] : ['.exists'])];
}

/** A query takes so many filters. */
const MAX_FILTERS = 100;

/** @param plural the noun in the path */
export function describeParameters(service: InProcessService, plural: string): void {
  const { fields, isSearchable } = definitionOf(plural);
  const documented = async () => queryParameters((await service.client.get('/openapi.json')).json, plural);

  it('are exactly those of its fields', async () => {
    expect((await documented()).map(({ name }) => name)).to.have.members([
      ...['limit', 'cursor', 'sort', 'fields', ...(isSearchable ? ['q'] : [])],
      ...variantFields(fields).map(() => 'distinct'),
      ...Object.entries<FieldSpec>({ ...SYSTEM_FIELDS, ...fields }).flatMap(([name, spec]) =>
        operatorsOf(spec).map((operator) => name + operator),
      ),
    ]);
  });

  it('are accepted, one by one and all together', async () => {
    const values = (await documented())
      .filter(({ name }) => name !== 'cursor')
      .flatMap(({ name, example }): [string, string][] =>
        isMembers(example)
          ? Object.entries(example).map(([member, value]) => [`${name}[${member}]`, String(value)])
          : [[name, [example].flat().join(',')]],
      );
    expect(values.length).to.be.above(20);
    for (const pairs of [...values.map((value) => [value]), values.slice(0, MAX_FILTERS)]) {
      const response = await service.client.get(`/${plural}?${new URLSearchParams(pairs)}`);
      expect(response.status, response.text).to.equal(200);
    }
  });
}

/** Whether the members of an example are parameters of their own. */
function isMembers(example: unknown): example is object {
  return typeof example === 'object' && example !== null && !Array.isArray(example);
}

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

import { expect } from 'chai';
import type { InProcessService } from '../../support/in-process-service.js';

/** The fields by which the lists of a resource are filtered, which are part of the public contract. */
export interface Filterable {
  readonly strings: readonly string[];
  /** Fields of other ordered types. */
  readonly others?: readonly string[];
  readonly optional?: readonly string[];
  /** Lists of texts. */
  readonly lists?: readonly string[];
  /** Parameters that are no field with an operator. */
  readonly more?: readonly string[];
}

const OPERATORS = ['', '.ne', '.lt', '.lte', '.gt', '.gte', '.in'];
const LIST_OPERATORS = ['', '.in', '.all', '.prefix'];
/** A query takes so many filters. */
const MAX_FILTERS = 100;

/** @param plural the noun in the path */
export function describeParameters(service: InProcessService, plural: string, filterable: Filterable): void {
  const { strings, others = [], optional = [], lists = [], more = [] } = filterable;
  const documented = async () => queryParameters((await service.client.get('/openapi.json')).json, plural);

  it('are exactly those of the contract', async () => {
    const fields = [...strings, ...others, 'id', 'createdAt', 'updatedAt'];
    expect((await documented()).map(({ name }) => name)).to.have.members([
      ...['limit', 'cursor', 'sort', 'fields'],
      ...fields.flatMap((field) => OPERATORS.map((operator) => field + operator)),
      ...strings.map((field) => `${field}.prefix`),
      ...lists.flatMap((field) => LIST_OPERATORS.map((operator) => field + operator)),
      ...optional.map((field) => `${field}.exists`),
      ...more,
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

import type { Entry } from './attempt.js';
import { type Child, disclosure, element } from './element.js';
import type { Parameter } from './openapi.js';
import { type ParameterField, parameterField } from './parameter-field.js';
import type { References } from './references.js';

/** OpenAPI describes these headers elsewhere: in the security, the request body, and the content of the responses. */
const DOCUMENTED_ELSEWHERE = /^(accept|content-type|authorization)$/i;
/** At most this many fields of one kind are shown unfolded. */
const MAX_UNFOLDED = 6;

export interface ParameterFields {
  readonly views: readonly HTMLElement[];
  entries(): Entry[];
}

/** Fields for all parameters, in the order of the request. Long lists and optional headers are folded. */
export function parameterFields(parameters: readonly Parameter[], references: References): ParameterFields {
  const fields: ParameterField[] = [];
  const make = (parameter: Parameter) => {
    const field = parameterField(parameter, references);
    fields.push(field);
    return field.view;
  };
  const section = (title: string, some: readonly Parameter[], isFolded: boolean) =>
    some.length === 0 ? [] : [isFolded ? folded(title, some, make) : shown(title, some, make)];
  const isIn = (location: Parameter['in']) => (parameter: Parameter) => parameter.in === location;
  const query = parameters.filter(isIn('query'));
  const filters = filtersAmong(query);
  const headers = parameters.filter(isIn('header')).filter(({ name }) => !DOCUMENTED_ELSEWHERE.test(name));
  const isOptional = headers.every(({ required }) => !required);
  return {
    views: [
      ...section('In the path', parameters.filter(isIn('path')), false),
      ...section(
        'In the query',
        query.filter((parameter) => !filters.includes(parameter)),
        false,
      ),
      ...section('Filters', filters, true),
      ...section('Headers', headers, isOptional),
    ],
    entries: () => fields.map((field) => field.entry()),
  };
}

/**
 * The parameters of a long query to fold: filters such as `price.amount:gte` and `price.amount`. Without such filters,
 * the optional parameters after the first ones.
 */
function filtersAmong(query: readonly Parameter[]): readonly Parameter[] {
  if (query.length <= MAX_UNFOLDED) return [];
  const fields = new Set(
    query.flatMap(({ name }) => (name.includes(':') ? [name.replace(/:[^:]*$/, '')] : [])),
  );
  const optional = query.filter(({ required }) => !required);
  if (fields.size === 0) return optional.slice(MAX_UNFOLDED);
  return optional.filter(({ name, schema }) => fields.has(name.replace(/:[^:]*$/, '')) || isObject(schema));
}

function isObject(schema: Parameter['schema']): boolean {
  return typeof schema === 'object' && 'type' in schema && schema.type === 'object';
}

type Make = (parameter: Parameter) => Child;

function shown(title: string, parameters: readonly Parameter[], make: Make): HTMLElement {
  return element('fieldset', {}, element('legend', {}, title), grid(parameters, make));
}

function folded(title: string, parameters: readonly Parameter[], make: Make): HTMLElement {
  const count = element('span', { class: 'count' }, String(parameters.length));
  return disclosure([title, ' ', count], () => [grid(parameters, make)], { class: 'fold' });
}

function grid(parameters: readonly Parameter[], make: Make): HTMLElement {
  return element('div', { class: 'fields' }, ...parameters.map(make));
}

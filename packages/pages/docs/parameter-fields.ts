import { type Child, disclosure, element } from './element.js';
import { type FilterRows, filterRows } from './filter-rows.js';
import { filtersAmong } from './filters.js';
import type { Parameter } from './openapi.js';
import { type ParameterField, parameterField } from './parameter-field.js';
import type { References } from './references.js';
import type { ParameterValue } from './request.js';

/** OpenAPI describes these headers elsewhere: in the security, the request body, and the content of the responses. */
const DOCUMENTED_ELSEWHERE = /^(accept|content-type|authorization)$/i;

export interface ParameterFields {
  readonly views: readonly HTMLElement[];
  values(): ParameterValue[];
}

/** Fields for all parameters, in the order of the request. Optional headers are folded. */
export function parameterFields(parameters: readonly Parameter[], references: References): ParameterFields {
  const fields: ParameterField[] = [];
  const make = (parameter: Parameter) => {
    const field = parameterField(parameter, references);
    fields.push(field);
    return field.view;
  };
  const section = (title: string, some: readonly Parameter[], isFolded = false) =>
    some.length === 0 ? [] : [isFolded ? folded(title, some, make) : shown(title, some, make)];
  const isIn = (location: Parameter['in']) => (parameter: Parameter) => parameter.in === location;
  const { filters, others } = filtersAmong(parameters.filter(isIn('query')), references);
  const rows: FilterRows[] = filters.length === 0 ? [] : [filterRows(filters, references)];
  const headers = parameters.filter(isIn('header')).filter(({ name }) => !DOCUMENTED_ELSEWHERE.test(name));
  const isOptional = headers.every(({ required }) => !required);
  return {
    views: [
      ...section('Path', parameters.filter(isIn('path'))),
      ...rows.map(({ view }) => view),
      ...section('Query', others),
      ...section('Headers', headers, isOptional),
    ],
    values: () => [...rows.flatMap((row) => row.values()), ...fields.map((field) => field.value())],
  };
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

import type { ApiDocument, Parameter, Schema } from './api-document.js';
import { type ArgumentIssue, argumentIssue } from './argument-issue.js';

/** Models read every record that they get, so a page is smaller than the default of the interface. */
const DEFAULT_LIMIT = 20;

/** The parameters of a list that are arguments of their own. All others are filters. */
export const LIST_ARGUMENTS = ['q', 'sort', 'limit', 'cursor', 'distinct', 'fields'];

/** Those of facets. */
export const FACET_ARGUMENTS = ['fields', 'q', 'prefix', 'distinct', 'limit'];

/** Returns the schema of the arguments that search one resource. */
export function listArguments(document: ApiDocument, operationId: string): Record<string, Schema> {
  const parameters = document.queryParameters(operationId);
  const own = new Map(parameters.map(({ name, schema }) => [name, schema]));
  const { q, sort, limit, cursor, distinct, fields } = Object.fromEntries(
    LIST_ARGUMENTS.map((name) => [name, own.get(name)]),
  );
  return {
    ...(q && {
      q: { ...q, description: 'Words. Each begins a word of the record; case and accents are ignored.' },
    }),
    filter: {
      type: 'object',
      description: describeFilters(parameters.filter(({ name }) => !LIST_ARGUMENTS.includes(name))),
    },
    ...(sort && { sort: { ...sort, description: '-name: descending. Without a value: last.' } }),
    ...(limit && { limit: { ...limit, description: 'The most records of a page.', default: DEFAULT_LIMIT } }),
    ...(cursor && { cursor: { type: 'string', description: 'nextCursor of the page before.' } }),
    ...(distinct && {
      distinct: {
        ...distinct,
        description: 'Only the first of each group. variants in fields: how many it stands for.',
      },
    }),
    ...(fields && { fields: shownFields(fields) }),
    count: { type: 'boolean', description: 'Also count all matches: total.' },
  };
}

/**
 * Returns the schema of the arguments that count the records of one resource by their values.
 * @param search the name of the tool that searches them
 */
export function facetArguments(document: ApiDocument, operationId: string, search: string): Record<string, Schema> {
  const parameters = document.queryParameters(operationId);
  const descriptions: Readonly<Record<string, string>> = {
    q: `As in ${search}.`,
    prefix: 'Only texts that begin so. For one field.',
    distinct: 'Count each group once under each value.',
    limit: 'The most values of a field.',
  };
  const own = FACET_ARGUMENTS.flatMap((name) => {
    const found = parameters.find((one) => one.name === name);
    return found ? [[name, described(found, descriptions[name])] as const] : [];
  });
  return { ...Object.fromEntries(own), filter: { type: 'object', description: `As in ${search}.` } };
}

function described({ schema, description }: Parameter, own = description): Schema {
  return { ...schema, ...(own !== undefined && { description: own }) };
}

/** An update needs them, so a model always sees them. */
const ALWAYS_SHOWN = ['id', 'version'];

/** Returns the query of a request for a page. @param shown the fields to show if the arguments name none */
export function listQuery(args: Readonly<Record<string, unknown>>, shown: readonly string[]): object {
  const { count: _, filter = {}, fields = shown, ...own } = args;
  const all = [...new Set([...(fields as string[]), ...ALWAYS_SHOWN])];
  return { limit: DEFAULT_LIMIT, fields: all, ...(filter as object), ...own };
}

/**
 * Returns the problems of a filter that would change its meaning in a query. The service validates the rest.
 * @param others the names of the other arguments
 */
export function filterIssues(filter: object, others: readonly string[]): ArgumentIssue[] {
  return Object.entries(filter).flatMap(([field, value]) => {
    const name = `filter.${field}`;
    if (others.includes(field))
      return [argumentIssue('unknown_parameter', name, `is no filter; ${field} is an argument beside filter`)];
    const values = Array.isArray(value) ? value : [value];
    if (values.some((one) => !['string', 'number', 'boolean'].includes(typeof one)))
      return [argumentIssue('invalid_type', name, 'must be text, a number, true, false or an array of these')];
    if (Array.isArray(value) && values.some((one) => String(one).includes(',')))
      return [argumentIssue('invalid_format', name, 'cannot have an element with a comma')];
    return [];
  });
}

/** The document demands the fields that every record has, for the sake of generated types. The service does not. */
function shownFields({ items = {} }: Schema): Schema {
  return { type: 'array', items, description: `Show only these, and ${ALWAYS_SHOWN.join(' and ')}.` };
}

/**
 * Describes the filters, fields with the same operators together: `id, price.amount: .ne .lt; name: .ne .prefix`. Then
 * comes what the document says of a value behind a comma or a colon, such as its unit.
 */
function describeFilters(parameters: readonly Parameter[]): string {
  const isOpen = ({ schema }: Parameter) => schema['type'] === 'object';
  const names = parameters.filter((one) => !isOpen(one)).map(({ name }) => name);
  // `price.amount` is a field, since there is no filter `price`; `name.ne` is the operator `.ne` of `name`.
  const isOperator = (name: string) => names.includes(name.slice(0, Math.max(name.lastIndexOf('.'), 0)));
  const fieldsOf = new Map<string, string[]>();
  for (const field of names.filter((name) => !isOperator(name))) {
    const operators = names.filter((name) => isOperator(name) && name.slice(0, name.lastIndexOf('.')) === field);
    const key = operators.map((name) => name.slice(field.length)).join(' ');
    fieldsOf.set(key, [...(fieldsOf.get(key) ?? []), field]);
  }
  const units = parameters.flatMap(({ name, description = '' }) => {
    const [, more] = /^[\w ]+[,:] (.*)$/.exec(description) ?? [];
    return more === undefined || isOperator(name) ? [] : [`${name}: ${more}`];
  });
  const groups = [...fieldsOf].map(([operators, fields]) => [fields.join(', '), operators].filter(Boolean).join(': '));
  const lists = names.filter((name) => names.includes(`${name}.all`));
  return [
    `All must hold. FIELD equals, or FIELD.OPERATOR; ${lists.length > 0 ? '.in and .all take' : '.in takes'} an array.`,
    `${groups.join('; ')}.`,
    ...units,
    ...(names.some((name) => name.endsWith('.exists')) ? ['.exists takes true or false.'] : []),
    ...lists.map((name) => `Of ${name} one must match.`),
    ...parameters.filter(isOpen).map(describeKeys),
  ].join(' ');
}

/** Describes the filters whose names have a key. */
function describeKeys({ name, operators = [] }: Parameter): string {
  const named = operators.map((operator) => `.${operator}`).join(' ');
  return `${name}[KEY] equals${named && `; ${name}[KEY].OPERATOR: ${named}`}.`;
}

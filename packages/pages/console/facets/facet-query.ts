import type { FacetValue } from '#packages/client/index.js';
import { type Filter, type ListState, queryOf } from '../list-query.js';
import type { CatalogueRecord, Resource } from '../types.js';

/** A field whose values are counted, or one key of the attributes. */
export interface FacetField {
  readonly field: string;
  /** Empty for a field without keys. */
  readonly key: string;
}

/** A value as it is shown. */
export interface FacetRow {
  readonly text: string;
  /** The number of records that have it; undefined if the service has not told. */
  readonly count: number | undefined;
  readonly isChosen: boolean;
}

/** The most fields of a request. */
const MOST_FIELDS = 10;
/** The most values of `.in`. */
const MOST_VALUES = 100;
/** The most keys of attributes, if the person and the filters name no more. */
const MOST_KEYS = 20;

/** The name of a field in the parameter `fields`. */
export function facetName({ field, key }: FacetField): string {
  return key === '' ? field : `${field}[${key}]`;
}

/** The requests for the values of some fields among the records that a state selects, and of no field twice. */
export function facetRequests(
  resource: Pick<Resource, 'path'>,
  state: ListState,
  fields: readonly FacetField[],
  { limit, prefix = '' }: { readonly limit: number; readonly prefix?: string },
): string[] {
  const names = [...new Set(fields.map(facetName))];
  const parts = Array.from({ length: Math.ceil(names.length / MOST_FIELDS) }, (_, at) =>
    names.slice(at * MOST_FIELDS, (at + 1) * MOST_FIELDS),
  );
  return parts.map((part) => {
    const query = new URLSearchParams({ fields: part.join(','), limit: String(limit) });
    if (prefix !== '') query.set('prefix', prefix);
    const selection = queryOf({ ...state, sort: '', cursor: undefined });
    selection.delete('limit');
    for (const [name, value] of selection) query.append(name, value);
    return `${resource.path}/facets?${query}`;
  });
}

/**
 * The keys that can be counted: those that are shown already, so that no panel moves, those in filters, and those that
 * most of the records have.
 */
export function attributeKeys(
  field: string,
  records: readonly CatalogueRecord[],
  filters: readonly Filter[],
  shown: readonly string[],
): string[] {
  const counts = new Map<string, number>();
  for (const record of records)
    for (const key of Object.keys(Object(record[field]))) counts.set(key, (counts.get(key) ?? 0) + 1);
  const frequent = [...counts].sort(([, one], [, other]) => other - one).map(([key]) => key);
  const named = [...shown, ...filters.filter((one) => one.field === field).map(({ key }) => key)];
  // A comma would separate two fields.
  const keys = [...new Set([...named, ...frequent])].filter((key) => key !== '' && !key.includes(','));
  return keys.slice(0, Math.max(MOST_KEYS, new Set(named).size));
}

/** The values of a field that the filters choose, any of which a record may have. */
export function chosenValues(filters: readonly Filter[], of: FacetField): string[] {
  const chosen = filters.filter((one) => isChoice(one, of));
  return [...new Set(chosen.flatMap(({ operator, value }) => (operator === 'in' ? value.split(',') : [value])))];
}

/** The filters after a value was chosen, or is chosen no more. */
export function toggled(filters: readonly Filter[], of: FacetField, text: string): readonly Filter[] {
  const chosen = chosenValues(filters, of);
  const isRemoval = chosen.includes(text);
  const values = isRemoval
    ? chosen.filter((one) => one !== text)
    : [...chosen, text].every(isListable) && chosen.length < MOST_VALUES
      ? [...chosen, text]
      : [text];
  const others = filters.filter((one) => !isChoice(one, of));
  if (values.length === 0) return others;
  const operator = values.length === 1 ? 'equals' : 'in';
  return [...others, { ...of, operator, value: values.join(',') }];
}

/** Whether a text can stand in a list of values. */
function isListable(text: string): boolean {
  return text !== '' && !text.includes(',');
}

function isChoice(filter: Filter, { field, key }: FacetField): boolean {
  return filter.field === field && filter.key === key && /^(equals|in)$/.test(filter.operator);
}

/**
 * The values to show. Filters compare attributes as text, so the number 5 and the text `5` are one value. A chosen
 * value that the service has not counted stands first, so that it can be removed.
 */
export function facetRows(values: readonly FacetValue[], chosen: readonly string[]): readonly FacetRow[] {
  // While the counts change, a value may be on two pages.
  const different = new Map(values.map((one) => [JSON.stringify(one.value), one]));
  const counts = new Map<string, number>();
  for (const { value, count } of different.values())
    counts.set(String(value), (counts.get(String(value)) ?? 0) + count);
  const others = chosen.filter((text) => !counts.has(text));
  return [
    ...others.map((text) => ({ text, count: undefined, isChosen: true })),
    ...[...counts].map(([text, count]) => ({ text, count, isChosen: chosen.includes(text) })),
  ];
}

import type { Facet, FacetCount, FacetField, FacetQuery, FacetValue, Filter } from '../ports/list-query.js';
import type { Repository } from '../ports/repository.js';
import { TopN } from './lists.js';
import { attributeOf, compareFacetValues, memberValue } from './query-semantics.js';

/**
 * Counts the records that match the filters by their values. A field has its facet under the filters that do not choose
 * among its values; fields under the same filters are counted together.
 * @returns a facet for each field, in order
 * @throws AppError `query_too_expensive`
 */
export async function facetsOf(
  records: Pick<Repository<unknown>, 'facets'>,
  query: FacetQuery,
): Promise<readonly Facet[]> {
  const groups = new Map<string, { filters: readonly Filter[]; fields: FacetField[] }>();
  for (const field of query.fields) {
    const filters = query.filters.filter((filter) => !isChoiceOf(field, filter));
    const key = String(query.filters.map((filter) => filters.includes(filter)));
    const group = groups.get(key);
    if (group) group.fields.push(field);
    else groups.set(key, { filters, fields: [field] });
  }
  const found = new Map<FacetField, Facet>();
  for (const { filters, fields } of groups.values()) {
    const facets = await records.facets({ ...query, filters, fields });
    for (const [at, facet] of facets.entries()) found.set(fields[at] as FacetField, facet);
  }
  return query.fields.map((field) => found.get(field) as Facet);
}

/** Whether a filter chooses among the values of a field. `.all`, which asks for each of some values, is no choice. */
function isChoiceOf({ field, key }: FacetField, filter: Filter): boolean {
  if (filter.field !== field) return false;
  if (filter.operator === 'attribute') return filter.key === key && ('value' in filter || 'values' in filter);
  if (filter.operator === 'eq') return !filter.isOneOfAll;
  if (filter.operator === 'exists') return filter.isChoice === true;
  return ['in', 'inOrNone', 'prefix'].includes(filter.operator);
}

/** Counts records by the values of some fields. It holds every different value, and what records share under it. */
export class FacetCounter {
  private readonly counts: readonly Map<FacetValue, number>[];
  private readonly shared: readonly Map<FacetValue, Set<FacetValue>>[];

  constructor(private readonly query: Pick<FacetQuery, 'fields' | 'prefix' | 'limit' | 'after' | 'distinct'>) {
    this.counts = query.fields.map(() => new Map());
    this.shared = query.fields.map(() => new Map());
  }

  /** @param fields of a record */
  add(fields: object): void {
    const { fields: counted, distinct } = this.query;
    const [shared] = distinct === undefined ? [] : facetValues(fields, { field: distinct });
    for (const [at, field] of counted.entries()) this.addValues(at, facetValues(fields, field), shared);
  }

  /**
   * @param values of a record in the field at this place, each once
   * @param shared records that have it in common count once under each value
   */
  addValues(at: number, values: readonly FacetValue[], shared?: FacetValue): void {
    const counts = this.counts[at] as Map<FacetValue, number>;
    for (const value of values)
      if (hasPrefix(value, this.query.prefix) && (shared === undefined || this.isFirst(at, value, shared)))
        counts.set(value, (counts.get(value) ?? 0) + 1);
  }

  private isFirst(at: number, value: FacetValue, shared: FacetValue): boolean {
    const all = this.shared[at] as Map<FacetValue, Set<FacetValue>>;
    const seen = all.get(value);
    if (seen?.has(shared)) return false;
    if (seen) seen.add(shared);
    else all.set(value, new Set([shared]));
    return true;
  }

  facets(): Facet[] {
    return this.counts.map((counts) => {
      const top = new FacetTop(this.query);
      for (const [value, count] of counts) top.add({ value, count });
      return top.facet();
    });
  }
}

/** The first values of a facet behind a place. It holds no others. */
export class FacetTop {
  private readonly top: TopN<FacetCount>;

  constructor(private readonly query: Pick<FacetQuery, 'limit' | 'after'>) {
    this.top = new TopN(query.limit + 1, compareFacetCounts);
  }

  add(count: FacetCount): void {
    const { after } = this.query;
    if (!after || compareFacetCounts(count, after) > 0) this.top.add(count);
  }

  facet(): Facet {
    const { limit } = this.query;
    const found = this.top.inOrder();
    return { values: found.slice(0, limit), hasMore: found.length > limit };
  }
}

/** The values of a field in the fields of a record, each once. */
export function facetValues(fields: object, { field, key }: FacetField): readonly FacetValue[] {
  if (key !== undefined) {
    const value = attributeOf(fields, key);
    return value === undefined ? [] : [value];
  }
  const value = memberValue(fields, field) as FacetValue | readonly FacetValue[] | undefined;
  if (value === undefined) return [];
  return typeof value === 'object' ? value : [value];
}

export function hasPrefix(value: FacetValue, prefix: string | undefined): boolean {
  return prefix === undefined || (typeof value === 'string' && value.startsWith(prefix));
}

/** @returns below 0 if `a` comes first */
export function compareFacetCounts(a: FacetCount, b: FacetCount): number {
  return b.count - a.count || compareFacetValues(a.value, b.value);
}

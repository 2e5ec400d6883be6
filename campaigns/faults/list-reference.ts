import { isDeepStrictEqual } from 'node:util';
import { FacetQueryParser, facetName } from '#src/adapters/inbound/http/lists/facets.js';
import { ListQueryParser } from '#src/adapters/inbound/http/lists/list-operation.js';
import { PRODUCTS as RESOURCE } from '#src/adapters/inbound/http/resources/definitions.js';
import type { FacetCount, FacetQuery, Filter, SortOrder } from '#src/application/ports/list-query.js';
import { compareFacetCounts, FacetCounter, facetsOf, facetValues } from '#src/application/records/facets.js';
import { compareInOrder, matchesFilter, valuesOf } from '#src/application/records/query-semantics.js';
import { recordWords } from '#src/application/search/tokenizer.js';
import { PRODUCTS } from '../../tests/support/tables.js';
import type { ProductRecord, RandomList } from './random-lists.js';

/** What a service responded to a {@link RandomList}. */
export interface Answer {
  /** From the first page on. */
  readonly forwards: Run;
  /** From the last of those pages back. Absent: it has no `prev`. */
  readonly backwards?: Run & { readonly before: ProductRecord };
  readonly total: number;
  readonly facets: readonly { field: string; values: readonly FacetCount[]; more: boolean }[];
  /** The first request began and the last response ended then, on the clock of {@link Reference.wrote}. */
  readonly from: number;
  readonly to: number;
}

/** The records of some pages, in the order of the list, and whether there were more pages in the direction of reading. */
export interface Run {
  readonly records: readonly ProductRecord[];
  readonly hasMore: boolean;
}

/** What a record was from the moment at which a write may have happened. Undefined: it did not exist. */
interface Version {
  readonly record: ProductRecord | undefined;
  readonly sentAt: number;
  readonly acknowledgedAt: number;
}

/** The records that match filters during some time. */
interface Matches {
  /** Those that nobody writes meanwhile, in order. */
  readonly certain: readonly ProductRecord[];
  /** The matching versions of each of the others. */
  readonly possible: readonly (readonly ProductRecord[])[];
}

const EVERY_VALUE = Number.MAX_SAFE_INTEGER;

/** Knows every version of every record, and judges answers by the definitions of filters, orders and facets alone. */
export class Reference {
  private readonly written = new Map<number, Version[]>();
  private readonly ids: ReadonlyMap<number, number>;
  /** By filter: whether each of the first records matches. */
  private readonly matching = new Map<string, Uint8Array>();
  /** By filters and order. */
  private readonly sorted = new Map<string, readonly ProductRecord[]>();
  private words: readonly string[] | undefined;
  private readonly lists = new ListQueryParser('products', RESOURCE);
  private readonly facets = new FacetQueryParser('products', RESOURCE);

  constructor(private readonly first: readonly ProductRecord[]) {
    this.ids = new Map(first.map(({ id }, at) => [id, at]));
  }

  /** Notes that a write was acknowledged. @param record undefined: it was deleted */
  wrote(id: number, record: ProductRecord | undefined, sentAt: number, acknowledgedAt: number): void {
    const at = this.ids.get(id);
    const begin = { record: at === undefined ? undefined : this.first[at], sentAt: 0, acknowledgedAt: 0 };
    const versions = this.written.get(id) ?? [begin];
    versions.push({ record, sentAt, acknowledgedAt });
    this.written.set(id, versions);
  }

  /** All records at the end. */
  records(): ProductRecord[] {
    const unwritten = this.first.filter(({ id }) => !this.written.has(id));
    const last = [...this.written.values()].map((versions) => versions.at(-1)?.record);
    return [...unwritten, ...last.filter((one) => one !== undefined)].sort((a, b) => a.id - b.id);
  }

  /** @returns what is wrong with the answer, for which each write that was sent before its end is noted; empty if nothing */
  async problems({ list, facets }: RandomList, answer: Answer): Promise<string[]> {
    const { filters, order } = this.lists.read(new Map(new URLSearchParams(list)));
    const matches = this.matches(filters, order, answer);
    return [
      ...this.runProblems(answer, filters, order, matches.certain),
      ...countProblems(matches, answer.total),
      ...(await this.facetProblems(this.facets.read(new Map(new URLSearchParams(facets))), answer)),
    ];
  }

  private runProblems(
    { forwards, backwards, from, to }: Answer,
    filters: readonly Filter[],
    order: SortOrder,
    certain: readonly ProductRecord[],
  ): string[] {
    const compare = (a: ProductRecord, b: ProductRecord) =>
      compareInOrder(order, valuesOf(a, order), valuesOf(b, order));
    const problemsOf = (name: string, { records }: Run, isInside: (record: ProductRecord) => boolean) => {
      const problems: string[] = [];
      records.forEach((record, at) => {
        const before = records[at - 1];
        if (before && compare(before, record) >= 0) problems.push(`${name}: ${record.id} stands too late`);
        if (!filters.every((filter) => matchesFilter(PRODUCTS, record, filter)))
          problems.push(`${name}: ${record.id} does not match`);
        if (!this.versions(record.id, from, to).some((one) => isDeepStrictEqual(one, record)))
          problems.push(`${name}: ${record.id} was never so at that time`);
      });
      const wanted = certain.filter(isInside).map(({ id }) => id);
      const rests = new Set(wanted);
      const found = records.filter(({ id }) => rests.has(id)).map(({ id }) => id);
      const missing = wanted.filter((id) => !found.includes(id));
      if (missing.length > 0) problems.push(`${name}: ${missing.length} are missing, such as ${missing[0]}`);
      if (found.length > new Set(found).size) problems.push(`${name}: a record is there twice`);
      return problems;
    };
    const last = forwards.records.at(-1);
    const farthest = backwards?.records[0];
    return [
      ...problemsOf('forwards', forwards, (one) => !forwards.hasMore || (!!last && compare(one, last) <= 0)),
      ...(backwards
        ? problemsOf('backwards', backwards, (one) => {
            const isBefore = compare(one, backwards.before) < 0;
            return isBefore && (!backwards.hasMore || (!!farthest && compare(one, farthest) >= 0));
          })
        : []),
    ];
  }

  private async facetProblems(query: FacetQuery, answer: Answer): Promise<string[]> {
    const bound = (isHighest: boolean) =>
      facetsOf(
        { facets: async (part) => this.counter(part, answer, isHighest).facets() },
        { ...query, limit: EVERY_VALUE },
      );
    const [lowest, highest] = [await bound(false), await bound(true)];
    return query.fields.flatMap((field, at) => {
      const { values = [], more } = answer.facets[at] ?? {};
      const countsOf = (bounds: typeof lowest) =>
        new Map((bounds[at]?.values ?? []).map(({ value, count }) => [value, count]));
      const [low, high] = [countsOf(lowest), countsOf(highest)];
      const last = values.at(-1);
      const name = `facet ${facetName(field)}`;
      const wrong = values.flatMap((one, place) => {
        const before = values[place - 1];
        const [least, most] = [low.get(one.value) ?? 0, high.get(one.value) ?? 0];
        high.delete(one.value);
        low.delete(one.value);
        return [
          ...(one.count >= least && one.count <= most
            ? []
            : [`${name}: ${one.count} of ${one.value} instead of ${least} to ${most}`]),
          ...(before && compareFacetCounts(before, one) >= 0 ? [`${name}: ${one.value} stands too late`] : []),
        ];
      });
      for (const [value, count] of low)
        if (!more || (last && compareFacetCounts({ value, count }, last) < 0))
          wrong.push(`${name}: ${value} is missing, which at least ${count} have`);
      if (more && (high.size === 0 || values.length !== query.limit)) wrong.push(`${name}: there are no more`);
      return wrong;
    });
  }

  private counter(query: FacetQuery, { from, to }: Answer, isHighest: boolean): FacetCounter {
    const counter = new FacetCounter(query);
    const { certain, possible } = this.matches(query.filters, [{ field: 'id', descending: false }], {
      from,
      to,
    });
    for (const { fields } of certain) counter.add(fields);
    if (isHighest)
      for (const versions of possible)
        query.fields.forEach((field, at) => {
          const values = versions.flatMap(({ fields }) => facetValues(fields, field));
          counter.addValues(at, [...new Set(values)]);
        });
    return counter;
  }

  /** What a record may have been at some time between two moments. */
  private versions(id: number, from: number, to: number): readonly (ProductRecord | undefined)[] {
    const versions = this.written.get(id);
    if (!versions) return [this.first[this.ids.get(id) ?? -1]];
    return versions
      .filter(({ sentAt }, at) => sentAt <= to && (versions[at + 1]?.acknowledgedAt ?? to) >= from)
      .map(({ record }) => record);
  }

  private matches(filters: readonly Filter[], order: SortOrder, { from, to }: Pick<Answer, 'from' | 'to'>): Matches {
    const unwritten = this.firstMatches(filters, order).filter(({ id }) => !this.written.has(id));
    const resting: ProductRecord[] = [];
    const possible: (readonly ProductRecord[])[] = [];
    for (const id of this.written.keys()) {
      const versions = this.versions(id, from, to);
      const matching = versions.filter(
        (one) => one && filters.every((filter) => matchesFilter(PRODUCTS, one, filter)),
      ) as ProductRecord[];
      if (versions.length > 1) possible.push(matching);
      else resting.push(...matching);
    }
    return {
      certain: inOrder([...unwritten, ...resting], order),
      possible: possible.filter(({ length }) => length > 0),
    };
  }

  private firstMatches(filters: readonly Filter[], order: SortOrder): readonly ProductRecord[] {
    const key = JSON.stringify([filters, order]);
    const known = this.sorted.get(key);
    if (known) return known;
    const parts = filters.map((filter) => this.firstMatching(filter));
    const found = inOrder(
      this.first.filter((_, at) => parts.every((part) => part[at] === 1)),
      order,
    );
    this.sorted.set(key, found);
    return found;
  }

  private firstMatching(filter: Filter): Uint8Array {
    const key = JSON.stringify(filter);
    const known = this.matching.get(key);
    if (known) return known;
    const { first } = this;
    // As `matchesFilter` says, but with the words of each record made once.
    this.words ??= first.map(({ fields }) => ['', ...recordWords(PRODUCTS, fields)].join(' '));
    const { words } = this;
    const matches =
      filter.operator === 'search'
        ? (_: ProductRecord, at: number) => filter.words.every((word) => words[at]?.includes(` ${word}`))
        : (record: ProductRecord) => matchesFilter(PRODUCTS, record, filter);
    const found = Uint8Array.from(first, (record, at) => (matches(record, at) ? 1 : 0));
    this.matching.set(key, found);
    return found;
  }
}

function inOrder(records: readonly ProductRecord[], order: SortOrder): ProductRecord[] {
  if (order[0]?.field === 'id' && !order[0].descending) return records.toSorted((a, b) => a.id - b.id);
  return records
    .map((record) => ({ record, values: valuesOf(record, order) }))
    .sort((a, b) => compareInOrder(order, a.values, b.values))
    .map(({ record }) => record);
}

function countProblems({ certain, possible }: Matches, total: number): string[] {
  const [least, most] = [certain.length, certain.length + possible.length];
  return total >= least && total <= most ? [] : [`counted ${total} instead of ${least} to ${most}`];
}

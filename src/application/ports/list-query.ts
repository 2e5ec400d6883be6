import type { FieldSpecs } from '../../domain/fields.js';
import type { Task } from '../../shared/task-scheduler.js';

/** A request for one page of a list. Every store returns the same page for it. */
export interface ListQuery {
  /** The maximum number of records, at least 1. A store may end the page earlier if the records are large. */
  readonly limit: number;
  /** The page ends after about this many bytes of records. Absent: {@link MAX_PAGE_BYTES}. */
  readonly bytes?: number;
  /** Every record in the list matches all filters. */
  readonly filters: readonly Filter[];
  readonly order: SortOrder;
  /** Absent: the first page. */
  readonly from?: Position | undefined;
  /** Whose work it is, for limits; default: the service's. A page that continues an export has no time limit. */
  readonly task?: Task | undefined;
}

export type Value = string | number;

/**
 * A record that lacks the field matches no filter but `exists` and `inOrNone`. Texts are compared literally. A list
 * matches if one of its elements does.
 */
export type Filter = Comparison | Membership | OptionalMembership | AttributeFilter | ExistenceFilter | SearchFilter;

export interface Comparison {
  /** A field of the resource, or one of {@link SELECTABLE_FIELDS}. */
  readonly field: string;
  /** `prefix` is for texts only; lists have `eq` and `prefix` alone. */
  readonly operator: 'eq' | 'ne' | 'lt' | 'lte' | 'gt' | 'gte' | 'prefix';
  /** Of the field's type. An instant may lie between two milliseconds. */
  readonly value: Value;
  /** One of the values that a list must have, each of them. Such a filter narrows the facet of its own field too. */
  readonly isOneOfAll?: true;
}

export interface Membership {
  readonly field: string;
  readonly operator: 'in';
  readonly values: readonly Value[];
}

/** Matches one of the values, and a record without a value too. */
export interface OptionalMembership {
  /** An optional field with one value. */
  readonly field: string;
  readonly operator: 'inOrNone';
  /** One at least. */
  readonly values: readonly Value[];
}

/** A record that lacks the attribute matches none but `exists`. */
export type AttributeFilter = AttributeEquality | AttributeMembership | AttributeComparison | AttributeExistence;

interface OfAttribute {
  readonly field: 'attributes';
  readonly operator: 'attribute';
  readonly key: string;
}

/** Matches if the attribute is this text, or a number or boolean that is written like it. */
export interface AttributeEquality extends OfAttribute {
  readonly value: string;
}

/** Matches if the attribute is one of these texts, or a number or boolean that is written like one. */
export interface AttributeMembership extends OfAttribute {
  readonly values: readonly string[];
}

/** Matches a number. */
export interface AttributeComparison extends OfAttribute {
  readonly comparison: 'lt' | 'lte' | 'gt' | 'gte';
  /** Finite. */
  readonly number: number;
}

export interface AttributeExistence extends OfAttribute {
  readonly exists: boolean;
}

/** Matches if the record has a value in the field, or if it has none. */
export interface ExistenceFilter {
  /** An optional field. */
  readonly field: string;
  readonly operator: 'exists';
  readonly value: boolean;
  /** No value was named as one of the choices. Such a filter does not narrow the facet of its own field. */
  readonly isChoice?: true;
}

/** Matches if each word is the beginning of a word of the record. */
export interface SearchFilter {
  readonly field: 'q';
  readonly operator: 'search';
  /** One at least. From `queryWords` and `decidingWords`. */
  readonly words: readonly string[];
}

/**
 * Fields with one value, the last of which is `id`, so no two records tie; `id` is nowhere else. A record that lacks the
 * field of a further key comes after those that tie with it, whichever the direction. In what a store gets, every record
 * that matches the filters has the field of the first key.
 */
export type SortOrder = readonly SortKey[];

export interface SortKey {
  readonly field: string;
  readonly descending: boolean;
}

export const BY_ID: SortOrder = [{ field: 'id', descending: false }];

export interface ListPage<Item> {
  /** In the list's order, also if the page was reached backwards. */
  readonly records: readonly Item[];
  /**
   * Whether more records lie beyond the page, in the direction in which it was read. A store may return true if it
   * would have to search long to be sure.
   */
  readonly hasMore: boolean;
}

/**
 * A page ends after about this many bytes of records, so that one request neither delays others nor fills the memory.
 */
export const MAX_PAGE_BYTES = 4 * 1024 * 1024;

/** A position in the order. It stays valid when the record at it is deleted. */
export interface Position {
  /** The side of the position on which the page lies. */
  readonly side: 'after' | 'before';
  /** Whether a record at the position itself belongs to the page. */
  readonly inclusive: boolean;
  /** The value of each key of the order; null: the record lacks it. Empty: the place behind the end of the list. */
  readonly values: readonly (Value | null)[];
}

/** A request for the values of some fields, each with the number of records that have it. */
export interface FacetQuery {
  /** Every counted record matches all filters. */
  readonly filters: readonly Filter[];
  /** One at least. */
  readonly fields: readonly FacetField[];
  /** The maximum number of values of a field, at least 1. */
  readonly limit: number;
  /** Only the texts that begin so are values. */
  readonly prefix?: string | undefined;
  /** The values behind this one, which may have another count meanwhile. */
  readonly after?: FacetCount | undefined;
  /** Of the records with one value in this optional field of text, one counts under each value. */
  readonly distinct?: string | undefined;
  readonly task?: Task | undefined;
}

/** A field whose specification says `faceted`, or one attribute. */
export interface FacetField {
  readonly field: string;
  /** The key of the attribute if the field is `attributes`. */
  readonly key?: string;
}

export type FacetValue = string | number | boolean;

export interface FacetCount {
  readonly value: FacetValue;
  /** At least 1. */
  readonly count: number;
}

/** The values of one field: the highest count first, then texts, numbers and booleans, each in their order. */
export interface Facet {
  readonly values: readonly FacetCount[];
  /** Whether there are more values behind these. */
  readonly hasMore: boolean;
}

/** A table as the stores need it. */
export interface RecordTable {
  /** The name of the table or collection, and of the counter of its ids. */
  readonly name: string;
  /** Every indexed field. {@link SELECTABLE_FIELDS} is indexed as well. */
  readonly fields: FieldSpecs;
  /** The fields whose words a search finds: texts, and attributes with texts among their values. */
  readonly searched: readonly string[];
  /** The first id that may be reserved. */
  readonly firstId: number;
}

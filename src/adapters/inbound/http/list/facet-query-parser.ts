import type { FacetCount, FacetField, FacetQuery } from '../../../../application/ports/list-query.js';
import type { ParameterDescription } from '../core/description.js';
import type { ParameterIssue } from '../core/error-codes.js';
import { invalidParameters } from '../core/http-error.js';
import type { Parameter, Query } from '../core/parameter.js';
import type { ListedResource } from '../core/resource-definition.js';
import { invalid, nameListIssues } from '../query/query.js';
import { ATTRIBUTES, attributeKey } from './attribute-name.js';
import { filterTexts, isTextInCursor, sealed, shortHash, unsealed } from './cursor.js';
import { Filters } from './filters.js';
import {
  CURSOR_DESCRIPTION,
  cursorMismatch,
  FOREIGN_CURSOR,
  foreignCursor,
  limitParameter,
} from './list-query-parser.js';

/** The bounds of `limit`, which counts the values of a field. */
export const FACET_LIMITS = { min: 1, max: 100 };
/** The limit of fields in a request. */
export const MAX_FACETS = 10;
const DEFAULT_LIMIT = 20;

/** Parses the query of facets. */
export class FacetQueryParser {
  private readonly filters: Filters;
  /** The names that the parameter `fields` takes. */
  private readonly names: readonly string[];
  private readonly ownParameters: ReadonlyMap<string, Parameter>;

  /** @param list the name of the list whose records are counted, so that cursors of others are rejected */
  constructor(
    private readonly list: string,
    resource: ListedResource,
  ) {
    this.filters = new Filters(resource);
    this.names = facetNames(resource);
    this.ownParameters = new Map([
      ['fields', { isList: true, issues: (text) => this.fieldIssues(text) }],
      ['limit', limitParameter(FACET_LIMITS)],
      ['prefix', { issues: () => [] }],
      ['cursor', { code: 'invalid_cursor', issues: (text) => (this.decode(text) ? [] : FOREIGN_CURSOR) }],
    ]);
  }

  /** The documentation of the parameters that are no filters. */
  get descriptions(): ParameterDescription[] {
    const names = this.names.map((name) => (name === ANY_ATTRIBUTE ? ATTRIBUTE_PATTERN : escaped(name)));
    return [
      {
        name: 'fields',
        description: `The fields whose values are counted, each once: ${this.names.join(', ')}. A key with a comma cannot be named.`,
        required: true,
        schema: {
          type: 'array',
          minItems: 1,
          maxItems: MAX_FACETS,
          items: { type: 'string', pattern: `^(?:${names.join('|')})$` },
        },
        explode: false,
        example: this.names.slice(0, 2).map((name) => name.replace('KEY', 'colour')),
      },
      {
        name: 'limit',
        description: 'The most values that a field may have.',
        schema: {
          type: 'integer',
          minimum: FACET_LIMITS.min,
          maximum: FACET_LIMITS.max,
          default: DEFAULT_LIMIT,
        },
        example: 20,
      },
      {
        name: 'prefix',
        description:
          'Only values that are texts and begin with this. `fields` then names one field. Upper and lower case differ.',
        schema: { type: 'string' },
        example: 'l',
      },
      {
        ...CURSOR_DESCRIPTION,
        description:
          'A place in the values of one field, taken from the URL in `Link`. It is valid only for the same field, prefix and filters.',
      },
    ];
  }

  parameter(name: string): Parameter | undefined {
    return this.ownParameters.get(name) ?? this.filters.parameter(name);
  }

  /** Returns the names of the parameters that there are, or how to write a filter of a field. */
  parameterNames(unknown: string): string {
    const own = [...this.ownParameters.keys()].join(', ');
    return this.filters.hintFor(unknown) ?? `there are ${own}, ${this.filters.names}`;
  }

  /**
   * @param parameters valid parameters
   * @throws HttpError `invalid_parameter`, `cursor_mismatch`, `invalid_cursor`
   */
  read(parameters: Query): FacetQuery {
    const fields = parameters.get('fields')?.split(',').map(fieldOf) ?? [];
    const prefix = parameters.get('prefix');
    const issue = combinationIssue(fields, prefix);
    if (issue) throw invalidParameters([['invalid_parameter', issue]]);
    const filters = this.filters.read(parameters);
    const query = { fields, filters, prefix, limit: Number(parameters.get('limit') ?? DEFAULT_LIMIT) };
    const cursor = parameters.get('cursor');
    return cursor === undefined ? query : { ...query, after: this.place(cursor, query) };
  }

  /** @param last the last value of a page of the only field */
  cursorBehind(query: FacetQuery, { value, count }: FacetCount): string {
    return this.encode({ fingerprint: fingerprintOf(query), after: { value, count } });
  }

  private fieldIssues(text: string): ParameterIssue[] {
    const names = text.split(',');
    const isRepeated = new Set(names.map((name) => facetName(fieldOf(name)))).size < names.length;
    const kinds = names.map((name) => (attributeKey(name) === undefined ? name : ANY_ATTRIBUTE));
    return [
      ...nameListIssues('fields', kinds, this.names),
      ...(isRepeated ? [invalid('fields', 'duplicate_value', 'names a field more than once')] : []),
      ...(names.length > MAX_FACETS
        ? [invalid('fields', 'too_long', `takes at most ${MAX_FACETS} names`)]
        : []),
    ];
  }

  /** @throws HttpError `cursor_mismatch`, `invalid_cursor` */
  private place(text: string, query: FacetQuery): FacetCount {
    const cursor = this.decode(text);
    if (cursor?.fingerprint !== fingerprintOf(query)) throw cursorMismatch('another field, prefix or filter');
    const [{ key } = {}] = query.fields;
    if (key !== undefined || typeof cursor.after.value === 'string') return cursor.after;
    throw foreignCursor();
  }

  private encode({ fingerprint, after: { value, count } }: FacetCursor): string {
    return sealed(`${this.list}/facets`, [fingerprint, value, count]);
  }

  /** @returns undefined if the service did not issue the text as a cursor of these facets */
  private decode(text: string): FacetCursor | undefined {
    const [fingerprint, value, count] = unsealed(text) ?? [];
    if (typeof fingerprint !== 'string' || !Number.isSafeInteger(count) || Number(count) < 1)
      return undefined;
    if (typeof value !== 'number' && typeof value !== 'boolean' && !isTextInCursor(value)) return undefined;
    const cursor = { fingerprint, after: { value, count: Number(count) } };
    return this.encode(cursor) === text ? cursor : undefined;
  }
}

interface FacetCursor {
  /** Identifies the fields, the prefix and the filters that the place belongs to. */
  readonly fingerprint: string;
  readonly after: FacetCount;
}

const ANY_ATTRIBUTE = `${ATTRIBUTES}[KEY]`;
const ATTRIBUTE_PATTERN = `${ATTRIBUTES}\\[[^,]+\\]`;

/** The names of the fields by whose values the records of a resource are counted. */
export function facetNames({ fields }: ListedResource): string[] {
  return Object.entries(fields).flatMap(([name, { faceted, type }]) => {
    if (!faceted) return [];
    return [type === 'attributes' ? ANY_ATTRIBUTE : name];
  });
}

/** The name of a field in the response, however the request spells it. */
export function facetName({ field, key }: FacetField): string {
  return key === undefined ? field : `${field}[${key}]`;
}

function fieldOf(name: string): FacetField {
  const key = attributeKey(name);
  return key === undefined ? { field: name } : { field: ATTRIBUTES, key };
}

function combinationIssue(
  fields: readonly FacetField[],
  prefix: string | undefined,
): ParameterIssue | undefined {
  if (fields.length === 0) return invalid('fields', 'required', 'must name the fields whose values to count');
  if (fields.length === 1 || prefix === undefined) return undefined;
  return invalid('fields', 'too_long', 'takes one name beside prefix');
}

function fingerprintOf({ fields, prefix, filters }: FacetQuery): string {
  return shortHash([fields.map(facetName), prefix ?? null, filterTexts(filters)]);
}

function escaped(name: string): string {
  return name.replaceAll('.', '\\.');
}

import type { Facet, FacetCount, FacetField, FacetQuery } from '../../../../application/ports/list-query.js';
import type { RecordService } from '../../../../application/records/record-service.js';
import { taskOf } from '../core/concurrency-limits.js';
import type { Context } from '../core/context.js';
import type { ParameterIssue } from '../core/error-codes.js';
import { respondTagged, weakTag } from '../core/etag.js';
import { invalidParameters } from '../core/http-error.js';
import type { Parameter, Parameters, Query } from '../core/parameter.js';
import {
  type ListedResource,
  type ReadPolicy,
  type ResourceDefinition,
  readingOf,
  varyByReader,
} from '../core/resource-definition.js';
import type { Handler, Policy } from '../core/route.js';
import { ATTRIBUTES, attributeKey } from '../parameters/attribute-name.js';
import { Filters } from '../parameters/filters.js';
import { invalid, nameListIssues } from '../parameters/query.js';
import {
  cursorMismatch,
  cursorParameter,
  filterTexts,
  foreignCursor,
  isTextInCursor,
  sealed,
  shortHash,
  unsealed,
} from './cursor.js';
import { nextLink } from './link-header.js';
import { distinctParameter, limitParameter, listName } from './list-operation.js';

/** The last segment of the path of facets. No id looks like it. */
export const FACETS = 'facets';

/** The maximum size of a value with its count, in bytes. A text has at most 500 characters. */
const MAX_VALUE_BYTES = 2_048;

/** The bounds of `limit`, which counts the values of a field. */
export const FACET_LIMITS = { min: 1, max: 100, default: 20 };
/** The limit of fields in a request. */
export const MAX_FACETS = 10;

/** The operation that counts the records of a list by the values of some fields. */
export function facetsOperation<Fields>(
  resource: ResourceDefinition<Fields>,
  service: Pick<RecordService<Fields>, 'facets'>,
  policy: ReadPolicy<Fields>,
): Handler & Pick<Policy, 'parameters' | 'varyBy'> {
  const parser = new FacetQueryParser(listName(resource), resource);
  return {
    parameters: parser.parameters,
    varyBy: ['Accept-Encoding', ...varyByReader(policy)],
    handle: async (ctx, parameters) => {
      const query = parser.read(parameters);
      const { cacheControl, only } = readingOf(ctx, resource.readScope, policy);
      const filters = only ? [...query.filters, only.filter] : query.filters;
      await ctx.state.limits.reserveResponse(ctx, query.fields.length * query.limit * MAX_VALUE_BYTES);
      const facets = await service.facets({ ...query, filters, task: taskOf(ctx) });
      const link = linkToMore(ctx, parameters, parser, query, facets);
      const body = JSON.stringify(facets.map((facet, at) => shown(query, facet, at)));
      ctx.set('Cache-Control', cacheControl);
      if (link) ctx.set('Link', link);
      respondTagged(ctx, weakTag(body, link ?? ''), () => body);
    },
  };
}

function shown({ fields }: FacetQuery, { values, hasMore }: Facet, at: number): object {
  return { field: facetName(fields[at] as FacetField), values, more: hasMore };
}

/** @returns undefined if several fields were asked for, or there are no more values */
function linkToMore(
  { path, state: { addressOf } }: Context,
  parameters: Query,
  parser: FacetQueryParser,
  query: FacetQuery,
  [facet, another]: readonly Facet[],
): string | undefined {
  const last = facet?.values.at(-1);
  if (!facet?.hasMore || !last || another) return undefined;
  return nextLink({ path, parameters, addressOf }, query.limit, parser.cursorBehind(query, last));
}

export class FacetQueryParser {
  readonly parameters: Parameters;
  private readonly filters: Filters;
  /** What the cursors are for. */
  private readonly kind: string;

  /** @param list the name of the list whose records are counted, so that cursors of others are rejected */
  constructor(list: string, resource: ListedResource) {
    this.kind = `${list}/facets`;
    this.filters = new Filters(resource);
    this.parameters = this.filters.with([
      fieldsParameter(facetNames(resource)),
      limitParameter(FACET_LIMITS, 'The most values that a field may have.'),
      PREFIX,
      distinctParameter(resource.fields, DISTINCT),
      cursorParameter(CURSOR, (text) => this.decode(text) !== undefined),
    ]);
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
    const distinct = parameters.get('distinct');
    const query = { fields, filters, prefix, distinct, limit: Number(parameters.get('limit') ?? FACET_LIMITS.default) };
    const cursor = parameters.get('cursor');
    return cursor === undefined ? query : { ...query, after: this.place(cursor, query) };
  }

  /** @param last the last value of a page of the only field */
  cursorBehind(query: FacetQuery, { value, count }: FacetCount): string {
    return this.encode({ fingerprint: fingerprintOf(query), after: { value, count } });
  }

  /** @throws HttpError `cursor_mismatch`, `invalid_cursor` */
  private place(text: string, query: FacetQuery): FacetCount {
    const cursor = this.decode(text);
    if (cursor?.fingerprint !== fingerprintOf(query)) throw cursorMismatch('another field, prefix, filter or distinct');
    const [{ key } = {}] = query.fields;
    if (key !== undefined || typeof cursor.after.value === 'string') return cursor.after;
    throw foreignCursor();
  }

  private encode({ fingerprint, after: { value, count } }: FacetCursor): string {
    return sealed(this.kind, [fingerprint, value, count]);
  }

  /** @returns undefined if the service did not issue the text as a cursor of these facets */
  private decode(text: string): FacetCursor | undefined {
    const [fingerprint, value, count] = unsealed(this.kind, 3, text) ?? [];
    if (typeof fingerprint !== 'string' || !Number.isSafeInteger(count) || Number(count) < 1) return undefined;
    if (typeof value !== 'number' && typeof value !== 'boolean' && !isTextInCursor(value)) return undefined;
    return { fingerprint, after: { value, count: Number(count) } };
  }
}

interface FacetCursor {
  /** Identifies the fields, the prefix and the filters that the place belongs to. */
  readonly fingerprint: string;
  readonly after: FacetCount;
}

const ANY_ATTRIBUTE = `${ATTRIBUTES}[KEY]`;
const ATTRIBUTE_PATTERN = `${ATTRIBUTES}\\[[^,]+\\]`;

const CURSOR =
  'A place in the values of one field, taken from the URL in `Link`. It is valid only for the same field, prefix, filters and `distinct`.';

const DISTINCT =
  'Counts as the list with `distinct` does: of the records with one value in this field, one counts under each value.';

const PREFIX: Parameter = {
  name: 'prefix',
  issues: () => [],
  docs: {
    description:
      'Only values that are texts and begin with this. `fields` then names one field. Upper and lower case differ.',
    schema: { type: 'string' },
    example: 'l',
  },
};

/** @param known the names that it takes */
function fieldsParameter(known: readonly string[]): Parameter {
  const patterns = known.map((name) => (name === ANY_ATTRIBUTE ? ATTRIBUTE_PATTERN : name.replaceAll('.', '\\.')));
  return {
    name: 'fields',
    isList: true,
    issues: (text) => {
      const names = text.split(',');
      const isRepeated = new Set(names.map((name) => facetName(fieldOf(name)))).size < names.length;
      const kinds = names.map((name) => (attributeKey(name) === undefined ? name : ANY_ATTRIBUTE));
      return [
        ...nameListIssues('fields', kinds, known),
        ...(isRepeated ? [invalid('fields', 'duplicate_value', 'names a field more than once')] : []),
        ...(names.length > MAX_FACETS ? [invalid('fields', 'too_long', `takes at most ${MAX_FACETS} names`)] : []),
      ];
    },
    docs: {
      description: `The fields whose values are counted, each once: ${known.join(', ')}. A key with a comma cannot be named.`,
      required: true,
      schema: {
        type: 'array',
        minItems: 1,
        maxItems: MAX_FACETS,
        items: { type: 'string', pattern: `^(?:${patterns.join('|')})$` },
      },
      example: known.slice(0, 2).map((name) => name.replace('KEY', 'colour')),
    },
  };
}

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

function combinationIssue(fields: readonly FacetField[], prefix: string | undefined): ParameterIssue | undefined {
  if (fields.length === 0) return invalid('fields', 'required', 'must name the fields whose values to count');
  if (fields.length === 1 || prefix === undefined) return undefined;
  return invalid('fields', 'too_long', 'takes one name beside prefix');
}

function fingerprintOf({ fields, prefix, filters, distinct }: FacetQuery): string {
  const shared = distinct === undefined ? [] : [distinct];
  return shortHash([fields.map(facetName), prefix ?? null, filterTexts(filters), ...shared]);
}

import {
  BY_ID,
  type Filter,
  type ListQuery,
  MAX_PAGE_BYTES,
  type SortKey,
  type SortOrder,
} from '../../../../application/ports/list-query.js';
import type { PageQuery, RecordService } from '../../../../application/records/record-service.js';
import { type FieldSpecs, sortableFields, variantFields } from '../../../../domain/fields.js';
import type { Versioned } from '../../../../domain/record.js';
import { MAX_RECORD_BYTES, taskOf } from '../core/concurrency-limits.js';
import type { Context } from '../core/context.js';
import { respondTagged, weakTag } from '../core/etag.js';
import { invalidParameters } from '../core/http-error.js';
import { CSV_UTF8, JSON_UTF8, NDJSON_UTF8 } from '../core/media-types.js';
import type { Parameter, Parameters, Query } from '../core/parameter.js';
import {
  type ListedResource,
  type ReadPolicy,
  type ResourceDefinition,
  readingOf,
  varyByReader,
} from '../core/resource-definition.js';
import type { Handler, Policy } from '../core/route.js';
import { preferredType } from '../middleware/negotiation.js';
import { FieldSelector, VARIANTS } from '../parameters/fields.js';
import { Filters } from '../parameters/filters.js';
import { invalid, nameListIssues, TextCache, wholeNumberIssue } from '../parameters/query.js';
import { addAppliedPreference, prefersCount } from '../parameters/request-headers.js';
import { CsvList } from './csv.js';
import {
  type Cursor,
  cursorMismatch,
  cursorParameter,
  decodeCursor,
  foreignCursor,
  isPositionIn,
  queryFingerprint,
} from './cursor.js';
import { jsonArray, type LineFormat, ndjson, respondLines, streamLines } from './lines.js';
import { linkHeader, withMonitor } from './link-header.js';

/** The pages that an export reads: small, so that it neither delays others nor fills the memory. */
const EXPORT_PAGE = { limit: 64, bytes: 262_144 };

const preferred = preferredType([JSON_UTF8, NDJSON_UTF8, CSV_UTF8]);

export type ListService<Fields> = Pick<RecordService<Fields>, 'list' | 'count' | 'pages'>;

/**
 * The operation that lists records: a page as a JSON array, NDJSON or CSV, or the whole list as NDJSON or CSV.
 * @param hasChanges whether the resource shows its changes
 */
export function listOperation<Fields>(
  resource: ResourceDefinition<Fields>,
  service: ListService<Fields>,
  policy: ReadPolicy<Fields>,
  hasChanges = false,
): Handler & Pick<Policy, 'parameters' | 'varyBy'> {
  const list = listName(resource);
  const views = new FieldSelector(resource, 'list');
  const csv = new CsvList(resource, views.parameter);
  const parser = new ListQueryParser(list, resource, csv.parameter);
  const { parameters: table } = parser;
  return {
    parameters: {
      ...table,
      find: (name, ctx) => (name === 'fields' && preferred(ctx) !== CSV_UTF8 ? views.parameter : table.find(name, ctx)),
    },
    produces: [NDJSON_UTF8, CSV_UTF8],
    varyBy: ['Prefer', 'Accept-Encoding', ...varyByReader(policy)],
    handle: respond,
  };

  async function respond(ctx: Context, parameters: Query): Promise<void> {
    const task = taskOf(ctx);
    // As the client sent it: the links to other pages repeat it.
    const query = { ...parser.read(parameters), task };
    const { cacheControl, only } = readingOf(ctx, resource.readScope, policy);
    const filters = only ? [...query.filters, only.filter] : query.filters;
    const format = lineFormat(ctx, parameters);
    const isExport = format && !parameters.has('limit');
    if (isExport) await ctx.state.limits.acquire(ctx, 'exports');
    else await ctx.state.limits.reserveResponse(ctx, largestPage(query.limit));
    const total = prefersCount(ctx) ? await service.count(filters, task, query.distinct) : undefined;
    const setHeaders = (link?: string) => {
      ctx.set('Cache-Control', cacheControl);
      // Not in the tag: it is the same on all pages.
      const links = hasChanges ? withMonitor(link, ctx.path, ctx.state.addressOf) : link;
      if (links) ctx.set('Link', links);
      if (total === undefined) return;
      ctx.set('X-Total-Count', String(total));
      addAppliedPreference(ctx, 'count=exact');
    };
    if (isExport) {
      const pages = exportPages(query, filters);
      const first = await pages.next();
      setHeaders();
      streamLines(ctx, first.value ?? [], pages, format);
      return;
    }
    const page = await service.list({ ...query, filters });
    const url = { list, path: ctx.path, parameters, addressOf: ctx.state.addressOf };
    const link = linkHeader(url, query, page);
    if (format) {
      setHeaders(link);
      await respondLines(ctx, page.records, format);
      return;
    }
    const body = await jsonArray(page.records, views.read(parameters).toJson, task);
    setHeaders(link);
    respondTagged(ctx, weakTag(body, link, String(total ?? '')), () => body);
  }

  /** @returns undefined if the client prefers a JSON array */
  function lineFormat(ctx: Context, parameters: Query): LineFormat<Versioned<Fields>> | undefined {
    switch (preferred(ctx)) {
      case NDJSON_UTF8:
        return ndjson(views.read(parameters).toJson);
      case CSV_UTF8:
        return csv.read(parameters);
      default:
        return undefined;
    }
  }

  /** @throws HttpError `invalid_parameter` if the cursor goes backwards, because an export goes only forwards */
  function exportPages(query: PageQuery, filters: readonly Filter[]) {
    if (query.from?.side === 'before') {
      const issue = invalid('limit', 'required', 'is needed with a cursor that goes backwards');
      throw invalidParameters([['invalid_parameter', issue]]);
    }
    return service.pages({ ...query, filters, ...EXPORT_PAGE });
  }
}

/** The maximum size of a page, in bytes. */
export function largestPage(limit: number): number {
  return Math.min(limit * MAX_RECORD_BYTES, MAX_PAGE_BYTES);
}

/** The name of the list in cursors. Differs by API version, because sort and filters can differ in meaning. */
export function listName({ path, version }: ResourceDefinition<never>): string {
  return version === 1 ? path : `v${version}/${path}`;
}

/** The bounds of `limit`, and its value if a request has none. */
export const LIMITS = { min: 1, max: 1_000, default: 100 };

export function limitParameter(limits: typeof LIMITS, description: string): Parameter {
  const { min: minimum, max: maximum, default: standard } = limits;
  return {
    name: 'limit',
    issues: (text) => {
      const code = wholeNumberIssue(text, limits);
      return code ? [invalid('limit', code, `takes a whole number from ${minimum} to ${maximum}`)] : [];
    },
    docs: { description, schema: { type: 'integer', minimum, maximum, default: standard }, example: 20 },
  };
}

const LIMIT = limitParameter(
  LIMITS,
  'The most records that a page may have. With `Accept: application/x-ndjson` or `text/csv` and without `limit`, the whole list is sent.',
);

const CURSOR =
  'A place in the list, taken from a URL in `Link`. Follow those URLs as they are; do not build them. A cursor is valid only for the same list, order, filters and `distinct`.';

/** Parses the query of a list; of the parameter `fields`, only what the query depends on. */
export class ListQueryParser {
  readonly parameters: Parameters;
  private readonly filters: Filters;
  /** Each request reads its cursor twice. */
  private readonly cursors = new TextCache<Cursor | undefined>();

  /**
   * @param list the name of the list, so that cursors of other lists are rejected
   * @param fields the parameter `fields`, if the list has it
   */
  constructor(
    private readonly list: string,
    private readonly resource: ListedResource,
    fields?: Parameter,
  ) {
    this.filters = new Filters(resource);
    const cursor = cursorParameter(CURSOR, (text) => this.cursor(text) !== undefined);
    const { fields: specs } = resource;
    const distinct = distinctParameter(specs, DISTINCT);
    this.parameters = this.filters.with([LIMIT, cursor, sortParameter(specs), distinct], [fields ?? []].flat());
  }

  /**
   * @param parameters valid parameters
   * @throws HttpError `invalid_parameter`, `cursor_mismatch`, `invalid_cursor`
   */
  read(parameters: Query): PageQuery {
    const limit = Number(parameters.get('limit') ?? LIMITS.default);
    const filters = this.filters.read(parameters);
    const order = readOrder(parameters.get('sort'));
    const distinct = parameters.get('distinct');
    const withVariants = parameters.get('fields')?.split(',').includes(VARIANTS) === true;
    if (withVariants && distinct === undefined) throw invalidParameters([['invalid_parameter', VARIANTS_ALONE]]);
    const query = { limit, filters, order, ...(distinct !== undefined && { distinct, withVariants }) };
    const text = parameters.get('cursor');
    const cursor = text === undefined ? undefined : this.cursor(text);
    return cursor ? { ...query, from: this.position(cursor, query) } : query;
  }

  private position({ position, fingerprint }: Cursor, query: PageQuery): NonNullable<ListQuery['from']> {
    if (fingerprint !== queryFingerprint(query)) throw cursorMismatch('another sort, filter or distinct');
    if (isPositionIn(query.order, this.resource.fields, position)) return position;
    throw foreignCursor();
  }

  private cursor(text: string): Cursor | undefined {
    return this.cursors.get(text, () => decodeCursor(this.list, text));
  }
}

const DISTINCT =
  'Of the matching records with one value in this field, only the first in the order of the list: one card for all variants. A record without a value stands for itself. `Prefer: count=exact` counts cards, and `variants` in `fields` shows how many records each stands for.';

const VARIANTS_ALONE = invalid('fields', 'unknown_field', 'takes variants only with distinct, as in distinct=group');

/** The parameter `distinct`: the name of a field by which records are variants of one another. */
export function distinctParameter(fields: FieldSpecs, description: string): Parameter {
  const names = variantFields(fields);
  const [example] = names;
  const takes = example === undefined ? 'is not taken here: these records have no variants' : `takes ${names}`;
  return {
    name: 'distinct',
    issues: (text) => (names.includes(text) ? [] : [invalid('distinct', 'unknown_field', takes)]),
    ...(example !== undefined && { docs: { description, schema: { type: 'string', enum: names }, example } }),
  };
}

/** The parameter `sort`, such as `sort=name,-id`. Takes fields with one value. A minus sign reverses the order. */
function sortParameter(fields: FieldSpecs): Parameter {
  const sortable = sortableFields(fields);
  return {
    name: 'sort',
    isList: true,
    issues: (text) => {
      const names = parseKeys(text).map(({ field }) => field);
      const isRepeated = new Set(names).size < names.length;
      return [
        ...nameListIssues('sort', names, sortable),
        ...(isRepeated ? [invalid('sort', 'duplicate_value', 'names a field more than once')] : []),
      ];
    },
    docs: {
      description:
        'The fields to sort by, the most important first; `-` before one reverses it. Records without it come last; ties break by `id`.',
      schema: {
        type: 'array',
        minItems: 1,
        maxItems: sortable.length,
        items: { type: 'string', enum: sortable.flatMap((name) => [name, `-${name}`]) },
      },
      example: [sortable.includes('name') ? 'name' : 'createdAt', '-id'],
    },
  };
}

/** Parses a valid `sort`. Ties are broken by id, so keys after the id are dropped. */
function readOrder(text: string | undefined): SortOrder {
  if (text === undefined) return BY_ID;
  const keys = parseKeys(text);
  const id = keys.findIndex(({ field }) => field === 'id');
  return id < 0 ? [...keys, ...BY_ID] : keys.slice(0, id + 1);
}

function parseKeys(text: string): SortKey[] {
  return text.split(',').map((key) => {
    const descending = key.startsWith('-');
    return { field: descending ? key.slice(1) : key, descending };
  });
}

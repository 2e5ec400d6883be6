import { type Filter, type ListQuery, MAX_PAGE_BYTES } from '../../../../application/ports/list-query.js';
import type { RecordService } from '../../../../application/records/record-service.js';
import type { Versioned } from '../../../../domain/record.js';
import { MAX_RECORD_BYTES, taskOf } from '../core/concurrency-limits.js';
import type { Context } from '../core/context.js';
import { respondTagged, weakTag } from '../core/etag.js';
import { invalidParameters } from '../core/http-error.js';
import { CSV_UTF8, JSON_UTF8, NDJSON_UTF8 } from '../core/media-types.js';
import type { Query } from '../core/parameter.js';
import {
  type ReadPolicy,
  type ResourceDefinition,
  readingOf,
  varyByReader,
} from '../core/resource-definition.js';
import type { Handler, Policy } from '../core/route.js';
import { preferredType } from '../middleware/negotiation.js';
import { FieldSelector } from '../parameters/fields.js';
import { invalid } from '../parameters/query.js';
import { addAppliedPreference, prefersCount } from '../parameters/request-headers.js';
import { CsvList } from './csv.js';
import { jsonArray, type LineFormat, ndjson, respondLines, streamLines } from './lines.js';
import { linkHeader, withMonitor } from './link-header.js';
import { ListQueryParser } from './list-query.js';

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
      find: (name, ctx) =>
        name === 'fields' && preferred(ctx) !== CSV_UTF8 ? views.parameter : table.find(name, ctx),
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
    const total = prefersCount(ctx) ? await service.count(filters, task) : undefined;
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
  function exportPages(query: ListQuery, filters: readonly Filter[]) {
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

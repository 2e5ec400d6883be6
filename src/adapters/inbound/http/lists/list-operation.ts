import { type Filter, type ListQuery, MAX_PAGE_BYTES } from '../../../../application/ports/list-query.js';
import type { RecordService } from '../../../../application/records/record-service.js';
import type { Versioned } from '../../../../domain/record.js';
import { MAX_RECORD_BYTES, taskOf } from '../core/concurrency-limits.js';
import type { Context } from '../core/context.js';
import { matchesIfNoneMatch, weakTag } from '../core/etag.js';
import { invalidParameters } from '../core/http-error.js';
import { CSV_UTF8, JSON_TYPE, JSON_UTF8, NDJSON_UTF8 } from '../core/media-types.js';
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

/** A parsed request for a list. */
interface ParsedList {
  /** As the client sent it: the links to other pages repeat it. */
  readonly query: ListQuery;
  /** All filters, those of the public view too. */
  readonly filters: readonly Filter[];
  readonly cacheControl: string;
  readonly parameters: Query;
}

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
  const views = new FieldSelector(resource, 'list');
  const csv = new CsvList(resource, views.parameter);
  const parser = new ListQueryParser(listName(resource), resource, csv.parameter);
  const { parameters } = parser;
  const list = new ListHandler(resource, parser, views, csv, service, policy, hasChanges);
  return {
    parameters: {
      ...parameters,
      find: (name, ctx) =>
        name === 'fields' && preferred(ctx) !== CSV_UTF8 ? views.parameter : parameters.find(name, ctx),
    },
    produces: [NDJSON_UTF8, CSV_UTF8],
    varyBy: ['Prefer', 'Accept-Encoding', ...varyByReader(policy)],
    handle: (ctx, parameters) => list.respond(ctx, parameters),
  };
}

export type ListService<Fields> = Pick<RecordService<Fields>, 'list' | 'count' | 'pages'>;

class ListHandler<Fields> {
  constructor(
    private readonly resource: ResourceDefinition<Fields>,
    private readonly parser: ListQueryParser,
    private readonly views: FieldSelector<Fields>,
    private readonly csv: CsvList<Fields>,
    private readonly service: ListService<Fields>,
    private readonly policy: ReadPolicy<Fields>,
    private readonly hasChanges: boolean,
  ) {}

  async respond(ctx: Context, parameters: Query): Promise<void> {
    const task = taskOf(ctx);
    const query = { ...this.parser.read(parameters), task };
    const { cacheControl, only } = readingOf(ctx, this.resource.readScope, this.policy);
    const filters = only ? [...query.filters, only.filter] : query.filters;
    const list = { query, filters, cacheControl, parameters };
    const format = this.lineFormat(ctx, parameters);
    const isExport = format && !parameters.has('limit');
    if (isExport) await ctx.state.limits.acquire(ctx, 'exports');
    else await ctx.state.limits.reserveResponse(ctx, largestPage(query.limit));
    const total = prefersCount(ctx) ? await this.service.count(filters, task) : undefined;
    if (isExport) await this.respondExport(ctx, list, format, total);
    else await this.respondPage(ctx, list, format, total);
  }

  /** @returns undefined if the client prefers a JSON array */
  private lineFormat(ctx: Context, parameters: Query): LineFormat<Versioned<Fields>> | undefined {
    switch (preferred(ctx)) {
      case NDJSON_UTF8:
        return ndjson(this.views.read(parameters).toJson);
      case CSV_UTF8:
        return this.csv.read(parameters);
      default:
        return undefined;
    }
  }

  private async respondPage(
    ctx: Context,
    list: ParsedList,
    format: LineFormat<Versioned<Fields>> | undefined,
    total: number | undefined,
  ): Promise<void> {
    const { records, link } = await this.page(ctx, list);
    if (format) {
      this.setHeaders(ctx, list, total, link);
      await respondLines(ctx, records, format);
      return;
    }
    const { toJson } = this.views.read(list.parameters);
    const body = await jsonArray(records, toJson, list.query.task);
    const tag = weakTag(body, link, String(total ?? ''));
    const isUnchanged = matchesIfNoneMatch(ctx, tag);
    this.setHeaders(ctx, list, total, link);
    ctx.set('ETag', tag);
    ctx.set('Content-Type', JSON_TYPE);
    if (isUnchanged) ctx.status = 304;
    else ctx.body = body;
  }

  /** @throws HttpError `invalid_parameter` if the cursor goes backwards, because an export goes only forwards */
  private async respondExport(
    ctx: Context,
    list: ParsedList,
    format: LineFormat<Versioned<Fields>>,
    total: number | undefined,
  ): Promise<void> {
    const { query, filters } = list;
    if (query.from?.side === 'before') {
      const issue = invalid('limit', 'required', 'is needed with a cursor that goes backwards');
      throw invalidParameters([['invalid_parameter', issue]]);
    }
    const pages = this.service.pages({ ...query, filters, ...EXPORT_PAGE });
    const first = await pages.next();
    this.setHeaders(ctx, list, total);
    streamLines(ctx, first.value ?? [], pages, format);
  }

  private async page(ctx: Context, { query, filters, parameters }: ParsedList) {
    const page = await this.service.list({ ...query, filters });
    const { addressOf } = ctx.state;
    const url = { list: listName(this.resource), path: ctx.path, parameters, addressOf };
    return { records: page.records, link: linkHeader(url, query, page) };
  }

  private setHeaders(
    ctx: Context,
    { cacheControl }: ParsedList,
    total: number | undefined,
    link?: string,
  ): void {
    ctx.set('Cache-Control', cacheControl);
    // Not in the tag: it is the same on all pages.
    const links = this.hasChanges ? withMonitor(link, ctx.path, ctx.state.addressOf) : link;
    if (links) ctx.set('Link', links);
    if (total === undefined) return;
    ctx.set('X-Total-Count', String(total));
    addAppliedPreference(ctx, 'count=exact');
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

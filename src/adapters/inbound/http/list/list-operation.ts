import { Readable } from 'node:stream';
import { type ListQuery, MAX_PAGE_BYTES } from '../../../../application/records/list-query.js';
import type { RecordService } from '../../../../application/records/record-service.js';
import type { Context } from '../context.js';
import { addAppliedPreference, prefersCount } from '../query/prefer-header.js';
import { invalid, type Query } from '../query/query.js';
import { SparseFields, type View } from '../query/sparse-fields.js';
import type { ResourceDefinition } from '../resources/resource-definition.js';
import { matchesIfNoneMatch, weakTag } from '../response/etag.js';
import { invalidParameters } from '../response/http-error.js';
import type { Handler, Policy } from '../route.js';
import { clientOf, MAX_RECORD_BYTES } from '../work-limits.js';
import { jsonArray, ndjsonLines } from './chunk-text.js';
import { linkHeader } from './link-header.js';
import { ListQueryParser } from './list-query-parser.js';
import { acceptsNdjson, NDJSON, NDJSON_UTF8, streamNdjson } from './ndjson.js';

/** The pages that an export reads: small, so that it neither delays others nor fills the memory. */
const EXPORT_PAGE = { limit: 64, bytes: 262_144 };

/** A parsed request for a list. */
interface ParsedList<Fields> {
  readonly query: ListQuery;
  readonly view: View<Fields>;
  readonly parameters: Query;
}

/** The operation that lists records: a page as a JSON array or as NDJSON, or the whole list as NDJSON. */
export function listOperation<Fields>(
  resource: ResourceDefinition<Fields>,
  service: ListService<Fields>,
  cacheControl: string,
): Handler & Pick<Policy, 'parameter' | 'varyBy'> {
  const views = new SparseFields(resource, 'list');
  const parser = new ListQueryParser(listName(resource), resource);
  const list = new ListHandler(listName(resource), parser, views, service, cacheControl);
  return {
    parameter: (name) => (name === 'fields' ? views.parameter : parser.parameter(name)),
    produces: [NDJSON_UTF8],
    varyBy: ['Prefer', 'Accept-Encoding'],
    handle: (ctx, parameters) => list.respond(ctx, parameters),
  };
}

type ListService<Fields> = Pick<RecordService<Fields>, 'list' | 'count' | 'pages'>;

class ListHandler<Fields> {
  constructor(
    private readonly name: string,
    private readonly parser: ListQueryParser,
    private readonly views: SparseFields<Fields>,
    private readonly service: ListService<Fields>,
    private readonly cacheControl: string,
  ) {}

  async respond(ctx: Context, parameters: Query): Promise<void> {
    const client = clientOf(ctx);
    const query = { ...this.parser.read(parameters), client };
    const list = { query, view: this.views.read(parameters), parameters };
    const isExport = acceptsNdjson(ctx) && !parameters.has('limit');
    if (isExport) await ctx.state.limits.take(ctx, 'exports');
    else await ctx.state.limits.reserveResponse(ctx, largestPage(query));
    const total = prefersCount(ctx) ? await this.service.count(query.filters, client) : undefined;
    if (isExport) await this.respondExport(ctx, list, total);
    else if (acceptsNdjson(ctx)) await this.respondNdjsonPage(ctx, list, total);
    else await this.respondPage(ctx, list, total);
  }

  private async respondPage(
    ctx: Context,
    list: ParsedList<Fields>,
    total: number | undefined,
  ): Promise<void> {
    const { records, link } = await this.page(ctx, list);
    const body = await jsonArray(records, list.view.toJson, clientOf(ctx));
    const tag = weakTag(body, link, String(total ?? ''));
    const isUnchanged = matchesIfNoneMatch(ctx, tag);
    this.setHeaders(ctx, total, link);
    ctx.set('ETag', tag);
    ctx.set('Content-Type', 'application/json');
    if (isUnchanged) ctx.status = 304;
    else ctx.body = body;
  }

  private async respondNdjsonPage(
    ctx: Context,
    list: ParsedList<Fields>,
    total: number | undefined,
  ): Promise<void> {
    const { records, link } = await this.page(ctx, list);
    this.setHeaders(ctx, total, link);
    ctx.set('Content-Type', NDJSON);
    const lines = await ndjsonLines(records, list.view.toJson, clientOf(ctx));
    ctx.state.responseShare?.shrinkTo(lines.length);
    // NDJSON is always sent as a stream.
    ctx.body = Readable.from([lines], { objectMode: false });
  }

  /** @throws HttpError `invalid_parameter` if the cursor goes backwards, because an export goes only forwards */
  private async respondExport(
    ctx: Context,
    { query, view }: ParsedList<Fields>,
    total: number | undefined,
  ): Promise<void> {
    if (query.from?.side === 'before') {
      const issue = invalid('limit', 'required', 'is needed with a cursor that goes backwards');
      throw invalidParameters([['invalid_parameter', issue]]);
    }
    const pages = this.service.pages({ ...query, ...EXPORT_PAGE });
    const first = await pages.next();
    this.setHeaders(ctx, total);
    streamNdjson(ctx, first.value ?? [], pages, view);
  }

  private async page(ctx: Context, { query, parameters }: ParsedList<Fields>) {
    const page = await this.service.list(query);
    const url = { list: this.name, path: ctx.path, parameters };
    return { records: page.records, link: linkHeader(url, query, page) };
  }

  private setHeaders(ctx: Context, total: number | undefined, link = ''): void {
    ctx.set('Cache-Control', this.cacheControl);
    if (link !== '') ctx.set('Link', link);
    if (total === undefined) return;
    ctx.set('X-Total-Count', String(total));
    addAppliedPreference(ctx, 'count=exact');
  }
}

/** The maximum size of a page, in bytes. */
function largestPage({ limit }: ListQuery): number {
  return Math.min(limit * MAX_RECORD_BYTES, MAX_PAGE_BYTES);
}

/** The name of the list in cursors. Differs by API version, because sort and filters can differ in meaning. */
function listName({ path, version }: ResourceDefinition<never>): string {
  return version === 1 ? path : `v${version}/${path}`;
}

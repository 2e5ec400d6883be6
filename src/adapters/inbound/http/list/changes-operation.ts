import { Readable } from 'node:stream';
import type { ChangePlace, ChangeReader } from '../../../../application/changes/change-reader.js';
import type { RecordChange } from '../../../../application/ports/change-feed.js';
import { unavailable } from '../../../../domain/errors.js';
import { jsonLine } from '../../../../shared/json.js';
import { taskOf } from '../core/concurrency-limits.js';
import type { Context } from '../core/context.js';
import { HttpError } from '../core/http-error.js';
import { JSON_TYPE, JSON_UTF8, NDJSON, NDJSON_UTF8 } from '../core/media-types.js';
import type { Parameter, Query } from '../core/parameter.js';
import type { ResourceDefinition } from '../core/resource-definition.js';
import type { Handler, Policy } from '../core/route.js';
import { preferredType } from '../middleware/negotiation.js';
import { type FieldSelection, FieldSelector } from '../query/field-selection.js';
import { addAppliedPreference, preferredWaitSeconds } from '../query/prefer-header.js';
import { invalid } from '../query/query.js';
import { decodeChangeCursor, encodeChangeCursor } from './change-cursor.js';
import { jsonArray, lineText } from './chunk-text.js';
import { CHANGES, nextLink } from './link-header.js';
import { largestPage, listName } from './list-operation.js';
import { DEFAULT_LIMIT, FOREIGN_CURSOR, LIMIT } from './list-query-parser.js';
import { type LineFormat, streamLines } from './stream-lines.js';

const preferred = preferredType([JSON_UTF8, NDJSON_UTF8]);

const CURSOR: Parameter = {
  code: 'invalid_cursor',
  issues: (text) => (decodeChangeCursor(text) ? [] : FOREIGN_CURSOR),
};

/** A parsed request for changes. */
interface ParsedRequest<Fields> {
  readonly parameters: Query;
  readonly view: FieldSelection<Fields>;
  /** Absent: the client knows no place yet. */
  readonly from: ChangePlace | undefined;
}

/** The operation that shows what changed: a page as a JSON array or NDJSON, or everything up to now as NDJSON. */
export function changesOperation<Fields>(
  resource: ResourceDefinition<Fields>,
  reader: ChangeReader<Fields>,
): Handler & Pick<Policy, 'parameter' | 'parameterNames' | 'varyBy'> {
  const views = new FieldSelector(resource, 'change');
  const parameters = new Map([
    ['cursor', CURSOR],
    ['limit', LIMIT],
    ['fields', views.parameter],
  ]);
  const changes = new ChangesHandler(listName(resource), views, reader);
  return {
    parameter: (name) => parameters.get(name),
    parameterNames: () => `there are ${[...parameters.keys()].join(', ')}`,
    produces: [NDJSON_UTF8],
    varyBy: ['Prefer', 'Accept-Encoding'],
    handle: (ctx, query) => changes.respond(ctx, query),
  };
}

/** Returns the path of the changes of a resource behind a place. */
export function changesPath(resource: ResourceDefinition<never>, place: ChangePlace): string {
  const { version, path } = resource;
  return `/v${version}/${path}/${CHANGES}?cursor=${encodeChangeCursor({ list: listName(resource), place })}`;
}

class ChangesHandler<Fields> {
  constructor(
    private readonly list: string,
    private readonly views: FieldSelector<Fields>,
    private readonly reader: ChangeReader<Fields>,
  ) {}

  async respond(ctx: Context, parameters: Query): Promise<void> {
    const view = this.views.read(parameters);
    const request = { parameters, view, from: this.placeIn(parameters, view) };
    const seconds = request.from && preferredWaitSeconds(ctx);
    if (request.from && seconds) await this.wait(ctx, request.from, seconds);
    const isStream = preferred(ctx) === NDJSON_UTF8;
    if (isStream && !parameters.has('limit')) await this.respondAll(ctx, request);
    else await this.respondPage(ctx, request, isStream);
    if (seconds !== undefined) addAppliedPreference(ctx, `wait=${seconds}`);
  }

  /**
   * Holds nothing but a place among those who wait.
   * @throws AppError `unavailable`, `cursor_expired`; that of a credential that is not valid any more
   */
  private async wait(ctx: Context, from: ChangePlace, seconds: number): Promise<void> {
    const { res, state } = ctx;
    const check = () => state.checkAccess?.();
    const permit = await state.limits.acquire(ctx, 'waits');
    const started = performance.now();
    try {
      const onEnd = (end: () => void) => void res.once('close', end);
      await this.reader.wait(from, { ms: seconds * 1_000, task: taskOf(ctx), check, onEnd });
      await check();
    } finally {
      state.waitedMs = Math.round(performance.now() - started);
      permit.release();
    }
    if (res.closed) throw unavailable('The client is gone.');
  }

  private async respondPage(
    ctx: Context,
    { parameters, view, from }: ParsedRequest<Fields>,
    isStream: boolean,
  ): Promise<void> {
    const limit = Number(parameters.get('limit') ?? DEFAULT_LIMIT);
    const task = taskOf(ctx);
    await ctx.state.limits.reserveResponse(ctx, largestPage(limit));
    const { changes, next } = from
      ? await this.reader.page(from, limit)
      : { changes: [], next: await this.reader.end() };
    this.setLink(ctx, parameters, view, next, limit);
    if (isStream) {
      const { contentType, toText } = linesOf(view);
      const lines = await lineText('', changes, toText, task);
      ctx.state.responsePermit?.shrink(lines.length);
      ctx.set('Content-Type', contentType);
      ctx.body = Readable.from([lines], { objectMode: false });
    } else {
      ctx.set('Content-Type', JSON_TYPE);
      ctx.body = await jsonArray(changes, (change) => jsonOf(view, change), task);
    }
  }

  private async respondAll(ctx: Context, { parameters, view, from }: ParsedRequest<Fields>): Promise<void> {
    await ctx.state.limits.acquire(ctx, 'exports');
    const until = await this.reader.end();
    const slices = this.reader.slices(from ?? until, until);
    const first = await slices.next();
    this.setLink(ctx, parameters, view, until, undefined);
    streamLines(ctx, first.value ?? [], slices, linesOf(view));
  }

  /** @throws HttpError `cursor_mismatch` */
  private placeIn(parameters: Query, view: FieldSelection<Fields>): ChangePlace | undefined {
    const cursor = decodeChangeCursor(parameters.get('cursor') ?? '');
    if (!cursor || cursor.isOf({ list: this.list, view: view.name })) return cursor?.place;
    const issue = invalid('cursor', 'invalid_format', 'belongs to another resource or other fields');
    throw new HttpError('cursor_mismatch', issue.message, [issue]);
  }

  private setLink(
    ctx: Context,
    parameters: Query,
    view: FieldSelection<Fields>,
    place: ChangePlace,
    limit: number | undefined,
  ): void {
    const { addressOf } = ctx.state;
    const cursor = encodeChangeCursor({ list: this.list, view: view.name, place });
    ctx.set('Link', nextLink({ path: ctx.path, parameters, addressOf }, limit, cursor));
  }
}

function linesOf<Fields>(view: FieldSelection<Fields>): LineFormat<RecordChange<Fields>> {
  return { contentType: NDJSON, head: '', toText: (change) => jsonLine(jsonOf(view, change)) };
}

function jsonOf<Fields>(view: FieldSelection<Fields>, change: RecordChange<Fields>): string {
  if (!('deleted' in change)) return view.toJson(change);
  const { id, version, deleted } = change;
  return JSON.stringify({ id, version, deleted });
}

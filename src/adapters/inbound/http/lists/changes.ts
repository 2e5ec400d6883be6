import type { ChangePosition, ChangeReader } from '../../../../application/changes/change-reader.js';
import type { RecordChange } from '../../../../application/ports/change-feed.js';
import { unavailable } from '../../../../domain/errors.js';
import { taskOf } from '../core/concurrency-limits.js';
import type { Context } from '../core/context.js';
import { JSON_TYPE, JSON_UTF8, NDJSON_UTF8 } from '../core/media-types.js';
import { parametersOf, type Query } from '../core/parameter.js';
import type { ResourceDefinition } from '../core/resource-definition.js';
import type { Handler, Policy } from '../core/route.js';
import { preferredType } from '../middleware/negotiation.js';
import { type FieldSelection, FieldSelector } from '../parameters/fields.js';
import { addAppliedPreference, preferredWaitSeconds } from '../parameters/request-headers.js';
import { cursorMismatch, cursorParameter, sealed, shortHash, unsealed } from './cursor.js';
import { jsonArray, type LineFormat, ndjson, respondLines, streamLines } from './lines.js';
import { CHANGES, nextLink } from './link-header.js';
import { LIMITS, largestPage, limitParameter, listName } from './list-operation.js';

const preferred = preferredType([JSON_UTF8, NDJSON_UTF8]);

/** No list has this name, so that no cursor of a list is one of changes. */
const KIND = 'changes';

/** A place in the changes of a list. Opaque to clients. */
export interface ChangeCursor {
  /** The name of the list. */
  readonly list: string;
  /** Identifies the fields of each entry; empty for the default view. */
  readonly view: string;
  readonly place: ChangePosition;
}

export function encodeChangeCursor({ list, view, place }: ChangeCursor): string {
  return sealed(KIND, [list, view, place.at, place.position]);
}

/** @returns undefined if the service did not issue the text as a cursor of changes */
export function decodeChangeCursor(text: string): ChangeCursor | undefined {
  const [list, view, at, position] = unsealed(KIND, 4, text) ?? [];
  if (typeof list !== 'string' || typeof view !== 'string') return undefined;
  if (!Number.isSafeInteger(at) || typeof position !== 'string') return undefined;
  return { list, view, place: { at: Number(at), position } };
}

function viewKey({ name }: Pick<FieldSelection<never>, 'name'>): string {
  return name === undefined ? '' : shortHash(name);
}

const LIMIT = limitParameter(
  LIMITS,
  'The most changes that a page may have. A page may have fewer although there are more; only an empty one is the last so far.',
);

const CURSOR = cursorParameter(
  'A place in the changes, taken from a URL in `Link`, for the same resource and the same `fields`. It is good for 50 hours.',
  (text) => decodeChangeCursor(text) !== undefined,
);

/** Returns the path of the changes of a resource behind a place. */
export function changesPath(resource: ResourceDefinition<never>, place: ChangePosition): string {
  const { version, path } = resource;
  const cursor = encodeChangeCursor({ list: listName(resource), view: '', place });
  return `/v${version}/${path}/${CHANGES}?cursor=${cursor}`;
}

/** The operation that shows what changed: a page as a JSON array or NDJSON, or everything up to now as NDJSON. */
export function changesOperation<Fields>(
  resource: ResourceDefinition<Fields>,
  reader: ChangeReader<Fields>,
): Handler & Pick<Policy, 'parameters' | 'varyBy'> {
  const list = listName(resource);
  const views = new FieldSelector(resource, 'change');
  return {
    parameters: parametersOf(CURSOR, LIMIT, views.parameter),
    produces: [NDJSON_UTF8],
    varyBy: ['Prefer', 'Accept-Encoding'],
    handle: respond,
  };

  async function respond(ctx: Context, parameters: Query): Promise<void> {
    const view = views.read(parameters);
    const from = placeIn(parameters.get('cursor'), view);
    const setLink = (place: ChangePosition, limit?: number) => {
      const cursor = encodeChangeCursor({ list, view: viewKey(view), place });
      ctx.set('Link', nextLink({ path: ctx.path, parameters, addressOf: ctx.state.addressOf }, limit, cursor));
    };
    const seconds = from && preferredWaitSeconds(ctx);
    if (from && seconds) await wait(ctx, from, seconds);
    const isStream = preferred(ctx) === NDJSON_UTF8;
    if (isStream && !parameters.has('limit')) {
      await ctx.state.limits.acquire(ctx, 'exports');
      const until = await reader.end();
      const slices = reader.slices(from ?? until, until);
      const first = await slices.next();
      setLink(until);
      streamLines(ctx, first.value ?? [], slices, linesOf(view));
    } else {
      const limit = Number(parameters.get('limit') ?? LIMITS.default);
      await ctx.state.limits.reserveResponse(ctx, largestPage(limit));
      const { changes, next } = from ? await reader.page(from, limit) : { changes: [], next: await reader.end() };
      setLink(next, limit);
      if (isStream) await respondLines(ctx, changes, linesOf(view));
      else {
        ctx.set('Content-Type', JSON_TYPE);
        ctx.body = await jsonArray(changes, (change) => jsonOf(view, change), taskOf(ctx));
      }
    }
    if (seconds !== undefined) addAppliedPreference(ctx, `wait=${seconds}`);
  }

  /**
   * Returns the place of a cursor; undefined if the client knows none yet.
   * @throws HttpError `cursor_mismatch`
   */
  function placeIn(text: string | undefined, view: FieldSelection<Fields>): ChangePosition | undefined {
    const cursor = decodeChangeCursor(text ?? '');
    if (!cursor || (cursor.list === list && cursor.view === viewKey(view))) return cursor?.place;
    throw cursorMismatch('another resource or other fields');
  }

  /**
   * Holds nothing but a place among those who wait.
   * @throws AppError `unavailable`, `cursor_expired`; that of a credential that is not valid any more
   */
  async function wait(ctx: Context, from: ChangePosition, seconds: number): Promise<void> {
    const { res, state } = ctx;
    const check = () => state.checkAccess?.();
    const permit = await state.limits.acquire(ctx, 'waits');
    const started = performance.now();
    try {
      const onEnd = (end: () => void) => void res.once('close', end);
      await reader.wait(from, { ms: seconds * 1_000, task: taskOf(ctx), check, onEnd });
      await check();
    } finally {
      state.waitedMs = Math.round(performance.now() - started);
      permit.release();
    }
    if (res.closed) throw unavailable('The client is gone.');
  }
}

function linesOf<Fields>(view: FieldSelection<Fields>): LineFormat<RecordChange<Fields>> {
  return ndjson((change) => jsonOf(view, change));
}

function jsonOf<Fields>(view: FieldSelection<Fields>, change: RecordChange<Fields>): string {
  if (!('deleted' in change)) return view.toJson(change);
  const { id, version, deleted } = change;
  return JSON.stringify({ id, version, deleted });
}

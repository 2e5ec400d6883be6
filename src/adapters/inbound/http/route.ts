import type Router from '@koa/router';
import type { Requirement } from '../../../application/auth/authorization.js';
import type { Scope } from '../../../domain/access.js';
import { type Id, MAX_ID } from '../../../domain/record.js';
import { checkMediaType, mediaType } from './body/json-body.js';
import type { Context, Middleware, RequestState } from './context.js';
import { type AccessControl, authenticate, authorize } from './middleware/authentication.js';
import { negotiate } from './middleware/content-negotiation.js';
import { countRequest } from './middleware/rate-limit.js';
import type { OperationDescription } from './openapi/description.js';
import { type FindParameter, type Query, readQuery } from './query/query.js';
import { type CodedError, HttpError, isCoded } from './response/http-error.js';
import { type ApiVersion, isVersionInPath } from './versioning/api-version.js';
import type { Deprecation } from './versioning/deprecation.js';
import { checkVersion, matchesVersion, setVersion } from './versioning/requested-version.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Who may use a route, and how its requests are counted.
 * - `bearer`: the credential is checked. The request counts against its principal, or against the IP address without
 *   one.
 * - `public`: the request counts against the IP address. Tokens are ignored, so a client with a bad token can still get
 *   a good one.
 * - `probe`: the request is neither authenticated nor counted.
 */
export type Access = 'bearer' | 'public' | 'probe';

/** A path, with the policy and the handler of each method. */
export interface Route {
  /** The path with its variables in braces, as the log and the OpenAPI document show it. */
  readonly template: string;
  readonly path: RegExp;
  /** The possible values of each path variable except the id. */
  readonly variables?: Readonly<Record<string, readonly string[]>>;
  readonly access: Access;
  /** The API version. Default: 1. */
  readonly version?: number;
  readonly deprecation?: Deprecation | undefined;
  readonly operations: Readonly<Partial<Record<Method, Operation>>>;
  /** Converts an error to the protocol of the route, such as OAuth. */
  mapError?(error: CodedError): CodedError;
}

/** One method of a route: its policy, and one handler or one for each media type of the body. */
export type Operation = Policy & (Handler | { readonly consumes: Consumes });

export interface Policy {
  /** The scope that the caller needs. Default: none. */
  readonly scope?: Scope;
  /** Finds the parameters of the query. */
  readonly parameter: FindParameter;
  /** The request headers that the response depends on, in addition to those that every operation reads. */
  readonly varyBy?: readonly string[];
  /** Validates the headers that only this operation reads. */
  headers?(ctx: Context): void;
  /** Throws `not_found` if the item does not exist. */
  ensureExists?(ctx: Context): Promise<unknown>;
  /** Returns the documentation of the operation. Called only when the OpenAPI document is built. */
  describe(): OperationDescription;
}

export interface Handler {
  /** The media types of the response, in addition to JSON. */
  readonly produces?: readonly string[];
  handle(ctx: Context, query: Query): Promise<void>;
}

/** The handler of each media type, in lower case. The first one also handles requests without a body. */
export type Consumes = Readonly<Record<string, BodyHandler>>;

export interface BodyHandler extends Handler {
  /** Parses the body into `ctx.request.body` and limits its size. Absent if the handler reads the stream itself. */
  readonly read?: Middleware;
}

/** Authenticates and authorizes a request, or throws. */
export type Guard = (ctx: Context, route: Route, operation: Operation | undefined) => Promise<void>;

export function accessGuard(accessControl: AccessControl): Guard {
  return async (ctx, { access }, operation) => {
    if (access === 'probe') return;
    if (access === 'public' || ctx.method === 'OPTIONS') return countRequest(ctx, accessControl.limiter);
    await authenticate(ctx, accessControl);
    authorize(ctx, operation ? requirementOf(operation) : 'authenticated');
  };
}

/**
 * Adds a route to the router. Every request takes the same steps: version, access, method, negotiation, headers, query,
 * body, handler.
 * @param version the API version of the route, among the versions of its path
 */
export function mount(router: Router<RequestState>, route: Route, version: ApiVersion, guard: Guard): void {
  router.all(route.path, async (ctx: Context, next) => {
    // The pattern of the path allows 16 digits, which can exceed the largest id. Such a path does not exist.
    if (idOf(ctx) > MAX_ID || !matchesVersion(version, ctx)) return next();
    setVersion(ctx, version);
    ctx.state.route = route.template;
    try {
      await serve(ctx, route, guard);
    } catch (error) {
      throw isCoded(error) ? (route.mapError?.(error) ?? error) : error;
    }
  });
}

/** The id in the path of an item; 0 if the path has none. */
export function idOf(ctx: Context): Id {
  const [digits] = ctx['captures'] as (string | undefined)[];
  return Number(digits ?? 0);
}

/** The media types that PATCH accepts on a route (RFC 5789 section 3.1). */
export function acceptPatch({ operations: { PATCH } }: Route): readonly string[] {
  return PATCH && 'consumes' in PATCH ? Object.keys(PATCH.consumes) : [];
}

async function serve(ctx: Context, route: Route, guard: Guard): Promise<void> {
  const operation = operationOf(route, ctx.method);
  // First, because error responses depend on the same headers.
  if (ctx.method !== 'OPTIONS') varyBy(ctx, route.access, operation?.varyBy);
  await guard(ctx, route, operation);
  if (ctx.method === 'OPTIONS') return respondOptions(ctx, route);
  if (!operation) throw methodNotAllowed(ctx, route);
  await perform(ctx, operation);
}

async function perform(ctx: Context, operation: Operation): Promise<void> {
  try {
    const handler = handlerFor(ctx, operation);
    negotiate(ctx, handler.produces);
    operation.headers?.(ctx);
    const query = readQuery(ctx, operation.parameter);
    if ('consumes' in operation) checkMediaType(ctx, Object.keys(operation.consumes));
    if (handler.read) await handler.read(ctx, () => handler.handle(ctx, query));
    else await handler.handle(ctx, query);
  } catch (error) {
    // 404 takes precedence over other errors; the lookup happens only if something failed.
    if (isCoded(error) && error.code !== 'unavailable') await operation.ensureExists?.(ctx);
    throw error;
  }
}

function handlerFor(ctx: Context, operation: Operation): BodyHandler {
  if (!('consumes' in operation)) return operation;
  const handlers = Object.entries(operation.consumes);
  const [, handler] = handlers.find(([type]) => type === mediaType(ctx)) ?? handlers[0] ?? [];
  if (!handler) throw new Error('An operation with a body needs at least one media type.');
  return handler;
}

function varyBy(ctx: Context, access: Access, headers: readonly string[] = []): void {
  const readsVersion = access !== 'probe' && !isVersionInPath(ctx.path);
  ctx.vary([...(readsVersion ? ['API-Version'] : []), 'Accept', ...headers]);
}

function requirementOf({ scope }: Policy): Requirement {
  return scope ?? 'none';
}

function operationOf({ operations }: Route, method: string): Operation | undefined {
  return operations[(method === 'HEAD' ? 'GET' : method) as Method];
}

function respondOptions(ctx: Context, route: Route): void {
  const operations = Object.values(route.operations);
  // A script cannot see why a preflight was rejected. The request that follows gets the error.
  if (!ctx.state.isPreflight) {
    checkVersion(ctx);
    readQuery(ctx, (name) => operations.map(({ parameter }) => parameter(name)).find(Boolean));
  }
  setAllow(ctx, route);
  ctx.status = 204;
}

function methodNotAllowed(ctx: Context, route: Route): HttpError {
  setAllow(ctx, route);
  return new HttpError('method_not_allowed', `${ctx.method} cannot be used here; see Allow.`);
}

function setAllow(ctx: Context, route: Route): void {
  const methods = Object.keys(route.operations).flatMap((method) =>
    method === 'GET' ? ['GET', 'HEAD'] : [method],
  );
  ctx.set('Allow', [...methods, 'OPTIONS'].join(', '));
  const patchTypes = acceptPatch(route);
  if (patchTypes.length > 0) ctx.set('Accept-Patch', patchTypes.join(', '));
}

import Router from '@koa/router';
import type { Requirement } from '../../../../domain/access.js';
import { unavailable } from '../../../../domain/errors.js';
import { catchErrors, type MaybePromise } from '../../../../shared/promises.js';
import { checkMediaType, mediaType, rejectTypeOfSubpath } from '../body/json-body.js';
import type { ApiVersion, Context, Middleware, RequestState } from '../core/context.js';
import { HttpError, isCoded } from '../core/http-error.js';
import { NDJSON_UTF8 } from '../core/media-types.js';
import { NO_PARAMETERS, type Query } from '../core/parameter.js';
import {
  acceptPatch,
  type BodyHandler,
  type BodyOperation,
  checkVersion,
  isAddress,
  matchesVersion,
  type Operation,
  type Route,
  setVersion,
} from '../core/route.js';
import { type AccessControl, authenticate, authorize, checkAgain, countRequest } from '../middleware/authenticate.js';
import { compression, negotiation } from '../middleware/negotiation.js';
import { varyHeader } from '../middleware/response-headers.js';
import { readQuery } from '../parameters/query.js';

/** A request of a route, with what the steps have found. */
interface RequestScope {
  readonly ctx: Context;
  readonly route: Route;
  /** Absent for the probes of operators. */
  readonly accessControl: AccessControl | undefined;
  /** Absent if the route does not have the method. */
  readonly operation: PreparedOperation | undefined;
  /** Whether the caller may use the operation. Before, an error must not tell whether the item exists. */
  isAdmitted?: boolean;
  handler?: NegotiatedHandler;
  query?: Query;
}

type Step = (scope: RequestScope) => MaybePromise<void>;

/** What every request of a route passes, in this order. A step that throws ends the request with its error. */
const STEPS: readonly Step[] = [
  // Whether the store is ready: 503. First, because a store that is not may miss keys and records.
  requireReady,
  // Who asks, and whether the quota allows another request: 401, 429.
  authenticateAndCount,
  // Whether the credential has the scopes of the operation: 401, 403.
  checkScopes,
  // Whether the route has the method: 405.
  requireOperation,
  // Whether API-Version agrees with the path: 400.
  ({ ctx }) => checkVersion(ctx),
  // Whether the body belongs to a subpath: 415. First, so that the client learns the right path whatever else is wrong.
  checkSubpath,
  // Which handler reads the body, and whether Accept and Expect permit its response: 406, 417.
  negotiateResponse,
  // The headers that only this operation reads: 400, 428.
  ({ ctx, operation }) => operation?.headers?.(ctx),
  // The parameters of the query: 400.
  readParameters,
  // The media type and the codings of the body: 415.
  checkBody,
  // The body within its limit, then the operation itself.
  readBodyAndHandle,
];

/** OPTIONS needs no credential: it tells what the route can do. */
const OPTIONS_STEPS: readonly Step[] = [authenticateAndCount, respondOptions];

/** Runs steps one after the other, without a promise until one returns it. */
function run(steps: readonly Step[], scope: RequestScope, from = 0): MaybePromise<void> {
  for (let at = from; at < steps.length; at++) {
    const running = steps[at]?.(scope);
    if (running) return running.then(() => run(steps, scope, at + 1));
  }
}

/**
 * Returns the handler of a route. An error is thrown in the protocol of the route. 404 takes precedence over the errors
 * of an operation.
 * @param version the API version of the route, among the versions of its path
 */
export function routeHandler(route: Route, version: ApiVersion, accessControl?: AccessControl): Middleware {
  const operations = new Map(
    Object.entries(route.operations).map(([method, operation]) => [method, prepared(operation, route)]),
  );
  const setDefaultVary = varyHeader(route.access);
  return (ctx, next) => {
    if (!isAddress(ctx, route) || !matchesVersion(version, ctx)) return next();
    setVersion(ctx, version);
    ctx.state.route = route.template;
    const { method } = ctx;
    const operation = operations.get(method === 'HEAD' ? 'GET' : method);
    // First, because error responses depend on the same headers.
    (operation?.setVary ?? setDefaultVary)(ctx);
    const scope = { ctx, route, accessControl, operation };
    const serve = () => run(method === 'OPTIONS' ? OPTIONS_STEPS : STEPS, scope);
    // Inside the errors, which are not compressed.
    return catchErrors(operation?.isCompressible ? () => compression(ctx, serve) : serve, (error) =>
      rethrow(error, scope),
    );
  };
}

/** An operation, with what does not depend on the request. */
type PreparedOperation = Operation & {
  readonly setVary: (ctx: Context) => void;
  /** Whether a response may vary by `Accept-Encoding`. */
  readonly isCompressible: boolean;
  /** The media types of the body; absent if the operation has no body. */
  readonly mediaTypes: readonly string[] | undefined;
  readonly subpaths: BodyOperation['subpathByType'];
  /** By media type. */
  readonly handlers: ReadonlyMap<string, NegotiatedHandler>;
  readonly defaultHandler: NegotiatedHandler;
};

interface NegotiatedHandler extends BodyHandler {
  /** Validates the headers that negotiate the response. */
  readonly negotiate: (ctx: Context) => void;
}

function prepared(operation: Operation, { access }: Route): PreparedOperation {
  const consumes = 'consumes' in operation ? operation.consumes : { '': operation };
  const handlers = Object.entries(consumes).map(
    ([type, handler]) => [type, { ...handler, negotiate: negotiation(handler.produces) }] as const,
  );
  const [[, defaultHandler] = []] = handlers;
  if (!defaultHandler) throw new Error('An operation with a body needs at least one media type.');
  return {
    ...operation,
    setVary: varyHeader(access, operation.varyBy),
    isCompressible:
      operation.varyBy?.includes('Accept-Encoding') === true ||
      handlers.some(([, { produces }]) => produces?.includes(NDJSON_UTF8)),
    mediaTypes: 'consumes' in operation ? Object.keys(consumes) : undefined,
    subpaths: 'consumes' in operation ? operation.subpathByType : undefined,
    handlers: new Map(handlers),
    defaultHandler,
  };
}

/** @throws AppError `unavailable` */
function requireReady({ route: { isStatic }, accessControl }: RequestScope): void {
  const reason = isStatic ? undefined : accessControl?.pending?.();
  if (reason !== undefined) throw unavailable(reason);
}

function authenticateAndCount({ ctx, route: { access }, accessControl }: RequestScope): MaybePromise<void> {
  if (!accessControl || access === 'probe') return;
  if (access === 'public' || ctx.method === 'OPTIONS') return countRequest(ctx, accessControl.limiter);
  return authenticate(ctx, accessControl);
}

function checkScopes({ ctx, route: { access }, accessControl, operation }: RequestScope): void {
  if (!accessControl || access !== 'bearer') return;
  const requirement = requirementOf(ctx, operation);
  authorize(ctx, requirement);
  ctx.state.checkAccess = () => checkAgain(ctx, accessControl, requirement);
}

function requirementOf(ctx: Context, operation: PreparedOperation | undefined): Requirement {
  if (!operation) return 'authenticated';
  const { scopes = 'none', moreScopes } = operation;
  return scopes !== 'none' && moreScopes ? [...scopes, ...moreScopes(ctx)] : scopes;
}

/** @throws HttpError `method_not_allowed` */
function requireOperation(scope: RequestScope): void {
  const { ctx, route, operation } = scope;
  scope.isAdmitted = true;
  if (operation) return;
  setAllow(ctx, route);
  throw new HttpError('method_not_allowed', `${ctx.method} cannot be used here; see Allow.`);
}

function checkSubpath({ ctx, operation }: RequestScope): void {
  const { mediaTypes, subpaths } = operation ?? {};
  if (mediaTypes && subpaths) rejectTypeOfSubpath(ctx, mediaTypes, subpaths);
}

function negotiateResponse(scope: RequestScope): void {
  const { ctx, operation } = scope;
  const { mediaTypes, handlers, defaultHandler } = operation as PreparedOperation;
  scope.handler = (mediaTypes && handlers.get(mediaType(ctx))) ?? defaultHandler;
  scope.handler.negotiate(ctx);
}

function readParameters(scope: RequestScope): void {
  const { parameters = NO_PARAMETERS } = scope.operation as PreparedOperation;
  scope.query = readQuery(scope.ctx, parameters);
}

function checkBody({ ctx, operation, handler }: RequestScope): void {
  const { mediaTypes } = operation ?? {};
  if (mediaTypes) checkMediaType(ctx, { mediaTypes, isOptional: handler?.read !== undefined });
}

function readBodyAndHandle({ ctx, handler, query }: RequestScope): MaybePromise<void> {
  const { read, handle } = handler as NegotiatedHandler;
  return read ? read(ctx, () => handle(ctx, query as Query)) : handle(ctx, query as Query);
}

function respondOptions({ ctx, route }: RequestScope): void {
  const operations = Object.values(route.operations);
  // A script cannot see why a preflight was rejected. The request that follows gets the error.
  if (!ctx.state.isPreflight) {
    checkVersion(ctx);
    const find = (name: string) => operations.map(({ parameters }) => parameters?.find(name, ctx)).find(Boolean);
    readQuery(ctx, { find });
  }
  setAllow(ctx, route);
  ctx.status = 204;
}

/** The errors that do not concern the request: the store fails, or the client has lost its access meanwhile. */
const OTHER_ERRORS: ReadonlySet<string> = new Set([
  'unavailable',
  'invalid_token',
  'token_expired',
  'insufficient_scope',
]);

/** Throws `not_found` instead of an error of a request for an item that does not exist. */
async function rethrow(error: unknown, { ctx, route, operation, isAdmitted }: RequestScope): Promise<never> {
  if (!isCoded(error)) throw error;
  try {
    // The lookup happens only if something failed.
    if (isAdmitted && !OTHER_ERRORS.has(error.code)) await operation?.ensureExists?.(ctx);
  } catch (missing) {
    throw isCoded(missing) ? (route.mapError?.(missing) ?? missing) : missing;
  }
  throw route.mapError?.(error) ?? error;
}

function setAllow(ctx: Context, route: Route): void {
  const methods = Object.keys(route.operations).flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  ctx.set('Allow', [...methods, 'OPTIONS'].join(', '));
  const patchTypes = acceptPatch(route);
  if (patchTypes.length > 0) ctx.set('Accept-Patch', patchTypes.join(', '));
}

// Finding the route.

type Layer = Router<RequestState>['stack'][number];

interface Entry {
  /** The path for people. Its first segment behind the version is no variable. */
  readonly template: string;
  readonly path: RegExp;
  /** Calls `next` if the request is for a later entry. */
  readonly handle: Middleware;
}

/**
 * Runs the first entry whose pattern matches the path, with its captures in `ctx.captures`. By hand, because the
 * router's own middleware tries every pattern and composes a chain of functions for each request.
 */
export function routeIndex(entries: readonly Entry[]): Middleware {
  const router = new Router<RequestState>({ sensitive: true, strict: true });
  const bySegment = new Map<string, { layer: Layer; handle: Middleware }[]>();
  for (const { template, path, handle } of entries) {
    router.all(path, handle);
    const layer = router.stack.at(-1) as Layer;
    const segment = firstSegment(template);
    bySegment.set(segment, [...(bySegment.get(segment) ?? []), { layer, handle }]);
  }
  return (ctx, next) => {
    const { path } = ctx;
    const candidates = bySegment.get(firstSegment(path)) ?? [];
    const runFrom = (start: number): MaybePromise<void> => {
      for (let at = start; at < candidates.length; at++) {
        const candidate = candidates[at];
        if (!candidate?.layer.match(path)) continue;
        ctx['captures'] = candidate.layer.captures(path);
        return candidate.handle(ctx, () => runFrom(at + 1));
      }
      return next();
    };
    return runFrom(0);
  };
}

/** The first segment of a path behind the version, if it has one. */
function firstSegment(path: string): string {
  const [, first = '', second = ''] = path.split('/', 3);
  return /^v\d+$/.test(first) ? second : first;
}

import type { Requirement } from '../../../../application/auth/authorization.js';
import { catchErrors, type MaybePromise } from '../../../../shared/maybe-promise.js';
import { checkMediaType, mediaType, rejectTypeOfSubpath } from '../body/json-body.js';
import {
  type ApiVersion,
  checkVersion,
  isVersionInPath,
  matchesVersion,
  setVersion,
} from '../core/api-version.js';
import type { Context, Middleware } from '../core/context.js';
import { HttpError, isCoded } from '../core/http-error.js';
import type { Query } from '../core/parameter.js';
import {
  type Access,
  acceptPatch,
  type BodyHandler,
  type BodyOperation,
  isAddress,
  type Operation,
  type Route,
} from '../core/route.js';
import { type AccessControl, authenticate, authorize, checkAgain } from '../middleware/authentication.js';
import { negotiation } from '../middleware/content-negotiation.js';
import { countRequest } from '../middleware/rate-limit.js';
import { readQuery } from '../query/query.js';

/** A request of a route, with what the steps have found. */
interface Visit {
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

type Step = (visit: Visit) => MaybePromise<void>;

/** What every request of a route passes, in this order. A step that throws ends the request with its error. */
const STEPS: readonly Step[] = [
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
function run(steps: readonly Step[], visit: Visit, from = 0): MaybePromise<void> {
  for (let at = from; at < steps.length; at++) {
    const running = steps[at]?.(visit);
    if (running) return running.then(() => run(steps, visit, at + 1));
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
    const visit = { ctx, route, accessControl, operation };
    return catchErrors(
      () => run(method === 'OPTIONS' ? OPTIONS_STEPS : STEPS, visit),
      (error) => rethrow(error, visit),
    );
  };
}

/** An operation, with what does not depend on the request. */
type PreparedOperation = Operation & {
  readonly setVary: (ctx: Context) => void;
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
    mediaTypes: 'consumes' in operation ? Object.keys(consumes) : undefined,
    subpaths: 'consumes' in operation ? operation.subpathByType : undefined,
    handlers: new Map(handlers),
    defaultHandler,
  };
}

function authenticateAndCount({ ctx, route: { access }, accessControl }: Visit): MaybePromise<void> {
  if (!accessControl || access === 'probe') return;
  if (access === 'public' || ctx.method === 'OPTIONS') return countRequest(ctx, accessControl.limiter);
  return authenticate(ctx, accessControl);
}

function checkScopes({ ctx, route: { access }, accessControl, operation }: Visit): void {
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
function requireOperation(visit: Visit): void {
  const { ctx, route, operation } = visit;
  visit.isAdmitted = true;
  if (operation) return;
  setAllow(ctx, route);
  throw new HttpError('method_not_allowed', `${ctx.method} cannot be used here; see Allow.`);
}

function checkSubpath({ ctx, operation }: Visit): void {
  const { mediaTypes, subpaths } = operation ?? {};
  if (mediaTypes && subpaths) rejectTypeOfSubpath(ctx, mediaTypes, subpaths);
}

function negotiateResponse(visit: Visit): void {
  const { ctx, operation } = visit;
  const { mediaTypes, handlers, defaultHandler } = operation as PreparedOperation;
  visit.handler = (mediaTypes && handlers.get(mediaType(ctx))) ?? defaultHandler;
  visit.handler.negotiate(ctx);
}

function readParameters(visit: Visit): void {
  const { parameter, parameterNames = noneThere } = visit.operation as PreparedOperation;
  visit.query = readQuery(visit.ctx, parameter, parameterNames);
}

function noneThere(): string {
  return 'there is none';
}

function checkBody({ ctx, operation, handler }: Visit): void {
  const { mediaTypes } = operation ?? {};
  if (mediaTypes) checkMediaType(ctx, { mediaTypes, isOptional: handler?.read !== undefined });
}

function readBodyAndHandle({ ctx, handler, query }: Visit): MaybePromise<void> {
  const { read, handle } = handler as NegotiatedHandler;
  return read ? read(ctx, () => handle(ctx, query as Query)) : handle(ctx, query as Query);
}

function respondOptions({ ctx, route }: Visit): void {
  const operations = Object.values(route.operations);
  // A script cannot see why a preflight was rejected. The request that follows gets the error.
  if (!ctx.state.isPreflight) {
    checkVersion(ctx);
    readQuery(ctx, (name) => operations.map(({ parameter }) => parameter(name, ctx)).find(Boolean));
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
async function rethrow(error: unknown, { ctx, route, operation, isAdmitted }: Visit): Promise<never> {
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
  const methods = Object.keys(route.operations).flatMap((method) =>
    method === 'GET' ? ['GET', 'HEAD'] : [method],
  );
  ctx.set('Allow', [...methods, 'OPTIONS'].join(', '));
  const patchTypes = acceptPatch(route);
  if (patchTypes.length > 0) ctx.set('Accept-Patch', patchTypes.join(', '));
}

/**
 * Returns a function that names the request headers that a response depends on (RFC 9110 section 12.5.5).
 * @param access a probe does not depend on the version
 * @param headers in addition to `Accept`, and to `API-Version` if the path names no version
 */
export function varyHeader(access: Access, headers: readonly string[] = []): (ctx: Context) => void {
  const always = ['Accept', ...headers].join(', ');
  const unversioned = access === 'probe' ? always : `API-Version, ${always}`;
  return (ctx) => {
    const names = isVersionInPath(ctx.path) ? always : unversioned;
    // Koa's `vary` parses the header to leave out duplicates.
    if (ctx.res.hasHeader('Vary')) ctx.vary(names);
    else ctx.res.setHeader('Vary', names);
  };
}

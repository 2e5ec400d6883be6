import type { Requirement } from '../../../../application/auth/authorization.js';
import { MAX_ID } from '../../../../domain/record.js';
import { andThen, catchErrors, type MaybePromise } from '../../../../shared/maybe-promise.js';
import { checkMediaType, mediaType, rejectTypeOfSubpath } from '../body/json-body.js';
import type { ApiVersion } from '../core/api-version.js';
import type { Context, Middleware } from '../core/context.js';
import { HttpError, isCoded } from '../core/http-error.js';
import {
  acceptPatch,
  type BodyHandler,
  type BodyOperation,
  idOf,
  type Operation,
  type Policy,
  type Route,
} from '../core/route.js';
import { type AccessControl, authenticate, authorize, checkAgain } from '../middleware/authentication.js';
import { negotiation } from '../middleware/content-negotiation.js';
import { countRequest } from '../middleware/rate-limit.js';
import { readQuery } from '../query/query.js';
import { varyHeader } from '../response/vary.js';
import { checkVersion, matchesVersion, setVersion } from '../versioning/requested-version.js';

/** Authenticates and authorizes a request, or throws. */
export type Guard = (ctx: Context, route: Route, operation: Operation | undefined) => MaybePromise<void>;

export function accessGuard(accessControl: AccessControl): Guard {
  return (ctx, { access }, operation) => {
    if (access === 'probe') return;
    if (access === 'public' || ctx.method === 'OPTIONS') return countRequest(ctx, accessControl.limiter);
    const requirement = operation ? requirementOf(operation) : 'authenticated';
    return andThen(authenticate(ctx, accessControl), () => {
      authorize(ctx, requirement);
      ctx.state.checkAccess = () => checkAgain(ctx, accessControl, requirement);
    });
  };
}

/**
 * Returns the handler of a route. Every request takes the same steps: version, access, method, negotiation, headers,
 * query, body, handler.
 * @param version the API version of the route, among the versions of its path
 */
export function routeHandler(route: Route, version: ApiVersion, guard: Guard): Middleware {
  const operations = new Map(
    Object.entries(route.operations).map(([method, operation]) => [
      method,
      {
        operation,
        setVary: varyHeader(route.access, operation.varyBy),
        runner: new OperationRunner(operation),
      },
    ]),
  );
  const setDefaultVary = varyHeader(route.access);
  const serve = (ctx: Context) => {
    const { method } = ctx;
    const found = operations.get(method === 'HEAD' ? 'GET' : method);
    // First, because error responses depend on the same headers.
    (found?.setVary ?? setDefaultVary)(ctx);
    if (method === 'OPTIONS') return andThen(guard(ctx, route, undefined), () => respondOptions(ctx, route));
    return andThen(guard(ctx, route, found?.operation), () => {
      if (!found) throw methodNotAllowed(ctx, route);
      return found.runner.run(ctx);
    });
  };
  return (ctx, next) => {
    // The pattern of the path allows 16 digits, which can exceed the largest id. Such a path does not exist.
    if (idOf(ctx) > MAX_ID || !matchesVersion(version, ctx)) return next();
    setVersion(ctx, version);
    ctx.state.route = route.template;
    return catchErrors(
      () => serve(ctx),
      (error) => {
        throw isCoded(error) ? (route.mapError?.(error) ?? error) : error;
      },
    );
  };
}

interface NegotiatedHandler extends BodyHandler {
  /** Validates the headers that negotiate the response. */
  readonly negotiate: (ctx: Context) => void;
}

/** The errors that do not concern the request: the store fails, or the client has lost its access meanwhile. */
const OTHER_ERRORS: ReadonlySet<string> = new Set([
  'unavailable',
  'invalid_token',
  'token_expired',
  'insufficient_scope',
]);

/** Runs one operation of a route. What does not depend on the request is prepared once. */
class OperationRunner {
  /** The media types of the body; absent if the operation has no body. */
  private readonly mediaTypes: readonly string[] | undefined;
  private readonly subpathByType: BodyOperation['subpathByType'];
  private readonly handlers: ReadonlyMap<string, NegotiatedHandler>;
  private readonly defaultHandler: NegotiatedHandler;

  constructor(private readonly operation: Operation) {
    this.mediaTypes = 'consumes' in operation ? Object.keys(operation.consumes) : undefined;
    this.subpathByType = 'consumes' in operation ? operation.subpathByType : undefined;
    const handlers =
      'consumes' in operation ? Object.entries(operation.consumes) : [['', operation] as const];
    this.handlers = new Map(handlers.map(([type, handler]) => [type, withNegotiation(handler)]));
    const [first] = this.handlers.values();
    if (!first) throw new Error('An operation with a body needs at least one media type.');
    this.defaultHandler = first;
  }

  /** Validates the request, then handles it. 404 takes precedence over errors of the request. */
  run(ctx: Context): MaybePromise<void> {
    return catchErrors(
      () => this.handle(ctx),
      async (error) => {
        // The lookup happens only if something failed.
        if (isCoded(error) && !OTHER_ERRORS.has(error.code)) await this.operation.ensureExists?.(ctx);
        throw error;
      },
    );
  }

  private handle(ctx: Context): MaybePromise<void> {
    const { operation, mediaTypes, subpathByType, defaultHandler } = this;
    checkVersion(ctx);
    // Before the other headers, so that the client learns the right path whatever else is wrong.
    if (mediaTypes && subpathByType) rejectTypeOfSubpath(ctx, mediaTypes, subpathByType);
    const handler = (mediaTypes && this.handlers.get(mediaType(ctx))) ?? defaultHandler;
    handler.negotiate(ctx);
    operation.headers?.(ctx);
    const query = readQuery(ctx, operation.parameter, operation.parameterNames ?? noneThere);
    if (mediaTypes) checkMediaType(ctx, { mediaTypes, isOptional: handler.read !== undefined });
    return handler.read ? handler.read(ctx, () => handler.handle(ctx, query)) : handler.handle(ctx, query);
  }
}

function noneThere(): string {
  return 'there is none';
}

function withNegotiation(handler: BodyHandler): NegotiatedHandler {
  return { ...handler, negotiate: negotiation(handler.produces) };
}

function requirementOf({ scopes }: Policy): Requirement {
  return scopes ?? 'none';
}

function respondOptions(ctx: Context, route: Route): void {
  const operations = Object.values(route.operations);
  // A script cannot see why a preflight was rejected. The request that follows gets the error.
  if (!ctx.state.isPreflight) {
    checkVersion(ctx);
    readQuery(ctx, (name) => operations.map(({ parameter }) => parameter(name, ctx)).find(Boolean));
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

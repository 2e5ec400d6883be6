import type Router from '@koa/router';
import type { Need } from '../../../application/authorization.js';
import type { RateLimiter } from '../../../application/ports/rate-limiter.js';
import type { Scope } from '../../../domain/access.js';
import { type Id, MAX_ID } from '../../../domain/record.js';
import type { Context, Middleware, RequestState } from './context.js';
import { admit, authorize, type Gate } from './middleware/admit.js';
import { countRequest } from './middleware/limit-rate.js';
import { markVarying, negotiate } from './middleware/negotiate.js';
import type { OperationDescription } from './openapi/description.js';
import { type FindParameter, type Query, readQuery } from './query.js';
import { type CodedError, HttpError, isCoded } from './response/http-error.js';
import { isFor, judgeVersion, takeVersion } from './versions/asked-version.js';
import type { Deprecation } from './versions/deprecation.js';
import type { ServedVersion } from './versions/served-version.js';

/** What is done for a request. */
export interface Work {
  /** What the caller must be allowed; absent: anyone may. */
  readonly scope?: Scope;
  /** Of the query. */
  readonly parameter: FindParameter;
  /** The media types that the answer can have beside JSON. */
  readonly types?: readonly string[];
  /** The request headers that the answer depends on beside those that every operation heeds. */
  readonly varies?: readonly string[];
  /** Judges headers that this operation alone heeds. */
  headers?(ctx: Context): void;
  /** Reads the body, where the operation takes one. */
  readonly body?: Middleware;
  /** Of an item: throws `not_found` where there is none. */
  subject?(ctx: Context): Promise<unknown>;
  handle(ctx: Context, query: Query): Promise<void>;
}

/** What a method does at an address. */
export interface Operation extends Work {
  /** Other work that some requests ask for, by what they send. */
  insteadFor?(ctx: Context): Work | undefined;
  /** For whoever writes a client; what other work does is in it. Asked for when somebody wants to read it. */
  describe(): OperationDescription;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** One address and what can be done there. */
export interface Endpoint {
  /** For the log: the path with its variables in braces. */
  readonly route: string;
  readonly path: RegExp;
  /** Of each variable in the path but the id, the values that there are. */
  readonly variables?: Readonly<Record<string, readonly string[]>>;
  /** Of the interface; absent: 1. */
  readonly version?: number;
  /** Where this version is to go. */
  readonly deprecation?: Deprecation | undefined;
  readonly operations: Readonly<Partial<Record<Method, Operation>>>;
  /** What PATCH takes (RFC 5789 section 3.1). */
  readonly acceptPatch?: string;
  /** Tells an error in the words of a protocol of its own, where the endpoint follows one. */
  refusal?(error: CodedError): CodedError;
}

/**
 * Every request of every endpoint goes the same way: who asks and how often, whether they may, the method, the headers,
 * the query, the body, the work.
 */
export function mount(
  router: Router<RequestState>,
  gate: Gate,
  endpoint: Endpoint,
  version: ServedVersion,
): void {
  router.all(endpoint.path, async (ctx: Context, next) => {
    if (!isId(ctx) || !isFor(version, ctx)) return next();
    takeVersion(ctx, version);
    ctx.state.route = endpoint.route;
    const operation = operationOf(endpoint, ctx.method);
    if (ctx.method === 'OPTIONS') {
      await countRequest(ctx, gate.limiter);
      return answerOptions(ctx, endpoint);
    }
    // Before anything is refused: a refusal depends on the same headers.
    markVarying(ctx, operation?.varies);
    await admit(ctx, gate);
    authorize(ctx, operation ? needOf(operation) : 'credential');
    if (!operation) throw methodNotAllowed(ctx, endpoint);
    await perform(ctx, operation);
  });
}

/** For everyone: the address is counted, and no token is looked at, so that a bad one shuts out nobody from getting a good one. */
export function mountPublic(router: Router<RequestState>, limiter: RateLimiter, endpoint: Endpoint): void {
  router.all(endpoint.path, async (ctx: Context) => {
    ctx.state.route = endpoint.route;
    try {
      await performPublic(ctx, limiter, endpoint);
    } catch (error) {
      throw isCoded(error) ? (endpoint.refusal?.(error) ?? error) : error;
    }
  });
}

async function performPublic(ctx: Context, limiter: RateLimiter, endpoint: Endpoint): Promise<void> {
  const operation = operationOf(endpoint, ctx.method);
  if (ctx.method !== 'OPTIONS') markVarying(ctx, operation?.varies);
  await countRequest(ctx, limiter);
  if (ctx.method === 'OPTIONS') return answerOptions(ctx, endpoint);
  if (!operation) throw methodNotAllowed(ctx, endpoint);
  await perform(ctx, operation);
}

/** For probes: no token, no limit. */
export function mountUnlimited(router: Router<RequestState>, endpoint: Endpoint): void {
  router.all(endpoint.path, async (ctx: Context) => {
    ctx.state.route = endpoint.route;
    if (ctx.method === 'OPTIONS') return answerOptions(ctx, endpoint);
    const operation = operationOf(endpoint, ctx.method);
    if (!operation) throw methodNotAllowed(ctx, endpoint);
    ctx.vary('Accept');
    await perform(ctx, operation);
  });
}

/** The number in the address of an item; 0 where the address has none. */
export function idOf(ctx: Context): Id {
  const [digits] = ctx['captures'] as (string | undefined)[];
  return Number(digits ?? 0);
}

/** Sixteen digits can be more than an id is; such a path does not exist. */
function isId(ctx: Context): boolean {
  return idOf(ctx) <= MAX_ID;
}

async function perform(ctx: Context, usual: Operation): Promise<void> {
  const operation: Work = usual.insteadFor?.(ctx) ?? usual;
  if (operation !== usual) authorize(ctx, needOf(operation));
  try {
    negotiate(ctx, operation.types);
    operation.headers?.(ctx);
    const query = readQuery(ctx, operation.parameter);
    if (operation.body) await operation.body(ctx, () => operation.handle(ctx, query));
    else await operation.handle(ctx, query);
  } catch (error) {
    // Whatever is wrong with a request for what is not there, it is 404; looked up only when something is wrong.
    if (isCoded(error) && error.code !== 'unavailable') await operation.subject?.(ctx);
    throw error;
  }
}

function needOf({ scope }: Work): Need {
  return scope ?? 'nothing';
}

function operationOf({ operations }: Endpoint, method: string): Operation | undefined {
  return operations[(method === 'HEAD' ? 'GET' : method) as Method];
}

function answerOptions(ctx: Context, endpoint: Endpoint): void {
  const operations = Object.values(endpoint.operations);
  // Of a refused preflight a script learns nothing; the request behind it is told what is wrong.
  if (!ctx.state.isPreflight) {
    judgeVersion(ctx);
    readQuery(ctx, (name) => operations.map(({ parameter }) => parameter(name)).find(Boolean));
  }
  setAllow(ctx, endpoint);
  ctx.status = 204;
}

function methodNotAllowed(ctx: Context, endpoint: Endpoint): HttpError {
  setAllow(ctx, endpoint);
  return new HttpError('method_not_allowed', `${ctx.method} cannot be used here; see Allow.`);
}

function setAllow(ctx: Context, { operations, acceptPatch }: Endpoint): void {
  const methods = Object.keys(operations).flatMap((method) =>
    method === 'GET' ? ['GET', 'HEAD'] : [method],
  );
  ctx.set('Allow', [...methods, 'OPTIONS'].join(', '));
  if (acceptPatch) ctx.set('Accept-Patch', acceptPatch);
}

import type { IncomingMessage } from 'node:http';
import type { Scope } from '../../../../domain/access.js';
import type { TextField } from '../../../../domain/fields.js';
import { parseInstant } from '../../../../domain/instant.js';
import { type Id, type Instant, MAX_ID } from '../../../../domain/record.js';
import { validateText } from '../../../../domain/text.js';
import type { MaybePromise } from '../../../../shared/promises.js';
import type { ApiVersion, Context, Middleware, VersionDeprecation } from './context.js';
import { type CodedError, HttpError, parameterIssue } from './http-error.js';
import type { Parameters, Query } from './parameter.js';
import type { ResourceDefinition } from './resource-definition.js';

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
  /** The possible values of each path variable except the id and the {@link key}. */
  readonly variables?: Readonly<Record<string, readonly string[]>>;
  /** The field whose value is the last segment of the path. The value may be personal, so no log shows it. */
  readonly key?: PathKey | undefined;
  readonly access: Access;
  /** Whether it needs nothing of the store, so that it responds before the store is ready. */
  readonly isStatic?: true;
  /** The API version. Default: 1. */
  readonly version?: number;
  readonly deprecation?: VersionDeprecation | undefined;
  readonly operations: Readonly<Partial<Record<Method, Operation>>>;
  /** Converts an error to the protocol of the route, such as OAuth. */
  mapError?(error: CodedError): CodedError;
}

/** A unique field by whose value a path names a record. */
export interface PathKey {
  readonly field: string;
  readonly rule: TextField;
}

/** One method of a route: its policy, and one handler or one for each media type of the body. */
export type Operation = Policy & (Handler | BodyOperation);

export interface BodyOperation {
  readonly consumes: Consumes;
  /**
   * Media types that belong to a subpath, such as `/imports`, each with the last segment of that path. The 415 for such
   * a type names the subpath.
   */
  readonly subpathByType?: Readonly<Record<string, string>>;
}

export type ResourceKind =
  | 'list'
  | 'facets'
  | 'changes'
  | 'read'
  | 'create'
  | 'import'
  | 'replace'
  | 'put'
  | 'patch'
  | 'delete'
  | 'issue'
  | 'revoke'
  | 'register'
  | 'revise'
  | 'renew'
  | 'attempts'
  | 'test';

/** What an operation does. The OpenAPI document has a description of each kind. */
export type Purpose =
  | {
      readonly kind: ResourceKind;
      readonly resource: ResourceDefinition<never>;
      /** Whether every write needs `If-Match`. */
      readonly requireIfMatch: boolean;
      /** The unique field in the path. Absent: the id. */
      readonly key?: string | undefined;
    }
  | { readonly kind: 'token' };

export interface Policy {
  /** Absent: pages, probes and metadata, which the OpenAPI document does not have. */
  readonly purpose?: Purpose;
  /** The scopes that the caller needs. Default: none. */
  readonly scopes?: readonly Scope[];
  /** Returns the scopes that this request needs besides. */
  readonly moreScopes?: (ctx: Context) => readonly Scope[];
  /** The parameters of the query. Default: none. */
  readonly parameters?: Parameters;
  /** The request headers that the response depends on, in addition to those that every operation reads. */
  readonly varyBy?: readonly string[];
  /** Validates the headers that only this operation reads. */
  headers?(ctx: Context): void;
  /** Throws `not_found` if the item does not exist. */
  ensureExists?(ctx: Context): Promise<unknown>;
}

export interface Handler {
  /** The media types of the response, in addition to JSON. */
  readonly produces?: readonly string[];
  handle(ctx: Context, query: Query): MaybePromise<void>;
}

/** The handler of each media type, in lower case. The first one also handles requests without a body. */
export type Consumes = Readonly<Record<string, BodyHandler>>;

export interface BodyHandler extends Handler {
  /**
   * Parses the body into `ctx.request.body` and limits its size. Absent if the handler reads the stream itself; even an
   * empty stream then needs a media type.
   */
  readonly read?: Middleware;
}

/** The id in the path of an item; 0 if the path has none. */
export function idOf(ctx: Context): Id {
  const [digits] = ctx['captures'] as (string | undefined)[];
  return Number(digits ?? 0);
}

/** The value of a {@link PathKey} in the path of a request. */
export function keyOf(ctx: Context): string {
  const { pathKey } = ctx.state;
  if (pathKey === undefined) throw new Error('The path has no key.');
  return pathKey;
}

/**
 * Whether a request is for a route whose pattern its path matches: its id exists, or its last segment is a value of the
 * key, percent-encoded or not (RFC 3986 section 2.1). Parsers of URLs remove the segments `.` and `..`.
 */
export function isAddress(ctx: Context, { key }: Route): boolean {
  // The pattern of an id allows 16 digits, which can exceed the largest one. The name of a file is no number.
  if (!key) return !(idOf(ctx) > MAX_ID);
  const [segment = ''] = ctx['captures'] as (string | undefined)[];
  const value = decodedSegment(segment);
  if (value === undefined || DOTS.test(value) || validateText(value, key.rule).length > 0) return false;
  ctx.state.pathKey = value;
  return true;
}

const DOTS = /^\.\.?$/;

function decodedSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

/** The media types that PATCH accepts on a route (RFC 5789 section 3.1). */
export function acceptPatch({ operations: { PATCH } }: Route): readonly string[] {
  return PATCH && 'consumes' in PATCH ? Object.keys(PATCH.consumes) : [];
}

/** Whether the path of a request begins with `/health/`. */
export function isProbe({ url = '' }: IncomingMessage): boolean {
  return PROBE.test(url);
}

/** The target of a request may be in absolute form (RFC 9112 section 3.2.2). */
const PROBE = /^(?:[Hh][Tt][Tt][Pp][Ss]?:\/\/[^/?#]*)?\/health\//;

// The versions of routes.

/** The version of routes without versions, and of errors that occur before a route is found. */
export const FIRST_VERSION: ApiVersion = { number: 1, all: [1] };

/** The minimum time from the deprecation of a version to its removal. */
const NOTICE_MONTHS = 12;

/** When a version was deprecated, and the earliest time at which it is removed. */
export class Deprecation {
  private readonly since: Instant;
  private readonly sunset: Instant;

  /**
   * @param times in the format of RFC 3339. Fractions of a second are dropped.
   * @throws RangeError if the sunset is less than 12 months after the deprecation
   */
  constructor(times: { readonly since: string; readonly sunset: string }) {
    this.since = wholeSecond(times.since);
    this.sunset = wholeSecond(times.sunset);
    if (this.sunset < endOfNotice(this.since))
      throw new RangeError(`A version may be removed ${NOTICE_MONTHS} months after its deprecation at the earliest.`);
  }

  /** The headers of RFC 9745 section 2.1 and RFC 8594 section 3. */
  get headers(): Readonly<Record<'Deprecation' | 'Sunset', string>> {
    return {
      Deprecation: `@${this.since / 1_000}`,
      Sunset: new Date(this.sunset).toUTCString(),
    };
  }
}

function endOfNotice(since: Instant): Instant {
  const end = new Date(since);
  return end.setUTCMonth(end.getUTCMonth() + NOTICE_MONTHS);
}

function wholeSecond(text: string): Instant {
  const instant = parseInstant(text);
  if (instant === undefined) throw new RangeError(`${text} is not an RFC 3339 time.`);
  return Math.floor(instant / 1_000) * 1_000;
}

/** The part of a route that determines its version. */
type VersionedRoute = Pick<Route, 'template' | 'version' | 'deprecation'>;

const IN_PATH = /^\/v\d+(?=\/)/;

/** Whether the path names a version. If not, the header `API-Version` selects it. */
export function isVersionInPath(path: string): boolean {
  return IN_PATH.test(path);
}

/** The same path in another version. */
export function pathIn(version: number, path: string): string {
  return `/v${version}${withoutVersion(path)}`;
}

/**
 * The version of a route among all routes of the same path.
 * @throws Error if two routes have the same path and version, or if a deprecated version has no successor
 */
export function versionOf(route: VersionedRoute, routes: readonly VersionedRoute[]): ApiVersion {
  const { template, deprecation } = route;
  const number = numberOf(route);
  const all = routes
    .filter((other) => withoutVersion(other.template) === withoutVersion(template))
    .map(numberOf)
    .sort((a, b) => a - b);
  if (new Set(all).size < all.length) throw new Error(`${template} is served twice.`);
  if (!deprecation) return { number, all };
  const successor = all.find((other) => other > number);
  if (successor === undefined) throw new Error(`${template} is deprecated and has no successor.`);
  return { number, all, deprecation: { headers: deprecation.headers, successor } };
}

function numberOf({ version }: VersionedRoute): number {
  return version ?? FIRST_VERSION.number;
}

function withoutVersion(path: string): string {
  return path.replace(IN_PATH, '');
}

const HEADER = 'API-Version';

/**
 * Whether the request is for this version. If the path names no version and the header names an unknown one, the
 * request is for the first version, which rejects it.
 */
export function matchesVersion({ number, all }: ApiVersion, ctx: Context): boolean {
  if (all.length === 1 || isVersionInPath(ctx.path)) return true;
  const selected = all.find((version) => String(version) === requestedVersion(ctx)) ?? all[0];
  return selected === number;
}

/** Sets the version of the request and of its response. */
export function setVersion(ctx: Context, version: ApiVersion): void {
  ctx.state.version = version;
  ctx.set(HEADER, String(version.number));
}

/**
 * Checks that the header matches the version of the route. Without the header the path selects the version. If the path
 * names none, it is 1.
 * @throws HttpError `unsupported_version`
 */
export function checkVersion(ctx: Context): void {
  const { number, all } = ctx.state.version ?? FIRST_VERSION;
  const isHeaderAbsent = ctx.headers['api-version'] === undefined;
  if (requestedVersion(ctx) === String(number) || (isHeaderAbsent && isVersionInPath(ctx.path))) return;
  const message = isVersionInPath(ctx.path)
    ? `${HEADER} differs from version ${number} in the path; ${listOf(all)}.`
    : `${HEADER} (absent: 1) names an unknown version; ${listOf(all)}.`;
  throw new HttpError('unsupported_version', message, [parameterIssue('header', HEADER, 'out_of_range', message)]);
}

/** The version in the header. Permanently 1 without the header. An empty header names no version. */
function requestedVersion(ctx: Context): string {
  return String(ctx.headers['api-version'] ?? FIRST_VERSION.number);
}

function listOf(versions: readonly number[]): string {
  return versions.length === 1
    ? `this resource has only version ${versions[0]}`
    : `this resource has the versions ${versions.join(', ')}`;
}

import type { IncomingHttpHeaders } from 'node:http';
import { parseInstant } from '../../../../domain/instant.js';
import type { Instant } from '../../../../domain/record.js';
import { HttpError, parameterIssue } from './http-error.js';

/** An API version of a path. */
export interface ApiVersion {
  readonly number: number;
  /** All versions of the path, in ascending order. */
  readonly all: readonly number[];
  /** If this version is deprecated: its deprecation headers, and the next version. */
  readonly deprecation?: VersionDeprecation & { readonly successor: number };
}

/** The version of routes without versions, and of errors that occur before a route is found. */
export const FIRST_VERSION: ApiVersion = { number: 1, all: [1] };

/** The headers that announce the removal of a version. */
export interface VersionDeprecation {
  readonly headers: Readonly<Record<string, string>>;
}

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
      throw new RangeError(
        `A version may be removed ${NOTICE_MONTHS} months after its deprecation at the earliest.`,
      );
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
interface VersionedRoute {
  readonly template: string;
  readonly version?: number;
  readonly deprecation?: VersionDeprecation | undefined;
}

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

/** The part of a request that selects its version. */
interface VersionedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly state: { version?: ApiVersion };
  set(field: string, value: string): void;
}

/**
 * Whether the request is for this version. If the path names no version and the header names an unknown one, the
 * request is for the first version, which rejects it.
 */
export function matchesVersion({ number, all }: ApiVersion, ctx: VersionedRequest): boolean {
  if (all.length === 1 || isVersionInPath(ctx.path)) return true;
  const selected = all.find((version) => String(version) === requestedVersion(ctx)) ?? all[0];
  return selected === number;
}

/** Sets the version of the request and of its response. */
export function setVersion(ctx: VersionedRequest, version: ApiVersion): void {
  ctx.state.version = version;
  ctx.set(HEADER, String(version.number));
}

/**
 * Checks that the header matches the version of the route. Without the header the path selects the version. If the path
 * names none, it is 1.
 * @throws HttpError `unsupported_version`
 */
export function checkVersion(ctx: VersionedRequest): void {
  const { number, all } = ctx.state.version ?? FIRST_VERSION;
  const isHeaderAbsent = ctx.headers['api-version'] === undefined;
  if (requestedVersion(ctx) === String(number) || (isHeaderAbsent && isVersionInPath(ctx.path))) return;
  const message = isVersionInPath(ctx.path)
    ? `${HEADER} differs from version ${number} in the path; ${listOf(all)}.`
    : `${HEADER} (absent: 1) names an unknown version; ${listOf(all)}.`;
  throw new HttpError('unsupported_version', message, [
    parameterIssue('header', HEADER, 'out_of_range', message),
  ]);
}

/** The version in the header. Permanently 1 without the header. An empty header names no version. */
function requestedVersion(ctx: VersionedRequest): string {
  return String(ctx.headers['api-version'] ?? FIRST_VERSION.number);
}

function listOf(versions: readonly number[]): string {
  return versions.length === 1
    ? `this resource has only version ${versions[0]}`
    : `this resource has the versions ${versions.join(', ')}`;
}

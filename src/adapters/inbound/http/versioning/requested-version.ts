import { type ApiVersion, FIRST_VERSION, isVersionInPath } from '../core/api-version.js';
import type { Context } from '../core/context.js';
import { HttpError, parameterIssue } from '../core/http-error.js';

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
  throw new HttpError('unsupported_version', message, [
    parameterIssue('header', HEADER, 'out_of_range', message),
  ]);
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

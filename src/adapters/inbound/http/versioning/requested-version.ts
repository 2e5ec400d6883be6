import type { Context } from '../context.js';
import { HttpError, parameterIssue } from '../response/http-error.js';
import { type ApiVersion, FIRST_VERSION, isVersionInPath } from './api-version.js';

const HEADER = 'API-Version';

/**
 * Whether a request to one of the addresses of this version is for it. If neither the path nor the header names a
 * version that exists, the request is for the first version, which refuses it.
 */
export function matchesVersion({ number, all }: ApiVersion, ctx: Context): boolean {
  if (all.length === 1 || isVersionInPath(ctx.path)) return true;
  const requested = all.find((version) => String(version) === requestedVersion(ctx)) ?? all[0];
  return requested === number;
}

/** The response is from here on one of this version. */
export function setVersion(ctx: Context, version: ApiVersion): void {
  ctx.state.version = version;
  ctx.set(HEADER, String(version.number));
}

/**
 * Checks that the header agrees with the version of the route. Without the header the path counts, and version 1 if
 * the path names none.
 * @throws HttpError `unsupported_version`
 */
export function checkVersion(ctx: Context): void {
  const { number, all } = ctx.state.version ?? FIRST_VERSION;
  const isSilent = ctx.headers['api-version'] === undefined;
  if (requestedVersion(ctx) === String(number) || (isSilent && isVersionInPath(ctx.path))) return;
  const message = isVersionInPath(ctx.path)
    ? `The address is of version ${number} and ${HEADER} says otherwise; ${listOf(all)}.`
    : `${HEADER} (absent: 1) names a version that is not there; ${listOf(all)}.`;
  throw new HttpError('unsupported_version', message, [
    parameterIssue('header', HEADER, 'out_of_range', message),
  ]);
}

/** Without the header it is 1, permanently. An empty header names no version. */
function requestedVersion(ctx: Context): string {
  return String(ctx.headers['api-version'] ?? FIRST_VERSION.number);
}

function listOf(versions: readonly number[]): string {
  return versions.length === 1
    ? `this resource has version ${versions[0]} alone`
    : `this resource has the versions ${versions.join(', ')}`;
}

import type { Context } from '../context.js';
import { HttpError, parameterIssue } from '../response/http-error.js';
import { FIRST, type ServedVersion } from './served-version.js';

const HEADER = 'API-Version';
const IN_PATH = /^\/v\d+(?=\/)/;

/** Where the address names none, the header may. */
export function isVersionInPath(path: string): boolean {
  return IN_PATH.test(path);
}

export function withoutVersion(path: string): string {
  return path.replace(IN_PATH, '');
}

/** The same address in another version. */
export function pathIn(version: number, path: string): string {
  return `/v${version}${withoutVersion(path)}`;
}

/**
 * Whether a request to one of the addresses of this version is for it. Where the address names none and the header one
 * that there is not, it is for the first, which refuses it.
 */
export function isFor({ number, all }: ServedVersion, ctx: Context): boolean {
  if (all.length === 1 || isVersionInPath(ctx.path)) return true;
  const asked = all.find((version) => String(version) === askedOf(ctx)) ?? all[0];
  return asked === number;
}

/** From here on every answer is one of this version. */
export function takeVersion(ctx: Context, version: ServedVersion): void {
  ctx.state.version = version;
  ctx.set(HEADER, String(version.number));
}

/**
 * Judges whether the header asks for what this address is; absent it means what the path says, and 1 where that says nothing.
 * @throws CatalogueError `unsupported_version`
 */
export function judgeVersion(ctx: Context): void {
  const { number, all } = ctx.state.version ?? FIRST;
  const isSilent = ctx.headers['api-version'] === undefined;
  if (askedOf(ctx) === String(number) || (isSilent && isVersionInPath(ctx.path))) return;
  const message = isVersionInPath(ctx.path)
    ? `The address is of version ${number} and ${HEADER} says otherwise; ${told(all)}.`
    : `${HEADER} (absent: 1) names a version that is not there; ${told(all)}.`;
  throw new HttpError('unsupported_version', message, [
    parameterIssue('header', HEADER, 'out_of_range', message),
  ]);
}

/** Absent it is 1, for ever; one that is empty names no version. */
function askedOf(ctx: Context): string {
  return String(ctx.headers['api-version'] ?? FIRST.number);
}

function told(versions: readonly number[]): string {
  return versions.length === 1
    ? `this resource has version ${versions[0]} alone`
    : `this resource has the versions ${versions.join(', ')}`;
}

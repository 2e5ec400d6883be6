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

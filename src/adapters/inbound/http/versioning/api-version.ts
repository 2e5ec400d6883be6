/** One of the API versions in which an address is served. */
export interface ApiVersion {
  readonly number: number;
  /** All versions of the same address, in ascending order. */
  readonly all: readonly number[];
  /** If this version is deprecated: the headers that say so, and the version to move to. */
  readonly deprecation?: {
    readonly headers: Readonly<Record<string, string>>;
    readonly successor: number;
  };
}

/** The version of an address that has no others, and of errors that occur before an address is found. */
export const FIRST_VERSION: ApiVersion = { number: 1, all: [1] };

/** What the version of a route depends on. */
interface VersionedRoute {
  readonly template: string;
  readonly version?: number;
  readonly deprecation?: { readonly headers: Readonly<Record<string, string>> } | undefined;
}

const IN_PATH = /^\/v\d+(?=\/)/;

/** If the path names no version, the header `API-Version` can. */
export function isVersionInPath(path: string): boolean {
  return IN_PATH.test(path);
}

/** The same path in another version. */
export function pathIn(version: number, path: string): string {
  return `/v${version}${withoutVersion(path)}`;
}

/**
 * The version that a route serves, among all routes with the same address.
 * @throws Error if the address has this version twice, or if the version is deprecated and has no successor
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

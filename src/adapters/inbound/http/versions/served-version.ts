/** One of the versions in which an address is served. */
export interface ServedVersion {
  readonly number: number;
  /** Those of the same address, in ascending order. */
  readonly all: readonly number[];
  /** Where it is deprecated: what its answers say of that, and the version to go to. */
  readonly end?: {
    readonly headers: Readonly<Record<string, string>>;
    readonly successor: number;
  };
}

/** Of whatever has no versions of its own, errors before an address is found included. */
export const FIRST: ServedVersion = { number: 1, all: [1] };

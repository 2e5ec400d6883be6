/** The versions of a record that a write may change. */
export interface Precondition {
  /** Absent: every version. */
  readonly only?: readonly number[];
  /** Absent: none. */
  readonly never?: readonly number[] | 'any';
}

export const ANY_VERSION: Precondition = {};

export function isMet({ only, never }: Precondition, version: number): boolean {
  return (only === undefined || only.includes(version)) && never !== 'any' && !never?.includes(version);
}

/**
 * Names that other programs give to variables, whatever they resemble: npm, Node, OpenTelemetry, and Kubernetes for
 * every service of a cluster (`CATALOGUE_PORT_8443_TCP`).
 */
const FOREIGN =
  /^(npm_|NODE_|OTEL_|XDG_|LC_)|_SERVICE_(HOST|PORT(_.*)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/;
/** The value of Kubernetes' `NAME_PORT`. */
const FOREIGN_VALUE = /^(tcp|udp|sctp):\/\//;

/**
 * Finds variables that are set, have no meaning here, and are probably misspelt settings. A setting that is itself among
 * the variables is not misspelt.
 * @returns the misspelt name and the right one
 */
export function misspeltNames(
  variables: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): [given: string, meant: string][] {
  const absent = known.filter((name) => variables[name] === undefined);
  return Object.entries(variables).flatMap(([given, value]): [string, string][] => {
    if (!value || known.includes(given) || FOREIGN.test(given) || FOREIGN_VALUE.test(value)) return [];
    const meant = similarName(given, absent);
    return meant === undefined ? [] : [[given, meant]];
  });
}

/**
 * Returns the known name with the same letters, in any case, order and with any separators; else one that differs in
 * one place, by one letter, or by up to two if it has ten characters or more. A name below six characters is close to
 * names of other programs, so it has to have the same letters.
 */
export function similarName(given: string, known: readonly string[]): string | undefined {
  const letters = lettersOf(given);
  const tolerated = (name: string) => (name.length >= 10 ? 2 : Number(name.length >= 6));
  return (
    known.find((name) => lettersOf(name) === letters) ??
    known.find((name) => lengthOfDifference(given, name) <= tolerated(name))
  );
}

/**
 * Returns the allowed value that a value abbreviates or extends, such as `postgresql` for `postgres`; else a similar one.
 * Values below four characters are too short for that: `no` has the letters of `on`.
 */
export function similarValue(given: string, allowed: readonly string[]): string | undefined {
  const value = given.toLowerCase();
  const long = allowed.filter((one) => Math.min(one.length, value.length) >= 4);
  return long.find((one) => one.startsWith(value) || value.startsWith(one)) ?? similarName(value, long);
}

function lettersOf(name: string): string {
  return [...name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '')].sort().join('');
}

/** The length of what stands between the common beginning and the common end of two names, in the longer one. */
function lengthOfDifference(one: string, other: string): number {
  const shorter = Math.min(one.length, other.length);
  let start = 0;
  while (start < shorter && one[start] === other[start]) start++;
  let end = 0;
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end++;
  return Math.max(one.length, other.length) - start - end;
}

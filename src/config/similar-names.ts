/** A distance up to which a name is taken for a misspelt one. A short name is close to names of other programs. */
const TOLERATED = [
  { letters: 10, edits: 2 },
  { letters: 6, edits: 1 },
];

/**
 * Names that other programs give to variables, whatever they resemble: npm, Node, OpenTelemetry, and Kubernetes for
 * every service of a cluster (`CATALOGUE_PORT_8443_TCP`).
 */
const FOREIGN =
  /^(npm_|NODE_|OTEL_|XDG_|LC_)|_SERVICE_(HOST|PORT(_.*)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/;
/** The value of Kubernetes' `NAME_PORT`. */
const FOREIGN_VALUE = /^(tcp|udp|sctp):\/\//;

/**
 * Finds variables that are set, have no meaning here, and are probably misspelt settings: other case or separators, the
 * same words in another order or number, one typing error (two in a name of ten letters or more). A setting that is
 * itself among the variables is not misspelt.
 * @returns the misspelt name and the right one
 */
export function misspeltNames(
  variables: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): [given: string, meant: string][] {
  const absent = known.filter((name) => variables[name] === undefined).map(spellings);
  return Object.entries(variables).flatMap(([given, value]): [string, string][] => {
    if (!value || known.includes(given)) return [];
    if (FOREIGN.test(given) || FOREIGN_VALUE.test(value)) return [];
    const variable = spellings(given);
    const meant = absent.find((setting) => isMisspelt(variable, setting));
    return meant === undefined ? [] : [[given, meant.name]];
  });
}

/** Returns the known name that is closest, if any is close. For places in which every name must be a known one. */
export function closestName(given: string, known: readonly string[]): string | undefined {
  const written = spellings(given);
  const [closest] = known
    .map((name) => ({
      name,
      edits: isMisspelt(written, spellings(name)) ? 1 : editsBetween(given.toUpperCase(), name),
    }))
    .sort((one, other) => one.edits - other.edits);
  return closest && closest.edits <= Math.max(1, closest.name.length / 3) ? closest.name : undefined;
}

/** What is compared of a name. It is worked out once for each name, because a start compares all with all. */
interface Spellings {
  readonly name: string;
  readonly letters: string;
  /** Absent if the name has one word. */
  readonly words: string | undefined;
}

function spellings(name: string): Spellings {
  return { name, letters: lettersOf(name), words: name.includes('_') ? wordsOf(name) : undefined };
}

function isMisspelt(one: Spellings, other: Spellings): boolean {
  if (one.letters === other.letters || (one.words && one.words === other.words)) return true;
  const [given, name] = [one.name, other.name];
  const { edits = 0 } = TOLERATED.find(({ letters }) => name.length >= letters) ?? {};
  // Each letter that one has more is an edit; this saves most comparisons of a start.
  if (Math.abs(given.length - name.length) > edits) return false;
  return isSwap(given, name) || editsBetween(given, name) <= edits;
}

function lettersOf(name: string): string {
  return name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '');
}

/** The words of a name, without order and without the `S` of a plural. */
function wordsOf(name: string): string {
  return name
    .toUpperCase()
    .split('_')
    .map((word) => word.replace(/S$/, ''))
    .sort()
    .join();
}

/** Whether two letters side by side changed places, and nothing else. */
function isSwap(given: string, name: string): boolean {
  if (given.length !== name.length || given.length < 4) return false;
  const at = [...name].findIndex((letter, i) => letter !== given[i]);
  const swapped = name.slice(0, at) + name[at + 1] + name[at] + name.slice(at + 2);
  return at >= 0 && swapped === given;
}

/** The Levenshtein distance: letters inserted, deleted or replaced. */
function editsBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, i) => i);
  for (const [i, letter] of [...one].entries()) {
    const next = [i + 1];
    for (const [j, wanted] of [...other].entries())
      next.push(
        Math.min((next[j] ?? 0) + 1, (row[j + 1] ?? 0) + 1, (row[j] ?? 0) + Number(letter !== wanted)),
      );
    row = next;
  }
  return row.at(-1) ?? 0;
}

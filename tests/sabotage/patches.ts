import { readdirSync, readFileSync } from 'node:fs';

const FOLDER = 'tests/sabotage';

/** A change of a few lines to the source that removes a protection, and the test that must notice it. */
export interface Sabotage {
  readonly name: string;
  /** What the patch removes. */
  readonly protection: string;
  /** What happens to a user without the protection. */
  readonly without: string;
  /** A file below `tests`, without `.test.ts`, which the gate runs. */
  readonly test: string;
  /** Absent: all tests of the file run. */
  readonly grep?: string;
  readonly hunks: readonly Hunk[];
}

/** One place of a patch: lines that a file has, and those that take their place. */
export interface Hunk {
  readonly file: string;
  readonly before: string;
  readonly after: string;
}

/** @throws Error if a header lacks an entry */
export function readPatches(): Sabotage[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.patch'))
    .sort()
    .map((name) => parsePatch(name.slice(0, -'.patch'.length), readFileSync(`${FOLDER}/${name}`, 'utf8')));
}

/** @param text a header with an entry a line, then a unified diff; `git apply` ignores the header */
export function parsePatch(name: string, text: string): Sabotage {
  const [header = '', ...files] = text.split(/^diff --git .*\n/m);
  const entries = new Map(
    [...header.matchAll(/^(\w[\w ]*): (.*)$/gm)].map(([, entry = '', value = '']) => [entry, value]),
  );
  const entry = (title: string) => {
    const value = entries.get(title);
    if (!value) throw new Error(`The header of ${name}.patch has no entry "${title}".`);
    return value;
  };
  const grep = entries.get('Grep');
  return {
    name,
    protection: entry('Protection'),
    without: entry('Without it'),
    test: entry('Test'),
    ...(grep !== undefined && { grep }),
    hunks: files.flatMap(hunksOf),
  };
}

function hunksOf(diff: string): Hunk[] {
  const [head = '', ...hunks] = diff.split(/^@@ .*\n/m);
  const [, file = ''] = /^\+\+\+ b\/(.*)$/m.exec(head) ?? [];
  return hunks.map((hunk) => {
    const lines = hunk.split('\n').slice(0, -1);
    const without = (sign: string) =>
      lines.flatMap((line) => (line.startsWith(sign) ? [] : [`${line.slice(1)}\n`])).join('');
    return { file, before: without('+'), after: without('-') };
  });
}

/**
 * Returns the text with a hunk applied. By hand, because the architecture test needs nothing besides Node.js, and the
 * numbers of lines do not matter if the lines occur once.
 * @throws Error if the text does not have the lines exactly once
 */
export function applied({ before, after, file }: Hunk, source: string): string {
  const parts = source.split(before);
  if (parts.length !== 2) throw new Error(`${file} has the lines of the patch ${parts.length - 1} times.`);
  return parts.join(after);
}

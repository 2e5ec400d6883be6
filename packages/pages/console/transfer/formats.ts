import type { StreamType } from '#packages/client/index.js';

export interface Format {
  readonly type: StreamType;
  readonly isCsv: boolean;
  /** As people call it. */
  readonly name: string;
  /** The ends of file names; the first is the usual one. */
  readonly extensions: readonly string[];
}

/** The formats of imports and exports that the console knows. */
const FORMATS: readonly Format[] = [
  { type: 'text/csv', isCsv: true, name: 'CSV', extensions: ['.csv', '.tsv', '.txt'] },
  { type: 'application/x-ndjson', isCsv: false, name: 'NDJSON', extensions: ['.ndjson', '.jsonl'] },
];

/** The formats among some media types of the document. */
export function formatsOf(types: readonly string[]): Format[] {
  return FORMATS.filter(({ type }) => types.includes(type));
}

/** The format of a file by its name, else by its type; undefined if neither tells. */
export function formatOfFile({ name, type }: Pick<File, 'name' | 'type'>): Format | undefined {
  const isNamed = ({ extensions }: Format) => extensions.some((extension) => name.toLowerCase().endsWith(extension));
  return FORMATS.find(isNamed) ?? FORMATS.find((one) => one.type === type);
}

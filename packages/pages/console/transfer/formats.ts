import type { StreamType } from '#packages/client/index.js';
import type { Format } from './records-in-file.js';

export interface FormatDetails {
  readonly format: Format;
  readonly type: StreamType;
  /** As people call it. */
  readonly name: string;
  /** The ends of file names; the first is the usual one. */
  readonly extensions: readonly string[];
}

/** The formats of imports and exports that the console knows. */
export const FORMATS: readonly FormatDetails[] = [
  { format: 'csv', type: 'text/csv', name: 'CSV', extensions: ['.csv', '.tsv', '.txt'] },
  { format: 'ndjson', type: 'application/x-ndjson', name: 'NDJSON', extensions: ['.ndjson', '.jsonl'] },
];

/** The formats among some media types of the document. */
export function formatsOf(types: readonly string[]): FormatDetails[] {
  return FORMATS.filter(({ type }) => types.includes(type));
}

/** The format of a file by its name, else by its type; undefined if neither tells. */
export function formatOfFile({ name, type }: Pick<File, 'name' | 'type'>): FormatDetails | undefined {
  const lower = name.toLowerCase();
  return (
    FORMATS.find(({ extensions }) => extensions.some((extension) => lower.endsWith(extension))) ??
    FORMATS.find((one) => one.type === type)
  );
}

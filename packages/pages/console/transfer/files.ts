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

/** How many lines are joined: a browser keeps blobs outside the memory of the page. */
const JOINED = 1_000;

/** A file of NDJSON. */
export async function linesFile(name: string, records: Iterable<object> | AsyncIterable<object>): Promise<File> {
  const blobs: Blob[] = [];
  let lines: string[] = [];
  for await (const record of records)
    if (lines.push(`${JSON.stringify(record)}\n`) === JOINED) {
      blobs.push(new Blob(lines));
      lines = [];
    }
  return new File([...blobs, ...lines], name, { type: 'application/x-ndjson' });
}

/** Saves a file as if the person had followed a link to it. */
export function saveFile(file: File): void {
  const url = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = url;
  link.download = file.name;
  link.click();
  URL.revokeObjectURL(url);
}

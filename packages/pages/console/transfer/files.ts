import type { StreamType } from '#packages/client/index.js';
import { CsvSplitter, endOf, type ImportLine, NdjsonSplitter } from '#src/shared/record-splitters.js';

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

export const ENCODINGS = ['utf-8', 'windows-1252', 'utf-16le', 'utf-16be'] as const;
export const SEPARATORS = [',', ';', '\t'] as const;

/** How CSV is written. */
export interface CsvForm {
  readonly encoding: (typeof ENCODINGS)[number];
  readonly separator: (typeof SEPARATORS)[number];
}

/** A record without its line end. One that is too long to be kept stays in the file. */
export type FileBytes = Uint8Array<ArrayBuffer> | Blob;

/** Whole records of a file that follow one another. */
export interface Part {
  readonly records: readonly FileBytes[];
  /** The size of the records, with line ends. */
  readonly bytes: number;
  /** How much of the file is read, from 0 to 1. A spreadsheet can leave very many empty rows behind the records. */
  readonly share: number;
}

export interface PartLimits {
  /** The bytes of a part and, in CSV, of the header row before it. A record that is longer is a part of its own. */
  readonly bytes: number;
  readonly records: number;
}

/**
 * Proxies refuse bodies of over 1 MiB unless they are told otherwise. A part takes the service less than a second, so that
 * the progress is seen and a repetition is short.
 */
export const LIMITS: PartLimits = { bytes: 524_288, records: 5_000 };

/** A longer record is found, but not kept. */
const MAX_RECORD_BYTES = 16 * 1_048_576;
const PIECE_BYTES = 262_144;

/**
 * Finds the records of a file, as the service does, and joins them to parts. The header row of CSV is in none; a file of
 * a header row alone is one part without records.
 * @param csv how CSV is written; absent: NDJSON
 * @param limits they may change before a part is asked for
 * @throws DOMException if the file has changed since it was chosen
 */
export async function* partsOf(
  file: Blob,
  csv?: CsvForm,
  limits: PartLimits = LIMITS,
): AsyncGenerator<Part, void, void> {
  const source = await inUtf8(file, csv?.encoding ?? 'utf-8');
  const splitter = csv
    ? new CsvSplitter(MAX_RECORD_BYTES, undefined, csv.separator)
    : new NdjsonSplitter(MAX_RECORD_BYTES);
  let headerBytes = csv ? undefined : 0;
  let hasPart = false;
  let records: FileBytes[] = [];
  let bytes = 0;
  const partTo = (end: number): Part => {
    const part = { records, bytes, share: end / source.size };
    hasPart = true;
    records = [];
    bytes = 0;
    return part;
  };
  function* add(line: ImportLine): Generator<Part, void, void> {
    const { lineStart, lineEnd } = splitter;
    const size = lineEnd - lineStart + 1;
    if (headerBytes === undefined) {
      headerBytes = size;
      return;
    }
    if (records.length > 0 && headerBytes + bytes + size > limits.bytes) yield partTo(lineStart);
    records.push('bytes' in line ? keptOf(line.bytes) : source.slice(lineStart, lineEnd));
    bytes += size;
    if (records.length >= limits.records) yield partTo(lineEnd);
  }
  const keptOf = (line: Uint8Array) => line.subarray(0, csv ? endOf(line) : undefined) as Uint8Array<ArrayBuffer>;
  // Piece by piece, because a stream of a file that has changed may never end; a piece of it is refused.
  for (let at = 0; at < source.size; at += PIECE_BYTES)
    for (const line of splitter.push(await bytesOf(source.slice(at, at + PIECE_BYTES)))) yield* add(line);
  for (const line of splitter.end()) yield* add(line);
  if (records.length > 0 || (csv && headerBytes !== undefined && !hasPart)) yield partTo(source.size);
}

/** A file in UTF-16 as one in UTF-8, in whose bytes the ends of rows can be found; another file as it is. */
export async function inUtf8(file: Blob, encoding: CsvForm['encoding']): Promise<Blob> {
  if (!encoding.startsWith('utf-16')) return file;
  const decoder = new TextDecoder(encoding);
  const pieces: Blob[] = [];
  for (let at = 0; at < file.size; at += PIECE_BYTES) {
    const stream = at + PIECE_BYTES < file.size;
    pieces.push(new Blob([decoder.decode(await bytesOf(file.slice(at, at + PIECE_BYTES)), { stream })]));
  }
  return new Blob(pieces);
}

export async function bytesOf(blob: Blob): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await blob.arrayBuffer());
}

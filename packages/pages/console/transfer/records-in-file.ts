import { CsvSplitter, endOf, type ImportLine, NdjsonSplitter } from '#src/shared/record-splitters.js';

/** The formats of imports and exports. */
export type Format = 'ndjson' | 'csv';

/** Where something is in a file: its first byte, and the byte after its last one. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** Whole records of a file that follow one another, from the first one to the line end of the last one. */
export interface Part extends Range {
  /** Without their line ends. */
  readonly records: readonly Range[];
  /** How far the file is read. A spreadsheet can leave very many empty rows behind the records. */
  readonly readTo: number;
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
 * Finds the records of a file, as the service does, and joins them to parts. It reads the file piece by piece and keeps a
 * record at most. In CSV the first record is the header row, which is sent again before each further part.
 * @param limits they may change before a part is asked for
 * @param separator what stands between cells
 */
export async function* partsOf(
  file: Blob,
  format: Format,
  limits: PartLimits = LIMITS,
  separator = ',',
): AsyncGenerator<Part, void, void> {
  const splitter =
    format === 'csv' ? new CsvSplitter(MAX_RECORD_BYTES, undefined, separator) : new NdjsonSplitter(MAX_RECORD_BYTES);
  let records: Range[] = [];
  let header: Range | undefined;
  let partEnd = 0;
  const partTo = (readTo: number): Part => {
    const [first = { start: partEnd, end: partEnd }] = records;
    header ??= first;
    const part = { start: first.start, end: partEnd, records, readTo };
    records = [];
    return part;
  };
  /** Whether one more record that ends here makes the part too long. */
  const isFull = (end: number): boolean => {
    const [first, second] = records;
    if (!first || (format === 'csv' && !header && !second)) return false;
    const headerBytes = format === 'csv' && header ? header.end - header.start + 1 : 0;
    return headerBytes + end - first.start > limits.bytes;
  };
  /** @param next where the next line begins */
  function* add(line: ImportLine, next: number): Generator<Part, void, void> {
    const { lineStart: start, lineEnd } = splitter;
    if (isFull(next)) yield partTo(start);
    const isWithReturn = format === 'csv' && 'bytes' in line && endOf(line.bytes) < line.bytes.length;
    records.push({ start, end: isWithReturn ? lineEnd - 1 : lineEnd });
    partEnd = next;
    if (records.length >= limits.records) yield partTo(next);
  }
  // Piece by piece, because a stream of a file that has changed may never end; a piece of it is refused.
  for (let at = 0; at < file.size; at += PIECE_BYTES) {
    const piece = await bytesOf(file.slice(at, at + PIECE_BYTES));
    for (const line of splitter.push(piece)) yield* add(line, splitter.lineEnd + 1);
  }
  for (const line of splitter.end()) yield* add(line, splitter.lineEnd);
  if (records.length > 0) yield partTo(file.size);
}

/** The records of a part, which is read at once. */
export async function recordsIn(file: Blob, { start, end, records }: Part): Promise<Uint8Array[]> {
  const bytes = await bytesOf(file.slice(start, end));
  return records.map((record) => bytes.subarray(record.start - start, record.end - start));
}

export async function bytesOf(blob: Blob): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await blob.arrayBuffer());
}

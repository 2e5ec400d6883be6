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

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const QUOTE = 0x22;
const COMMA = 0x2c;
const SPACE = 0x20;
const TAB = 0x09;

/** The bytes of a line that is no record. */
const EMPTY: Readonly<Record<Format, readonly number[]>> = {
  csv: [COMMA],
  ndjson: [SPACE, TAB, CARRIAGE_RETURN],
};

/**
 * Finds the records of a file, and joins them to parts. It reads the file piece by piece and keeps none of it. In CSV
 * (RFC 4180) the first record is the header row, and quoted line ends are part of a record. Blank lines, rows whose cells
 * are all empty, and a first line `sep=;` are no records: the service counts in the same way.
 * @param limits they may change before a part is asked for
 */
export async function* partsOf(
  file: Blob,
  format: Format,
  limits: PartLimits = LIMITS,
): AsyncGenerator<Part, void, void> {
  const findEnd =
    format === 'csv' ? csvEnds() : (chunk: Uint8Array, from: number) => chunk.indexOf(LINE_FEED, from);
  const markEnd = (await beginsWith(file, 0, /^\ufeff/)) ? MARK.length : 0;
  const hasSeparatorLine = format === 'csv' && (await beginsWith(file, markEnd, /^sep=/i));
  let records: Range[] = [];
  let recordStart = 0;
  /** The header row, once it is in a part. It is sent again before each further part. */
  let header: Range | undefined;
  let last = 0;
  let offset = 0;
  let isEmpty = true;
  let afterReturn = false;
  const look = (chunk: Uint8Array, from: number, end: number) => {
    for (let at = Math.max(from, markEnd - offset); isEmpty && at < end; at++) {
      // In CSV a carriage return belongs to the line end only if nothing follows it.
      if (format === 'csv' && chunk[at] === CARRIAGE_RETURN && !afterReturn) afterReturn = true;
      else isEmpty = !afterReturn && EMPTY[format].includes(chunk[at] ?? 0);
    }
  };
  let lastLineEnd = 0;
  const add = (end: number, lineEnd: number) => {
    const textEnd = format === 'csv' && last === CARRIAGE_RETURN ? end - 1 : end;
    if (!isEmpty && !(hasSeparatorLine && recordStart === 0)) {
      records.push({ start: recordStart, end: textEnd });
      lastLineEnd = lineEnd;
    }
    isEmpty = true;
    afterReturn = false;
  };
  const partTo = (readTo: number): Part => {
    const [first = { start: lastLineEnd, end: lastLineEnd }] = records;
    header ??= first;
    const part = { start: first.start, end: lastLineEnd, records, readTo };
    records = [];
    return part;
  };
  /** The records so far, if one more that ends here makes them too long for a part. */
  const partBefore = (end: number): Part | undefined => {
    const [first, second] = records;
    if (!first || (format === 'csv' && !header && !second)) return undefined;
    const headerBytes = format === 'csv' && header ? header.end - header.start + 1 : 0;
    return headerBytes + end - first.start > limits.bytes ? partTo(recordStart) : undefined;
  };
  const reader = file.stream().getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const chunk = read.value;
    let from = 0;
    for (let at = findEnd(chunk, 0); at >= 0; at = findEnd(chunk, from)) {
      if (at > 0) last = chunk[at - 1] ?? 0;
      look(chunk, from, at);
      const before = partBefore(offset + at + 1);
      if (before) yield before;
      add(offset + at, offset + at + 1);
      from = at + 1;
      recordStart = offset + from;
      last = 0;
      if (records.length >= limits.records) yield partTo(recordStart);
    }
    if (from < chunk.length) last = chunk.at(-1) ?? 0;
    look(chunk, from, chunk.length);
    offset += chunk.length;
  }
  if (recordStart < offset) {
    const before = partBefore(offset);
    if (before) yield before;
    add(offset, offset);
  }
  if (records.length > 0) yield partTo(offset);
}

/** @returns a function that finds the next line feed at or after an index that ends a record; -1: none in the chunk */
function csvEnds(): (chunk: Uint8Array, from: number) => number {
  let state: 'start of cell' | 'unquoted' | 'quoted' | 'after quote' = 'start of cell';
  let marked = 0;
  return (chunk, from) => {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at];
      // The byte order mark is no part of the first cell.
      if (byte === MARK[marked]) {
        marked++;
        continue;
      }
      marked = MARK.length;
      if (state === 'quoted') {
        if (byte === QUOTE) state = 'after quote';
      } else if (byte === LINE_FEED) {
        state = 'start of cell';
        return at;
      } else if (byte === COMMA) state = 'start of cell';
      else if (byte === QUOTE && state !== 'unquoted') state = 'quoted';
      else state = 'unquoted';
    }
    return -1;
  };
}

/** The byte order mark of UTF-8. */
const MARK = [0xef, 0xbb, 0xbf];

async function beginsWith(file: Blob, start: number, pattern: RegExp): Promise<boolean> {
  const bytes = await file.slice(start, start + 4).arrayBuffer();
  return pattern.test(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
}

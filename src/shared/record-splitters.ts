/** A line of a stream. `number` counts from 1. */
export type ImportLine =
  | { readonly number: number; readonly bytes: Uint8Array }
  | { readonly number: number; readonly tooLong: true }
  /** There was no memory for it. */
  | { readonly number: number; readonly noRoom: true };

const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
/** Of UTF-8. */
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/** Returns the first line without the byte order mark. */
function unmarked(line: Uint8Array): Uint8Array {
  return BYTE_ORDER_MARK.every((byte, at) => line[at] === byte) ? line.subarray(BYTE_ORDER_MARK.length) : line;
}

const FIRST_CAPACITY = 1_024;
/** A line that arrives in parts takes memory beyond this capacity. */
const UNCOUNTED = 16_384;
const EMPTY = new Uint8Array(0);

/** Memory for lines that arrive in parts. */
export interface LineMemory {
  /** @returns why there is none for so many more bytes; undefined: they are taken */
  take(bytes: number): unknown;
}

/**
 * Splits chunks of any size into lines. A line ends with a line feed, which is not part of it. The last line may have
 * none. A line over the limit, or without memory, is not kept. Browsers run it too.
 */
export class LineSplitter {
  /** Where the last line that was returned begins, and where its line feed is, in bytes from the first chunk on. */
  lineStart = 0;
  lineEnd = 0;
  protected lines = 0;
  private held = EMPTY;
  /** The length of the current line. Counts on if the line is not kept, when nothing is held. */
  private length = 0;
  private hasNoRoom = false;
  private hasContent = false;
  /** The bytes of all earlier chunks. */
  private offset = 0;

  /** @param memory absent: unlimited */
  constructor(
    private readonly limitBytes: number,
    private readonly memory?: LineMemory,
  ) {}

  /** The bytes of the current line that have arrived; 0 as long as the line may be one that is skipped. */
  get pendingBytes(): number {
    return this.hasContent ? this.length : 0;
  }

  /** @returns the lines that end in this chunk; they share its memory */
  *push(chunk: Uint8Array): Generator<ImportLine, void, void> {
    let start = 0;
    for (;;) {
      if (this.length === 0) {
        start = this.skipLines(chunk, start);
        this.lineStart = this.offset + start;
      }
      const end = this.findEnd(chunk, start);
      if (end < 0) break;
      this.lineEnd = this.offset + end;
      const line = this.finish(chunk.subarray(start, end));
      if (line) yield line;
      start = end + 1;
    }
    this.hold(chunk.subarray(start));
    this.offset += chunk.length;
  }

  /** @returns the last line if it has no line feed */
  *end(): Generator<ImportLine, void, void> {
    this.lineEnd = this.offset;
    const line = this.length > 0 ? this.finish(EMPTY) : undefined;
    if (line) yield line;
  }

  /** @returns the index of the line feed that ends the current line; -1 if it is not in this chunk */
  protected findEnd(chunk: Uint8Array, from: number): number {
    return chunk.indexOf(LINE_FEED, from);
  }

  /** Skips lines at the start of a line. Cheaper than {@link read} for each of millions. */
  protected skipLines(_chunk: Uint8Array, from: number): number {
    return from;
  }

  /** Returns what is read of a line; undefined: it is skipped without a number. */
  protected read(line: Uint8Array): Uint8Array | undefined {
    return line;
  }

  /** Whether nothing but what a skipped line has is in a part of a line. */
  protected isBlank(_part: Uint8Array): boolean {
    return false;
  }

  /** @returns undefined if the line is skipped */
  private finish(last: Uint8Array): ImportLine | undefined {
    const isWhole = this.length === 0;
    if (!isWhole) this.hold(last);
    const { hasNoRoom } = this;
    const length = isWhole ? last.length : this.length;
    const bytes = isWhole ? last : this.held.subarray(0, length);
    this.drop();
    this.length = 0;
    this.hasNoRoom = false;
    this.hasContent = false;
    const isOver = length > this.limitBytes + (bytes.at(-1) === CARRIAGE_RETURN ? 1 : 0);
    if (isOver) return { number: ++this.lines, tooLong: true };
    if (hasNoRoom) return { number: ++this.lines, noRoom: true };
    const read = this.read(bytes);
    return read && { number: ++this.lines, bytes: read };
  }

  private hold(part: Uint8Array): void {
    const at = this.length;
    this.length += part.length;
    this.hasContent ||= !this.isBlank(part);
    // A carriage return before the line feed is no part of the line.
    if (this.length > this.limitBytes + 1) this.drop();
    else if (this.hasNoRoom) return;
    else if (this.grow()) this.held.set(part, at);
    else {
      this.hasNoRoom = true;
      this.drop();
    }
  }

  /**
   * Doubles the capacity, so that a line in many chunks is not copied for each of them.
   * @returns whether there is memory for it
   */
  private grow(): boolean {
    if (this.length <= this.held.length) return true;
    const capacity = Math.max(FIRST_CAPACITY, this.length, 2 * this.held.length);
    if (this.memory?.take(countedOf(capacity) - countedOf(this.held.length))) return false;
    const larger = new Uint8Array(capacity);
    larger.set(this.held);
    this.held = larger;
    return true;
  }

  private drop(): void {
    this.memory?.take(-countedOf(this.held.length));
    this.held = EMPTY;
  }
}

function countedOf(capacity: number): number {
  return capacity > UNCOUNTED ? capacity : 0;
}

/** Splits NDJSON into lines. Skips blank lines, and a byte order mark at the beginning. */
export class NdjsonSplitter extends LineSplitter {
  private isFirst = true;

  protected override read(line: Uint8Array): Uint8Array | undefined {
    const text = this.isFirst ? unmarked(line) : line;
    this.isFirst = false;
    return isBlank(text) ? undefined : text;
  }

  protected override isBlank(part: Uint8Array): boolean {
    return isBlank(part);
  }
}

function isBlank(line: Uint8Array): boolean {
  return line.every((byte) => byte === SPACE || byte === TAB || byte === CARRIAGE_RETURN);
}

/**
 * Splits chunks of CSV into records. Quoted line ends are part of a record. Skips records whose cells are all empty, as
 * blank lines are, and a first line `sep=;`, in which spreadsheets look for the separator. The number of the header row
 * is 0.
 */
export class CsvSplitter extends LineSplitter {
  protected override lines = -1;
  private state: 'start of cell' | 'unquoted' | 'quoted' | 'after quote' = 'start of cell';
  /** The next byte of the byte order mark; its end if the stream has gone on without it. */
  private markAt = 0;
  private isFirst = true;
  private readonly separator: number;

  /** @param separator what stands between cells, one ASCII character: people's files have `;` and tabs too */
  constructor(limitBytes: number, memory?: LineMemory, separator = ',') {
    super(limitBytes, memory);
    this.separator = separator.charCodeAt(0);
  }

  protected override findEnd(chunk: Uint8Array, from: number): number {
    const { separator } = this;
    for (let at = from; at < chunk.length; at++) {
      if (this.isMark(chunk[at])) continue;
      if (this.state === 'quoted') {
        at = chunk.indexOf(QUOTE, at);
        if (at < 0) return -1;
        this.state = 'after quote';
        continue;
      }
      switch (chunk[at]) {
        case LINE_FEED:
          this.state = 'start of cell';
          return at;
        case separator:
          this.state = 'start of cell';
          break;
        case QUOTE:
          // Two quotation marks inside quotes are one of the text. Elsewhere in a cell, one makes the record malformed.
          if (this.state !== 'unquoted') this.state = 'quoted';
          break;
        default:
          this.state = 'unquoted';
      }
    }
    return -1;
  }

  protected override skipLines(chunk: Uint8Array, from: number): number {
    if (this.lines < 0) return from;
    for (let at = from; ; ) {
      const end = chunk[at] === CARRIAGE_RETURN ? at + 1 : at;
      if (chunk[end] !== LINE_FEED) return at;
      at = end + 1;
    }
  }

  protected override read(record: Uint8Array): Uint8Array | undefined {
    if (this.lines >= 0) return this.isEmpty(record) ? undefined : record;
    const text = unmarked(record);
    const isSeparatorLine = this.isFirst && /^sep=/i.test(String.fromCharCode(...text.subarray(0, 4)));
    this.isFirst = false;
    return isSeparatorLine || this.isEmpty(text) ? undefined : text;
  }

  protected override isBlank(part: Uint8Array): boolean {
    return part.every((byte) => byte === this.separator || byte === CARRIAGE_RETURN);
  }

  private isEmpty(record: Uint8Array): boolean {
    const end = endOf(record);
    let at = 0;
    while (at < end && record[at] === this.separator) at++;
    return at === end;
  }

  private isMark(byte: number | undefined): boolean {
    if (this.markAt === BYTE_ORDER_MARK.length) return false;
    const isMark = byte === BYTE_ORDER_MARK[this.markAt];
    this.markAt = isMark ? this.markAt + 1 : BYTE_ORDER_MARK.length;
    return isMark;
  }
}

/** The length of a record without the carriage return of its line end. */
export function endOf(record: Uint8Array): number {
  return record.at(-1) === CARRIAGE_RETURN ? record.length - 1 : record.length;
}

/** The cells of a record of CSV; undefined stands for an empty cell without quotation marks. */
export type Cells = readonly (string | undefined)[];

/**
 * Reads the cells of a record of CSV, without its line end. By hand: csv-parse reads a twentieth of the records in a
 * second when it tells an empty text from an empty cell, and a malformed record must not affect the next.
 * @param max the maximum number of cells; reading stops after one more
 * @param onMalformed called with the number of the first malformed cell, from 1, and what it has
 * @param separator what stands between cells
 * @returns undefined if a cell is malformed
 */
export function cellsOf(
  record: string,
  max = 0xffff_fffe,
  onMalformed?: (cell: number, problem: string) => void,
  separator = ',',
): Cells | undefined {
  if (!SYNTAX.test(record)) return record.split(separator, max + 1).map((cell) => cell || undefined);
  const cells: (string | undefined)[] = [];
  for (let start = 0; start <= record.length && cells.length <= max; ) {
    const isQuoted = record[start] === '"';
    const end = isQuoted ? endOfQuoted(record, start) : endOfUnquoted(record, start, separator);
    const cell = isQuoted ? record.slice(start + 1, end - 1) : record.slice(start, end);
    const problem = isQuoted ? problemBehind(record, end, separator) : strayIn(cell);
    if (problem !== undefined) {
      onMalformed?.(cells.length + 1, problem);
      return undefined;
    }
    cells.push(isQuoted ? cell.replaceAll('""', '"') : cell || undefined);
    start = end + 1;
  }
  return cells;
}

const SYNTAX = /["\r]/;

/** @returns the index after the closing quotation mark; -1 if there is none */
function endOfQuoted(record: string, start: number): number {
  let close = record.indexOf('"', start + 1);
  while (close >= 0 && record[close + 1] === '"') close = record.indexOf('"', close + 2);
  return close < 0 ? -1 : close + 1;
}

function endOfUnquoted(record: string, start: number, separator: string): number {
  const end = record.indexOf(separator, start);
  return end < 0 ? record.length : end;
}

function problemBehind(record: string, end: number, separator: string): string | undefined {
  if (end < 0) return 'begins with a quotation mark that is not closed';
  const next = record[end];
  if (next === undefined || next === separator) return undefined;
  const name = separator === ',' ? 'a comma' : JSON.stringify(separator);
  return `has ${JSON.stringify(next)} after its closing quotation mark, where ${name} or the end must follow`;
}

function strayIn(cell: string): string | undefined {
  if (cell.includes('"')) return 'has a quotation mark and does not begin with one';
  return cell.includes('\r') ? 'has a carriage return and no quotation marks around it' : undefined;
}

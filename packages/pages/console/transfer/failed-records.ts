import type { ImportResult } from '#packages/client/index.js';
import { cellsOf } from '#src/shared/record-splitters.js';
import type { Format, Part, Range } from './records-in-file.js';

type Refusal = ImportResult & Required<Pick<ImportResult, 'error'>>;
type Bytes = Uint8Array<ArrayBuffer>;

/** A record over this size, in bytes, is not read: a quotation mark that is not closed makes one of a whole file. */
const MAX_RECORD_BYTES = 1_048_576;

/**
 * The records of a file that were refused, as a file of the same format with one more column or member: the error.
 * Their bytes are those of the file. A record that nobody has corrected is refused again once the error is removed.
 */
export class FailedRecords {
  /** A browser keeps blobs outside the memory of the page. */
  private readonly blobs: Blob[] = [];
  private header: Range | undefined;
  private columns = 0;

  constructor(
    private readonly file: File,
    private readonly format: Format,
  ) {}

  /** @param header the header row of CSV, with so many cells */
  begin(header: Range, columns: number): void {
    this.header = header;
    this.columns = columns;
  }

  /** @param results one for each record of the part */
  async add({ records }: Part, results: readonly ImportResult[]): Promise<void> {
    const pieces: BlobPart[] = [];
    for (const [at, result] of results.entries()) {
      const record = records[at];
      if (!record || !isRefusal(result)) continue;
      const isCsv = this.format === 'csv';
      pieces.push(...(isCsv ? await this.row(record, result) : await this.line(record, result)), '\n');
    }
    if (pieces.length > 0) this.blobs.push(new Blob(pieces));
  }

  asFile(): File {
    const { header } = this;
    // Its bytes, because a text would lack the byte order mark, by which spreadsheets know UTF-8.
    const head = header ? [this.file.slice(header.start, header.end), ',error\n'] : [];
    return new File([...head, ...this.blobs], failedName(this.file.name), { type: this.file.type });
  }

  /**
   * A row with its error. What is no row with the columns of the header stands behind the error, one cell too many, and
   * its own cells are empty: the service refuses it until somebody has put the text into its cells.
   */
  private async row({ start, end }: Range, { error }: Refusal): Promise<BlobPart[]> {
    const record = this.file.slice(start, end);
    const reason = `"${`${error.code}: ${reasonOf(error)}`.replaceAll('"', '""')}"`;
    const empty = ','.repeat(this.columns);
    const behind = [empty, reason, ','];
    if (end - start > MAX_RECORD_BYTES) return [...behind, record];
    const bytes = await bytesOf(record);
    // A decoder that finds a character for each byte, because the record can be in another encoding than UTF-8.
    const text = new TextDecoder('latin1').decode(bytes);
    const cells = cellsOf(text);
    if (cells?.length === this.columns) return [bytes, ',', reason];
    // It was given back before, and nobody has corrected it.
    if (cells?.length === this.columns + 1 && text.startsWith(empty)) return [...behind, bytes.slice(empty.length)];
    return [...behind, '"', escaped(bytes, inCsv), '"'];
  }

  /** A line of NDJSON with its error. What is no object stands in a member that no record has. */
  private async line({ start, end }: Range, { error }: Refusal): Promise<BlobPart[]> {
    const record = this.file.slice(start, end);
    if (end - start > MAX_RECORD_BYTES) return [record];
    const bytes = await bytesOf(record);
    const text = new TextDecoder().decode(bytes);
    const member = `"error":${JSON.stringify(error)}}`;
    if (!isObject(text)) return ['{"text":"', escaped(bytes, inJson), '",', member];
    const isEmpty = /^\s*\{\s*\}\s*$/.test(text);
    let open = bytes.lastIndexOf(CLOSE);
    while ((bytes[open - 1] ?? SPACE + 1) <= SPACE) open--;
    return [bytes.slice(0, open), isEmpty ? '' : ',', member];
  }
}

function isRefusal(result: ImportResult): result is Refusal {
  return result.error !== undefined;
}

/** `products.csv` → `products-failed.csv` */
function failedName(name: string): string {
  return name.replace(/(\.\w+)?$/, '-failed$1');
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** Why a record was refused, in the words of the service. */
export function reasonOf({ message, details }: Refusal['error']): string {
  return details.length > 0 ? details.map(messageOf).join(' ') : message;
}

/** Its type is written out: a fresh checkout builds the page before the types of the client's document exist. */
function messageOf({ message }: { readonly message: string }): string {
  return message;
}

const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const CLOSE = 0x7d;

async function bytesOf(blob: Blob): Promise<Bytes> {
  return new Uint8Array(await blob.arrayBuffer());
}

/** The bytes of a text in quotation marks, in whatever encoding it is that has ASCII in it. */
function escaped(bytes: Bytes, escapeOf: (byte: number) => readonly number[]): Bytes {
  return Uint8Array.from([...bytes].flatMap(escapeOf));
}

function inCsv(byte: number): readonly number[] {
  return byte === QUOTE ? [QUOTE, QUOTE] : [byte];
}

function inJson(byte: number): readonly number[] {
  if (byte === QUOTE || byte === BACKSLASH) return [BACKSLASH, byte];
  if (byte >= SPACE) return [byte];
  return [...new TextEncoder().encode(`\\u${byte.toString(16).padStart(4, '0')}`)];
}

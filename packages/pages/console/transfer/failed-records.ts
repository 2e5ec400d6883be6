import type { ImportResult } from '#packages/client/index.js';
import { cellsOf } from '#src/shared/record-splitters.js';
import { BYTE_ORDER_MARK, csvRow } from './cells.js';
import { type RowReader, textIn } from './reading.js';
import type { Format } from './records-in-file.js';

type Refusal = ImportResult & Required<Pick<ImportResult, 'error'>>;
type Bytes = Uint8Array<ArrayBuffer>;

/** A record over this size, in bytes, is not read: a quotation mark that is not closed makes one of a whole file. */
const MAX_RECORD_BYTES = 1_048_576;
/** The name of the column or the member with the error. An import leaves such a column out. */
export const ERROR = 'error';

/**
 * The records of a file that were refused, as a file of the same format with one more column or member: the error. CSV
 * is in UTF-8 with a byte order mark, with the separator of the file, so that it can be corrected and imported as it is.
 */
export class FailedRecords {
  /** A browser keeps blobs outside the memory of the page. */
  private readonly blobs: Blob[] = [];
  private names: readonly string[] = [];
  /** Where the errors of an earlier import are; -1 if there are none. */
  private errorAt = -1;

  /** @param rows how CSV is read; absent: as the API reads it */
  constructor(
    private readonly file: File,
    private readonly format: Format,
    private readonly rows?: Pick<RowReader, 'separator' | 'encoding'>,
  ) {}

  /** @param names the cells of the header row of CSV */
  begin(names: readonly string[]): void {
    this.errorAt = names.indexOf(ERROR);
    this.names = names.filter((_, at) => at !== this.errorAt);
  }

  /** @param results one for each record */
  add(records: readonly Uint8Array[], results: readonly ImportResult[]): void {
    const pieces: BlobPart[] = [];
    for (const [at, result] of results.entries()) {
      const record = records[at] as Bytes | undefined;
      if (!record || !isRefusal(result)) continue;
      pieces.push(...(this.format === 'csv' ? this.row(record, result) : this.line(record, result)), '\n');
    }
    if (pieces.length > 0) this.blobs.push(new Blob(pieces));
  }

  asFile(): File {
    const isCsv = this.format === 'csv' && this.names.length > 0;
    const head = isCsv ? [BYTE_ORDER_MARK, csvRow([...this.names, ERROR], this.separator), '\n'] : [];
    return new File([...head, ...this.blobs], failedName(this.file.name), { type: this.file.type });
  }

  private get separator(): string {
    return this.rows?.separator ?? ',';
  }

  /**
   * A row with its error. What is no row with the columns of the header stands behind the error, one cell too many, and
   * its own cells are empty: an import refuses it until somebody has put the text into its cells.
   */
  private row(record: Bytes, { error }: Refusal): BlobPart[] {
    const { separator, errorAt, names } = this;
    const reason = `"${`${error.code}: ${reasonOf(error)}`.replaceAll('"', '""')}"`;
    const behind = [separator.repeat(names.length), reason, separator];
    if (record.length > MAX_RECORD_BYTES) return [...behind, record];
    const text = textIn(record, this.rows?.encoding);
    const cells = cellsOf(text, undefined, undefined, separator)?.filter((_, at) => at !== errorAt);
    if (cells?.length === names.length) return [csvRow([...cells, undefined], separator), reason];
    // It was given back before, and nobody has corrected it.
    const isGivenBack = cells?.length === names.length + 1 && cells.slice(0, -1).every((cell) => cell === undefined);
    return [...behind, csvRow([isGivenBack ? cells.at(-1) : text], separator)];
  }

  /** A line of NDJSON with its error. What is no object stands in a member that no record has. */
  private line(record: Bytes, { error }: Refusal): BlobPart[] {
    if (record.length > MAX_RECORD_BYTES) return [record];
    const text = textIn(record);
    if (!isObject(text)) return [JSON.stringify({ text, error })];
    const members = text.slice(0, text.lastIndexOf('}')).trimEnd();
    return [members, members.trimStart() === '{' ? '' : ',', `"error":${JSON.stringify(error)}}`];
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

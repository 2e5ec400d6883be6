import type { ImportResult } from '#packages/client/index.js';
import { cellsOf } from '#src/shared/record-splitters.js';
import { isObject, isSame, jsonIn, member } from '../edit/json.js';
import type { FileBytes } from './files.js';
import { BYTE_ORDER_MARK, csvRow, type RowReader, textIn } from './reading.js';

type Refusal = NonNullable<ImportResult['error']>;

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
  /** Where the errors of an earlier import are in CSV; -1 if there are none. */
  private readonly errorAt: number;

  /** @param rows how CSV is read; absent: NDJSON */
  constructor(
    private readonly file: File,
    private readonly rows?: RowReader,
  ) {
    this.errorAt = rows?.names.indexOf(ERROR) ?? -1;
  }

  /** @param results one for each record */
  add(records: readonly FileBytes[], results: readonly ImportResult[]): void {
    const { rows } = this;
    const pieces = results.flatMap(({ error }, at) => {
      const record = records[at];
      if (!error || !record) return [];
      return [...(rows ? this.row(record, error, rows) : lineOf(record, error)), '\n'];
    });
    if (pieces.length > 0) this.blobs.push(new Blob(pieces));
  }

  asFile(): File {
    const { rows, file } = this;
    const head = rows
      ? [BYTE_ORDER_MARK, csvRow([...this.withoutError(rows.names), ERROR], rows.reading.separator), '\n']
      : [];
    return new File([...head, ...this.blobs], file.name.replace(/(\.\w+)?$/, '-failed$1'), { type: file.type });
  }

  /**
   * A row with its error. What is no row with the columns of the header stands behind the error, one cell too many, and
   * its own cells are empty: an import refuses it until somebody has put the text into its cells.
   */
  private row(record: FileBytes, error: Refusal, { names, reading: { separator, encoding } }: RowReader): BlobPart[] {
    const width = this.withoutError(names).length;
    const reason = `"${`${error.code}: ${reasonOf(error)}`.replaceAll('"', '""')}"`;
    const behind = [separator.repeat(width), reason, separator];
    if (isLong(record)) return [...behind, record];
    const text = textIn(record, encoding);
    const cells = this.withoutError(cellsOf(text, undefined, undefined, separator) ?? []);
    if (cells.length === width) return [csvRow([...cells, undefined], separator), reason];
    // It was given back before, and nobody has corrected it.
    const isGivenBack = cells.length === width + 1 && cells.slice(0, -1).every((cell) => cell === undefined);
    return [...behind, csvRow([isGivenBack ? cells.at(-1) : text], separator)];
  }

  private withoutError<Cell>(cells: readonly Cell[]): Cell[] {
    return cells.filter((_, at) => at !== this.errorAt);
  }
}

/** How a line ends that was given back before. */
const GIVEN_BACK = /,?\s*"error"\s*:\s*\{.*\}\s*\}\s*$/s;

/** A line of NDJSON without the error of an earlier import. The rest of its text stays as it is. */
export function withoutError(record: FileBytes): FileBytes | string {
  const text = isLong(record) ? '' : textIn(record);
  const line = jsonIn(text);
  if (!isObject(line) || !isObject(member(line, ERROR))) return record;
  const { [ERROR]: _, ...others } = line;
  const cut = text.replace(GIVEN_BACK, '}');
  return isSame(jsonIn(cut), others) ? cut : record;
}

/** A line of NDJSON with its error. What is no object stands in a member that no record has. */
function lineOf(given: FileBytes, error: Refusal): BlobPart[] {
  const record = withoutError(given);
  if (typeof record !== 'string' && isLong(record)) return [record];
  const text = typeof record === 'string' ? record : textIn(record);
  if (!isObject(jsonIn(text))) return [JSON.stringify({ text, error })];
  const members = text.slice(0, text.lastIndexOf('}')).trimEnd();
  return [members, members.trimStart() === '{' ? '' : ',', `"error":${JSON.stringify(error)}}`];
}

function isLong(record: FileBytes): boolean {
  return record instanceof Blob || record.length > MAX_RECORD_BYTES;
}

/** Why a record was refused, in the words of the service. */
export function reasonOf({ message, details }: Refusal): string {
  return details.length > 0 ? details.map(messageOf).join(' ') : message;
}

/** Its type is written out: a fresh checkout builds the page before the types of the client's document exist. */
function messageOf({ message }: { readonly message: string }): string {
  return message;
}

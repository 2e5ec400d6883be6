import type { ImportResult } from 'product-catalogue-client';
import type { Format, Part, Range } from './records-in-file.js';

type Refusal = ImportResult & Required<Pick<ImportResult, 'error'>>;

/** A record over this size, in bytes, is not copied. The service refuses it anyway. */
const MAX_RECORD_BYTES = 1_048_576;

/** The records of a file that were refused, as a file of the same format with one more column or member: the error. */
export class FailedRecords {
  /** A browser keeps blobs outside the memory of the page. */
  private readonly blobs: Blob[] = [];
  private header: Range | undefined;
  private columns = 0;

  constructor(
    private readonly file: File,
    private readonly format: Format,
  ) {}

  /** @param header the header row of CSV */
  async begin(header: Range): Promise<void> {
    this.header = header;
    const text = await this.textOf(header);
    this.columns = text.replaceAll(/"[^"]*"/g, '').split(',').length;
  }

  /** @param results one for each record of the part */
  async add({ records }: Part, results: readonly ImportResult[]): Promise<void> {
    const texts: string[] = [];
    for (const [at, result] of results.entries()) {
      const record = records[at];
      if (!record || !isRefusal(result)) continue;
      const text = await this.textOf(record);
      texts.push(
        `${this.format === 'csv' ? csvWithError(text, result, this.columns) : jsonWithError(text, result)}\n`,
      );
    }
    if (texts.length > 0) this.blobs.push(new Blob(texts));
  }

  asFile(): File {
    const { header } = this;
    // Its bytes, because a text would lack the byte order mark, by which spreadsheets know UTF-8.
    const head = header ? [this.file.slice(header.start, header.end), ',error\n'] : [];
    return new File([...head, ...this.blobs], failedName(this.file.name), { type: this.file.type });
  }

  private textOf({ start, end }: Range): Promise<string> {
    return end - start > MAX_RECORD_BYTES
      ? Promise.resolve(`(${end - start} bytes)`)
      : this.file.slice(start, end).text();
  }
}

function isRefusal(result: ImportResult): result is Refusal {
  return result.error !== undefined;
}

/** `products.csv` → `products-failed.csv` */
function failedName(name: string): string {
  return name.replace(/(\.\w+)?$/, '-failed$1');
}

/** Keeps the text as it is, so that a person who compares it with the file finds no other difference. */
function jsonWithError(text: string, { error }: Refusal): string {
  const member = `"error":${JSON.stringify(error)}`;
  if (!isObject(text)) return `{"text":${JSON.stringify(text)},${member}}`;
  const open = text.trimEnd().slice(0, -1).trimEnd();
  return `${open}${open.endsWith('{') ? '' : ','}${member}}`;
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/**
 * A record that is no CSV stands in the first cell as it was, and empty cells follow, so that the other records and all
 * errors stay in their columns.
 */
function csvWithError(text: string, { error }: Refusal, columns: number): string {
  const record = error.code === 'malformed_csv' ? `${quoted(text)}${','.repeat(columns - 1)}` : text;
  const messages = error.details.length > 0 ? error.details.map(messageOf) : [error.message];
  return `${record},${quoted(`${error.code}: ${messages.join(' ')}`)}`;
}

/** Its type is written out: a fresh checkout builds the page before the types of the client's document exist. */
function messageOf({ message }: { readonly message: string }): string {
  return message;
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

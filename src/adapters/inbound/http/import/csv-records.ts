import { isUtf8 } from 'node:buffer';
import type { SentRecord } from '../../../../application/records/record-format.js';
import { AppError, fieldIssue, type Issue, jsonPointer, MAX_ISSUES } from '../../../../domain/errors.js';
import { type MoneyField, memberValue } from '../../../../domain/fields.js';
import { amountOf, currencyDigits, decimalOf } from '../../../../domain/money.js';
import { validateText } from '../../../../domain/text.js';
import { ATTRIBUTES, issueIn } from '../../../../domain/validation.js';
import { isUrl, type JsonObject, readBoolean, readInteger, readNumber, readTexts } from '../../../../shared/json.js';
import { type Cells, CsvSplitter, cellsOf, endOf, type ImportLine } from '../../../../shared/record-splitters.js';
import { parseStrictJson } from '../body/strict-json.js';
import { HttpError } from '../core/http-error.js';
import { CSV } from '../core/media-types.js';
import { type Column, type Columns, decimalConflicts } from '../lists/csv.js';
import { ATTRIBUTES as ATTRIBUTE_COLUMNS } from '../parameters/attribute-name.js';
import type { Match } from './batch-importer.js';
import type { ImportFormat } from './import-handler.js';
import { bytesOf, readLines } from './read-lines.js';

/** More than any header needs. Bounds the time that one record takes. */
const MAX_COLUMNS = 10_000;

/** Imports from CSV (RFC 4180). The header row names the columns of {@link Columns}. */
export function csvImport(columns: Columns): ImportFormat {
  return {
    hasCells: true,
    checkType: rejectAbsentHeader,
    open: async (source, limitBytes, match) => {
      const batches = readLines(source, new CsvSplitter(limitBytes, source.memory));
      const { value: batch } = await batches.next();
      const header = readHeader(batch?.[0], forMatch(columns, match), limitBytes);
      return {
        batches: following(batch?.slice(1) ?? [], batches),
        parse: (record) => {
          const cells = readRecord(bytesOf(record, limitBytes, 'record'), header.columns);
          const sent = new SentCells(cells, match);
          const { body, issues } = sent.read(header);
          if (!match || !sent.dependsOnStored) return { body, issues };
          return { body, issues, beside: (stored) => new SentCells(cells, match, stored).read(header) };
        },
      };
    },
  };
}

/** The columns of an import, of which those with a value in each record are required in the header row. */
type ImportColumns = Columns & { readonly match?: Match };

/** To an import with `match` the columns belong that say what happens to a record. */
function forMatch(columns: Columns, match: Match | undefined): ImportColumns {
  if (!match) return columns;
  return { ...columns, sendable: [...columns.control, ...columns.sendable], match };
}

/** Of an import with `match` only the key is required, because a record may exist. */
function isDue({ name, isRequired }: Column, match: Match | undefined): boolean {
  return match ? name === match.field : isRequired;
}

/** @throws HttpError `unsupported_media_type` for `text/csv; header=absent` (RFC 4180 section 3) */
function rejectAbsentHeader(contentType: string): void {
  if (!/;\s*header="?absent"?\s*(?:;|$)/i.test(contentType)) return;
  throw new HttpError('unsupported_media_type', `Send ${CSV} with a header row, which names the fields.`);
}

async function* following(
  first: readonly ImportLine[],
  rest: AsyncIterable<readonly ImportLine[]>,
): AsyncGenerator<readonly ImportLine[], void, void> {
  if (first.length > 0) yield first;
  yield* rest;
}

/** The byte order marks of UTF-16, which spreadsheets call Unicode text. */
const UTF_16_MARKS = ['\xff\xfe', '\xfe\xff'];

/** What a header row says of the records. */
interface Header {
  /** Those of kind `decimal` are read last, when the currency is known. */
  readonly columns: readonly PlacedColumn[];
  readonly prices: readonly PriceColumns[];
}

interface PlacedColumn {
  /** Its cell in each record, counted from 0. */
  readonly at: number;
  /** As sent. */
  readonly name: string;
  /** Undefined if no column with this name can be sent, or if it has no name. */
  readonly column: Column | undefined;
  /** Whether it has the key, or says what the line does. It is no field that the line changes. */
  readonly isOfLine: boolean;
}

/** The columns of an amount of money. */
interface PriceColumns {
  readonly money: MoneyField;
  /** In the smallest or the major unit. */
  readonly amount: PlacedColumn | undefined;
  readonly currency: PlacedColumn | undefined;
}

/**
 * @throws HttpError `malformed_csv`, `payload_too_large`
 * @throws AppError `validation_failed` with the issues of all columns
 */
function readHeader(row: ImportLine | undefined, columns: ImportColumns, limitBytes: number): Header {
  if (!row) throw malformed('The body has no header row.');
  const bytes = bytesOf(row, limitBytes, 'header row');
  if (UTF_16_MARKS.includes(bytes.toString('latin1', 0, 2))) throw malformed(`The body is UTF-16. ${SAVE_AS_UTF_8}`);
  const names = readCells(bytes, 'header row', MAX_COLUMNS);
  if (names.length > MAX_COLUMNS)
    throw new HttpError('payload_too_large', `The header row has more than ${MAX_COLUMNS} columns.`);
  const ofLine = columns.match ? [columns.match.field, ...columns.control.map(({ name }) => name)] : [];
  const placed = names.map((name = '', at) => {
    const column = name === '' ? undefined : sendableColumn(name, columns);
    return { at, name, column, isOfLine: column !== undefined && ofLine.includes(column.name) };
  });
  const issues = headerIssues(placed, columns).slice(0, MAX_ISSUES);
  if (issues.length > 0) throw new AppError('validation_failed', 'The header row is invalid; see details.', issues);
  const isDecimal = ({ column }: PlacedColumn) => Number(column?.kind === 'decimal');
  return {
    columns: placed.toSorted((one, other) => isDecimal(one) - isDecimal(other)),
    prices: pricesOf(placed),
  };
}

function pricesOf(columns: readonly PlacedColumn[]): PriceColumns[] {
  return [...new Set(columns.flatMap(({ column }) => column?.money ?? []))].map((money) => {
    const own = columns.filter(({ column }) => column?.money === money);
    const isAmount = ({ column }: PlacedColumn) => column?.kind !== 'text';
    return { money, amount: own.find(isAmount), currency: own.find((one) => !isAmount(one)) };
  });
}

function sendableColumn(name: string, { sendable, decimals, attribute }: Columns): Column | undefined {
  const isNamed = (column: Column) => column.name === name;
  return sendable.find(isNamed) ?? decimals.find(isNamed) ?? typedAttribute(name, attribute) ?? attribute(name);
}

/** The column of an attribute that is no text, such as `attributes[watts]:number`. */
function typedAttribute(name: string, attribute: Columns['attribute']): Column | undefined {
  const [, untyped = '', kind] = /^(attributes\[.*\]):(number|boolean)$/s.exec(name) ?? [];
  const column = attribute(untyped);
  return column && { ...column, kind: kind === 'number' ? 'number' : 'boolean' };
}

/** Everything that is wrong with a header row, in its order; then the required columns that it lacks. */
function headerIssues(header: readonly PlacedColumn[], columns: ImportColumns): Issue[] {
  const seen = new Set<string>();
  const named = header.filter(({ name }) => name !== '');
  const hint = separatorHint(named);
  const ofNames = named.flatMap((cell) => {
    const name = cell.column?.name ?? cell.name;
    const issues = seen.has(name)
      ? [fieldIssue('duplicate_value', [cell.name], 'must be in the header row once')]
      : columnIssues(cell, columns);
    seen.add(name);
    // In the detail, because programs show details and leave the message of the error out.
    return issues.map((issue) => ({ ...issue, message: `${issue.message}${hint}` }));
  });
  const missing = columns.sendable.filter((one) => isDue(one, columns.match) && !seen.has(one.name));
  return [
    ...ofNames,
    ...overlapIssues(seen, columns),
    ...decimalConflicts(columns, seen).map(({ code, column, message }) => issueAt([column], code, message)),
    ...missing.map(({ name }) => fieldIssue('required', [name], 'is required in the header row')),
  ];
}

function issueAt(path: readonly string[], code: Issue['code'], message: string): Issue {
  return { code, message, in: 'body', pointer: jsonPointer(path) };
}

const ID_WITHOUT_MATCH =
  'is given by the service: leave it out, or change the records that have these ids with ?match=id';

function columnIssues({ name, column }: PlacedColumn, columns: ImportColumns): Issue[] {
  if (!column) {
    if (name === 'id') return [fieldIssue('read_only_field', [name], ID_WITHOUT_MATCH)];
    const isReadOnly = [...columns.shown, ...columns.own].some((one) => one.name === name);
    if (isReadOnly) return [issueIn({}, { code: 'read_only_field', path: [name] })];
    const known = [...columns.sendable, ...columns.decimals].map((one) => one.name);
    if (columns.attribute('attributes.KEY')) known.push('attributes.KEY');
    return [fieldIssue('unknown_field', [name], `is not a column: there are ${known.join(', ')}`)];
  }
  const key = columns.attribute(column.name)?.path[1];
  if (key === undefined) return [];
  if (key === '__proto__')
    return [fieldIssue('invalid_format', [name], 'must have another key, because readers of JSON differ on it')];
  return validateText(key, ATTRIBUTES.key).map((code) => issueIn({}, { code, path: [name], ofKey: true }));
}

/** An object must not have a column of its own beside one of its members, which could then have two values. */
function overlapIssues(names: ReadonlySet<string>, columns: Columns): Issue[] {
  const fields = new Set([...names].map((name) => columns.attribute(name)?.path[0]));
  return [...fields]
    .filter((field): field is string => field !== undefined && names.has(field))
    .map((field) =>
      issueAt([field], 'duplicate_value', `The column ${field} cannot stand beside columns of single ${field}.`),
    );
}

/** Explains the header of a file with other separators than commas, as spreadsheets write it in many countries. */
function separatorHint([first, ...others]: readonly PlacedColumn[]): string {
  const separator = others.length === 0 ? /[;\t|]/.exec(first?.name ?? '')?.[0] : undefined;
  if (separator === undefined) return '';
  return ` The row has only one cell, with ${JSON.stringify(separator)} in it: cells are separated by commas here, and a line sep= does not change that.`;
}

/** @throws HttpError `malformed_csv` */
function readRecord(record: Buffer, columns: readonly PlacedColumn[]): Cells {
  const cells = readCells(record, 'record', columns.length, columns);
  if (cells.length !== columns.length) {
    const count = cells.length > columns.length ? `more than ${columns.length}` : cells.length;
    const noun = count === 1 ? 'cell' : 'cells';
    throw malformed(`The record has ${count} ${noun}, and the header row has ${columns.length}.`);
  }
  const stray = columns.find(({ at, column }) => !column && cells[at]);
  if (stray) throw malformed(`Cell ${stray.at + 1} of the record has a value, and its column has no name.`);
  return cells;
}

/**
 * The cells of a record, as they would have been sent in JSON. A cell that does not fit its column stays a text, so that
 * validation reports it, or an issue replaces what validation says.
 */
class SentCells {
  private shown: JsonObject | undefined;
  private readonly isMerge: boolean;
  /** Whether an empty cell removes the value. */
  private readonly clears: boolean;

  private readonly body: Record<string, unknown> = {};
  private readonly issues = new Map<string, Issue | string>();
  /** Whether a cell may mean something else beside a record that has the key. */
  dependsOnStored = false;

  /** @param stored returns the record that has the key, as clients see it; absent for a new record */
  constructor(
    private readonly cells: Cells,
    match: Match | undefined,
    private readonly stored?: () => JsonObject,
  ) {
    this.isMerge = match?.existing === 'merge';
    this.clears = this.isMerge && match?.clears === true;
  }

  /** @throws HttpError `malformed_json` for a cell that must be JSON, `payload_too_large` */
  read({ columns, prices }: Header): SentRecord & { readonly body: Readonly<Record<string, unknown>> } {
    for (const { at, column, isOfLine } of columns) {
      if (!column) continue;
      const cell = this.cells[at];
      if (cell === undefined) {
        if (this.clears && !isOfLine) this.clear(column);
      } else {
        const typed = this.asStored(column);
        if (typed.kind === 'text') this.holderOf(typed)[nameOf(typed)] = cell;
        else this.take(cell, typed, isOfLine);
      }
    }
    for (const price of prices) this.complete(price);
    return { body: this.body, issues: this.issues };
  }

  private take(cell: string, column: Column, isOfLine: boolean): void {
    const { kind, money } = column;
    const holder = this.holderOf(column);
    const currency = kind === 'decimal' && money ? this.currencyOf(money, holder) : undefined;
    const value = this.valueOf(cell, column, currency);
    holder[nameOf(column)] = value;
    if (isOfLine || value !== cell) return;
    const issue = misfit(cell, column, currency);
    if (issue) this.issues.set(pointerTo(column), issue);
  }

  private valueOf(cell: string, column: Column, currency: string | undefined): unknown {
    const { kind, separator = ',', urlMember } = column;
    if (kind === 'list') return this.textsOf(cell, column, separator);
    if (urlMember !== undefined && isUrl(cell)) return this.objectsOf(cell, column, urlMember);
    return cellValue(cell, column, currency);
  }

  /** The texts without white space around them, unless the cell is what an export shows of the stored ones. */
  private textsOf(cell: string, { path, wrongSeparator }: Column, separator: string): readonly string[] {
    const texts = readTexts(cell, separator);
    const isTrimmed = texts.join(separator) !== cell;
    const stored = isTrimmed ? this.storedValue(path) : undefined;
    if (Array.isArray(stored) && stored.join(separator) === cell) return stored;
    for (const [at, text] of texts.entries())
      if (wrongSeparator !== undefined && text.includes(wrongSeparator))
        this.issues.set(jsonPointer([path[0], at]), `In a cell ${separator} separates them: cotton${separator}summer.`);
    return texts;
  }

  /** An object for each URL: the one that the stored record has, else one with the URL alone. */
  private objectsOf(cell: string, { path, separator = ',' }: Column, member: string): readonly unknown[] {
    const stored = this.storedValue(path);
    const known = Array.isArray(stored) ? stored : [];
    return cell
      .split(separator)
      .map((url) => known.find((one) => memberValue(one, member) === url) ?? { [member]: url });
  }

  /** The column of an attribute whose header has no type, beside a stored number or boolean, which has one. */
  private asStored(column: Column): Column {
    if (column.kind !== 'text' || column.path[0] !== ATTRIBUTE_COLUMNS) return column;
    const stored = typeof this.storedValue(column.path);
    return stored === 'number' || stored === 'boolean' ? { ...column, kind: stored } : column;
  }

  private storedValue([field, member]: Column['path']): unknown {
    this.dependsOnStored = true;
    this.shown ??= this.stored?.();
    const value = memberValue(this.shown, field);
    return member === undefined ? value : memberValue(value, member);
  }

  /** That of the line; under merge the stored one, if the line has none. */
  private currencyOf({ field, currency }: MoneyField, price: JsonObject): string | undefined {
    return (
      textOrNothing(price[currency]) ?? (this.isMerge ? textOrNothing(this.storedValue([field, currency])) : undefined)
    );
  }

  /** The object of the body that has the value of a column. */
  private holderOf({ path: [field, member] }: Column): Record<string, unknown> {
    if (member === undefined) return this.body;
    this.body[field] ??= {};
    return this.body[field] as Record<string, unknown>;
  }

  private clear(column: Column): void {
    this.dependsOnStored = true;
    if (!this.stored) return;
    this.holderOf(column)[nameOf(column)] = null;
    if (column.isRequired) this.issues.set(pointerTo(column), fieldIssue('required', stepsOf(column), NOT_CLEARED));
  }

  /** A price is one value: it goes as a whole, and another currency needs its amount. */
  private complete({ money, amount, currency }: PriceColumns): void {
    const price = this.clears && this.body[money.field];
    if (price && Object.values(price).every((member) => member === null)) this.body[money.field] = null;
    const code = currency && this.cells[currency.at];
    if (code === undefined || (amount && this.cells[amount.at] !== undefined)) return;
    const isStored = this.isMerge && this.storedValue([money.field, money.currency]) === code;
    if (isStored && !(amount && this.clears)) return;
    const steps = amount?.column ? stepsOf(amount.column) : [money.field, money.amount];
    const due = amount?.column?.kind === 'decimal' ? DECIMAL_DUE : AMOUNT_DUE;
    this.issues.set(jsonPointer([money.field, money.amount]), fieldIssue('required', steps, due));
  }
}

function stepsOf({ path }: Pick<Column, 'path'>): string[] {
  return path.filter((step) => step !== undefined);
}

/** The name of the value of a column in its object. */
function nameOf({ kind, money, path: [field, member] }: Column): string {
  return kind === 'decimal' && money ? money.amount : (member ?? field);
}

/** The JSON Pointer to the value of a column. */
function pointerTo(column: Column): string {
  const [field, member] = column.path;
  return jsonPointer(member === undefined ? [field] : [field, nameOf(column)]);
}

function textOrNothing(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

const NOT_CLEARED = 'is required: its cell cannot be empty with empty=clear';
const DECIMAL_DUE =
  'is required with its currency: it must be an amount in the major unit of the currency, such as 19.99';
const AMOUNT_DUE =
  'is required with its currency: it must be an integer in the smallest unit of the currency, such as 1999 for 19.99 EUR';

const DECIMAL = /^-?\d+(?:\.(\d+))?$/;

/** @param currency of an amount of money, if the record names one */
function cellValue(cell: string, column: Column, currency: string | undefined): unknown {
  switch (column.kind) {
    case 'integer':
    case 'amount':
      return readInteger(cell) ?? cell;
    case 'number':
      return readNumber(cell) ?? cell;
    case 'boolean':
      return readBoolean(cell) ?? cell;
    case 'decimal':
      // Without a currency the record is refused, whatever the amount.
      if (currency === undefined) return DECIMAL.test(cell) ? 0 : cell;
      return amountOf(cell, currency) ?? cell;
    case 'json':
      return jsonValue(cell, column);
    default:
      return cell;
  }
}

/** What is wrong with a cell that stayed a text, or a sentence about how its value is written. */
function misfit(cell: string, column: Column, currency: string | undefined): Issue | string | undefined {
  const { kind, money } = column;
  const steps = stepsOf(column);
  const takes = (what: string, code: Issue['code'] = 'invalid_type') =>
    issueAt(steps, code, `${steps.join('.')} takes ${what}.`);
  switch (kind) {
    case 'integer':
      return 'Write only digits, such as 1000: no point, comma or exponent.';
    case 'amount':
      return takes(
        `an integer in the smallest unit of the currency: 1999 is 19.99 EUR. Amounts such as 19.99 belong into a column ${money?.field}.decimal`,
      );
    case 'number':
      return takes('a number such as 7.5 or 0.25, with a point and a digit before it');
    case 'boolean':
      return takes('true or false');
    case 'decimal':
      break;
    default:
      return undefined;
  }
  const [form, fraction = ''] = DECIMAL.exec(cell) ?? [];
  const known = currency !== undefined && /^[A-Z]{3}$/.test(currency) ? currency : undefined;
  const digits = currencyDigits(known ?? '');
  if (form !== undefined && /^0*$/.test(fraction.slice(digits)))
    return takes(`an amount from 0 to ${decimalOf(Number.MAX_SAFE_INTEGER, known ?? '')}`, 'out_of_range');
  const example = decimalOf(1999, known ?? '');
  const places = digits === 0 ? 'without a point' : `with a point and at most ${digits} digits behind it`;
  return takes(`an amount in the major unit of ${known ?? 'the currency'}, ${places}: ${example}`);
}

/** @throws HttpError `malformed_json`, `payload_too_large` */
function jsonValue(cell: string, { name, urlMember, separator }: Column): unknown {
  try {
    return parseStrictJson(Buffer.from(cell));
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    const orUrls = `or URLs joined by ${separator}, such as https://example.com/1.jpg${separator}https://example.com/2.jpg`;
    throw new HttpError(error.code, error.message.replace('The body', `The cell in the column ${name}`), [
      fieldIssue('invalid_format', [name], `must be JSON${urlMember === undefined ? '' : ` ${orUrls}`}`),
    ]);
  }
}

/**
 * @param what the record in messages
 * @param max see {@link cellsOf}
 * @param columns if they are known, for messages
 * @throws HttpError `malformed_csv`
 */
function readCells(record: Buffer, what: string, max: number, columns: readonly PlacedColumn[] = []): Cells {
  const bytes = record.subarray(0, endOf(record));
  if (!isUtf8(bytes)) throw notUtf8(bytes, what, max, columns);
  const refuse = (cell: number, problem: string) => {
    throw malformed(`Cell ${cell} of the ${what} ${problem}.`);
  };
  return cellsOf(bytes.toString('utf8'), max, refuse) ?? [];
}

const SAVE_AS_UTF_8 = 'Save the file as CSV UTF-8.';

function notUtf8(bytes: Buffer, what: string, max: number, columns: readonly PlacedColumn[]): HttpError {
  // In Latin-1 every byte is a character, and a comma and a quotation mark are the same as in UTF-8.
  const cells = cellsOf(bytes.toString('latin1'), max) ?? [];
  const found = cells.findIndex((cell) => cell !== undefined && !isUtf8(Buffer.from(cell, 'latin1')));
  const name = columns.find(({ at }) => at === found)?.column?.name;
  const subject = name === undefined ? `Cell ${found + 1} of the ${what}` : `The cell in the column ${name}`;
  return malformed(`${found < 0 ? `The ${what}` : subject} is not UTF-8. ${SAVE_AS_UTF_8}`);
}

function malformed(message: string): HttpError {
  return new HttpError('malformed_csv', message);
}

import { cellsOf } from '#src/shared/record-splitters.js';
import { BYTE_ORDER_MARK, type CellKind, csvRow, guarded } from './cells.js';
import { attributeColumn } from './columns.js';
import { partsOf, recordsIn } from './records-in-file.js';

/** Excel writes no more characters of a number into CSV. */
const NUMBER_CHARACTERS = 11;
/** More attributes stay in one column, as JSON. */
const MAX_ATTRIBUTES = 1_000;

export interface SpreadsheetOptions {
  readonly name: string;
  /** Where the decimal mark is a comma, semicolons separate cells. */
  readonly decimalMark: '.' | ',';
  readonly kindOf: (column: string) => CellKind;
  /** The column of attributes as JSON, if there is one. Each attribute becomes a column of its own. */
  readonly map: string | undefined;
}

/** An export in CSV as a file for Excel and LibreOffice, which an import takes again. */
export async function forSpreadsheet(csv: File, options: SpreadsheetOptions): Promise<File> {
  const { name, decimalMark, kindOf, map } = options;
  const separator = decimalMark === ',' ? ';' : ',';
  const { columns, at, attributes } = await columnsIn(csv, map);
  const write = (cell: string | undefined, column: string) => {
    if (cell === undefined || cell === '') return cell;
    if (kindOf(column) !== 'number') return kindOf(column) === 'text' ? guarded(cell) : cell;
    const number = cell.replace('.', decimalMark);
    return number.length > NUMBER_CHARACTERS ? `="${number}"` : number;
  };
  const all = [...without(columns, at), ...attributes.values()];
  const pieces: BlobPart[] = [BYTE_ORDER_MARK, csvRow(all, separator), '\r\n'];
  for await (const rows of rowsOf(csv)) {
    const lines = rows.map((cells) => {
      const values = valuesIn(cells[at]);
      const others = [...attributes.keys()].map((key) =>
        Object.hasOwn(values, key) ? String(values[key]) : undefined,
      );
      const row = [...without(cells, at), ...others].map((cell, place) => write(cell, all[place] ?? ''));
      return `${csvRow(row, separator)}\r\n`;
    });
    pieces.push(new Blob(lines));
  }
  return new File(pieces, name, { type: csv.type });
}

/** The columns of an export, where the one of attributes is, and the column of each attribute. */
async function columnsIn(csv: File, map: string | undefined) {
  let columns: readonly string[] | undefined;
  let at = -1;
  const types = new Map<string, Set<string>>();
  for await (const rows of rowsOf(csv, true)) {
    columns ??= rows.shift()?.map((name = '') => name) ?? [];
    if (map !== undefined && columns.includes(map)) at = columns.indexOf(map);
    for (const cells of rows)
      for (const [key, value] of Object.entries(valuesIn(cells[at])))
        types.set(key, (types.get(key) ?? new Set()).add(typeof value));
  }
  if (types.size > MAX_ATTRIBUTES) return { columns: columns ?? [], at: -1, attributes: new Map() };
  const attributes = new Map(
    [...types].sort().map(([key, found]) => {
      const [type = 'string', other] = found;
      const isTyped = other === undefined && type !== 'string';
      return [key, attributeColumn(map ?? '', key, isTyped ? (type as 'number') : 'text')];
    }),
  );
  return { columns: columns ?? [], at, attributes };
}

async function* rowsOf(csv: File, withHeader = false): AsyncGenerator<(string | undefined)[][], void, void> {
  let isFirst = true;
  for await (const part of partsOf(csv, 'csv')) {
    const records = await recordsIn(csv, part);
    const rows = records.map((record) => [...(cellsOf(new TextDecoder().decode(record)) ?? [])]);
    yield isFirst && !withHeader ? rows.slice(1) : rows;
    isFirst = false;
  }
}

function valuesIn(cell: string | undefined): Readonly<Record<string, unknown>> {
  return cell === undefined || cell === '' ? {} : JSON.parse(cell);
}

function without<One>(all: readonly One[], at: number): One[] {
  return all.filter((_, place) => place !== at);
}

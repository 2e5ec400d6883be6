import { type Cells, cellsOf } from '#src/shared/record-splitters.js';
import { attributeColumn } from './columns.js';
import { partsOf } from './files.js';
import { BYTE_ORDER_MARK, type CellKind, csvRow, guarded, sampleOf, textIn } from './reading.js';

/** Excel writes no more characters of a number into CSV. */
const NUMBER_CHARACTERS = 11;
/** More attributes stay in one column, as JSON. */
const MAX_ATTRIBUTES = 1_000;
/** How the API writes CSV. */
const API = { encoding: 'utf-8', separator: ',' } as const;

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
  const { name, decimalMark, kindOf, map = '' } = options;
  const separator = decimalMark === ',' ? ';' : ',';
  const { header } = await sampleOf(csv, API);
  const found = await attributesIn(csv, header.indexOf(map));
  const isSplit = found.size <= MAX_ATTRIBUTES;
  const at = isSplit ? header.indexOf(map) : -1;
  const attributes = isSplit ? [...found].sort() : [];
  const others = <One>(all: readonly One[]) => all.filter((_, place) => place !== at);
  const columns = [
    ...others(header),
    ...attributes.map(([key, type]) => attributeColumn(map, key, type === 'string' ? 'text' : (type as 'number'))),
  ];
  const write = (cell: string | undefined, place: number) => {
    const kind = kindOf(columns[place] ?? '');
    if (!cell || kind === 'boolean') return cell;
    if (kind === 'text') return guarded(cell);
    const number = cell.replace('.', decimalMark);
    return number.length > NUMBER_CHARACTERS ? `="${number}"` : number;
  };
  const pieces: BlobPart[] = [BYTE_ORDER_MARK, csvRow(columns, separator), '\r\n'];
  for await (const rows of rowsOf(csv)) {
    const lines = rows.map((cells) => {
      const values = valuesIn(cells[at]);
      const own = attributes.map(([key]) => (Object.hasOwn(values, key) ? String(values[key]) : undefined));
      return `${csvRow([...others(cells), ...own].map(write), separator)}\r\n`;
    });
    pieces.push(new Blob(lines));
  }
  return new File(pieces, name, { type: csv.type });
}

/** The keys of the attributes in a column, each with the type of its values; `string` for several types. */
async function attributesIn(csv: File, at: number): Promise<ReadonlyMap<string, string>> {
  const types = new Map<string, string>();
  for await (const rows of rowsOf(csv))
    for (const [key, value] of rows.flatMap((cells) => Object.entries(valuesIn(cells[at]))))
      types.set(key, (types.get(key) ?? typeof value) === typeof value ? typeof value : 'string');
  return types;
}

async function* rowsOf(csv: File): AsyncGenerator<Cells[], void, void> {
  for await (const { records } of partsOf(csv, API)) yield records.map((record) => cellsOf(textIn(record)) ?? []);
}

function valuesIn(cell: string | undefined): Readonly<Record<string, unknown>> {
  return cell ? JSON.parse(cell) : {};
}

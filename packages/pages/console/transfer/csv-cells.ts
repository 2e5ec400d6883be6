/** A cell of CSV (RFC 4180), with quotation marks around it or without, and what follows it. */
const CELL = /(?:"([^"]*(?:""[^"]*)*)"|([^",\r]*))(,|$)/y;

/** The cells of a record; undefined if it is malformed, as the service sees it. */
export function cellsOf(record: string): string[] | undefined {
  const cells: string[] = [];
  CELL.lastIndex = 0;
  for (;;) {
    const [found, quoted, plain = '', end] = CELL.exec(record) ?? [];
    if (found === undefined) return undefined;
    cells.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === '') return cells;
  }
}

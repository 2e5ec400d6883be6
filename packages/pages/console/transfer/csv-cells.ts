/** A cell of CSV (RFC 4180), with quotation marks around it or without, and what follows it. */
const CELL = /(?:"([^"]*(?:""[^"]*)*)"|([^",\r]*))(,|$)/y;

/** The cells of a record; undefined if it is malformed, as the service sees it. An empty cell without quotes has none. */
export function cellsOf(record: string): (string | undefined)[] | undefined {
  const cells: (string | undefined)[] = [];
  CELL.lastIndex = 0;
  for (;;) {
    const [found, quoted, plain, end] = CELL.exec(record) ?? [];
    if (found === undefined) return undefined;
    cells.push(quoted?.replaceAll('""', '"') ?? (plain || undefined));
    if (end === '') return cells;
  }
}

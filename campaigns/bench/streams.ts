import { join } from 'node:path';
import { grouped, median, ratio, table } from '../../scripts/statistics.js';
import { CREATED, exportRecords, FOUND, importFile, UNCHANGED, writeSampleProducts } from './ndjson.js';
import { type Bench, rateKey, type Section } from './section.js';
import { API_KEY, type Subject } from './subjects.js';

/** One import or export, or several in a row. */
interface Transfer {
  readonly records: number;
  readonly seconds: number;
  /** Microseconds of the server's processor time for each record. */
  readonly processorTime: number;
}

interface Row {
  readonly subject: Subject;
  /** What is transferred, if the subject transfers several things. */
  readonly what?: string;
  readonly transfers: Transfer[];
}

const FIRST_SEED = 1_000;
const NIGHTS_SEED = 2_000;

export const IMPORT: Section = {
  name: 'import',
  run: async (bench) => {
    const { rounds, products } = bench.extent;
    const rows = rowsOf(bench);
    const problems: string[] = [];
    for (let round = 1; round <= rounds; round++) {
      const file = join(bench.materials.folder, `import-${round}`);
      await writeSampleProducts(file, products, FIRST_SEED + round);
      for (const { subject, transfers } of rows) {
        const transfer = await transferred(subject, () => importFile(subject.client, file));
        transfers.push(transfer);
        if (transfer.records !== products)
          problems.push(`import, ${subject.name}: ${transfer.records} of ${products} records were created`);
      }
    }
    const heading = 'ratio to single POSTs';
    const ratioToPosts = ({ subject: { name }, transfers }: Row) => {
      const posts = bench.rates.get(rateKey('POST', name));
      return posts ? ratio(median(transfers.map(rate)), posts) : '–';
    };
    return { text: transferTable(rows, [heading, ratioToPosts]), problems };
  },
};

/** What the import of each night does. @see CHANGED_EVERY for the files */
const NIGHTS = [
  { what: 'new', query: '?match=sku', counted: CREATED, file: 0 },
  { what: 'unchanged', query: '?match=sku', counted: UNCHANGED, file: 0 },
  { what: 'a tenth changed', query: '?match=sku', counted: FOUND, file: 1 },
  { what: 'all changed', query: '?match=sku', counted: FOUND, file: 2 },
  { what: 'all replaced', query: '?match=sku&existing=replace', counted: FOUND, file: 3 },
] as const;

/** Another price than in the files before: in a tenth of the products, or in all. */
const CHANGED_EVERY = [Number.POSITIVE_INFINITY, 10, 1, 1];

export const UPDATE_BY_KEY: Section = {
  name: 'update by key',
  run: async (bench) => {
    const { rounds, products } = bench.extent;
    const rows = rowsOf(bench).flatMap(({ subject }) =>
      NIGHTS.map((night) => ({ subject, ...night, transfers: [] as Transfer[] })),
    );
    const problems: string[] = [];
    for (let round = 1; round <= rounds; round++) {
      const files = await Promise.all(
        CHANGED_EVERY.map(async (every, at) => {
          const file = join(bench.materials.folder, `night-${round}-${at}`);
          await writeSampleProducts(file, products, NIGHTS_SEED + round, (product, index) =>
            index % every === 0 ? { ...product, price: { amount: at, currency: 'EUR' } } : product,
          );
          return file;
        }),
      );
      for (const { subject, what, query, counted, file, transfers } of rows) {
        const sent = files[file] ?? '';
        const transfer = await transferred(subject, () => importFile(subject.client, sent, query, counted));
        transfers.push(transfer);
        if (transfer.records !== products)
          problems.push(`${what}, ${subject.name}: ${transfer.records} of ${products} lines`);
      }
    }
    return { text: transferTable(rows), problems };
  },
};

export const EXPORT: Section = {
  name: 'export',
  run: async (bench) => {
    const rows = rowsOf(bench);
    const problems: string[] = [];
    for (let round = 1; round <= bench.extent.rounds; round++)
      for (const { subject, transfers } of rows)
        transfers.push(
          await transferred(subject, async () => {
            const authority = join(bench.materials.tls, 'ca.pem');
            let records = 0;
            const until = performance.now() + bench.extent.seconds * 1_000;
            do {
              const exported = await exportRecords(subject.server.port, authority, API_KEY);
              if (exported < bench.extent.products)
                problems.push(`export, ${subject.name}: ${exported} of ${bench.extent.products} records`);
              records += exported;
            } while (performance.now() < until);
            return records;
          }),
        );
    return { text: transferTable(rows), problems };
  },
};

function rowsOf({ subjects }: Bench): Row[] {
  return subjects.filter(({ isService }) => isService).map((subject) => ({ subject, transfers: [] }));
}

async function transferred({ server }: Subject, transfer: () => Promise<number>): Promise<Transfer> {
  const [spent, started] = [server.processorTime, performance.now()];
  const records = await transfer();
  const seconds = (performance.now() - started) / 1_000;
  return { records, seconds, processorTime: (server.processorTime - spent) / records };
}

const rate = ({ records, seconds }: Transfer) => records / seconds;

function transferTable(rows: readonly Row[], ...more: readonly [string, (row: Row) => string][]): string {
  return table(
    ['server', 'CPU µs a record', 'records/s', 'MiB', ...more.map(([heading]) => heading)],
    rows.map((row) => [
      row.what === undefined ? row.subject.name : `${row.subject.name}: ${row.what}`,
      median(row.transfers.map(({ processorTime }) => processorTime)).toFixed(1),
      grouped(median(row.transfers.map(rate))),
      grouped(row.subject.server.residentMemory),
      ...more.map(([, cell]) => cell(row)),
    ]),
  );
}

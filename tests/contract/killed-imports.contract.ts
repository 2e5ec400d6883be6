import { expect } from 'chai';
import type { CreatedStore, TestStoreProvider } from '../stores/provider.js';
import { ChildProcessService } from '../support/child-process-service.js';
import type { HttpClient } from '../support/http-client.js';
import { ndjson, resultsOf } from '../support/imports.js';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';
import { LineStream, type ResultLine } from '../support/line-stream.js';
import { TEST_SEED } from '../support/run-settings.js';
import { SeededRandom } from '../support/seeded-random.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const SKUS = 600;
/** At a kill, the process has so many lines whose results have not arrived, at most. */
const LINES_IN_PROGRESS = 300;
const PATH = '/v1/products/imports?match=sku';

/** A line of an import by SKU. */
interface Line {
  readonly sku: string;
  readonly name?: string;
  readonly price?: object;
  readonly attributes?: object;
  readonly deleted?: true;
}

/**
 * An import by SKU whose process is killed, and which is then sent again, leaves the records that one run leaves. Every
 * import goes once to another store, with which the records are compared.
 * @param kills how many imports of each kind are killed
 */
export function killedImportsContract(provider: TestStoreProvider, kills: number): void {
  describe(`an import by SKU on ${provider.name} that is killed and sent again`, function () {
    this.timeout(3_600_000);
    const folder = temporaryFolder();
    const reference = inProcessService();
    const random = new SeededRandom(TEST_SEED);
    let store: CreatedStore;
    let running: ChildProcessService;
    afterEach(() => running.stop('SIGKILL'));

    const start = async (): Promise<HttpClient> => {
      running = new ChildProcessService(folder, { BOOTSTRAP_API_KEY: FIRST_KEY, LOG_LEVEL: 'warn', ...store.settings });
      return running.started(FIRST_KEY);
    };
    /** Sends lines, and kills the process in the middle of them. @returns the results that arrived */
    const killedImport = async (lines: readonly Line[]): Promise<ResultLine[]> => {
      const client = await start();
      const at = random.below(lines.length - LINES_IN_PROGRESS);
      const results = await brokenImport(client, lines, at, () => running.kill('SIGKILL'));
      expect((await running.exit).signal).to.equal('SIGKILL');
      client.close();
      return results;
    };
    const send = async (lines: readonly Line[]): Promise<[results: ResultLine[], records: Records]> => {
      const client = await start();
      const outcome = [await importLines(client, lines), await recordsOf(client)] as [ResultLine[], Records];
      client.close();
      await running.stop('SIGKILL');
      return outcome;
    };

    before(async () => {
      store = await provider.create(folder);
      const lines = drawLines(random, 'first');
      await importLines(reference.client, lines);
      await send(lines);
    });

    after(() => store.remove());

    it('changes no line again that had a result, and leaves the versions of one run', async () => {
      for (let kill = 1; kill <= kills; kill++) {
        const lines = drawLines(random, `A${kill}`);
        const first = await killedImport(lines);
        const once = await importLines(reference.client, lines);
        const [again, records] = await send(lines);
        expect(records, `records after kill ${kill}`).to.deep.equal(await recordsOf(reference.client));
        for (const [at, result] of again.entries()) {
          const what = `line ${at + 1} ${JSON.stringify(lines[at])} after kill ${kill}: ${JSON.stringify(result)}`;
          const { status } = once[at];
          const isWritten = result.unchanged === true;
          expect(result.version, what).to.equal(once[at].version);
          expect(result.status, what).to.equal(isWritten && status === 201 ? 200 : status);
          if (at < first.length) {
            expect(isWritten, what).to.equal(true);
            expect(result.id, what).to.equal(first[at].id);
            expect(first[at].version, what).to.equal(once[at].version);
          }
        }
      }
    });

    it('leaves the same records if several lines are of one SKU', async () => {
      for (let kill = 1; kill <= kills; kill++) {
        const lines = drawLines(random, `B${kill}`);
        for (const line of drawLines(random, `C${kill}`)) lines.splice(random.below(lines.length), 0, line);
        await killedImport(lines);
        await importLines(reference.client, lines);
        const [, records] = await send(lines);
        const wanted = await recordsOf(reference.client);
        expect(withoutVersions(records), `records after kill ${kill}`).to.deep.equal(withoutVersions(wanted));
      }
    });
  });
}

/** Draws a line of most SKUs: a change, a new record, a deletion, or nothing new. */
function drawLines(random: SeededRandom, stamp: string): Line[] {
  const lines: Line[] = [];
  for (let at = 0; at < SKUS; at++) {
    const sku = `K-${at}`;
    const kind = random.weighted({ change: 60, attribute: 10, create: 15, delete: 10, same: 5 });
    if (kind === 'change') lines.push({ sku, name: 'Lamp', price: { amount: random.below(9), currency: 'EUR' } });
    if (kind === 'attribute') lines.push({ sku, name: 'Lamp', attributes: { [stamp]: true } });
    if (kind === 'create') lines.push({ sku: `${stamp}-${at}`, name: 'Sofa' });
    if (kind === 'delete') lines.push({ sku, deleted: true });
    if (kind === 'same') lines.push({ sku, name: 'Lamp' });
  }
  return lines;
}

async function importLines(client: HttpClient, lines: readonly Line[]): Promise<ResultLine[]> {
  const stream = new LineStream(client.startLines(PATH));
  await stream.send(ndjson(lines));
  stream.end();
  const results = await stream.rest();
  expect(results).to.have.length(lines.length);
  return results;
}

/**
 * Sends a part of the lines, and calls `reach` when so many results have arrived: the process works on the others.
 * @returns the results until the connection broke
 */
async function brokenImport(
  client: HttpClient,
  lines: readonly Line[],
  count: number,
  reach: () => void,
): Promise<ResultLine[]> {
  const request = client.startLines(PATH);
  request.on('error', () => {});
  const stream = new LineStream(request);
  request.write(ndjson(lines.slice(0, count + LINES_IN_PROGRESS)));
  const results: ResultLine[] = [];
  try {
    for (;;) {
      if (results.length === count) reach();
      results.push(await stream.next());
    }
  } catch {
    return results;
  }
}

type Records = ReadonlyMap<string, { readonly version: number }>;

/** The records by their SKUs, without their ids. */
async function recordsOf(client: HttpClient): Promise<Records> {
  const path = '/v1/products?fields=sku,version,name,price,attributes';
  const records = resultsOf(await client.get(path, { headers: { Accept: 'application/x-ndjson' } }));
  return new Map(
    records
      .map(({ id: _id, ...record }): [string, { version: number }] => [record.sku, record])
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  );
}

function withoutVersions(records: Records): unknown {
  return [...records.values()].map(({ version: _version, ...fields }) => fields);
}

import { expect } from 'chai';
import { type HttpClient, versionIn } from '../support/http-client.js';
import { ndjson, resultsOf } from '../support/imports.js';
import { LineStream } from '../support/line-stream.js';
import { TEST_SEED } from '../support/run-settings.js';
import { SeededRandom } from '../support/seeded-random.js';

const ROUNDS = 2;
/** Both imports work on the same lines at the same time, this many. */
const LINES_AT_ONCE = 100;
/** Of these, so many are written by PUT meanwhile. */
const PUTS_AT_ONCE = 10;

/** A write that has been carried out. Each leaves an attribute of its own. */
interface Write {
  readonly sku: string;
  readonly attribute: string;
  readonly version: number;
}

/**
 * Two imports and PUTs by key write the same SKUs at once: one record each, and every write has a version of its own.
 * @param clients one for each process over the same store
 * @param count the number of SKUs, a multiple of {@link LINES_AT_ONCE}
 */
export function concurrentImportsContract(name: string, clients: () => readonly HttpClient[], count = 1_000): void {
  const allSkus = Array.from({ length: count }, (_, at) => `K-${at}`);
  describe(`two imports of ${count} SKUs at once, and PUTs by SKU, on ${name}`, () => {
    it('make one record a SKU, skip no version and lose no update', async () => {
      const all = clients();
      const client = (at: number) => all[at % all.length] as HttpClient;
      const random = new SeededRandom(TEST_SEED);
      const writes: Write[] = [];
      const imports = [client(0), client(1)].map((one) => startImport(one));
      let refusedPuts = 0;
      for (let round = 1; round <= ROUNDS; round++)
        for (let from = 0; from < allSkus.length; from += LINES_AT_ONCE) {
          const skus = allSkus.slice(from, from + LINES_AT_ONCE);
          const imported = imports.map(async (stream, at) => {
            const attribute = `import${at}-${round}`;
            const order = shuffled(skus, random);
            await stream.send(ndjson(order.map((sku) => lineOf(sku, attribute))));
            for (const sku of order) {
              const result = await stream.next();
              expect(result.status, JSON.stringify(result)).to.be.oneOf([200, 201]);
              expect(result, JSON.stringify(result)).to.not.have.property('unchanged');
              writes.push({ sku, attribute, version: result.version });
            }
          });
          const put = Array.from({ length: PUTS_AT_ONCE }, async (_, at) => {
            const sku = random.oneOf(skus);
            const attribute = `put${at}-${round}`;
            const version = await putOnce(client(at), sku, attribute);
            if (version === undefined) refusedPuts++;
            else writes.push({ sku, attribute, version });
          });
          await Promise.all([...imported, ...put]);
        }
      for (const stream of imports) {
        stream.end();
        expect(await stream.next()).to.equal(undefined);
      }
      const puts = writes.filter(({ attribute }) => attribute.startsWith('put')).length;
      expect(puts + refusedPuts).to.equal((ROUNDS * PUTS_AT_ONCE * allSkus.length) / LINES_AT_ONCE);
      expect(writes.length - puts).to.equal(2 * ROUNDS * allSkus.length);
      for (const one of all) await expectWrites(one, allSkus, writes);
    });
  });
}

function startImport(client: HttpClient): LineStream {
  return new LineStream(client.startLines('/v1/products/imports?match=sku'));
}

function lineOf(sku: string, attribute: string): object {
  return { sku, name: 'Lamp', attributes: { [attribute]: true } };
}

/** Adds an attribute to the record as it was read, or creates the record. @returns undefined: another was faster */
async function putOnce(client: HttpClient, sku: string, attribute: string): Promise<number | undefined> {
  const path = `/v1/products/sku/${sku}`;
  const { status, json, headers } = await client.get(path);
  const attributes = { ...json.attributes, [attribute]: true };
  const response =
    status === 200
      ? await client.put(path, { ...json, attributes }, { headers: { 'If-Match': headers.etag ?? '' } })
      : await client.put(path, { name: 'Lamp', attributes }, { headers: { 'If-None-Match': '*' } });
  expect(response.status, response.text).to.be.oneOf([200, 201, 412]);
  return response.status === 412 ? undefined : versionIn(response.headers.etag);
}

/** There is one record a SKU, with every write of it, and each has made the next version. */
async function expectWrites(client: HttpClient, skus: readonly string[], writes: readonly Write[]): Promise<void> {
  const path = '/v1/products?fields=sku,version,attributes';
  const records = resultsOf(await client.get(path, { headers: { Accept: 'application/x-ndjson' } }));
  expect(records.map(({ sku }) => sku)).to.have.members(skus);
  const writesOf = new Map<string, Write[]>(skus.map((sku) => [sku, []]));
  for (const write of writes) writesOf.get(write.sku)?.push(write);
  for (const { sku, version, attributes } of records) {
    const own = writesOf.get(sku) ?? [];
    const versions = own.map((write) => write.version).toSorted((one, other) => one - other);
    expect(versions, sku).to.deep.equal(Array.from({ length: version }, (_, at) => at + 1));
    expect(Object.keys(attributes), sku).to.have.members(own.map(({ attribute }) => attribute));
  }
}

function shuffled<Item>(items: readonly Item[], random: SeededRandom): Item[] {
  return items
    .map((item) => ({ item, at: random.fraction() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ item }) => item);
}

import { expect } from 'chai';
import type { HttpClient } from '../support/http-client.js';
import { NDJSON, ndjson, rehearsedImport, resultsOf } from '../support/imports.js';
import { type InProcessService, inProcessService } from '../support/in-process-service.js';
import type { ResultLine } from '../support/line-stream.js';
import { sized, TEST_SEED } from '../support/run-settings.js';
import { SeededRandom } from '../support/seeded-random.js';

type Line = Record<string, unknown>;

interface Stream {
  readonly match: 'id' | 'sku';
  readonly existing: 'merge' | 'replace' | 'skip';
  readonly lines: readonly Line[];
}

const SKUS = ['a', 'b', 'c', 'd'];

/** Few keys and few values, so that lines meet. */
function randomStream(random: SeededRandom, length: number): Stream {
  const match = random.oneOf(['id', 'sku'] as const);
  const line = (): Line => {
    const key = match === 'sku' ? random.oneOf(SKUS) : 1 + random.below(6);
    const made: Line = { [match]: key };
    if (random.chance(0.8)) made['name'] = random.oneOf(['one', 'two', '', 5, null]);
    if (random.chance(0.9)) made['name'] ??= 'three';
    if (match === 'id' && random.chance(0.6)) made['sku'] = random.oneOf([...SKUS, null]);
    if (match === 'sku' && random.chance(0.05)) made['id'] = 1 + random.below(6);
    if (random.chance(0.3)) made['version'] = 1 + random.below(3);
    if (random.chance(0.3)) made['description'] = random.oneOf(['x', '', null]);
    if (random.chance(0.3)) made['attributes'] = { [random.oneOf(['k', 'l'])]: random.oneOf([1, 'v', null]) };
    if (random.chance(0.2)) made['price'] = random.oneOf([{ amount: 5 }, { amount: 1, currency: 'EUR' }, null]);
    if (random.chance(0.15)) made['deleted'] = random.oneOf([true, true, true, false]);
    if (random.chance(0.03)) made['nonsense'] = 1;
    return made;
  };
  const existing = random.oneOf(['merge', 'merge', 'replace', 'skip'] as const);
  return { match, existing, lines: Array.from({ length }, line) };
}

/** The requests by which a client without imports would do what a line says. */
async function requested({ client }: InProcessService, { match, existing }: Stream, line: Line): Promise<number> {
  const path = `/v1/products/${match === 'sku' ? 'sku/' : ''}${line[match]}`;
  const { version, deleted, ...body } = line;
  const found = await client.get(path);
  const headers: Record<string, string> = version === undefined ? {} : { 'If-Match': `"${version}"` };
  if (deleted === true) return found.status === 404 ? 204 : (await client.delete(path, { headers })).status;
  if (found.status === 404) {
    if (version !== undefined || match === 'id') return 404;
    return (await client.post('/v1/products', body)).status;
  }
  if (existing === 'skip') {
    const { id = found.json.id } = body;
    return (await client.patch(path, { id }, { headers })).status;
  }
  const method = existing === 'merge' ? 'PATCH' : 'PUT';
  return (await client.request(method, path, { body, headers })).status;
}

const QUERY = '/v1/products?fields=id,version,name,description,sku,price,attributes';

async function stateOf(client: HttpClient): Promise<readonly { readonly id: number }[]> {
  return (await client.get(`${QUERY}&limit=1000`)).json;
}

/** Ids by their order, because a refused creation may use one up. */
function ordered(records: readonly { readonly id: number }[]): readonly object[] {
  return records.map((record, at) => ({ ...record, id: at }));
}

describe('any stream of an import that matches', () => {
  const whole = inProcessService({ STORE: 'sqlite' });
  const oneByOne = inProcessService();
  const byRequests = inProcessService();
  const random = new SeededRandom(TEST_SEED);

  const clear = async ({ client }: InProcessService) => {
    for (const { id } of await stateOf(client)) await client.delete(`/v1/products/${id}`);
    for (const sku of SKUS.slice(0, 2)) await client.post('/v1/products', { name: 'Lamp', sku });
    return (await stateOf(client)).map(({ id }) => id);
  };
  /** The lines with the ids of a service in place of the ordinals. An ordinal beyond them is a record that is not there. */
  const meant = (lines: readonly Line[], ids: readonly number[]) =>
    lines.map((line) => (line['id'] === undefined ? line : { ...line, id: ids[Number(line['id']) - 1] ?? 9e15 }));
  const outcome = ({ status, version, unchanged, error }: ResultLine) => ({
    status,
    version,
    unchanged,
    code: error?.code,
    details: error?.details.map(({ code, pointer }: ResultLine) => `${code} ${pointer}`),
  });

  it('has the results of its dry run, of its lines one by one, and of single requests', async () => {
    for (let run = 0; run < sized({ gate: 15, night: 500 }); run++) {
      const stream = randomStream(random, 1 + random.below(25));
      const { match, existing, lines } = stream;
      const target = `/v1/products/imports?match=${match}&existing=${existing}`;
      const title = JSON.stringify(stream);
      const results = await rehearsedImport(whole.client, {
        target,
        body: ndjson(meant(lines, await clear(whole))),
      });
      const single: ResultLine[] = [];
      for (const line of meant(lines, await clear(oneByOne)))
        single.push(...resultsOf(await oneByOne.client.post(target, ndjson([line]), { headers: NDJSON })));
      expect(results.map(outcome), title).to.deep.equal(single.map(outcome));
      const statuses: number[] = [];
      for (const line of meant(lines, await clear(byRequests)))
        statuses.push(await requested(byRequests, stream, line));
      expect(
        results.map(({ status }) => status),
        title,
      ).to.deep.equal(statuses);
      const states = await Promise.all(
        [whole, oneByOne, byRequests].map(async ({ client }) => ordered(await stateOf(client))),
      );
      expect(states[0], title).to.deep.equal(states[1]);
      expect(states[0], title).to.deep.equal(states[2]);
    }
  });
});

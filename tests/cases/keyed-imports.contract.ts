import { expect } from 'chai';
import { figuresOf } from '../support/figure.js';
import type { HttpClient } from '../support/http-client.js';
import { versionIn } from '../support/http-client.js';
import { NDJSON, ndjson, rehearsedImport, resultsOf } from '../support/imports.js';
import { type InProcessService, inProcessService } from '../support/in-process-service.js';
import type { ResultLine } from '../support/line-stream.js';
import { TEST_SEED } from '../support/run-settings.js';
import { SeededRandom } from '../support/seeded-random.js';

const figure = figuresOf('keyed-imports');

type Line = Record<string, unknown>;
type Resource = keyof typeof RESOURCES;

/** The unique field of a resource with its values, and values of its other fields. Few, so that lines meet. */
const RESOURCES = {
  products: {
    unique: 'sku',
    keys: ['a', 'A', 'b', 'c'],
    values: {
      description: ['x', '', null, 7],
      attributes: [{ k: 1 }, { k: null }, { l: 'v' }, { k: true, l: null }, {}, { k: [] }, null],
      price: [{ amount: 5 }, { amount: 1, currency: 'EUR' }, { currency: 'USD' }, { amount: -1, tax: 2 }, null],
    },
  },
  users: { unique: 'email', keys: ['ann@x.org', 'ANN@x.org', 'bo@x.org', 'cy@x.org'], values: {} },
} as const;

interface Stream {
  readonly resource: Resource;
  /** Absent: each line is a new record. */
  readonly match: string | undefined;
  readonly existing: 'merge' | 'replace' | 'skip';
  readonly lines: readonly Line[];
}

function randomStream(random: SeededRandom): Stream {
  const resource = random.oneOf(['products', 'products', 'users'] as const);
  const { unique, keys, values } = RESOURCES[resource];
  const match = random.chance(0.2) ? undefined : random.oneOf(['id', unique]);
  const keyOf = (field: string) => (field === 'id' ? 1 + random.below(6) : random.oneOf<string>(keys));
  const line = (): Line => {
    const made: Line = {};
    if (random.chance(0.9)) made['name'] = random.oneOf(['one', 'two', 'three', 'three', '', 5, null]);
    if (random.chance(match === undefined ? 0.9 : 0.6)) made[unique] = random.oneOf([...keys, ...keys, null, 'a b']);
    for (const [field, all] of Object.entries(values)) if (random.chance(0.3)) made[field] = random.oneOf<unknown>(all);
    if (random.chance(0.03)) made['nonsense'] = 1;
    if (random.chance(0.03)) made['createdAt'] = '2020-01-01T00:00:00.000Z';
    if (match === undefined) return made;
    made[match] = random.chance(0.97) ? keyOf(match) : random.oneOf(['', 'a b', true, null]);
    if (match !== 'id' && random.chance(0.05)) made['id'] = keyOf('id');
    if (random.chance(0.3)) made['version'] = random.oneOf([1, 2, 3]);
    if (random.chance(0.15)) made['deleted'] = random.oneOf([true, true, true, false]);
    else if (random.chance(0.02)) Object.assign(made, random.oneOf([{ version: 0 }, { version: '1' }, { deleted: 1 }]));
    return made;
  };
  const existing = random.oneOf(['merge', 'merge', 'replace', 'skip'] as const);
  // Some have more lines than the service handles at once.
  const length = random.chance(0.1) ? 400 : 1 + random.below(25);
  const lines = Array.from({ length }, line);
  // A record takes the unique value that one gives up between two changes.
  const handover = [
    { id: 3, [unique]: keys[3], name: 'new' },
    { id: 1, deleted: true },
    { id: 2, [unique]: keys[0], name: 'new' },
  ];
  return { resource, match, existing, lines: match === 'id' && random.chance(0.5) ? [...handover, ...lines] : lines };
}

interface Outcome {
  readonly status: number;
  readonly version?: number;
  readonly unchanged?: boolean;
  readonly code?: string;
  readonly details?: readonly string[];
}

const issuesOf = (details: readonly ResultLine[]) => details.map(({ code, pointer }) => `${code} ${pointer}`).sort();

function outcomeOf({ status, version, unchanged, error }: ResultLine): Outcome {
  if (error) return { status, code: error.code, details: issuesOf(error.details) };
  return { status, ...(version !== undefined && { version }), ...(unchanged && { unchanged }) };
}

/** Whether no single request can say what a line does: its key, version or deletion is invalid. */
function isMalformed({ match = 'id' }: Stream, { version = 1, deleted = false, ...line }: Line): boolean {
  const isKey = match === 'id' ? typeof line[match] === 'number' : /^[\w.@]+$/.test(`${line[match] ?? ''}`);
  return !isKey || line[match] === true || !Number.isInteger(version) || version === 0 || typeof deleted !== 'boolean';
}

/** Sends the requests by which a client without imports would do what a line says. */
async function requested({ client }: InProcessService, stream: Stream, line: Line): Promise<Outcome> {
  const { resource, match, existing } = stream;
  const send = async (method: string, path: string, body?: object, headers = {}): Promise<Outcome> => {
    const response = await client.request(method, path, { ...(body && { body }), headers });
    const { status } = response;
    if (status >= 400) return { status, code: response.json.code, details: issuesOf(response.json.details) };
    return { status, ...(response.headers.etag && { version: versionIn(response.headers.etag) }) };
  };
  const { version, deleted, ...body } = line;
  if (match === undefined) {
    const { version: _unsaid, ...outcome } = await send('POST', `/v1/${resource}`, body);
    return outcome;
  }
  const path = `/v1/${resource}/${match === 'id' ? '' : `${match}/`}${line[match]}`;
  const found = await client.get(path);
  const headers = version === undefined ? {} : { 'If-Match': `"${version}"` };
  if (deleted === true)
    return found.status === 404 ? { status: 204, unchanged: true } : send('DELETE', path, undefined, headers);
  if (found.status === 404) {
    if (version !== undefined || match === 'id') return { status: 404, code: 'not_found', details: [] };
    return send('POST', `/v1/${resource}`, body);
  }
  // A merge keeps the spelling of its key.
  const { [match]: _key, ...others } = body;
  const { id, createdAt } = body;
  const sent = {
    merge: others,
    replace: body,
    skip: { ...(id !== undefined && { id }), ...(createdAt !== undefined && { createdAt }) },
  };
  const outcome = await send(existing === 'replace' ? 'PUT' : 'PATCH', path, sent[existing], headers);
  const isUnchanged = outcome.version === versionIn(found.headers.etag);
  return { ...outcome, ...(isUnchanged && { unchanged: true }) };
}

async function stateOf(client: HttpClient, resource: Resource): Promise<readonly { readonly id: number }[]> {
  const names = ['name', RESOURCES[resource].unique, ...Object.keys(RESOURCES[resource].values)];
  return (await client.get(`/v1/${resource}?fields=id,version,${names}&limit=1000`)).json;
}

/** Ids by their order, because a refused creation may use one up. */
function ordered(records: readonly { readonly id: number }[]): readonly object[] {
  return records.map((record, at) => ({ ...record, id: at }));
}

/** Random imports have the results of their dry runs, of their lines one by one, and of single requests. */
export function randomImports(STORE: string, streams: number): void {
  describe(`random imports in ${STORE}`, function () {
    this.timeout(3_600_000);
    const whole = inProcessService({ STORE });
    const oneByOne = inProcessService();
    const byRequests = inProcessService();

    const clear = async ({ client }: InProcessService, resource: Resource) => {
      for (const { id } of await stateOf(client, resource)) await client.delete(`/v1/${resource}/${id}`);
      const { unique, keys } = RESOURCES[resource];
      for (const key of [keys[0], keys[2], keys[3]])
        await client.post(`/v1/${resource}`, { name: 'Lamp', [unique]: key });
      return (await stateOf(client, resource)).map(({ id }) => id);
    };
    /** The lines with the ids of a service in place of the ordinals. An ordinal beyond them is a record that is not there. */
    const meant = async (service: InProcessService, { resource, lines }: Stream) => {
      const ids = await clear(service, resource);
      return lines.map((line) =>
        typeof line['id'] === 'number' ? { ...line, id: ids[line['id'] - 1] ?? 9e15 } : line,
      );
    };

    it('have the results of their dry runs, of their lines one by one, and of single requests', async () => {
      const random = new SeededRandom(TEST_SEED);
      const statuses = new Set<number>();
      let count = 0;
      for (let run = 0; run < streams; run++) {
        const stream = randomStream(random);
        const { resource, match, existing, lines } = stream;
        const target = `/v1/${resource}/imports${match ? `?match=${match}&existing=${existing}` : ''}`;
        const title = JSON.stringify(stream);
        const results = await rehearsedImport(whole.client, { target, body: ndjson(await meant(whole, stream)) });
        const single: ResultLine[] = [];
        for (const line of await meant(oneByOne, stream))
          single.push(...resultsOf(await oneByOne.client.post(target, ndjson([line]), { headers: NDJSON })));
        expect(results.map(outcomeOf), title).to.deep.equal(single.map(outcomeOf));
        for (const [at, line] of (await meant(byRequests, stream)).entries()) {
          const result = outcomeOf(results[at]);
          const what = `${JSON.stringify(line)} in ${title}`;
          if (match !== undefined && isMalformed(stream, line)) expect(result.status, what).to.equal(400);
          else expect(result, what).to.deep.equal(await requested(byRequests, stream, line));
          statuses.add(result.status);
        }
        const [state, ...others] = await Promise.all(
          [whole, oneByOne, byRequests].map(async ({ client }) => ordered(await stateOf(client, resource))),
        );
        for (const other of others) expect(state, title).to.deep.equal(other);
        count += lines.length;
      }
      figure(`lines in ${STORE}`, count);
      expect([...statuses].toSorted()).to.include.members([200, 201, 204, 400, 404, 409, 412]);
    });
  });
}

import { expect } from 'chai';
import { type HttpClient, type HttpResponse, versionIn } from '../support/http-client.js';
import { sized } from '../support/run-settings.js';

const WRITERS = 50;
const TRIES = sized({ gate: 2, night: 4 });
const ROUNDS = sized({ gate: 4, night: 40 });

const names = Array.from({ length: WRITERS }, (_, i) => `writer${i}`);

interface Try {
  readonly writer: string;
  /** The version that was read and sent as If-Match. */
  readonly read: number;
  readonly status: number;
  /** The version in the response. */
  readonly returned: number;
}

/**
 * No write is lost among concurrent writers of one record.
 * @param clients one for each process over the same store
 */
export function lostUpdatesContract(name: string, clients: () => readonly HttpClient[]): void {
  describe(`concurrent writers of one record on ${name}`, () => {
    let path: string;
    const clientOf = (at: number) => {
      const client = clients()[at % clients().length];
      if (!client) throw new Error('No client is open.');
      return client;
    };
    beforeEach(async () => {
      path = `/products/${(await clientOf(0).post('/products', { name: 'Lamp' })).json.id}`;
    });

    /** Counts its writes in its own attribute, and keeps the attributes of the other writers. */
    const countUp = async (client: HttpClient, writer: string, found: HttpResponse): Promise<Try> => {
      const { json, headers } = found;
      const read = versionIn(headers.etag);
      const attributes = { ...json.attributes, [writer]: (json.attributes?.[writer] ?? 0) + 1 };
      const options = { headers: { 'If-Match': headers.etag ?? '' } };
      const response = await client.put(path, { ...json, attributes }, options);
      return { writer, read, status: response.status, returned: versionIn(response.headers.etag) };
    };

    it('lets exactly one PUT win each version, and returns the current version to the others', async () => {
      // All writers read the first version, so that one of them wins it.
      const first = await Promise.all(names.map((_, at) => clientOf(at).get(path)));
      const tries = await Promise.all(
        first.map(async (found, at) => {
          const client = clientOf(at);
          const own = [await countUp(client, names[at] ?? '', found)];
          while (own.length < TRIES) own.push(await countUp(client, names[at] ?? '', await client.get(path)));
          return own;
        }),
      ).then((all) => all.flat());
      const won = tries.filter(({ status }) => status === 200);
      const lost = tries.filter(({ status }) => status === 412);
      expect(won.length + lost.length, 'all have a response').to.equal(WRITERS * TRIES);
      expect(lost.length).to.be.at.least(WRITERS - 1);

      const { json, headers } = await clientOf(0).get(path);
      const final = versionIn(headers.etag);
      const versions = won.map(({ read }) => read).toSorted((a, b) => a - b);
      expect(versions).to.deep.equal(Array.from({ length: final - 1 }, (_, i) => i + 1));
      for (const { read, returned } of won) expect(returned).to.equal(read + 1);
      for (const { read, returned } of lost) expect(returned).to.be.within(read + 1, final);
      for (const writer of names) {
        const wins = won.filter((one) => one.writer === writer).length;
        expect(json.attributes[writer] ?? 0, writer).to.equal(wins);
      }
    });

    it('keeps every PATCH of a separate attribute', async () => {
      const responses = await Promise.all(
        names.map((writer, at) => clientOf(at).patch(path, { attributes: { [writer]: at } })),
      );
      expect(responses.map(({ status }) => status)).to.deep.equal(names.map(() => 200));
      const versions = responses.map(({ headers }) => versionIn(headers.etag)).toSorted((a, b) => a - b);
      expect(versions).to.deep.equal(names.map((_, i) => i + 2));
      for (const client of clients()) {
        const { json } = await client.get(path);
        expect(json.attributes).to.deep.equal(Object.fromEntries(names.map((writer, at) => [writer, at])));
      }
    });
  });

  describe(`concurrent writers of one key on ${name}`, () => {
    const RACERS = names.slice(0, 20);
    const others = <Value>(value: Value): Value[] => Array(RACERS.length - 1).fill(value);
    /** Sends a PUT of each racer to a new key, spread over the processes. */
    const race = async (round: string, headers: Record<string, string> = {}) => {
      const path = `/v1/users/email/${round}@example.com`;
      const responses = await Promise.all(
        RACERS.map((racer, at) => {
          const client = clients()[at % clients().length] as HttpClient;
          // Each in its own spelling, which is the same key.
          return client.put(path.replace(round, at % 2 ? round.toUpperCase() : round), { name: racer }, { headers });
        }),
      );
      const found = await (clients()[0] as HttpClient).get(`/v1/users?email=${round}@example.com`);
      return { responses, ids: found.json.map(({ id }: { id: number }) => id) };
    };

    it('create one record, and replace it in turn', async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const { responses, ids } = await race(`put.${round}`);
        expect(responses.map(({ status }) => status).toSorted()).to.deep.equal([...others(200), 201]);
        expect(responses.map(({ json }) => json.id)).to.deep.equal(RACERS.map(() => ids[0]));
        expect(ids).to.have.length(1);
        const versions = responses.map(({ headers }) => versionIn(headers.etag)).toSorted((a, b) => a - b);
        expect(versions).to.deep.equal(RACERS.map((_, i) => i + 1));
      }
    });

    it('create one record, and refuse the others that only create', async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const { responses, ids } = await race(`only.${round}`, { 'If-None-Match': '*' });
        expect(responses.map(({ status }) => status).toSorted()).to.deep.equal([201, ...others(412)]);
        for (const { headers } of responses) expect(headers.etag).to.equal('"1"');
        expect(ids).to.have.length(1);
      }
    });
  });
}

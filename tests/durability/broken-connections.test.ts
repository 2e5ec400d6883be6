/**
 * A proxy between eight clients and two processes on one SQLite file cuts at random bytes in either direction: in the
 * TLS handshake, in the request, before the first byte of the response, and in the response. The clients repeat each
 * creation and each import under its `Idempotency-Key` until it has a response. `unknown-outcomes.test.ts` cuts between
 * the service and its store.
 *
 * No record is lost or doubled, no id is given twice, and each key gets at most one response without
 * `Idempotency-Replayed`. The control: the same cuts without keys double records.
 */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { ChildProcessService } from '../support/child-process-service.js';
import { figuresOf } from '../support/figure.js';
import { HttpClient, type HttpResponse } from '../support/http-client.js';
import { isReplay, keyed } from '../support/idempotent-posts.js';
import { FIRST_KEY } from '../support/in-process-service.js';
import { LineStream } from '../support/line-stream.js';
import { recordsOf } from '../support/links.js';
import { sized, TEST_SEED } from '../support/run-settings.js';
import { SeededRandom } from '../support/seeded-random.js';
import { type Cut, CuttingProxy } from '../support/tcp-proxy.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const figure = figuresOf('broken-connections');

const WRITERS = 8;
/** The keys of each writer, and the streams and their lines, at least: the writers go on until enough cuts are made. */
const KEYS = sized({ gate: 4, night: 30 });
const STREAMS = sized({ gate: 2, night: 8 });
const LINES = sized({ gate: 300, night: 1_000 });
const LEAST_CUTS = {
  ofRequests: sized({ gate: 25, night: 100 }),
  ofImports: sized({ gate: 10, night: 100 }),
};
/** The attempts of a request or stream that may be cut. Those after them pass. */
const CUT_ATTEMPTS = { ofRequest: 4, ofImport: 16 };
const CUT_PART = 0.75;
/** Approximately the bytes of a handshake of TLS, of a request, and of a response, in each direction. */
const BYTES = { handshake: 2_500, request: 400, response: 500 };
/** The random choices of one writer. */
const randomOf = (writer: number) => new SeededRandom(TEST_SEED * 1_000 + writer);

interface Received {
  readonly id: number;
  readonly isReplay: boolean;
}

/** What clients know of the records that they created: the responses to each key, in order. */
class Responses {
  readonly byName = new Map<string, Received[]>();

  add(name: string, received: Received): void {
    this.byName.set(name, [...(this.byName.get(name) ?? []), received]);
  }

  get replays(): number {
    return [...this.byName.values()].flat().filter(({ isReplay }) => isReplay).length;
  }

  /** Expects that the store has one record for each name, under the id of all its responses, and nothing else. */
  expectOnce(link: string, stored: ReadonlyMap<string, readonly number[]>): void {
    const answered = [...this.byName];
    const lost = answered.filter(([name]) => !stored.has(name));
    const doubled = [...stored].filter(([, ids]) => ids.length > 1);
    const ids = answered.map(([, [first]]) => first?.id);
    const repeated = ids.length - new Set(ids).size;
    figure(`created over ${link}`, answered.length);
    figure('lost', lost.length);
    figure('doubled', doubled.length);
    figure('id twice', repeated);
    figure('replays', this.replays);
    figure('first responses', answered.flatMap(([, all]) => all.filter(({ isReplay }) => !isReplay)).length);
    expect(lost, 'lost').to.deep.equal([]);
    expect(doubled, 'doubled').to.deep.equal([]);
    expect(repeated, 'ids given twice').to.equal(0);
    expect(stored.size).to.equal(answered.length);
    for (const [name, responses] of answered) {
      for (const { id } of responses) expect([id], name).to.deep.equal(stored.get(name));
      expect(responses.filter(({ isReplay }) => !isReplay).length, `${name}: not replayed`).to.be.at.most(1);
    }
  }
}

/** Returns the ids of all products by their name. */
async function storedBy(client: HttpClient): Promise<Map<string, number[]>> {
  const found = new Map<string, number[]>();
  for await (const { id, name } of recordsOf(client, '/products?limit=1000'))
    found.set(name, [...(found.get(name) ?? []), id]);
  return found;
}

function receivedIn(response: HttpResponse): Received {
  return { id: response.json.id, isReplay: isReplay(response) };
}

type PlannedCut = Cut & { readonly isNew: boolean };

/** A place for a cut on a connection that has carried a response, or on a new one. */
function cutOf(random: SeededRandom): PlannedCut {
  return random.oneOf([
    { direction: 'up', bytes: random.below(BYTES.request), isNew: false },
    { direction: 'down', bytes: 0, isNew: false },
    { direction: 'down', bytes: 0, isNew: false },
    { direction: 'down', bytes: 1 + random.below(BYTES.response), isNew: false },
    { direction: 'up', bytes: random.below(BYTES.handshake), isNew: true },
    { direction: 'down', bytes: random.below(BYTES.handshake), isNew: true },
  ] as const);
}

/** A client behind a proxy that cuts its connections. */
interface Link {
  readonly proxy: CuttingProxy;
  client: HttpClient;
}

describe('records are created once if the connections between client and service are cut', function () {
  this.timeout(300_000);
  const folder = temporaryFolder();
  let services: ChildProcessService[] = [];
  let direct: HttpClient;
  let ports: number[] = [];
  const links: Link[] = [];
  const authority = `${folder}/data/tls/ca.pem`;

  before(async () => {
    const settings = { BOOTSTRAP_API_KEY: FIRST_KEY, LOG_LEVEL: 'silent' };
    services = [1, 2].map(() => new ChildProcessService(folder, settings));
    const clients = await Promise.all(services.map((service) => service.started(FIRST_KEY)));
    direct = clients[0] as HttpClient;
    ports = clients.map(({ port }) => port);
    for (const client of clients.slice(1)) client.close();
  });
  after(async () => {
    direct.close();
    for (const { client, proxy } of links) {
      client.close();
      await proxy.close();
    }
    await Promise.all(services.map((service) => service.stop('SIGKILL')));
  });

  /** Returns a link to each process. */
  const linked = () =>
    Promise.all(
      ports.map(async (target): Promise<Link> => {
        const proxy = new CuttingProxy({ port: target });
        await proxy.listen();
        const link = { proxy, client: new HttpClient(proxy.port, authority, FIRST_KEY) };
        links.push(link);
        return link;
      }),
    );
  const cutsOf = (of: readonly Link[]) => of.reduce((sum, { proxy }) => sum + proxy.cuts, 0);

  /** Prepares the connection of a link, and plans a cut. */
  async function prepare(link: Link, cut: PlannedCut): Promise<void> {
    link.proxy.next = undefined;
    if (cut.isNew) {
      link.client.close();
      link.client = new HttpClient(link.proxy.port, authority, FIRST_KEY);
    } else expect((await link.client.get('/health/live')).status).to.equal(200);
    link.proxy.next = cut;
  }

  /** Sends a request until a response arrives. @returns it, and the number of attempts without one */
  async function insist(
    of: readonly Link[],
    random: SeededRandom,
    send: (client: HttpClient) => Promise<HttpResponse>,
    chooseCut: (attempt: number) => PlannedCut | undefined,
  ): Promise<[HttpResponse, failures: number]> {
    for (let attempt = 0; ; attempt++) {
      const link = random.oneOf(of);
      const cut = chooseCut(attempt);
      if (cut) await prepare(link, cut);
      else link.proxy.next = undefined;
      try {
        return [await send(link.client), attempt];
      } catch (error) {
        if (!isCut(error)) throw error;
      }
    }
  }

  it('at any byte, and the client sends the same key again', async () => {
    const responses = new Responses();
    const used: Link[] = [];
    await Promise.all(
      Array.from({ length: WRITERS }, async (_, writer) => {
        const random = randomOf(writer);
        const own = await linked();
        used.push(...own);
        for (let i = 0; i < KEYS || cutsOf(used) < LEAST_CUTS.ofRequests; i++) {
          const name = `${writer}-${i}`;
          const key = keyed(randomUUID());
          const post = (client: HttpClient) => client.post('/products', { name }, key);
          const [response, failures] = await insist(own, random, post, (attempt) =>
            attempt < CUT_ATTEMPTS.ofRequest && random.chance(CUT_PART) ? cutOf(random) : undefined,
          );
          expect(response.status).to.equal(201);
          if (failures === 0) expect(isReplay(response), 'the first response').to.equal(false);
          responses.add(name, receivedIn(response));
          // Later, and through any process.
          if (i % 2 === 0) {
            const [again] = await insist(own, random, post, () => undefined);
            expect(isReplay(again), 'a later response').to.equal(true);
            responses.add(name, receivedIn(again));
          }
        }
      }),
    );
    figure('cuts', cutsOf(used));
    responses.expectOnce('links to clients', await storedBy(direct));
  });

  it('in the middle of imports, and the client sends the stream again', async () => {
    const before = new Set((await storedBy(direct)).keys());
    const responses = new Responses();
    const used: Link[] = [];
    await Promise.all(
      Array.from({ length: STREAMS }, async (_, stream) => {
        const random = randomOf(WRITERS + stream);
        const own = await linked();
        used.push(...own);
        for (let i = 0; i === 0 || cutsOf(used) < LEAST_CUTS.ofImports; i++) {
          const names = Array.from({ length: LINES }, (_, line) => `s${stream}-${i}-${line}`);
          const lines = names.map((name) => `${JSON.stringify({ name })}\n`);
          const headers = { 'Idempotency-Key': randomUUID() };
          for (let attempt = 0, isDone = false; !isDone; attempt++) {
            const link = own[attempt % own.length] as Link;
            const direction = attempt % 2 === 0 ? 'up' : 'down';
            const bytes = random.below(lines.join('').length);
            if (attempt < CUT_ATTEMPTS.ofImport) await prepare(link, { direction, bytes, isNew: attempt % 3 === 0 });
            else link.proxy.next = undefined;
            isDone = await importAll(link.client, lines, headers, ({ line, status, id, replayed }) => {
              expect(status).to.equal(201);
              responses.add(names[line - 1] ?? '', { id, isReplay: replayed === true });
            });
          }
        }
      }),
    );
    figure('cuts of imports', cutsOf(used));
    const stored = [...(await storedBy(direct))].filter(([name]) => !before.has(name));
    responses.expectOnce('cut imports', new Map(stored));
  });

  it('but twice without a key', async () => {
    const own = await linked();
    for (let i = 0; i < 10; i++)
      await insist(
        own,
        randomOf(i),
        (client) => client.post('/products', { name: `unkeyed ${i}` }),
        (attempt) => (attempt === 0 ? { direction: 'down', bytes: 0, isNew: false } : undefined),
      );
    const stored = [...(await storedBy(direct))].filter(([name]) => name.startsWith('unkeyed'));
    const doubled = stored.filter(([, ids]) => ids.length > 1).length;
    figure('doubled without a key', doubled);
    expect(doubled).to.equal(10);
  });
});

/** Whether an error is Node's own of a connection, and not one of a check. */
function isCut(error: unknown): boolean {
  return error instanceof Error && 'code' in error;
}

interface ResultLine {
  readonly line: number;
  readonly status: number;
  readonly id: number;
  readonly replayed?: boolean;
}

/** Sends a stream and hands over each result. @returns whether all results arrived */
async function importAll(
  client: HttpClient,
  lines: readonly string[],
  headers: Record<string, string>,
  take: (result: ResultLine) => void,
): Promise<boolean> {
  const request = client.startLines('/products/imports', headers);
  request.on('error', () => {});
  const stream = new LineStream(request);
  request.end(lines.join(''));
  let count = 0;
  try {
    if ((await stream.response).statusCode !== 200) return false;
    for (let result = await stream.next(); result !== undefined; result = await stream.next()) {
      take(result);
      count++;
    }
  } catch (error) {
    if (!isCut(error)) throw error;
    return false;
  }
  return count === lines.length;
}

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { AppError } from '#src/domain/errors.js';
import { type OpenStore, openStore, type TestServer, type TestStoreProvider } from '../stores/provider.js';
import { ChildProcessService } from '../support/child-process-service.js';
import { figuresOf } from '../support/figure.js';
import { Follower } from '../support/follower.js';
import { type HttpClient, type HttpResponse, versionIn } from '../support/http-client.js';
import { keyed } from '../support/idempotent-posts.js';
import { FIRST_KEY } from '../support/in-process-service.js';
import { TEST_SEED } from '../support/run-settings.js';
import { SeededRandom } from '../support/seeded-random.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

const figure = figuresOf('killed-servers');

const PROCESSES = 2;
const WRITERS = 16;
/** Between two attempts of a writer that the service refuses. */
const PAUSE_MS = 10;
/** A guard, for each kill. */
const LIMIT_MS = 120_000;

/** The newest acknowledged state of a record, which one writer alone changes. */
interface Known {
  readonly id: number;
  readonly version: number;
  readonly name: string;
}

/** A record, as its writer knows it. */
class Subject {
  isRemovalSent = false;
  isGone = false;

  constructor(public state: Known) {}

  get path(): string {
    return `/v1/products/${this.state.id}`;
  }
}

/** Writers that create, patch and delete records, and read those of each other, through any process. */
class Load {
  acknowledged = 0;
  refused = 0;
  reads = 0;
  readonly stale: string[] = [];
  readonly subjects: Subject[] = [];
  isOver = false;

  constructor(private readonly clients: readonly HttpClient[]) {}

  run(): Promise<unknown> {
    const writers = Array.from({ length: WRITERS }, (_, writer) => this.write(writer));
    return Promise.all(writers).finally(() => (this.isOver = true));
  }

  /** What the store must contain, in the order of the ids. */
  get expected(): Known[] {
    const live = this.subjects.filter(({ isGone }) => !isGone).map(({ state }) => state);
    return live.sort((a, b) => a.id - b.id);
  }

  private async write(writer: number): Promise<void> {
    const random = new SeededRandom(TEST_SEED * 1_000 + writer);
    for (let number = 0; !this.isOver; number++) {
      const subject = await this.create(random, `${writer}-${number}`);
      for (let edits = random.below(4); edits > 0; edits--) await this.edit(random, subject, `edit ${edits}`);
      if (random.chance(0.2)) await this.remove(random, subject);
      await this.read(random);
    }
  }

  /** Sends the request again until it is not refused. @returns the response, and whether an outcome is unknown */
  private async persist(
    random: SeededRandom,
    send: (client: HttpClient) => Promise<HttpResponse>,
  ): Promise<[HttpResponse, wasRefused: boolean]> {
    for (let wasRefused = false; ; wasRefused = true) {
      const response = await send(random.oneOf(this.clients));
      if (response.status !== 503) return [response, wasRefused];
      expect(response.json.code).to.equal('unavailable');
      expect(response.headers).to.have.property('retry-after');
      this.refused++;
      await sleep(PAUSE_MS);
    }
  }

  private async create(random: SeededRandom, name: string): Promise<Subject> {
    const [{ status, json, text }] = await this.persist(random, (client) =>
      client.post('/v1/products', { name, sku: name }, keyed(name)),
    );
    expect(status, text).to.equal(201);
    this.acknowledged++;
    const subject = new Subject({ id: json.id, version: 1, name });
    this.subjects.push(subject);
    return subject;
  }

  private async edit(random: SeededRandom, subject: Subject, name: string): Promise<void> {
    const { path, state } = subject;
    const headers = { 'If-Match': `"${state.version}"` };
    const [{ status, headers: of, text }, wasRefused] = await this.persist(random, (client) =>
      client.patch(path, { name }, { headers }),
    );
    // An attempt that was refused may have succeeded.
    expect(status, text).to.be.oneOf(wasRefused ? [200, 412] : [200]);
    expect(versionIn(of.etag), 'the version').to.equal(state.version + 1);
    if (status === 200) this.acknowledged++;
    subject.state = { ...state, name, version: state.version + 1 };
  }

  private async remove(random: SeededRandom, subject: Subject): Promise<void> {
    subject.isRemovalSent = true;
    const [{ status, text }, wasRefused] = await this.persist(random, (client) => client.delete(subject.path));
    expect(status, text).to.be.oneOf(wasRefused ? [204, 404] : [204]);
    if (status === 204) this.acknowledged++;
    subject.isGone = true;
  }

  /** Expects what was acknowledged before the request, or something newer. */
  private async read(random: SeededRandom): Promise<void> {
    const subject = random.oneOf(this.subjects);
    const { path, isGone, state } = subject;
    const [{ status, headers }] = await this.persist(random, (client) => client.get(path));
    this.reads++;
    const isThere = status === 200 && !isGone && versionIn(headers.etag) >= state.version;
    const isRemoved = status === 404 && subject.isRemovalSent;
    if (!isThere && !isRemoved) this.stale.push(`${path}: ${status}, ${headers.etag} after ${state.version}`);
  }
}

/** Follows the feed until it knows of every change that the load has made, or for as long as `until` waits. */
async function follow(follower: Follower<unknown>, load: Load, writing: Promise<unknown>): Promise<void> {
  let isWritten = false;
  const end = () => (isWritten = true);
  writing.then(end, end);
  const catchUp = async () => {
    try {
      if (!(await follower.catchUp())) throw new Error('The place has expired.');
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'unavailable')) throw error;
    }
  };
  const hasEnded = async () => {
    await catchUp();
    return isWritten;
  };
  // It lasts for many kills, to each of which the test gives its time.
  await until('the load has ended', hasEnded, Number.POSITIVE_INFINITY);
  await until('the follower knows all', async () => {
    await catchUp();
    return missedOf(follower, load).length === 0;
  }).catch(() => {});
}

/** The records of which it does not know the last change. */
function missedOf({ known }: Follower<unknown>, { subjects }: Load): string[] {
  return subjects
    .filter(({ state: { id, version }, isGone }) => known.get(id) !== (isGone ? -version - 1 : version))
    .map(({ path, isGone }) => `${path}${isGone ? ', deleted' : ''}`);
}

/** All products, as a process shows them. */
async function everything(client: HttpClient): Promise<Known[]> {
  const { text } = await client.get('/v1/products?fields=id,version,name', {
    headers: { Accept: 'application/x-ndjson' },
  });
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/**
 * Kills a server under the load of two processes, which stay: no acknowledged write is lost, doubled or stale, and none
 * is missing in the feed.
 */
export function killedServerContract(
  { name }: TestStoreProvider,
  startServer: NonNullable<TestStoreProvider['startServer']>,
  { kills, writesPerKill }: { readonly kills: number; readonly writesPerKill: number },
): void {
  describe(`the server of ${name}, killed under the load of two processes`, function () {
    this.timeout(LIMIT_MS * (kills + 2));
    const folder = temporaryFolder();
    let server: TestServer;
    let services: ChildProcessService[] = [];
    let store: OpenStore;
    before(async () => {
      server = await startServer(folder);
      store = await openStore(server.settings);
      await store.feedState.turnOn();
      const settings = { ...server.settings, BOOTSTRAP_API_KEY: FIRST_KEY, LOG_LEVEL: 'warn' };
      services = Array.from({ length: PROCESSES }, () => new ChildProcessService(folder, settings));
    });
    after(async () => {
      for (const service of services) await service.stop('SIGKILL');
      await store.close();
      await server.remove();
    });

    it('loses and doubles no acknowledged write, and no read is older than one', async () => {
      const clients = await Promise.all(services.map((service) => service.started(FIRST_KEY)));
      // It costs more than the rest of the load, and other tests do the same.
      for (const client of clients) client.documented = undefined;
      const load = new Load(clients);
      const follower = await Follower.of(store.changes.products, store.products);
      const killing = async () => {
        const more = async () => {
          const goal = load.acknowledged + writesPerKill;
          await until('writes are acknowledged', () => load.isOver || load.acknowledged >= goal);
        };
        for (let kill = 0; kill < kills && !load.isOver; kill++) {
          await more();
          const { refused } = load;
          await server.kill();
          await until('a request is refused', () => load.isOver || load.refused > refused);
          await server.restart();
        }
        await more();
        load.isOver = true;
      };
      const deaths = services.map(({ exit }, at) =>
        exit.then(() => {
          throw new Error(`a service ended:\n${services[at]?.log.slice(-2_000)}`);
        }),
      );
      const writing = load.run();
      await Promise.race([Promise.all([writing, killing(), follow(follower, load, writing)]), ...deaths]);

      const { expected } = load;
      const found = await everything(clients[0] as HttpClient);
      const known = new Map(expected.map((record) => [record.id, record]));
      const ids = new Set(found.map(({ id }) => id));
      const lost = expected.filter(({ id }) => !ids.has(id));
      const extra = found.filter(({ id }) => !known.has(id));
      figure(`kills of ${name}`, kills);
      figure(`acknowledged writes to ${name}`, load.acknowledged);
      figure(`reads of ${name}`, load.reads);
      figure(`refused by ${name}`, load.refused);
      figure(`lost by ${name}`, lost.length);
      figure(`doubled by ${name}`, extra.length);
      figure(`stale reads of ${name}`, load.stale.length);
      const missed = missedOf(follower, load);
      figure(`changes in the feed of ${name}`, follower.seen.length);
      figure(`missed in the feed of ${name}`, missed.length);
      const none = { lost: [], extra: [], stale: [], missed: [] };
      expect({ lost, extra, stale: load.stale, missed }).to.deep.equal(none);
      for (const client of clients) expect(await everything(client)).to.deep.equal(expected);
      for (const client of clients) client.close();
    });
  });
}

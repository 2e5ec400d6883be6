/**
 * Plays faults at every reply of MongoDB and of PostgreSQL to each kind of request, and to what the service does by
 * itself. Neither a command nor the driver's retry of it is executed; or the command is executed and its reply is lost,
 * cut, late, doubled, an error of a primary that steps down, or lacks the confirmation of a majority; or the server
 * ends the connection before a statement or after its reply. After each fault the response is compared with the
 * database. A response is 2xx only if the store has confirmed it, a repetition with the
 * same key converges, and the next request succeeds. The gate plays a fifth of the faults, chosen by `TEST_SEED`.
 */
import { expect } from 'chai';
import { compose } from '#src/composition/application.js';
import { loadSettings } from '#src/config/settings.js';
import { AppError } from '#src/domain/errors.js';
import { Service } from '#src/process/service.js';
import { type OpenStore, openStore } from '../stores/provider.js';
import { FakeClock } from '../support/fakes.js';
import { figuresOf } from '../support/figure.js';
import { HttpClient, type HttpResponse } from '../support/http-client.js';
import { FIRST_KEY } from '../support/in-process-service.js';
import { keepCertificate, writeCertificate } from '../support/kept-certificate.js';
import { PROXIED_SERVERS, type ProxiedServer, type ServerKind } from '../support/proxied-servers.js';
import { sized, TEST_SEED } from '../support/run-settings.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';
import { FaultPlan } from './unknown-outcomes/fault-plan.js';
import {
  DOUBLED,
  FALSE_SUCCESS,
  type Lane,
  MAINTENANCE,
  NDJSON,
  type Operation,
  operationsOn,
  settled,
  USERS,
  WRONG_STATUS,
} from './unknown-outcomes/operations.js';

const figure = figuresOf('unknown-outcomes');

/** Of so many faults of an operation, one is played. The seed chooses which, and each operation has others. */
const ONE_OF = sized({ gate: 5, night: 1 });
/** Several operations at a time, each with a service, a proxy and a database of its own. */
const LANES = sized({ gate: 4, night: 6 });
const NEVER = [FALSE_SUCCESS, DOUBLED, WRONG_STATUS];
/** An import is 200, and each of its lines has a status. */
const LINE_UNKNOWN = /"status": ?503/;

for (const kind of PROXIED_SERVERS) unknownOutcomes(kind);

function unknownOutcomes({ name: server, faults, hasHeartbeats, start: startServer }: ServerKind): void {
  describe(`a call to ${server} whose reply is missing, cut, late, doubled or an error`, function () {
    this.timeout(sized({ gate: 300_000, night: 900_000 }));
    const folder = temporaryFolder();
    let proxied: ProxiedServer;
    const lanes: Lane[] = [];

    before(async () => {
      proxied = await startServer(folder);
      // One after the other: making the indexes takes the stand-in for MongoDB long enough.
      for (let at = 0; at < LANES; at++) await start(`lane-${at}`);
    });
    after(async () => {
      for (const { client, service, storage, truth, proxied: store } of lanes) {
        client.close();
        await storage.close();
        await truth.close();
        await service.stop();
        await store.close();
      }
      await proxied.stop();
    });

    const start = async (name: string): Promise<void> => {
      const plan = new FaultPlan();
      const store = await proxied.store(name, (call) => plan.faultOf(call));
      const settings = {
        ...store.settings,
        PORT: '0',
        MANAGEMENT_PORT: '0',
        DATA_DIR: `${folder}/${name}`,
        LOG_LEVEL: 'silent',
        RATE_LIMIT_REQUESTS: '1000000',
        SHUTDOWN_GRACE_SECONDS: '1',
        BOOTSTRAP_API_KEY: FIRST_KEY,
      };
      // The minute in which a key was last used is written once, and a credential is looked up once.
      const application = await compose(loadSettings(settings), undefined, {}, new FakeClock(Date.now()));
      // What the service does by itself is an operation of its own.
      const service = new Service({ ...application, jobs: [] });
      writeCertificate(settings.DATA_DIR);
      const { port, authorityFile } = await service.start();
      keepCertificate(settings.DATA_DIR);
      const client = new HttpClient(port, authorityFile, FIRST_KEY);
      const truth = await openStore(store.direct);
      await until('the store is open', async () => (await client.get('/products')).status === 200);
      const storage = await openStore(store.settings);
      const [productId, userId] = await seed(client, truth);
      lanes.push({ plan, proxied: store, application, service, client, storage, truth, productId, userId });
    };

    it('is never success, and a repetition with the same key converges', async () => {
      const operations = operationsOn(lanes[0] as Lane);
      const names = Object.keys(operations);
      const queue = faults.flatMap((fault, index) =>
        names.filter((_, at) => (at + index + TEST_SEED) % ONE_OF === 0).map((name) => ({ name, fault })),
      );
      const problems: string[] = [];
      const positions = new Set<string>();
      const outcomes = { known: 0, unknown: 0 };
      let replies = 0;
      const playAll = async (lane: Lane) => {
        for (let next = queue.shift(); next; next = queue.shift()) {
          const { name, fault } = next;
          const isOutage = !hasHeartbeats && fault[0] === 'late';
          for (let at = 0; ; at++) {
            const { played, isUnknown, problem } = await play(lane, operations, {
              name,
              fault,
              at,
              isOutage,
            });
            if (problem) problems.push(`${name}, ${fault.join(' ×')}, ${played}: ${problem}`);
            if (lane.plan.seen <= at) break;
            replies += played.length;
            outcomes[isUnknown ? 'unknown' : 'known']++;
            positions.add(`${name}: ${played[0]} (${at + 1})`);
          }
        }
      };
      await Promise.all(lanes.map(playAll));
      figure(`operations on ${server}`, names.length);
      figure(`replies of operations on ${server}`, positions.size);
      figure(`replies with a fault on ${server}`, replies);
      for (const [outcome, count] of Object.entries(outcomes)) figure(`outcome ${outcome} on ${server}`, count);
      for (const kind of NEVER)
        figure(`${kind} on ${server}`, problems.filter((problem) => problem.includes(kind)).length);
      expect(problems, problems.join('\n')).to.deep.equal([]);
      const withReply = [...positions].map((position) => position.split(':')[0]);
      expect(withReply, 'every operation has a reply').to.include.members(names);
    });
  });
}

interface PlayedFault {
  /** Of the operation. */
  readonly name: string;
  readonly fault: ServerKind['faults'][number];
  readonly at: number;
  /** Whether the store counts as down for a moment. */
  readonly isOutage: boolean;
}

/** Plays a fault at one reply of an operation. Nothing is played if the operation has fewer replies. */
async function play(
  lane: Lane,
  operations: Readonly<Record<string, Operation>>,
  { name, fault: [fault, times], at, isOutage }: PlayedFault,
) {
  const { plan, client } = lane;
  const counts = (call: string) => {
    // No request waits for the note that its key is used.
    if (call === 'update api_keys') return name === 'revocation of an API key';
    // The feeds are maintained alike, one after the other.
    return name !== MAINTENANCE || / products(_changes)?$/.test(call);
  };
  let isUnknown = false;
  let played: readonly string[] = [];
  try {
    const { act, verify } = await (operations[name] as Operation)(lane);
    plan.arm({ fault, at, times, counts });
    const result = await act().catch((error: unknown) => error);
    plan.disarm();
    played = plan.played;
    if (isOutage) await until('the outage is over', () => isServed(lane));
    expect((await client.get(`/products/${lane.productId}`)).status, 'the next request').to.equal(200);
    isUnknown = isUnknownOutcome(result, name);
    if (fault === 'unconfirmed' && played.length > 0 && !isUnknown)
      expect((result as HttpResponse).text, FALSE_SUCCESS).to.match(LINE_UNKNOWN);
    await verify(isUnknown ? undefined : result);
    return { played, isUnknown };
  } catch (error) {
    return { played, isUnknown, problem: (error as Error).message };
  }
}

async function isServed({ client, storage, productId }: Lane): Promise<boolean> {
  // No use of an API key, which some operations count.
  const { status } = await client.get('/health/ready', { token: null });
  return status === 200 && (await storage.products.find(productId)) !== undefined;
}

function isUnknownOutcome(result: unknown, name: string): boolean {
  if (!(result instanceof Error)) return (result as HttpResponse | undefined)?.status === 503;
  const isCutOff = name === 'export' && !(result instanceof AppError);
  if (!isCutOff) expect((result as AppError).code, `${WRONG_STATUS}: ${result}`).to.equal('unavailable');
  return true;
}

/** Returns the ids of a product and of a user. */
async function seed(client: HttpClient, { users }: OpenStore): Promise<[number, number]> {
  const product = await settled(() => client.post('/products', { name: 'first' }));
  const user = await settled(() => client.post('/users', { name: 'User', email: 'first@example.com' }));
  const lines = Array.from({ length: USERS }, (_, at) => ({
    name: `User ${at}`,
    email: `u${at}@example.com`,
  }));
  const body = lines.map((line) => JSON.stringify(line)).join('\n');
  const headers = { 'Content-Type': NDJSON, 'Idempotency-Key': 'seed' };
  await until('the users are there', async () => {
    await client.post('/users/imports', body, { headers });
    return (await users.count([])) > USERS;
  });
  return [product.json.id, user.json.id];
}

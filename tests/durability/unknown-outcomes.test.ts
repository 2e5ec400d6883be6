/**
 * Plays faults at every reply of MongoDB to each kind of request, and to what the service does by itself. Neither a
 * command nor the driver's retry of it is executed; or the command is executed and its reply is lost, cut, late,
 * doubled, an error of a primary that steps down, or lacks the confirmation of a majority. After each fault the
 * response is compared with the database. A response is 2xx only if the store has confirmed it, a repetition with the
 * same key converges, and the next request succeeds. The gate plays a fifth of the faults, chosen by `TEST_SEED`.
 */
import { expect } from 'chai';
import { type Db, MongoClient } from 'mongodb';
import { mongoStorage } from '#src/adapters/outbound/mongo/storage.js';
import { compose } from '#src/composition/container.js';
import { storageOf } from '#src/composition/storage.js';
import { loadSettings } from '#src/config/settings.js';
import { AppError } from '#src/domain/errors.js';
import { Service } from '#src/process/service.js';
import { figuresOf } from '../support/figure.js';
import { HttpClient, type HttpResponse } from '../support/http-client.js';
import { FIRST_KEY } from '../support/in-process-service.js';
import { MongoProcess } from '../support/mongo-process.js';
import { type MongoFault, MongoProxy } from '../support/mongo-proxy.js';
import { patience, throughProxy } from '../support/mongo-url.js';
import { sized, TEST_SEED } from '../support/run-settings.js';
import { ENDLESS, TABLES } from '../support/tables.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';
import { FaultPlan } from './unknown-outcomes/fault-plan.js';
import {
  DOUBLED,
  FALSE_SUCCESS,
  type Lane,
  NDJSON,
  OPERATIONS,
  type Operation,
  settled,
  USERS,
  WRONG_STATUS,
} from './unknown-outcomes/operations.js';

const figure = figuresOf('unknown-outcomes');

/** Longer than a server takes on a busy machine: only late replies exceed it. A caller waits 300 ms longer. */
const SOCKET_TIMEOUT_MS = 5_000;
const LATE_MS = SOCKET_TIMEOUT_MS + 500;
/** Of so many faults of an operation, one is played. The seed chooses which, and each operation has others. */
const ONE_OF = sized({ gate: 5, night: 1 });
/** Several operations at a time, each with a service, a proxy and a database of its own. */
const LANES = 6;
const NEVER = [FALSE_SUCCESS, DOUBLED, WRONG_STATUS];
/** An import is 200, and each of its lines has a status. */
const LINE_UNKNOWN = /"status": ?503/;

/** The driver sends most commands a second time if the reply to the first is missing or an error of this kind. */
const FAULTS: readonly (readonly [fault: MongoFault, times: number])[] = [
  // First, because it waits for time-outs.
  ['late', 1],
  ['unsent', 2],
  ['refused', 2],
  ['lost', 1],
  ['lost', 2],
  ['failed', 1],
  ['failed', 2],
  ['cut', 1],
  ['doubled', 1],
  ['unconfirmed', 1],
];

describe('a command to MongoDB whose reply is missing, cut, late, doubled or an error', function () {
  this.timeout(sized({ gate: 300_000, night: 900_000 }));
  const folder = temporaryFolder();
  let mongo: MongoProcess;
  let control: MongoClient;
  const lanes: Lane[] = [];

  before(async () => {
    mongo = await MongoProcess.onFreePort(folder);
    await mongo.run();
    control = new MongoClient(mongo.url('admin'));
    // One after the other: making the indexes takes the stand-in long enough.
    for (let at = 0; at < LANES; at++) await start(`lane-${at}`);
  });
  after(async () => {
    for (const { client, service, storage, proxy } of lanes) {
      client.close();
      await storage.store.close();
      await service.stop();
      await proxy.close();
    }
    await control.close();
    await mongo.kill();
  });

  const start = async (name: string): Promise<void> => {
    const plan = new FaultPlan();
    const proxy = await MongoProxy.before(mongo.port, (command) => plan.faultOf(command), LATE_MS);
    const url = `${throughProxy(mongo.url(name), proxy.port)}&${patience(SOCKET_TIMEOUT_MS)}`;
    const settings = {
      PORT: '0',
      MANAGEMENT_PORT: '0',
      STORE: 'mongodb',
      MONGODB_URL: url,
      DATA_DIR: `${folder}/${name}`,
      LOG_LEVEL: 'silent',
      RATE_LIMIT_REQUESTS: '1000000',
      SHUTDOWN_GRACE_SECONDS: '1',
      BOOTSTRAP_API_KEY: FIRST_KEY,
    };
    const application = await compose(loadSettings(settings));
    const service = new Service(application.serviceParts);
    const { port, authorityFile } = await service.start();
    const client = new HttpClient(port, authorityFile, FIRST_KEY);
    const storage = storageOf(mongoStorage({ url, tables: TABLES, budget: ENDLESS }));
    await until('the store is open', () => storage.store.open());
    const database = control.db(name);
    const [productId, userId] = await seed(client, database);
    lanes.push({ plan, proxy, application, service, client, storage, database, productId, userId });
  };

  it('is never success, and a repetition with the same key converges', async () => {
    const names = Object.keys(OPERATIONS);
    const queue = FAULTS.flatMap((fault, index) =>
      names.filter((_, at) => (at + index + TEST_SEED) % ONE_OF === 0).map((name) => ({ name, fault })),
    );
    const problems: string[] = [];
    const positions = new Set<string>();
    const outcomes = { known: 0, unknown: 0 };
    let replies = 0;
    const playAll = async (lane: Lane) => {
      for (let next = queue.shift(); next; next = queue.shift()) {
        const { name, fault } = next;
        for (let at = 0; ; at++) {
          const { played, isUnknown, problem } = await play(lane, name, fault, at);
          if (problem) problems.push(`${name}, ${fault.join(' ×')}, ${played}: ${problem}`);
          if (lane.plan.seen <= at) break;
          replies += played.length;
          outcomes[isUnknown ? 'unknown' : 'known']++;
          positions.add(`${name}: ${played[0]} (${at + 1})`);
        }
      }
    };
    await Promise.all(lanes.map(playAll));
    figure('operations', Object.keys(OPERATIONS).length);
    figure('replies of operations', positions.size);
    figure('replies with a fault', replies);
    for (const [outcome, count] of Object.entries(outcomes)) figure(`outcome ${outcome}`, count);
    for (const kind of NEVER) figure(kind, problems.filter((problem) => problem.includes(kind)).length);
    expect(problems, problems.join('\n')).to.deep.equal([]);
    const withReply = [...positions].map((position) => position.split(':')[0]);
    expect(withReply, 'every operation has a reply').to.include.members(names);
  });
});

/** Plays a fault at one reply of an operation. Nothing is played if the operation has fewer replies. */
async function play(lane: Lane, name: string, [fault, times]: (typeof FAULTS)[number], at: number) {
  const { plan, client } = lane;
  // The use of API keys is saved from time to time, during any operation.
  const counts = (command: string) => {
    if (name === 'save usage') return command.endsWith(' api_key_usage');
    if (command === 'update api_keys') return name === 'revocation of an API key';
    return !command.endsWith(' api_key_usage');
  };
  let isUnknown = false;
  let played: readonly string[] = [];
  try {
    const { act, verify } = await (OPERATIONS[name] as Operation)(lane);
    plan.arm({ fault, at, times, counts });
    const result = await act().catch((error: unknown) => error);
    plan.disarm();
    played = plan.played;
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

function isUnknownOutcome(result: unknown, name: string): boolean {
  if (!(result instanceof Error)) return (result as HttpResponse | undefined)?.status === 503;
  const isCutOff = name === 'export' && !(result instanceof AppError);
  if (!isCutOff) expect((result as AppError).code, `${WRONG_STATUS}: ${result}`).to.equal('unavailable');
  return true;
}

/** Returns the ids of a product and of a user. */
async function seed(client: HttpClient, database: Db): Promise<[number, number]> {
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
    return (await database.collection('users').countDocuments()) > USERS;
  });
  return [product.json.id, user.json.id];
}

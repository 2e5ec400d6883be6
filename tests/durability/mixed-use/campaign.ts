import { resolve } from 'node:path';
import { HttpClient } from '../../support/http-client.js';
import { FIRST_KEY } from '../../support/in-process-service.js';
import { SeededRandom } from '../../support/seeded-random.js';
import { until } from '../../support/until.js';
import { compareKeys, compareReads, compareStates, stateIn } from './final-state.js';
import { Fleet, type Kill } from './fleet.js';
import { Ledger, type Verdict } from './ledger.js';
import { Operator } from './operator.js';
import type { Shared } from './session.js';
import type { TestedStore } from './stores.js';
import { Writer } from './writer.js';

/** What a service lacks in each control. Without keys, only a kill between a commit and its response doubles a record. */
const LACKING = { keys: 'prompt responses', locks: 'locks' } as const;
const UNPROTECTED = resolve('build/tests/support/unprotected-service.js');

const WRITERS = 16;
const PRINCIPALS = 4;
const ALL_SCOPES = ['products', 'users', 'orders'].flatMap((name) => [`${name}:read`, `${name}:write`]);
/** Workers are killed most often, because that takes no restart of the service. */
const KILL_WEIGHTS: Readonly<Record<Kill, number>> = { worker: 8, primary: 1, service: 2, all: 1 };
/** Writers pause while processes start, which would take longer otherwise; they write at full speed before a kill. */
const PAUSE_MS = 600;
const KILLS_PER_COMMAND = 3;

export interface Plan {
  readonly seed: number;
  readonly kills: number;
  /** The writes that are acknowledged between two kills, at least. */
  readonly writesPerKill: number;
  /** After each so many kills, everything ends gracefully, is copied, and starts again. */
  readonly killsPerStop: number;
  /** Of so many kills, one is of the store's server, if there is one. */
  readonly killsPerOutage: number;
  /**
   * A protection that is missing, to prove that the checker notices: the idempotency keys of creations, or the locks of
   * SQLite. All processes are killed each time then.
   */
  readonly without?: 'keys' | 'locks';
}

export interface Result {
  readonly verdict: Verdict;
  readonly acknowledged: number;
  readonly replays: number;
  /** How often processes of the service, or the store's server, were killed. */
  readonly kills: number;
  readonly commands: ReadonlyMap<string, number>;
}

/** Lets writers and an operator use the services on one store while processes are killed, and verifies the end. */
export async function play(store: TestedStore, plan: Plan): Promise<Result> {
  const { folder, settings, url } = store;
  const random = new SeededRandom(plan.seed);
  const ledger = new Ledger();
  const fleet = plan.without
    ? new Fleet(folder, { ...settings, UNPROTECTED: LACKING[plan.without] }, random, [UNPROTECTED])
    : new Fleet(folder, settings, random);
  let numbers = 0;
  const next = () => ++numbers;
  const operator = new Operator(folder, settings, url, ledger, random, next);
  const shared: Shared = {
    target: fleet,
    ledger,
    isKeyed: plan.without !== 'keys',
    tokens: [],
    isOver: false,
    pauseMs: 0,
    next,
  };
  try {
    // A single process doubles records as well as several do.
    await fleet.start(plan.without === 'keys' ? [1] : undefined);
    const tokens = await principals(fleet, random);
    Object.assign(shared, { tokens });
    const writers = Promise.all(
      Array.from({ length: WRITERS }, (_, index) =>
        new Writer(shared, new SeededRandom(plan.seed * 1_000 + index), index).run(),
      ),
    );
    await Promise.race([
      disturb(store, fleet, operator, shared, random, plan).finally(() => {
        shared.isOver = true;
      }),
      writers,
    ]);
    await writers;
    await operator.finishSeed();
    const verdict = await verify(store, fleet, operator, ledger, plan);
    const { acknowledged, replays } = ledger;
    return { verdict, acknowledged, replays, kills: fleet.kills, commands: operator.runs };
  } finally {
    shared.isOver = true;
    await fleet.abandon();
  }
}

/** Kills and restarts beside the writers and the command line. */
async function disturb(
  store: TestedStore,
  fleet: Fleet,
  operator: Operator,
  shared: Shared,
  random: SeededRandom,
  { kills, writesPerKill, killsPerStop, killsPerOutage, without }: Plan,
): Promise<void> {
  const { ledger } = shared;
  let command: Promise<void> | undefined;
  for (let kill = 1; kill <= kills; kill++) {
    await more(ledger, writesPerKill);
    if (without) {
      // The command closes the database, and with it the log if it sees no lock of another process.
      if (without === 'locks') await operator.seed();
      await more(ledger, writesPerKill);
      await fleet.kill('all');
      continue;
    }
    if (kill % KILLS_PER_COMMAND === 0)
      command ??= operator
        .any()
        .catch((error) => {
          ledger.seen.others.push(String(error));
        })
        .finally(() => {
          command = undefined;
        });
    shared.pauseMs = PAUSE_MS;
    if (store.restartServer && kill % killsPerOutage === 0) {
      await store.restartServer();
      fleet.kills++;
    } else await fleet.kill(random.weighted(KILL_WEIGHTS));
    if (kill % killsPerStop === 0) {
      await command;
      await fleet.stop();
      await operator.copy();
      await fleet.start();
    }
    shared.pauseMs = 0;
  }
  await more(ledger, writesPerKill);
  await command;
}

/** Waits until `count` more writes are acknowledged. @throws Error if they stop */
export async function more(ledger: Ledger, count: number): Promise<void> {
  const goal = ledger.acknowledged + count;
  await until(`${count} more writes are acknowledged`, () => ledger.acknowledged >= goal);
}

async function principals(fleet: Fleet, random: SeededRandom): Promise<string[]> {
  const client = fleet.client(random);
  const keys = Array.from({ length: PRINCIPALS - 1 }, async (_, at) => {
    const body = { name: `principal ${at}`, scopes: [...ALL_SCOPES, 'keys:admin'] };
    return String((await client?.post('/api-keys', body))?.json.key);
  });
  return [FIRST_KEY, ...(await Promise.all(keys))];
}

/** Reads the end over HTTP, from the store, and from a copy of the store. */
async function verify(
  store: TestedStore,
  fleet: Fleet,
  operator: Operator,
  ledger: Ledger,
  { without }: Plan,
): Promise<Verdict> {
  if (without) await fleet.abandon();
  else await fleet.stop();
  // First the copy: this process may keep a lock on a store that it has closed.
  const copy = without ? undefined : await operator.copy();
  const state = await stateIn(store.storage());
  const verdict = ledger.verify(state.live, state.dead);
  if (copy === undefined) return verdict;
  compareStates('the copy', await stateIn(store.copied(copy)), state, verdict);
  const again = new Fleet(store.folder, store.patientSettings, new SeededRandom(0));
  try {
    await again.start([1]);
    const client = again.client(new SeededRandom(0));
    if (!(client instanceof HttpClient)) throw new Error('No service is running.');
    await compareReads(client, state, verdict);
    await compareKeys(client, ledger, verdict);
    await again.stop();
  } finally {
    await again.abandon();
  }
  return verdict;
}

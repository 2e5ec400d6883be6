/**
 * 16 writers send a random mix of every kind of request and repeat each write until it has an outcome. Beside them run
 * `catalogue seed`, `keys`, `backup`, `check` and `copy`, some of which are killed too. One to three processes serve,
 * as workers or as two services on one store. The kills hit workers, primaries, whole services and all of them, on
 * SQLite, MongoDB and PostgreSQL. The servers of the last two are themselves killed now and then. A process that ends by
 * itself fails the test.
 *
 * A checker that knows only what was acknowledged applies every edit in order. It compares each record and version with
 * the store, with a copy of it, and with what lists, a search and exports show. `TEST_SEED` repeats the choices of a
 * run, not their timing. Two controls must fail at night: writers without idempotency keys whose responses come 20 ms
 * after the commit, and a service that opens and closes its database beside SQLite, which drops SQLite's locks.
 */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { concurrently } from '../support/concurrently.js';
import { figuresOf } from '../support/figure.js';
import { HAS_POSTGRESQL } from '../support/postgresql-server.js';
import { AT_NIGHT, sized, TEST_SEED } from '../support/run-settings.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { type Plan, play } from './mixed-use/campaign.js';
import { mongoStore, postgresqlStore, sqliteStore, type TestedStore } from './mixed-use/stores.js';

const figure = figuresOf('mixed-use');

const ON_SQLITE = sized({ gate: 3, night: 100 });
const ON_SERVER = sized({ gate: 1, night: 50 });

const PLAN: Plan = {
  seed: TEST_SEED,
  kills: ON_SQLITE,
  writesPerKill: sized({ gate: 40, night: 110 }),
  killsPerStop: sized({ gate: 3, night: 12 }),
  killsPerOutage: 6,
};

type OpenStore = (folder: string) => TestedStore | Promise<TestedStore>;

describe('everything that a user may do at once, while processes are killed', function () {
  this.timeout(300_000 + 60_000 * (ON_SQLITE + 2 * ON_SERVER));
  const root = temporaryFolder();

  const playOn = async (open: OpenStore, plan: Plan) => {
    const store = await open(mkdtempSync(join(root, 'store-')));
    try {
      return await play(store, plan);
    } finally {
      await store.close();
    }
  };
  const loseNothing = async (store: string, open: OpenStore, plan: Plan) => {
    const { verdict, acknowledged, replays, kills, commands } = await playOn(open, plan);
    const { lost, doubled, idsTwice, versions, others } = verdict;
    figure(`acknowledged on ${store}`, acknowledged);
    figure(`kills on ${store}`, kills);
    figure(`replays on ${store}`, replays);
    figure(`commands on ${store}`, [...commands].map(([name, count]) => `${name} ${count}`).join(', '));
    figure(`lost on ${store}`, lost.length);
    figure(`doubled on ${store}`, doubled.length);
    figure(`ids given twice on ${store}`, idsTwice.length);
    figure(`versions skipped or repeated on ${store}`, versions.length);
    figure(`other contradictions on ${store}`, others.length);
    // chai shows nothing of very many.
    expect(verdict.all.slice(0, 20), `with TEST_SEED=${TEST_SEED}`).to.deep.equal([]);
    expect(kills).to.equal(plan.kills);
  };

  /** Whether a kill comes between a commit and its response, or between two locks, is a matter of chance. */
  const controls = {
    'a retry without an idempotency key doubles records, which the checker counts': async () => {
      const plan = { ...PLAN, seed: TEST_SEED + 2, kills: 8, without: 'keys' } as const;
      const { doubled } = (await playOn(sqliteStore, plan)).verdict;
      figure('doubled without keys', doubled.length);
      expect(doubled).to.not.deep.equal([]);
    },
    'a service that loses the locks of SQLite loses writes, which the checker counts': async () => {
      const plan = { ...PLAN, seed: TEST_SEED + 10, kills: 2, without: 'locks' } as const;
      const { verdict } = await playOn(sqliteStore, plan);
      figure('lost without locks', verdict.lost.length);
      expect(verdict.lost).to.not.deep.equal([]);
    },
  };

  concurrently({
    'nothing is lost or doubled on SQLite': () => loseNothing('SQLite', sqliteStore, PLAN),
    'nothing is lost or doubled on MongoDB': () =>
      loseNothing('MongoDB', mongoStore, { ...PLAN, seed: TEST_SEED + 1, kills: ON_SERVER }),
    ...(HAS_POSTGRESQL && {
      'nothing is lost or doubled on PostgreSQL': () =>
        loseNothing('PostgreSQL', postgresqlStore, { ...PLAN, seed: TEST_SEED + 3, kills: ON_SERVER }),
    }),
    ...(AT_NIGHT && controls),
  });
});

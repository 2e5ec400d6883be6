import { randomInt } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { concurrently } from '../support/concurrently.js';
import { figuresOf } from '../support/figure.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { type Plan, play, type Result } from './mixed-use/campaign.js';
import { mongoStore, sqliteStore, type TestedStore } from './mixed-use/stores.js';

const figure = figuresOf('mixed-use');

const FAULT_KILLS = Number(process.env['FAULT_KILLS'] ?? 50);
const FAULT_SEED = Number(process.env['FAULT_SEED'] ?? randomInt(1_000_000));
const ON_SQLITE = Math.ceil(FAULT_KILLS * 0.64);

const PLAN: Plan = {
  seed: FAULT_SEED,
  kills: ON_SQLITE,
  writesPerKill: 110,
  killsPerStop: 12,
  killsPerOutage: 6,
};

describe('everything that a user may do at once, while processes are killed', function () {
  this.timeout(300_000 + 12_000 * FAULT_KILLS);
  const root = temporaryFolder();
  const results: Result[] = [];

  const playOn = async (open: (folder: string) => TestedStore | Promise<TestedStore>, plan: Plan) => {
    const store = await open(mkdtempSync(join(root, 'store-')));
    try {
      return await play(store, plan);
    } finally {
      await store.close();
    }
  };
  const loseNothing = async (open: (folder: string) => TestedStore | Promise<TestedStore>, plan: Plan) => {
    const result = await playOn(open, plan);
    results.push(result);
    const { verdict, acknowledged, kills, commands } = result;
    process.stdout.write(
      `        ${acknowledged} acknowledged, ${kills} kills, ${JSON.stringify([...commands])}\n`,
    );
    expect(verdict.all, `with FAULT_SEED=${FAULT_SEED}`).to.deep.equal([]);
  };

  before(() => figure('seed', `${FAULT_SEED}`));
  after(() => {
    const sum = (of: (result: Result) => number) => results.reduce((total, result) => total + of(result), 0);
    figure(
      'acknowledged',
      sum(({ acknowledged }) => acknowledged),
    );
    figure(
      'kills',
      sum(({ kills }) => kills),
    );
    figure(
      'replays',
      sum(({ replays }) => replays),
    );
    figure(
      'lost',
      sum(({ verdict }) => verdict.lost.length),
    );
    figure(
      'doubled',
      sum(({ verdict }) => verdict.doubled.length),
    );
    figure(
      'ids given twice',
      sum(({ verdict }) => verdict.idsTwice.length),
    );
    figure(
      'versions skipped or repeated',
      sum(({ verdict }) => verdict.versions.length),
    );
    figure(
      'other contradictions',
      sum(({ verdict }) => verdict.others.length),
    );
  });

  concurrently({
    'nothing is lost or doubled on SQLite': () => loseNothing(sqliteStore, PLAN),
    'nothing is lost or doubled on MongoDB': () =>
      loseNothing(mongoStore, { ...PLAN, seed: FAULT_SEED + 1, kills: FAULT_KILLS - ON_SQLITE }),
    'a retry without an idempotency key doubles records, which the checker counts': async () => {
      const plan = { ...PLAN, seed: FAULT_SEED + 2, kills: 2, without: 'keys' } as const;
      const { doubled } = (await playOn(sqliteStore, plan)).verdict;
      figure('doubled without keys', doubled.length);
      expect(doubled).to.not.deep.equal([]);
    },
    'a service that loses the locks of SQLite loses writes, which the checker counts': async () => {
      const plan = { ...PLAN, seed: FAULT_SEED + 10, kills: 2, without: 'locks' } as const;
      const { verdict } = await playOn(sqliteStore, plan);
      figure('lost without locks', verdict.lost.length);
      expect(verdict.lost).to.not.deep.equal([]);
    },
  });
});

/**
 * The real Litestream replicates the database of a service, with the configuration of docs/how-to/backup.md. 16 writers
 * use the service, processes of which, and Litestream, are killed and restarted. Every acknowledged write is in the
 * database and in what Litestream restores.
 *
 * In the first test both sides copy the log as often as they can: the service after every commit, and Litestream every
 * 10 ms, by each kind of checkpoint that it makes.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { more } from '../../tests/durability/mixed-use/campaign.js';
import { compareStates, stateIn } from '../../tests/durability/mixed-use/final-state.js';
import { Fleet } from '../../tests/durability/mixed-use/fleet.js';
import { Ledger } from '../../tests/durability/mixed-use/ledger.js';
import type { Shared } from '../../tests/durability/mixed-use/session.js';
import { sqliteStore } from '../../tests/durability/mixed-use/stores.js';
import { Writer } from '../../tests/durability/mixed-use/writer.js';
import { ChildProcessService, catalogue } from '../../tests/support/child-process-service.js';
import { CrashService } from '../../tests/support/crash-service.js';
import { figuresOf } from '../../tests/support/figure.js';
import { FIRST_KEY } from '../../tests/support/in-process-service.js';
import { linksOf } from '../../tests/support/links.js';
import { run } from '../../tests/support/programs.js';
import { TEST_SEED } from '../../tests/support/run-settings.js';
import { SeededRandom } from '../../tests/support/seeded-random.js';
import { temporaryFolder } from '../../tests/support/temporary-folder.js';
import { until } from '../../tests/support/until.js';
import { everyProduct, WriteLoad } from '../../tests/support/workers.js';
import { blockOf, installed, runCommands } from './backup-commands.js';

const figure = figuresOf('litestream');

const MODULE = 'github.com/benbjohnson/litestream/cmd/litestream@v0.5.18';
const SECTION = 'Continuously, with Litestream';
const CONFIGURATION = blockOf(SECTION, 'yaml') ?? '';
const EAGER = resolve('build/campaigns/faults/eager-service.js');
/** Litestream looks for work every 10 ms, and forces the log to its beginning when it is not small. */
const OFTEN = [
  'monitor-interval: 10ms',
  'min-checkpoint-page-count: 10',
  'checkpoint-interval: 10ms',
  'truncate-page-n: 20',
];

const WRITERS = 16;
const CHECKPOINTS = 200;
/** Two of five rounds restart every process of the service. */
const ROUNDS = 25;
const WRITES_PER_ROUND = 400;

/** Litestream, which may be killed and started again. */
class Litestream {
  private process: ChildProcessService | undefined;
  private ended = '';

  constructor(
    private readonly program: string,
    private readonly folder: string,
    settings: readonly string[] = [],
  ) {
    const added = settings.map((setting) => `\n    ${setting}`).join('');
    const configuration = CONFIGURATION.replace(/- path: .*/, (path) => path + added);
    writeFileSync(join(folder, 'litestream.yml'), `logging:\n  level: debug\n${configuration}`);
  }

  start(): void {
    this.process = new ChildProcessService(
      this.folder,
      {},
      ['replicate', '-config', 'litestream.yml'],
      this.program,
    );
  }

  /** @returns the exit code */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    const { process } = this;
    this.process = undefined;
    const exit = await process?.stop(signal);
    this.ended += process?.out ?? '';
    return exit?.code ?? null;
  }

  get log(): string {
    return this.ended + (this.process?.out ?? '');
  }

  /** The checkpoints of a mode that were made so far. */
  checkpoints(mode: 'PASSIVE' | 'TRUNCATE'): number {
    return this.log.split(`msg=checkpoint system=store db=catalogue.sqlite mode=${mode}`).length - 1;
  }
}

describe('Litestream beside a service', function () {
  this.timeout(1_200_000);
  const root = temporaryFolder();
  const bin = join(root, 'bin');
  const program = join(bin, 'litestream');
  const ends: (() => Promise<unknown>)[] = [];

  before(async () => {
    expect(CONFIGURATION, `the configuration under ${SECTION}`).to.contain('dbs:');
    await promisify(execFile)('go', ['install', MODULE], { env: { ...process.env, GOBIN: bin } });
  });
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });

  const litestreamIn = (folder: string, settings: readonly string[] = []) => {
    const litestream = new Litestream(program, folder, settings);
    ends.push(() => litestream.end('SIGKILL'));
    litestream.start();
    return litestream;
  };
  /** Restores the newest state from the replica into a new folder, and checks it. @returns the folder */
  const restored = async (folder: string): Promise<string> => {
    const target = mkdtempSync(join(root, 'restored-'));
    const file = join(target, 'restored.sqlite');
    const args = ['restore', '-config', 'litestream.yml', '-o', file, 'data/catalogue.sqlite'];
    await promisify(execFile)(program, args, { cwd: folder, maxBuffer: Number.POSITIVE_INFINITY });
    await run(target, 'restore', file);
    await expectIntact(target);
    return target;
  };
  const expectIntact = async (folder: string) => {
    const { code, out, err } = await catalogue(folder, ['check', '--deep']);
    expect(code, out + err).to.equal(0);
  };

  it('loses no acknowledged write, while both copy the log and are killed', async () => {
    const store = sqliteStore(mkdtempSync(join(root, 'store-')));
    const copies = join(store.folder, 'copies');
    writeFileSync(copies, '');
    const random = new SeededRandom(TEST_SEED);
    const ledger = new Ledger();
    const fleet = new Fleet(store.folder, { ...store.settings, COPIES: copies }, random, [EAGER]);
    ends.push(() => fleet.abandon());
    let numbers = 0;
    const shared: Shared = {
      target: fleet,
      ledger,
      isKeyed: true,
      tokens: [FIRST_KEY],
      isOver: false,
      pauseMs: 0,
      next: () => ++numbers,
    };
    await fleet.start([2]);
    const litestream = litestreamIn(store.folder, OFTEN);
    const writers = Promise.all(
      Array.from({ length: WRITERS }, (_, at) =>
        new Writer(shared, new SeededRandom(TEST_SEED * 1_000 + at), at).run(),
      ),
    );
    writers.catch(() => {});
    ends.unshift(async () => {
      shared.isOver = true;
    });

    const disturbances: readonly (() => Promise<unknown>)[] = [
      () => fleet.kill('worker'),
      async () => {
        await litestream.end('SIGKILL');
        litestream.start();
      },
      async () => {
        await Promise.all([fleet.kill('all'), litestream.end('SIGKILL')]);
        // It may lack the newest writes.
        await restored(store.folder);
        litestream.start();
      },
      async () => {
        await fleet.stop();
        await fleet.start([1, 1]);
      },
      async () => {
        expect(await litestream.end('SIGTERM')).to.equal(0);
        await more(ledger, WRITES_PER_ROUND);
        litestream.start();
      },
    ];
    for (let round = 0; round < ROUNDS; round++) {
      await Promise.race([more(ledger, WRITES_PER_ROUND), writers]);
      await disturbances[round % disturbances.length]?.();
    }
    await until(
      `each side made ${CHECKPOINTS} checkpoints`,
      () =>
        litestream.checkpoints('PASSIVE') + litestream.checkpoints('TRUNCATE') >= CHECKPOINTS &&
        litestream.checkpoints('TRUNCATE') > 0 &&
        statSync(copies).size >= CHECKPOINTS,
    );
    shared.isOver = true;
    await writers;
    await fleet.stop();
    expect(await litestream.end('SIGTERM')).to.equal(0);

    figure('acknowledged', ledger.acknowledged);
    figure('checkpoints of the service', statSync(copies).size);
    for (const mode of ['PASSIVE', 'TRUNCATE'] as const)
      figure(`checkpoints of Litestream, ${mode}`, litestream.checkpoints(mode));
    await expectIntact(store.folder);
    const target = await restored(store.folder);
    const state = await stateIn(store.storage());
    const verdict = ledger.verify(state.live, state.dead);
    compareStates('what Litestream restored', await stateIn(sqliteStore(target).storage()), state, verdict);
    figure('lost', verdict.lost.length);
    expect(verdict.all, `with TEST_SEED=${TEST_SEED}`).to.deep.equal([]);
  });

  it('is restored by the commands of the document, and replicates what comes after', async () => {
    expect(blockOf(SECTION, 'sh')).to.equal('litestream replicate -config litestream.yml\n');
    const folder = installed(root);
    const litestream = litestreamIn(folder);
    let token: string | undefined;
    const start = async () => {
      const service = await CrashService.start(folder, 2, token);
      ends.push(() => service.end('SIGKILL'));
      token = service.token;
      return service;
    };
    /** Writes, and stops everything after the replica has it. */
    const write = async (service: CrashService) => {
      await service.with(async (client) => {
        const load = new WriteLoad(client);
        await load.more(500);
        await load.stop();
        for (const id of load.acknowledged) acknowledged.add(id);
      });
      await service.end('SIGKILL');
      expect(await litestream.end('SIGTERM')).to.equal(0);
    };
    const acknowledged = new Set<number>();

    const first = await start();
    const { headers } = await first.with((client) => client.get('/products/changes'));
    const cursor = linksOf(headers['link'])['next'] ?? '';
    await write(first);
    // As on another machine.
    for (const name of readdirSync(join(folder, 'data')))
      if (name.includes('catalogue.sqlite')) rmSync(join(folder, 'data', name), { recursive: true });
    await runCommands(folder, 'Restore from Litestream', bin);
    expect(statSync(join(folder, 'restored.sqlite')).mode & 0o077, 'who else may read it').to.equal(0);
    const second = await start();
    expect(await second.with(everyProduct)).to.deep.equal(acknowledged);
    const { status } = await second.with((client) => client.get(cursor));
    expect(status, 'a cursor from before').to.equal(410);

    litestream.start();
    await write(second);
    await expectIntact(folder);
    await runCommands(folder, 'Restore from Litestream', bin);
    expect(await (await start()).with(everyProduct)).to.deep.equal(acknowledged);
  });
});

/** Two processes write and move changes on MongoDB, and are killed at random moments. A follower misses none. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { expect } from 'chai';
import type { Id } from '#src/domain/record.js';
import { MONGODB } from '../../tests/stores/mongodb.js';
import { type NewStore, openNew } from '../../tests/stores/provider.js';
import { figuresOf } from '../../tests/support/figure.js';
import { Follower } from '../../tests/support/follower.js';
import { TEST_SEED } from '../../tests/support/run-settings.js';
import { SeededRandom } from '../../tests/support/seeded-random.js';

const WRITER = resolve('build/campaigns/faults/mongo-feed-writer.js');
const CHANGES = 10_000;
const CHANGES_PER_LIFE = 250;
const LONGEST_MS = 120_000;

const figure = figuresOf('mongo-feed');

describe('the feed of MongoDB, while processes that write and move are killed', function () {
  this.timeout(LONGEST_MS + CHANGES * 1_000);
  let store: NewStore;
  before(async () => {
    store = await openNew(MONGODB);
    await store.feedState.turnOn();
  });
  after(() => store.close());

  it('misses no change', async () => {
    const random = new SeededRandom(TEST_SEED);
    const { changes, products, archives, settings } = store;
    const follower = await Follower.of(changes.products, products);
    let made = 0;
    let lives = 0;
    const live = async () => {
      while (made < CHANGES) {
        const life = ++lives;
        // Each second life ends by itself.
        const length = life % 2 === 0 ? CHANGES_PER_LIFE : Number.MAX_SAFE_INTEGER;
        const killAt = 1 + random.below(CHANGES_PER_LIFE);
        const parameters = [JSON.stringify(settings), `${life}`, `${life * 100_000}`, `${length}`];
        const child = spawn(process.execPath, [WRITER, ...parameters], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        let own = 0;
        child.stdout.on('data', (chunk: Buffer) => {
          const lines = chunk.filter((byte) => byte === 10).length;
          own += lines;
          made += lines;
          if (length > CHANGES_PER_LIFE && own >= killAt) child.kill('SIGKILL');
        });
        await once(child, 'close');
      }
    };
    let isOver = false;
    const follow = async () => {
      while (!isOver) expect(await follower.catchUp(1 + random.below(50))).to.equal(true);
      expect(await follower.catchUp()).to.equal(true);
    };
    const lifetimes = Promise.all([live(), live()]).finally(() => {
      isOver = true;
    });
    await Promise.all([lifetimes, follow()]);

    const stored = new Map<Id, number>();
    const archive = archives.records.find(({ name }) => name === 'products');
    for (let last = 0; ; ) {
      const page = (await archive?.read(last, 1_000)) ?? [];
      for (const entry of page) stored.set(entry.id, 'deletedAt' in entry ? Number.NaN : entry.version);
      const end = page.at(-1)?.id;
      if (end === undefined) break;
      last = end;
    }
    const missed = [...stored].filter(([id, version]) => {
      const known = follower.known.get(id) ?? 0;
      return Number.isNaN(version) ? known >= 0 : known !== version;
    });
    figure('changes', made);
    figure('processes', lives);
    figure('changes that the follower was shown', follower.seen.length);
    figure('missed', missed.length);
    expect(missed).to.deep.equal([]);
    expect(follower.known.size).to.equal(stored.size);
    expect(lives).to.be.at.least(3);
  });
});

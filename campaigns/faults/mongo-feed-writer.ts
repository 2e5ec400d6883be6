/**
 * A process that creates, changes and deletes products of its own and moves pending changes all the time, until it is
 * killed or has made enough. Arguments: the settings of the store as JSON, the seed, the first id, the changes. Prints a
 * line for each change.
 */
import type { Id } from '#src/domain/record.js';
import { AT, next, product } from '../../tests/contract/repository/records.js';
import { openStore } from '../../tests/stores/provider.js';
import { SeededRandom } from '../../tests/support/seeded-random.js';

const [settings = '{}', seed, firstId, changes] = process.argv.slice(2);
const { products, changes: feeds, feedState, close } = await openStore(JSON.parse(settings));
await feedState.turnOn();
const random = new SeededRandom(Number(seed));
const own = new Map<Id, ReturnType<typeof product>>();
let nextId = Number(firstId);
let isOver = false;

const write = async () => {
  for (let made = 0; made < Number(changes); made++) {
    const record = own.size > 0 && random.chance(0.6) ? random.oneOf([...own.values()]) : undefined;
    if (!record) {
      const created = product(nextId++);
      await products.insertAll([created]);
      own.set(created.id, created);
    } else if (random.chance(0.7)) {
      const edited = next(record, {});
      await products.replaceAll([{ record: edited, expected: record.version }]);
      own.set(record.id, edited);
    } else {
      await products.removeAll([{ id: record.id, expected: record.version, at: AT }]);
      own.delete(record.id);
    }
    process.stdout.write('.\n');
  }
  isOver = true;
};
const move = async () => {
  while (!isOver) await feeds.products.end();
};
await Promise.all([write(), move()]);
await close();

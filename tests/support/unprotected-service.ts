import { closeSync, openSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { GroupCommit } from '#src/adapters/outbound/sqlite/connection/commits.js';
import { OpenFiles } from '#src/adapters/outbound/sqlite/connection/files.js';
import { SqliteRepository } from '#src/adapters/outbound/sqlite/records/repository.js';
import { loadSettings } from '#src/config/settings.js';

/** The service without the protection that the environment variable UNPROTECTED names, as a control for checkers. */

const { find, replaceAll } = SqliteRepository.prototype;
const { write } = GroupCommit.prototype;

const PROTECTIONS: Readonly<Record<string, () => void>> = {
  /** A write replaces any version. */
  'version comparison': () => {
    SqliteRepository.prototype.replaceAll = async function (replacements) {
      const current = replacements.map(async ({ record, expected }) => {
        const { version } = (await find.call(this, record.id)) ?? {};
        return { record, expected: version ?? expected };
      });
      return replaceAll.call(this, await Promise.all(current));
    };
  },
  /** A read returns what it found up to 20 ms ago. */
  'fresh reads': () => {
    const cached = new Map<number, ReturnType<typeof find>>();
    SqliteRepository.prototype.find = function (id) {
      const found = cached.get(id) ?? find.call(this, id);
      if (!cached.has(id)) sleep(20).then(() => cached.delete(id));
      cached.set(id, found);
      return found as ReturnType<SqliteRepository<never>['find']>;
    };
  },
  /**
   * The database is opened and closed beside SQLite, which drops SQLite's locks. The service does not notice that its
   * files are no longer in place.
   */
  locks: () => {
    const { SQLITE_FILE = '' } = loadSettings();
    OpenFiles.prototype.areUnchanged = () => true;
    GroupCommit.prototype.write = function (work, rows) {
      closeSync(openSync(SQLITE_FILE, 'r'));
      return write.call(this, work, rows) as never;
    };
  },
  /** A response comes 20 ms after its commit, so that a kill comes between the two. */
  'prompt responses': () => {
    GroupCommit.prototype.write = async function (work, rows) {
      const result = await write.call(this, work, rows);
      await sleep(20);
      return result as never;
    };
  },
};

const name = process.env['UNPROTECTED'] ?? '';
const remove = PROTECTIONS[name];
if (!remove) throw new Error(`UNPROTECTED=${name} is no protection.`);
remove();
await import('#src/main.js');

import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import Database from 'libsql';
import { pragma } from '#src/adapters/outbound/sqlite/connection/connection.js';
import { schemaDifferences } from '#src/adapters/outbound/sqlite/connection/schema-check.js';
import { AT, product } from '../contract/repository/records.js';
import { ChildProcessService } from '../support/child-process-service.js';
import { CrashService } from '../support/crash-service.js';
import { figuresOf } from '../support/figure.js';
import { writeOldDatabase } from '../support/old-sqlite.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

const figure = figuresOf('search-index');
const RECORDS = 80_000;
const BEGUN = 'indexing the words of records; searches are slower until this is done';
const DONE = 'words of records indexed';

/** Finds one record of the first, the middle and the last part, and none of the records. */
const SEARCHES = { 'lamp n000001': 1, 'n040000 old': 1, 'times n079999': 1, n080001: 0 };

describe('an old SQLite file', () => {
  const root = temporaryFolder();
  const running: CrashService[] = [];
  afterEach(async () => {
    for (const service of running.splice(0)) await service.end('SIGKILL');
  });
  const start = async (folder: string, token?: string) => {
    // A search of records without index reads them all.
    const service = await CrashService.start(folder, 2, token, { QUERY_TIMEOUT_MS: '60000' });
    running.push(service);
    return service;
  };
  const indexedTo = (file: string): number => {
    const database = new Database(file);
    const [row] = database.prepare("SELECT done_to FROM word_indexes WHERE name = 'products'").raw().all();
    database.close();
    return (row as [number])[0];
  };
  const expectSearches = (service: CrashService) =>
    service.with(async (client) => {
      for (const [text, count] of Object.entries(SEARCHES)) {
        const path = `/v1/products?q=${encodeURIComponent(text)}&limit=5`;
        const { status, json } = await client.get(path);
        expect(status, text).to.equal(200);
        expect(json, text).to.have.length(count);
      }
    });

  it('is the old one or the new one after kill -9 while its schema changes; then it is searched and indexed after kill -9 at any point of its indexing', async () => {
    const folder = mkdtempSync(join(root, 'old-'));
    const file = join(folder, 'data/catalogue.sqlite');
    mkdirSync(join(folder, 'data'));
    writeOldDatabase(file, records());
    const changing = new ChildProcessService(folder);
    await until('the process writes', () => isLocked(file));
    changing.kill('SIGKILL');
    await changing.exit;
    expectWhole(file);
    let token: string | undefined;
    const points: number[] = [];
    for (let kill = 1; kill <= 2; kill++) {
      const service = await start(folder, token);
      token = service.token;
      // The other process waits while one changes the schema, which takes more than the patience of a write.
      expect(service.logged('the store cannot be reached yet; waiting')).to.deep.equal([]);
      await until('the indexing begins', () => service.logged(BEGUN).length > 0);
      const before = points.at(-1) ?? 0;
      await until('it goes on', () => indexedTo(file) > before || indexedTo(file) === RECORDS);
      await service.end('SIGKILL');
      points.push(indexedTo(file));
    }
    expect(points, 'the progress at each kill').to.deep.equal(points.toSorted((a, b) => a - b));
    figure(`records of ${RECORDS} that were indexed at each kill`, points.join(', '));
    const service = await start(folder, token);
    await expectSearches(service);
    await until('the indexing ends', () => indexedTo(file) === RECORDS);
    await until('a process says so', () => service.logged(DONE).length > 0);
    await expectSearches(service);
    expect(service.failures()).to.deep.equal([]);
    await service.end('SIGTERM');
    expectSound(file);
  });
});

function isLocked(file: string): boolean {
  const database = new Database(file);
  try {
    database.exec('BEGIN IMMEDIATE; ROLLBACK');
    return false;
  } catch {
    return true;
  } finally {
    database.close();
  }
}

function expectWhole(file: string): void {
  const database = new Database(file);
  const version = pragma(database, 'user_version');
  figure('steps of the schema at the kill', version);
  expect(schemaDifferences(database, version)).to.equal(undefined);
  expect(database.prepare('PRAGMA integrity_check').raw().all()).to.deep.equal([['ok']]);
  expect(database.prepare('SELECT count(*) FROM products').raw().all()).to.deep.equal([[RECORDS]]);
  database.close();
}

function* records() {
  for (let id = 1; id <= RECORDS; id++)
    yield {
      ...product(id, { name: `Lamp N${`${id}`.padStart(6, '0')}`, description: 'of old times' }),
      createdAt: AT,
    };
}

/** SQLite compares the index with the number of its records only in a database that it may write. */
function expectSound(file: string): void {
  const database = new Database(file);
  database.exec("INSERT INTO products_words (products_words) VALUES ('integrity-check')");
  const counts = database.prepare('SELECT count(*) FROM products_words_docsize').raw().all();
  expect(counts).to.deep.equal([[RECORDS]]);
  database.close();
}

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type Database from 'libsql';
import { LogCheckpoints } from '#src/adapters/outbound/sqlite/connection/commits.js';
import { connect } from '#src/adapters/outbound/sqlite/connection/connection.js';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/connection/database.js';
import { SqliteArchive } from '#src/adapters/outbound/sqlite/records/archive.js';
import { PRODUCTS } from '../support/tables.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const MIB = 1_024 ** 2;

describe('LogCheckpoints', () => {
  const folder = temporaryFolder();
  let file: string;
  let count = 0;
  let open: Database.Database[];

  beforeEach(() => {
    file = join(folder, `${++count}.sqlite`);
    open = [];
  });
  afterEach(() => {
    for (const connection of open) connection.close();
  });

  const fail = (error: unknown) => expect.fail(String(error));
  const connected = () => {
    const connection = connect(file, 'rwc');
    connection.exec('PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS t (n INTEGER PRIMARY KEY, text)');
    open.push(connection);
    return connection;
  };
  const insert = (connection: Database.Database, rows: number) => {
    for (let i = 0; i < rows; i++) connection.exec('INSERT INTO t (text) VALUES (hex(randomblob(2000)))');
  };
  const copiedPages = () => statSync(file).size / 4_096;

  it('are never made by SQLite itself', () => {
    const connection = connected();
    insert(connection, 1_200);
    expect(copiedPages()).to.equal(1);
    expect(statSync(`${file}-wal`).size).to.be.above(4 * MIB);
  });

  it('copy while no other connection can write', async () => {
    const [writer, other] = [connected(), connected()];
    const attempts: unknown[] = [];
    const checkpoints = new LogCheckpoints(
      writer,
      () => {
        const copier = connected();
        const prepare = copier.prepare.bind(copier);
        copier.prepare = (sql: string) => {
          if (!sql.includes('checkpoint')) return prepare(sql);
          try {
            other.exec('BEGIN IMMEDIATE; ROLLBACK');
            attempts.push('written');
          } catch (error) {
            attempts.push((error as { code?: unknown }).code);
          }
          return prepare(sql);
        };
        return copier;
      },
      fail,
    );
    insert(writer, 100);
    await checkpoints.committed(100);
    expect(attempts).to.deep.equal(['SQLITE_BUSY']);
    expect(copiedPages()).to.be.above(100);
    expect(writer.inTransaction).to.equal(false);
    other.exec('BEGIN IMMEDIATE; ROLLBACK');
  });

  it('wait until another process has written', async () => {
    const [writer, other] = [connected(), connected()];
    const checkpoints = new LogCheckpoints(writer, connected, fail);
    insert(writer, 100);
    other.exec('BEGIN IMMEDIATE');
    await checkpoints.committed(100);
    expect(copiedPages(), 'while it writes').to.equal(1);
    other.exec('ROLLBACK');
    await checkpoints.committed(1);
    expect(copiedPages(), 'after the next commit').to.be.above(100);
  });

  it('try again after failures, without failing the commit, and report the first in a row', async () => {
    const writer = connected();
    const copier = connected();
    const prepare = copier.prepare.bind(copier);
    const reported: unknown[] = [];
    let connections = 0;
    const connect = () => (++connections > 1 ? copier : expect.fail('no connection'));
    const checkpoints = new LogCheckpoints(writer, connect, (error) => reported.push(error));
    for (const [isBroken, reports] of [
      [false, 1],
      [true, 1],
      [false, 1],
      [true, 2],
    ] as const) {
      copier.prepare = isBroken ? () => expect.fail('broken') : prepare;
      const before = copiedPages();
      insert(writer, 100);
      await checkpoints.committed(10_000);
      expect(reported).to.have.length(reports);
      expect(copiedPages() > before).to.equal(connections > 1 && !isBroken);
    }
  });

  it('follow a copy of many records, whose batches are large', async () => {
    const database = new SqliteDatabase(file);
    await database.open();
    const archive = new SqliteArchive(database, PRODUCTS);
    const fields = { name: 'x', description: 'y'.repeat(2_000) };
    for (let batch = 0; batch < 12; batch++)
      await archive.add(
        Array.from({ length: 1_000 }, (_, at) => {
          return { id: batch * 1_000 + at + 1, version: 1, createdAt: 1, updatedAt: 1, fields };
        }),
      );
    expect(statSync(`${file}-wal`).size).to.be.below(16 * MIB);
    expect(copiedPages()).to.be.above(1_000);
    await database.close();
  });

  for (const [size, characters] of [
    ['small', 10],
    ['large', 60_000],
  ] as const)
    it(`keep the log small while two processes write ${size} rows`, async () => {
      const databases = [new SqliteDatabase(file), new SqliteDatabase(file)];
      for (const database of databases) await database.open();
      const text = 'x'.repeat(characters);
      const writes = 6_000_000 / (characters + 2_000);
      for (let i = 0; i < writes; i++)
        await databases[i % 2]?.write(
          (statement) => statement('INSERT INTO counters VALUES (?, 1)').run(`${i} ${text}`),
          1 + Math.floor(characters / 1_024),
        );
      expect(statSync(`${file}-wal`).size).to.be.below(32 * MIB);
      expect(statSync(file).size).to.be.above(writes * characters * 0.8);
      for (const database of databases) await database.close();
    });
});

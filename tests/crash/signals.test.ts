import { cpSync, mkdirSync, mkdtempSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { ChildProcessService, CLI, catalogue } from '../support/child-process-service.js';
import { needPythonSqlite, python } from '../support/python.js';
import { temporaryFolder } from '../support/temporary-folder.js';

/**
 * Sends the signal of the variable SIGNAL when the command shows the step of the variable STEP. On a terminal a
 * command shows each of its reports if 0.1 s have passed, which each look at the clock here takes.
 */
const SIGNALLER = `
let elapsed = 0;
performance.now = () => (elapsed += 1_000);
process.stderr.isTTY = true;
const write = process.stderr.write.bind(process.stderr);
let isSent = false;
process.stderr.write = (text, ...more) => {
  if (!isSent && text.includes(process.env.STEP)) {
    isSent = true;
    process.kill(process.pid, process.env.SIGNAL);
  }
  return write(text, ...more);
};
`;
const PRELOAD = `data:text/javascript,${encodeURIComponent(SIGNALLER)}`;

const ON_THREAD = pathToFileURL('dist/adapters/outbound/sqlite/connection/readers.js').href;

/** Enough for hundreds of pages of a copy, and some megabytes of a file. */
const PRODUCTS = 30_000;
const FILL = `
import json, sqlite3, sys
file = sqlite3.connect(sys.argv[1])
rows = ((i, 1, 0, 0, json.dumps({'name': 'p%d' % i, 'sku': 's%d' % i})) for i in range(10, ${PRODUCTS}))
file.executemany('INSERT INTO products (id, record_version, created_at, updated_at, fields) VALUES (?, ?, ?, ?, ?)', rows)
file.execute("UPDATE counters SET next_id = 100000 WHERE name = 'products'")
file.commit()
`;

const EXAMINE = `
import sqlite3, sys
file = sqlite3.connect(sys.argv[1])
print(file.execute('PRAGMA integrity_check').fetchone()[0], file.execute('SELECT count(*) FROM products').fetchone()[0])
`;

const COPY = ['copy', '--from', 'sqlite:data/catalogue.sqlite', '--to', 'sqlite:target.sqlite'];
const AGAIN = 'Interrupted. The copy is not whole: run the same command again, with --overwrite.';

/** A command, what it shows when the signal comes, and its last line. */
const STEPS: readonly (readonly [step: string, args: readonly string[], line: string])[] = [
  ['copying products', COPY, AGAIN],
  ['verifying products', COPY, AGAIN],
  ['copying:', ['backup', 'b.sqlite'], 'Interrupted. No backup was created.'],
  ['checking:', ['backup', 'b.sqlite'], 'Interrupted. No backup was created.'],
  ['copying:', ['restore', 'made.sqlite'], 'Interrupted. The database is unchanged.'],
  ['checking:', ['restore', 'made.sqlite'], 'Interrupted. The database is unchanged.'],
  [
    'creating products',
    ['seed', '--products', '100000'],
    'Interrupted. Run the same command again: it creates the rest.',
  ],
];

describe('a signal', () => {
  const root = temporaryFolder();
  const template = join(root, 'template');

  before(async () => {
    needPythonSqlite();
    mkdirSync(template);
    await catalogue(template, ['seed', '--products', '3']);
    await python(FILL, join(template, 'data/catalogue.sqlite'));
    expect((await catalogue(template, ['backup', 'made.sqlite'])).code).to.equal(0);
  });

  const stopped = async (args: readonly string[], environment: Record<string, string>) => {
    const where = mkdtempSync(join(root, 'run-'));
    cpSync(template, where, { recursive: true });
    const before = readdirSync(join(where, 'data')).sort();
    const { ino } = statSync(join(where, 'data/catalogue.sqlite'));
    const run = new ChildProcessService(where, environment, ['--import', PRELOAD, CLI, ...args]);
    const { code } = await run.exit;
    return { where, before, ino, code, lines: run.log.split(/[\n\r]|\u001b\[2K/).filter((line) => line !== '') };
  };

  for (const [at, [step, args, line]] of STEPS.entries()) {
    const [SIGNAL, exitCode] = at % 2 === 0 ? (['SIGTERM', 143] as const) : (['SIGINT', 130] as const);
    it(`ends ${args[0]} while it shows "${step}": ${SIGNAL}`, async () => {
      const { where, before, ino, code, lines } = await stopped(args, { STEP: step, SIGNAL });
      expect([code, lines.at(-1)], lines.join('\n')).to.deep.equal([exitCode, line]);
      // It did not go on to another step.
      expect(lines.at(-2)).to.include(step);
      if (args[0] === 'backup') expect(readdirSync(where).sort()).to.deep.equal(['data', 'made.sqlite']);
      if (args === COPY) {
        expect((await catalogue(where, ['keys', 'list'], { SQLITE_FILE: 'target.sqlite' })).code).to.equal(78);
        const { code, out, err } = await catalogue(where, [...COPY, '--overwrite']);
        expect([code, err]).to.deep.equal([0, '']);
        expect(out).to.include(`products: ${PRODUCTS - 7} records, 0 tombstones; both sides`);
        expect(await python(EXAMINE, join(where, 'target.sqlite'))).to.equal(`ok ${PRODUCTS - 7}\n`);
      }
      if (args[0] !== 'restore') return;
      expect(readdirSync(join(where, 'data')).sort()).to.deep.equal(before);
      const inPlace = join(where, 'data/catalogue.sqlite');
      expect(statSync(inPlace).ino, 'the same file').to.equal(ino);
      expect(await python(EXAMINE, inPlace)).to.equal(`ok ${PRODUCTS - 7}\n`);
    });
  }

  it('ends a statement that runs long on another thread', async () => {
    const where = mkdtempSync(join(root, 'run-'));
    const program = `
      import { runOnThread } from ${JSON.stringify(ON_THREAD)};
      const numbers = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 200000000)';
      const long = numbers + " SELECT 'complete' FROM n WHERE i = 200000000";
      const tick = () => { throw new Error('given up'); };
      const end = await runOnThread(${JSON.stringify(join(template, 'made.sqlite'))}, long, tick)
        .catch(({ message }) => message);
      console.log(end);
      process.exit();`;
    const run = new ChildProcessService(where, {}, ['--input-type=module', '-e', program]);
    await run.exit;
    expect([run.out, run.log]).to.deep.equal(['given up\n', '']);
  });
});

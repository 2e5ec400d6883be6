import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import Database from 'libsql';
import { table } from '#src/adapters/inbound/cli/io.js';
import { newApiKey } from '#src/adapters/outbound/system/random.js';
import { isWellFormedKey } from '#src/shared/api-key-format.js';
import { jsonLines } from '../../../../support/line-stream.js';
import { list } from '../../../../support/list.js';
import { temporaryFolder } from '../../../../support/temporary-folder.js';
import { runInProcess } from './run-command.js';

const create = (name: string, scopes: string, ...more: string[]) =>
  list`keys  create  --name`.concat(name, '--scopes', scopes, more);
const createExpiring = (time: string) => create('x', 'products:read', '--expires-at', time);

/** Usage errors: the arguments, and the expected message. */
type Misused = readonly [args: readonly string[], prints: RegExp];
const misused = (prints: RegExp, lines: readonly string[]) => lines.map((line): Misused => [line.split(' '), prints]);
const MISUSED: readonly Misused[] = [
  [[], /^usage: catalogue/],
  ...misused(/^usage: catalogue keys/, ['keys']),
  ...misused(/^usage: catalogue signing-keys/, ['signing-keys']),
  ...misused(/unknown command 'toString'/, ['toString', 'keys toString']),
  ...misused(/unknown command 'forget'/, ['signing-keys forget']),
  ...misused(/too many arguments/, [
    ...list`serve now  keys list all  keys revoke 1 2  keys generate 2  signing-keys list x  signing-keys rotate x`,
    ...list`signing-keys revoke 1 2  changes --follow x  changes reset x  seed --products 10 more  backup a b  check x`,
    ...list`config x  openapi x  mcp x  import x.csv y.csv --resource products`,
    'keys create --name x --scopes products:read y',
  ]),
  ...misused(/missing required argument 'id'/, ['keys revoke', 'signing-keys revoke']),
  ...misused(/missing required argument 'file'/, ['backup', 'restore', 'import --resource products']),
  ...misused(/missing required argument 'shell'/, ['completion']),
  ...misused(/'x' is invalid/, ['keys revoke x', 'signing-keys revoke x']),
  ...misused(/'01' is invalid/, ['keys revoke 01']),
  ...misused(/--name/, ['keys create', 'keys create --scopes products:read', 'keys create --nmae x']),
  ...[' ', '', 'x'.repeat(201)].map((name): Misused => [create(name, 'products:read'), /--name/]),
  ...misused(/--scopes/, ['keys create --name x']),
  [create('x', 'products:read,products:own'), /no scope "products:own"/],
  [create('x', 'products:read,users:read,products:read'), /--scopes/],
  [create('x', 'products:read,'), /no scope ""/],
  [create('x', 'products:read', '--expires', 'x'), /unknown option '--expires'/],
  [createExpiring('tomorrow'), /in the future, such as 2030-01-31T00:00:00Z/],
  ...list`2090-02-31T00:00:00Z  2020-01-01T00:00:00Z  9999-12-31T23:59:59-01:00`.map(
    (time): Misused => [createExpiring(time), /--expires-at/],
  ),
  ...misused(/required option '--resource <name>'/, ['changes']),
  ...misused(/Allowed choices are products, users, orders/, ['changes --resource api-keys']),
  ...misused(/takes no --resource/, ['changes reset --resource products']),
  ...misused(/--products/, ['seed', 'seed --produtcs 10']),
  ...misused(/from 1 to 10000000/, list`seed --products 0  seed --products 10000001  seed --products -1`),
  ...misused(/--seed/, ['seed --products 10 --seed 9007199254740992', 'seed --products 10 --seed x']),
  ...misused(/unknown option '--sede'/, ['seed --products 10 --sede 1']),
  ...misused(/unknown option '--verison'/, ['--verison']),
  [['backup', ''], /file/],
  [['restore', ''], /file/],
  ...misused(/--from/, ['copy']),
  ...misused(/--to/, ['copy --from sqlite:x']),
  [['copy', '--from', '', '--to', 'sqlite:x'], /--from/],
  ...misused(/A store is sqlite:FILE/, ['copy --from paper://x --to sqlite:x']),
  ...misused(/bash, zsh, fish/, ['completion tcsh']),
  ...misused(/--resource/, ['import', 'import x.csv']),
  ...misused(/products, users, orders/, ['import x.csv --resource product']),
  ...misused(/'-' tells no format; say --format/, ['import - --resource products']),
  ...misused(/'x\.json' tells no format/, ['import x.json --resource products']),
  ...misused(/ndjson, csv/, ['import x --format json --resource products']),
  ...misused(/--existing needs --match/, ['import x.csv --resource products --existing skip']),
  ...misused(/--empty needs --match and CSV/, ['import x.csv --resource products --add --empty clear']),
  ...misused(/--empty needs .* CSV/, ['import x.ndjson --resource products --match sku --empty keep']),
  ...misused(
    /--match FIELD .*--add/,
    list`import x.csv --resource products  import x.csv --resource products --dry-run`,
  ),
  ...misused(/'--add' cannot be used with .*'--match/, ['import x.csv --resource products --match sku --add']),
  ...misused(/merge, replace, skip/, ['import x.csv --resource products --match id --existing x']),
  ...misused(/https:\/\/HOST/, [
    ...list`mcp --url http://localhost:8443  mcp --url https://localhost:8443/?a  mcp --url https://localhost:8443/a#b`,
    ...list`mcp --url https://key@localhost  mcp --url localhost`,
    'import x.csv --resource products --url http://localhost',
  ]),
];

/** URLs of stores whose password had to be percent-encoded. */
const AMBIGUOUS = ['postgresql://u:P@ssword#24@h/d', 'mongodb://u:12345?abc@h/d', 'postgres://u:pa/ss@h/d'];

/** Every command, for its help. */
const COMMANDS = [
  ...list`serve  keys create  keys list  keys revoke  keys generate  signing-keys list  signing-keys rotate`,
  ...list`signing-keys revoke  seed  copy  backup  restore  check  config  openapi  import  mcp  completion`,
];

describe('the command line', () => {
  const folder = temporaryFolder();
  const environment = { DATA_DIR: join(folder, 'data') };

  for (const [args, prints] of MISUSED)
    it(`explains a usage error and exits with 64: catalogue ${args.join(' ')}`, async () => {
      const { code, out, err } = await runInProcess(args, environment);
      expect([code, out]).to.deep.equal([64, '']);
      expect(err).to.match(prints).and.to.include('usage: catalogue').and.to.not.include('    at ');
      expect(existsSync(environment.DATA_DIR), 'no store is opened').to.equal(false);
    });

  it('prints nothing of a URL to copy that is refused: 78, or 64 if it is no store', async () => {
    for (const url of AMBIGUOUS)
      for (const sides of [
        ['--from', url, '--to', `sqlite:${folder}/x`],
        ['--from', `sqlite:${folder}/x`, '--to', url],
      ]) {
        const { code, out, err } = await runInProcess(['copy', ...sides], environment);
        expect([code, out]).to.deep.equal([78, '']);
        expect(err)
          .to.match(/^\w+_URL has a #, or an @ .*percent-encode/)
          .and.not.match(/ssword|12345|abc|pa\b|@h/);
      }
    const { code, err } = await runInProcess(['copy', '--from', 'paper://u:s#cret@h', '--to', 'sqlite:x'], environment);
    expect([code, err.includes('cret')]).to.deep.equal([64, false]);
  });

  it('prints its help, and that of each command', async () => {
    for (const args of [['help'], ['--help'], ['-h']]) {
      const { code, out, err } = await runInProcess(args, environment);
      expect([code, err]).to.deep.equal([0, '']);
      for (const command of COMMANDS) expect(out).to.include(`\n  ${command.split(' ')[0]} `);
    }
    for (const command of COMMANDS) {
      const { code, out, err } = await runInProcess([...command.split(' '), '--help'], environment);
      expect([code, err], command).to.deep.equal([0, '']);
      expect(out).to.match(new RegExp(`^usage: catalogue ${command} `));
      const [, description = ''] = out.split('\n\n');
      for (const line of description.split('\n').slice(0, -1))
        expect(line.length, `${command}: ${line}`).to.be.within(60, 80);
      expect(out, 'an example').to.match(new RegExp(`^example: .*catalogue ${command}|^example: .*npm start`, 'm'));
      expect((await runInProcess([...command.split(' '), '-h'], environment)).out, command).to.equal(out);
    }
  });

  it('says why the store cannot be used, and exits with 75', async () => {
    const SQLITE_FILE = join(folder, 'locked.sqlite');
    expect((await runInProcess(['seed', '--products', '1'], { SQLITE_FILE })).code).to.equal(0);
    const other = new Database(SQLITE_FILE);
    try {
      other.exec('BEGIN EXCLUSIVE');
      const { code, out, err } = await runInProcess(['keys', 'list'], { SQLITE_FILE });
      expect([code, out]).to.deep.equal([75, '']);
      expect(err).to.match(/^The store cannot be used right now\. The reason: .*database .*\nTo do: catalogue check /);
    } finally {
      other.close();
    }
  });

  it('names the file that is no database', async () => {
    const SQLITE_FILE = join(folder, 'text.sqlite');
    writeFileSync(SQLITE_FILE, 'x'.repeat(5_000));
    const { code, err } = await runInProcess(['backup', join(folder, 'copy')], { SQLITE_FILE });
    expect([code, err]).to.deep.equal([78, `${SQLITE_FILE} is not a SQLite database.\n`]);
  });

  it('reports invalid settings line by line and exits with 78', async () => {
    const { code, out, err } = await runInProcess(['keys', 'list'], { STORE: 'x', PORT: 'x' });
    expect([code, out]).to.deep.equal([78, '']);
    expect(err).to.match(/^PORT .*\nSTORE .*\n$/);
  });

  it('prints the version of package.json, as the OpenAPI document has it', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(await runInProcess(['--version'])).to.deep.equal({ code: 0, out: `${version}\n`, err: '' });
    expect(JSON.parse((await runInProcess(['openapi'], environment)).out).info.version).to.equal(version);
  });

  it('exits with 65 and names the key if the store has no such key', async () => {
    expect((await runInProcess(['seed', '--products', '1'], environment)).code).to.equal(0);
    for (const [name, key] of Object.entries({ keys: 'key', 'signing-keys': 'signing key' })) {
      const err = `The store has no ${key} 7.\n`;
      expect(await runInProcess([name, 'revoke', '7'], environment)).to.deep.equal({ code: 65, out: '', err });
    }
  });

  it('warns of a misspelt environment variable once', async () => {
    const { code, err } = await runInProcess(['keys', 'list'], { ...environment, RATE_LIMIT_REQUEST: '1' });
    const reason = 'RATE_LIMIT_REQUEST is no setting and has no effect; is RATE_LIMIT_REQUESTS meant?';
    expect([code, err]).to.deep.equal([0, `warning: the environment variable ${reason}\n`]);
  });

  it('lists keys as lines of JSON in a pipe, and as a table on a terminal, where no name controls it', async () => {
    const where = { DATA_DIR: join(folder, 'keys') };
    await runInProcess(['seed', '--products', '1'], where);
    const name = '\u001b[31mred\n漢字';
    expect((await runInProcess(create('plain', 'all'), where)).out).to.match(
      /^Key 2 \(plain\): products:read .*keys:admin webhooks:admin\nShown/,
    );
    const created = JSON.parse((await runInProcess([...create('x漢字', 'users:read'), '--json'], where)).out);
    expect(created).to.include({ name: 'x漢字' }).and.to.have.property('key');
    expect(isWellFormedKey(created.key)).to.equal(true);
    const piped = (await runInProcess(['keys', 'list'], where)).out;
    expect(jsonLines(piped).map((key) => key.name)).to.deep.equal(['plain', 'x漢字']);
    const terminal = { isTTY: true };
    expect((await runInProcess(['keys', 'list', '--json'], where, terminal)).out).to.equal(piped);
    const lines = (await runInProcess(['keys', 'list'], where, terminal)).out.split('\n');
    expect(lines[0]).to.match(/^ID +NAME +SCOPES +EXPIRES +LAST USED +REQUESTS, 24 H$/);
    expect(lines[1]).to.match(/^2 +plain +all +never +never +-$/);
    // Each of the two characters takes two columns.
    expect(lines[2]?.indexOf('users:read')).to.equal((lines[1]?.indexOf('all') ?? 0) - 2);
    expect(await table(['A'], [[name]])).to.equal('A\n\\u001b[31mred\\u000a漢字\n');
    // C1 controls and marks of direction are allowed in a name; JSON shows them as they are in ASCII.
    const hostile = 'a\u009b31m\u202eb\u2066\u{e0001}';
    const made = await runInProcess([...create(hostile, 'users:read'), '--json'], where);
    const listed = await runInProcess(['keys', 'list', '--json'], where);
    for (const { out } of [made, listed]) {
      expect(out)
        .to.include('"a\\u009b31m\\u202eb\\u2066\\udb40\\udc01"')
        .and.not.to.match(/[\p{Cf}\u0080-\u009f]/u);
      expect(jsonLines(out).at(-1).name).to.equal(hostile);
    }
    const revoked = await runInProcess(['keys', 'revoke', `${created.id}`], where);
    expect(revoked.out).to.match(/^Key \d+ \(x漢字\) is revoked\./);
  });

  it('prints the settings with their sources, and every problem with exit code 78', async () => {
    const { code, out, err } = await runInProcess(['config'], { STORE: 'x', PORT: '0x' });
    expect(code).to.equal(78);
    expect(out)
      .to.match(/^PORT +0x +environment$/m)
      .and.to.match(/^HOST +127\.0\.0\.1 +default$/m);
    expect(err).to.match(/^PORT must .*\nSTORE must .*\n$/);
    const good = await runInProcess(['config', '--json'], { LOG_LEVEL: 'warn' });
    expect([good.code, good.err]).to.deep.equal([0, '']);
    expect(jsonLines(good.out)).to.deep.include({ name: 'LOG_LEVEL', value: 'warn', source: 'environment' });
  });

  it('rejects the memory store, which ends with the process', async () => {
    for (const command of list`keys list  signing-keys list  seed --products 1`) {
      const { code, err } = await runInProcess(command.split(' '), { ...environment, STORE: 'memory' });
      expect([code, /^STORE=memory/.test(err)], err).to.deep.equal([78, true]);
    }
  });

  it('exits with 66 if there is no database that it could manage, and creates none', async () => {
    const SQLITE_FILE = join(folder, 'misspelt.sqlite');
    for (const command of list`keys list  keys revoke 1  signing-keys list  changes reset`) {
      const outcome = await runInProcess(command.split(' '), { SQLITE_FILE });
      const err = `There is no database ${SQLITE_FILE}. The first start of the service creates it.\n`;
      expect(outcome).to.deep.equal({ code: 66, out: '', err });
      expect(existsSync(SQLITE_FILE)).to.equal(false);
    }
  });

  it('creates a key in a new database, and says that it is new', async () => {
    const SQLITE_FILE = join(folder, 'new.sqlite');
    const { code, out, err } = await runInProcess(create('x', 'all'), { SQLITE_FILE });
    expect([code, err]).to.deep.equal([0, `There was no database ${SQLITE_FILE}; it is new.\n`]);
    expect(out).to.match(/pcs_\w+/);
    expect((await runInProcess(create('x', 'all'), { SQLITE_FILE })).err).to.equal('');
  });

  it('does not say that a database is new if it cannot be created', async () => {
    const SQLITE_FILE = '/proc/none/new.sqlite';
    const { code, err } = await runInProcess(create('x', 'all'), { SQLITE_FILE });
    expect(code).to.equal(75);
    expect(err).to.match(/^The file \/proc\/none\/new\.sqlite cannot be opened\./);
  });

  it('exits with 66 if there is no store to copy or to restore, and creates no file', async () => {
    const [absent, target] = [join(folder, 'absent.sqlite'), join(folder, 'y')];
    for (const args of [
      ['copy', '--from', `sqlite:${absent}`, '--to', `sqlite:${target}`],
      ['restore', absent],
    ]) {
      const outcome = await runInProcess(args, { SQLITE_FILE: target });
      expect(outcome).to.deep.equal({ code: 66, out: '', err: `There is no file ${absent}.\n` });
      expect([existsSync(absent), existsSync(target)]).to.deep.equal([false, false]);
    }
  });

  it('says why the store cannot be used', async () => {
    const outcome = await runInProcess(['keys', 'list'], { SQLITE_FILE: '/dev/null/y/x.sqlite' });
    const reason = 'The file /dev/null/y/x.sqlite cannot be opened. The reason: not a directory (ENOTDIR).';
    const err = `${reason}\nTo do: catalogue check says what is wrong.\n`;
    expect(outcome).to.deep.equal({ code: 75, out: '', err });
  });

  it('shows no API key in an error message', async () => {
    const key = newApiKey();
    for (const args of [[key], ['keys', 'create', `--${key}`], create('x', key)]) {
      const { code, out, err } = await runInProcess(args, environment);
      expect(code, args.join(' ')).to.equal(64);
      expect(err + out, args.join(' ')).to.not.include(key.slice(-8));
    }
  });

  it('generates well-formed keys', async () => {
    const { code, out } = await runInProcess(['keys', 'generate']);
    expect(code).to.equal(0);
    expect(isWellFormedKey(out.trim())).to.equal(true);
  });

  it('seeds the given number of products, and only the missing ones in a later run', async () => {
    const seed = (count: number, ...more: string[]) =>
      runInProcess(['seed', '--products', `${count}`, ...more], { DATA_DIR: join(folder, 'seeded') });
    const out = '1100 products of seed 1 created, 0 existed already\n';
    expect(await seed(1_100)).to.deep.equal({ code: 0, out, err: '' });
    expect((await seed(1_100)).out).to.equal('0 products of seed 1 created, 1100 existed already\n');
    expect((await seed(1_300)).out).to.equal('200 products of seed 1 created, 1100 existed already\n');
    expect((await seed(50, '--seed', '2')).out).to.equal('50 products of seed 2 created, 0 existed already\n');
  });
});

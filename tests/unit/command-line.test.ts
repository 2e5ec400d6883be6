import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ChecksummedApiKey } from '#src/adapters/outbound/tokens/api-key-format.js';
import { runInProcess } from '../support/run-command.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const CREATE = ['keys', 'create', '--name', 'x', '--scopes'];

/** tests/process/program.test.ts shows with one of these that the process ends so too. */
const MISUSED: readonly (readonly string[])[] = [
  [],
  ['toString'],
  ['serve', 'now'],
  ['keys'],
  ['keys', 'toString'],
  ['keys', 'create'],
  [...CREATE, 'products:read', '--expires-at', 'tomorrow'],
  ['keys', 'create', '--nmae', 'x'],
  ['keys', 'create', '--name', ' ', '--scopes', 'products:read'],
  ['keys', 'revoke', 'x'],
  ['signing-keys'],
  ['signing-keys', 'list', 'x'],
  ['signing-keys', 'revoke'],
  ['signing-keys', 'revoke', 'x'],
  ['signing-keys', 'revoke', '1', '2'],
  ['signing-keys', 'forget'],
  ['seed'],
  ['seed', '--products', '0'],
  ['seed', '--products', '10000001'],
  ['seed', '--products', '10', 'more'],
  ['seed', '--products', '10', '--seed', '9007199254740992'],
  ['seed', '--products', '10', '--seed', 'x'],
  ['seed', '--produtcs', '10'],
  ['backup', 'a', 'b'],
  ['copy'],
  ['copy', '--from', 'sqlite:x'],
];

describe('the command line', () => {
  const folder = temporaryFolder();
  const environment = { DATA_DIR: join(folder, 'data') };

  for (const args of MISUSED) {
    it(`explains itself where it is misused: catalogue ${args.join(' ')}`, async () => {
      const { code, out, err } = await runInProcess(args, environment);
      expect([code, out]).to.deep.equal([64, '']);
      expect(err).to.include('usage: catalogue').and.to.not.include('    at ');
    });
  }

  it('opens no store for that, but for signing keys', async () => {
    for (const args of MISUSED.filter(([name]) => name !== 'signing-keys')) {
      const DATA_DIR = join(folder, 'none');
      await runInProcess(args, { DATA_DIR });
      expect(existsSync(DATA_DIR), args.join(' ')).to.equal(false);
    }
  });

  it('says that it needs one file for a backup', async () => {
    expect((await runInProcess(['backup', 'a', 'b'], environment)).err).to.match(
      /^backup needs one file\nusage: catalogue/,
    );
  });

  it('ends with 1 where the store has no such signing key', async () => {
    expect((await runInProcess(['signing-keys', 'revoke', '7'], environment)).code).to.equal(1);
  });

  it('refuses a store that dies with the process', async () => {
    for (const args of [
      ['keys', 'list'],
      ['seed', '--products', '1'],
    ]) {
      const { code, err } = await runInProcess(args, { ...environment, STORE: 'memory' });
      expect([code, /^STORE=memory/.test(err)], err).to.deep.equal([1, true]);
    }
  });

  it('ends with 1 where there is no store to copy, and makes no file by mistake', async () => {
    const [absent, target] = [join(folder, 'absent.sqlite'), join(folder, 'y')];
    for (const from of [`sqlite:${absent}`, 'postgres://x']) {
      const { code, err } = await runInProcess(['copy', '--from', from, '--to', `sqlite:${target}`]);
      expect(code, err).to.equal(1);
      expect(err).to.not.include('    at ');
      expect([existsSync(absent), existsSync(target)]).to.deep.equal([false, false]);
    }
  });

  it('shows no API key in a complaint', async () => {
    const key = new ChecksummedApiKey().generate();
    for (const args of [[key], ['keys', 'create', `--${key}`], [...CREATE, key]]) {
      const { code, out, err } = await runInProcess(args, environment);
      expect(code, args.join(' ')).to.be.oneOf([1, 64]);
      expect(err + out, args.join(' ')).to.not.include(key.slice(-8));
    }
  });

  it('generates well-formed keys', async () => {
    const { code, out } = await runInProcess(['keys', 'generate']);
    expect(code).to.equal(0);
    expect(new ChecksummedApiKey().isWellFormed(out.trim())).to.equal(true);
  });

  it('makes so many products, nothing more when it is run again, and the rest for a larger number', async () => {
    const seed = (count: number, ...more: string[]) =>
      runInProcess(['seed', '--products', `${count}`, ...more], { DATA_DIR: join(folder, 'seeded') });
    expect(await seed(1_100)).to.deep.equal({
      code: 0,
      out: '1100 products of seed 1 made, 0 were there already\n',
      err: '',
    });
    expect((await seed(1_100)).out).to.equal('0 products of seed 1 made, 1100 were there already\n');
    expect((await seed(1_300)).out).to.equal('200 products of seed 1 made, 1100 were there already\n');
    expect((await seed(50, '--seed', '2')).out).to.equal(
      '50 products of seed 2 made, 0 were there already\n',
    );
  });
});

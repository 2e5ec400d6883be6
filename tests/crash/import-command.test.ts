import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { ChildProcessService, CLI } from '../support/child-process-service.js';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';
import { CuttingProxy } from '../support/tcp-proxy.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';
import { runInProcess } from '../unit/adapters/inbound/cli/run-command.js';

const BY_SKU = ['--resource', 'products', '--match', 'sku'];
const AGAIN = 'Run the same command again: what is done stays as it is.\n';

/** Enough that an import can be stopped in its middle. */
const MANY = 20_000;
const many = (name: string, count = MANY) =>
  Array.from({ length: count }, (_, at) => `{"sku":"${name}-${at}","name":"Lamp ${at}"}\n`).join('');

/** An import of ten seconds tells how far it is. */
const withoutProgress = (log: string) => log.replace(/^importing: .*\n/gm, '');

describe('catalogue import', () => {
  const service = inProcessService();
  const root = temporaryFolder();
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(root, 'run-'))));
  const environment = (variables: Record<string, string> = {}) => ({
    API_KEY: FIRST_KEY,
    PORT: `${service.port}`,
    DATA_DIR: service.folder,
    ...variables,
  });
  const file = (name: string, content: string) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const run = async (path: string, args: readonly string[] = BY_SKU, variables: Record<string, string> = {}) => {
    const outcome = await runInProcess(['import', path, ...args], environment(variables));
    return { ...outcome, err: withoutProgress(outcome.err) };
  };
  const product = async (sku: string) => (await service.get(`/v1/products/sku/${sku}`)).json;
  const counted = async (prefix: string) => {
    const headers = { Prefer: 'count=exact' };
    const { headers: got } = await service.get(`/v1/products?sku.prefix=${prefix}&limit=1`, { headers });
    return Number(got['x-total-count']);
  };

  it('creates, changes, leaves and deletes products by SKU, and gives back what is refused', async () => {
    const first = file('first.csv', 'sku,name,price.amount,price.currency\nC-1,Lamp,100,EUR\nC-2,Desk,,\n');
    const created = '2 records: 2 created, 0 changed, 0 unchanged, 0 deleted, 0 refused\n';
    expect(await run(first)).to.deep.equal({ code: 0, out: created, err: '' });
    const refused = join(folder, 'refused.csv');
    const rows = ['C-1,Torch,,', ',,,', '"C-2",Desk,,true', '"C 3","Two\nlines",,', 'C-4,Chair,7,'];
    const second = file('second.csv', `\ufeffsku,name,version,deleted\r\n\r\n${rows.join('\r\n')}\r\n`);
    const { code, out, err } = await run(second, [...BY_SKU, '--refused', refused]);
    expect([code, out]).to.deep.equal([65, '4 records: 0 created, 1 changed, 0 unchanged, 1 deleted, 2 refused\n']);
    const next = `${refused}: the refused lines are the file to import next; correct them there`;
    expect(err.split('\n').map((line) => (line === next ? 'NEXT' : line.slice(0, 60)))).to.deep.equal([
      'line 6: validation_failed: sku must be at most 64 of A-Z a-z',
      'line 8: not_found: Not found.',
      'NEXT',
      '',
    ]);
    expect(err).to.match(/ \(\/sku\); name must .* \(\/name\)\n/);
    const kept = readFileSync(refused, 'utf8');
    expect(kept).to.equal('sku,name,version,deleted\r\n"C 3","Two\nlines",,\r\nC-4,Chair,7,\r\n');
    expect(await product('C-1')).to.deep.include({ name: 'Torch' });
    expect(await product('C-1')).to.have.property('price');
    expect((await product('C-2')).code).to.equal('not_found');
    const mended = readFileSync(refused, 'utf8').replace('C 3","Two\n', 'C-3","Two ').replace(',7,', ',,');
    const again = await run(file('mended.csv', mended), [...BY_SKU, '--refused', refused]);
    expect(again.out).to.match(/^2 records: 2 created/);
    expect(existsSync(refused), 'nothing is left to import').to.equal(false);
  });

  describe('the file of refused lines', () => {
    const BAD = '{"sku":"Q 1","name":"Lamp"}\n';
    const read = (name: string) => readFileSync(join(folder, name), 'utf8');
    const names = () => readdirSync(folder).sort();

    it('is beside the source, with what the source has before its first record, and its permissions', async () => {
      const head = '\ufeffsep=,\r\n\r\n"sku","name"\r\n';
      const path = file('feed.CSV', `${head}Q-1,Lamp\r\n"Q 1","Lämp"\r\n\r\n"Q 2",x`);
      chmodSync(path, 0o600);
      expect((await run(path)).code).to.equal(65);
      expect(read('feed.refused.CSV')).to.equal(`${head}"Q 1","Lämp"\r\n"Q 2",x\n`);
      expect(statSync(join(folder, 'feed.refused.CSV')).mode & 0o777).to.equal(0o600);
      file('feed.refused.CSV', `${head}Q-2,x\n"Q 1","Lämp"\n`);
      expect((await run(join(folder, 'feed.refused.CSV'))).err).to.include('feed.refused.refused.CSV: the refused');
    });

    it('is written only if a line is refused, and not by a dry run', async () => {
      await run(file('good.ndjson', '{"sku":"Q-3","name":"Lamp"}'));
      const bad = file('bad.ndjson', BAD);
      expect((await run(bad, [...BY_SKU, '--dry-run'])).err).to.not.include('import next');
      expect((await run(bad, [...BY_SKU, '--refused', '/dev/null'])).code).to.equal(65);
      expect(names()).to.deep.equal(['bad.ndjson', 'good.ndjson']);
    });

    it('is replaced by the next import, and removed by one that refuses nothing', async () => {
      const path = file('again.ndjson', `${BAD}{"sku":"Q-4","name":"Lamp"}\n`);
      await run(path);
      await run(path);
      file('again.ndjson', `${BAD}${BAD}`);
      await run(path);
      expect(read('again.refused.ndjson')).to.equal(`${BAD}${BAD}`);
      file('again.ndjson', '{"sku":"Q-4","name":"Lamp"}');
      await run(path);
      expect(names()).to.deep.equal(['again.ndjson']);
    });

    it('is not replaced if the command did not make it, or it was edited: 73, and nothing is sent', async () => {
      const path = file('feed.ndjson', `${BAD}{"sku":"Q-5","name":"Lamp"}\n`);
      const target = file('feed.refused.ndjson', 'mine\n');
      for (const args of [BY_SKU, [...BY_SKU, '--refused', target]]) {
        const { code, out, err } = await run(path, args);
        expect([code, out]).to.deep.equal([73, '']);
        expect(err).to.include(`${target}: no import wrote this file, or it was edited and not imported since`);
      }
      expect([read('feed.refused.ndjson'), (await product('Q-5')).code]).to.deep.equal(['mine\n', 'not_found']);
      file('feed.refused.ndjson', '');
      await run(path);
      appendFileSync(target, '{"sku":"Q-6","name":"Lamp"}\n');
      expect((await run(path)).code).to.equal(73);
      // It may be, as soon as it is imported, also if it still has refused lines.
      file('feed.refused.ndjson', `{"sku":"Q-6","name":"Lamp"}\n${BAD}`);
      expect((await run(target)).code).to.equal(65);
      expect(read('feed.refused.refused.ndjson')).to.equal(BAD);
      expect((await run(path)).code).to.equal(65);
      expect(read('feed.refused.ndjson')).to.equal(BAD);
    });

    it('stays as it is if the connection breaks', async () => {
      const path = file('feed.ndjson', BAD);
      await run(path);
      file('feed.ndjson', `${BAD}${many('QB')}`);
      const proxy = new CuttingProxy(service);
      await proxy.listen();
      proxy.next = { direction: 'up', bytes: 500_000 };
      expect((await run(path, [...BY_SKU, '--url', `https://localhost:${proxy.port}`])).code).to.equal(75);
      await proxy.close();
      expect(read('feed.refused.ndjson')).to.equal(BAD);
      expect(names()).to.deep.equal(['.feed.refused.ndjson.sha256', 'feed.ndjson', 'feed.refused.ndjson']);
      expect((await run(path)).code).to.equal(65);
    });
  });

  it('replaces or skips what exists, and writes nothing in a dry run', async () => {
    await run(file('a.ndjson', '{"sku":"R-1","name":"Lamp","description":"Green"}'));
    const { id } = await product('R-1');
    const other = file('b.ndjson', '{"sku":"R-1","name":"Torch"}\n{"sku":"R-2"}\n');
    const dry = await run(other, [...BY_SKU, '--dry-run']);
    expect(dry.code).to.equal(65);
    expect(dry.out).to.equal('2 records (dry run): 0 created, 1 changed, 0 unchanged, 0 deleted, 1 refused\n');
    expect((await run(other, [...BY_SKU, '--existing', 'skip'])).out).to.include('1 unchanged');
    expect(await product('R-1')).to.deep.equal({ id, sku: 'R-1', name: 'Lamp', description: 'Green' });
    const { out } = await run(other, [...BY_SKU, '--existing', 'replace', '--json']);
    expect(JSON.parse(out)).to.deep.equal({ created: 0, changed: 1, unchanged: 0, deleted: 0, refused: 1 });
    expect(await product('R-1')).to.deep.equal({ id, sku: 'R-1', name: 'Torch' });
  });

  it('creates each record once with --add, however often it runs', async () => {
    const path = file('new.ndjson', '{"name":"Once","sku":"O-1"}\n{"name":"Once"}\n{"name":""}\n');
    const products = ['--resource', 'products', '--add'];
    expect((await run(path, products)).out).to.match(/: 2 created, 0 changed, 0 unchanged, .* 1 refused\n$/);
    expect((await run(path, products)).out).to.match(/: 0 created, 0 changed, 2 unchanged, .* 1 refused\n$/);
    expect((await service.get('/v1/products?name=Once')).json).to.have.length(2);
  });

  it('shows the reasons of the first refused records, and how many more there are', async () => {
    const path = file('bad.ndjson', '{"sku":"B-1","name":"\\u001b[31m","colour":"red"}\n'.repeat(13));
    const { code, err } = await run(path);
    expect(code).to.equal(65);
    const lines = err.trimEnd().split('\n');
    expect(lines).to.have.length(12);
    expect(lines[9]).to.match(/^line 10: validation_failed: .*\(\/name\); .*\(\/colour\)$/);
    expect(lines[10]).to.equal('3 more are refused');
    expect(err).to.not.include('\u001b');
  });

  it('shows everything that is wrong with a header row, and imports nothing', async () => {
    const { code, out, err } = await run(file('header.csv', 'sku,nmae,createdAt\nH-1,Lamp,\n'));
    expect([code, out]).to.deep.equal([65, '']);
    expect(err).to.match(/^The header row is invalid.*\(validation_failed\)\n.*\(\/nmae\)\n.*\(\/createdAt\)\n/);
  });

  it('says why it cannot begin', async () => {
    const path = file('x.ndjson', '{"sku":"X-1","name":"Lamp"}\n');
    for (const [outcome, code, prints] of [
      [await run(join(folder, 'none.csv')), 66, `${folder}/none.csv: no such file or directory (ENOENT)\n`],
      [await run(folder, [...BY_SKU, '--format', 'csv']), 66, `${folder}: illegal operation on a directory (EISDIR)\n`],
      [await run(path, [...BY_SKU, '--refused', path]), 73, `${path}: this file is read\n`],
      [await run(path, [...BY_SKU, '--refused', '/proc/none']), 73, '/proc/none: no such file or directory (ENOENT)\n'],
      [await run(path, BY_SKU, { API_KEY: '' }), 78, 'API_KEY is not set'],
      [await run(path, BY_SKU, { API_KEY: `pcs_${'0'.repeat(36)}` }), 77, ' (invalid_token)\n'],
      [await run(path, [...BY_SKU, '--url', 'https://127.0.0.1:1']), 75, 'ECONNREFUSED 127.0.0.1:1\n'],
      [await run(path, ['--resource', 'users', '--match', 'sku']), 65, ' (invalid_parameter)\n'],
    ] as const) {
      expect([outcome.code, outcome.out], outcome.err).to.deep.equal([code, '']);
      expect(outcome.err).to.include(prints);
    }
    expect(readFileSync(path, 'utf8')).to.equal('{"sku":"X-1","name":"Lamp"}\n');
  });

  it('counts the refusals of a key that is revoked meanwhile, and exits with 77', async () => {
    const scopes = ['products:read', 'products:write'];
    const { id, key } = (await service.post('/v1/api-keys', { name: 'feed', scopes })).json;
    const started = run(file('many.ndjson', many('K', 2 * MANY)), BY_SKU, { API_KEY: key });
    await until('some products exist', async () => (await counted('K-')) > 0);
    await service.delete(`/v1/api-keys/${id}`);
    const { code, out, err } = await started;
    const refused = 2 * MANY - (await counted('K-'));
    expect(refused).to.be.greaterThan(0);
    expect([code, out.endsWith(`, ${refused} refused\n`)], out).to.deep.equal([77, true]);
    expect(err).to.include('invalid_token').and.not.include(key);
  });

  for (const direction of ['up', 'down'] as const)
    it(`is complete after a second run if the connection was cut in the middle: ${direction}`, async () => {
      const path = file('cut.ndjson', many(`CUT-${direction}`));
      const proxy = new CuttingProxy(service);
      await proxy.listen();
      const url = ['--url', `https://localhost:${proxy.port}`];
      proxy.next = { direction, bytes: direction === 'up' ? 500_000 : 100_000 };
      const first = await run(path, [...BY_SKU, ...url]);
      expect(first.code).to.equal(75);
      expect(first.err).to.match(/^https:\/\/localhost:\d+ does not respond: .*\n/);
      expect(first.err).to.match(new RegExp(`${AGAIN}$`));
      const second = await run(path, [...BY_SKU, ...url]);
      await proxy.close();
      expect([proxy.cuts, second.code, second.err]).to.deep.equal([1, 0, '']);
      const [created, unchanged] = [/(\d+) created/, /(\d+) unchanged/].map((pattern) =>
        Number(pattern.exec(second.out)?.[1]),
      );
      expect([(created ?? 0) + (unchanged ?? 0), await counted(`CUT-${direction}-`)]).to.deep.equal([MANY, MANY]);
    });

  describe('of another server', () => {
    const serve = async (listener: RequestListener, path: string) => {
      const identity = readFileSync(`${service.folder}/tls/server.pem`);
      const server = createServer({ cert: identity, key: identity }, listener).listen(0);
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      try {
        return await run(path, [...BY_SKU, '--url', `https://localhost:${port}`]);
      } finally {
        server.close();
      }
    };
    const head = { 'Content-Type': 'application/x-ndjson' };

    it('works behind a proxy that forwards the request when it is complete', async () => {
      const path = file('buffered.ndjson', many('X', 200_000));
      let received = '';
      const { code, out, err } = await serve(async (request, response) => {
        expect(request.url).to.equal('/v1/products/imports?match=sku');
        for await (const chunk of request) received += chunk;
        response.writeHead(200, head);
        response.end(
          Array.from({ length: 200_000 }, (_, at) => `{"line":${at + 1},"status":200,"id":1,"version":2}\n`).join(''),
        );
      }, path);
      expect([code, err]).to.deep.equal([0, '']);
      expect(out).to.match(/^200000 records: 0 created, 200000 changed/);
      expect(received === readFileSync(path, 'utf8')).to.equal(true);
    });

    it('sends no more after a refusal', async () => {
      const path = file('large.ndjson', many('X', 200_000));
      let isComplete: Promise<boolean> | undefined;
      const { code, err } = await serve((request, response) => {
        isComplete = once(request.resume().socket, 'close').then(() => request.complete);
        response.writeHead(400, { 'Content-Type': 'application/json' });
        response.end('{"code":"malformed_csv","message":"No.","details":[]}');
      }, path);
      expect([code, err, await isComplete]).to.deep.equal([65, 'No. (malformed_csv)\n', false]);
    });

    for (const [name, results, code, prints] of [
      [
        'end too early',
        '{"line":1,"status":200,"id":1,"version":2}\n',
        75,
        `The results end before the file.\n${AGAIN}`,
      ],
      ['belong to other records', '{"line":2,"status":200,"id":1,"version":2}\n', 65, 'a result for record 2'],
      ['end within a line', '{"line":1,"sta', 75, AGAIN],
      ['are those of a web page', '<html>', 75, AGAIN],
    ] as const)
      it(`does not believe results that ${name}`, async () => {
        const path = file('two.ndjson', many('X', 2));
        const outcome = await serve((request, response) => {
          request.resume().on('end', () => response.writeHead(200, head).end(results));
        }, path);
        expect(outcome.code, outcome.err).to.equal(code);
        expect(outcome.err).to.include(prints);
      });
  });

  describe('as a process', () => {
    const start = (args: readonly string[], variables: Record<string, string> = {}) =>
      new ChildProcessService(folder, environment(variables), [CLI, 'import', ...args]);

    for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143, SIGKILL: null } as const))
      it(`is completed by a second run after ${signal} interrupted the first`, async () => {
        const path = file('many.ndjson', many(signal, 2 * MANY));
        const first = start([path, ...BY_SKU]);
        await until('some products exist', async () => (await counted(`${signal}-`)) > 0);
        const exit = { code, signal: code === null ? signal : null };
        expect(await first.stop(signal as NodeJS.Signals)).to.deep.equal(exit);
        if (code !== null) {
          expect(first.out).to.match(/^\d+ records: \d+ created/);
          expect(withoutProgress(first.log)).to.equal(`Interrupted. ${AGAIN}`);
        }
        const { out } = await run(path);
        const [, created = '', unchanged = ''] = /: (\d+) created, 0 changed, (\d+) unchanged/.exec(out) ?? [];
        expect([Number(created) + Number(unchanged), await counted(`${signal}-`)]).to.deep.equal([2 * MANY, 2 * MANY]);
      });

    it('reads standard input, which it keeps in no file that outlives it', async () => {
      const TMPDIR = mkdtempSync(join(folder, 'tmp-'));
      const args = [CLI, 'import', '-', ...BY_SKU, '--format', 'ndjson'];
      const command = spawn(process.execPath, args, { env: environment({ TMPDIR }) });
      const [exit, out, err] = [once(command, 'exit'), text(command.stdout), text(command.stderr)];
      command.stdin.write(many('IN', 3));
      await until('the input is kept in a file without a name', () =>
        readdirSync(`/proc/${command.pid}/fd`).some((fd) => {
          const target = readlinkSync(`/proc/${command.pid}/fd/${fd}`);
          return target.startsWith(`${TMPDIR}/`) && target.endsWith(' (deleted)');
        }),
      );
      expect(readdirSync(TMPDIR)).to.deep.equal([]);
      command.stdin.end('{"sku":"IN-3","name":"Lamp 3"}\n{"sku":"IN 4"}');
      expect((await exit)[0]).to.equal(65);
      expect(await err).to.match(/\nthe refused lines are not kept: --refused FILE keeps them\n$/);
      expect(await out).to.match(/^5 records: 4 created/);
      expect(readdirSync(folder)).to.deep.equal([basename(TMPDIR)]);
      expect(await counted('IN-')).to.equal(4);
    });

    it('has done its work if nobody reads the result', async () => {
      const command = start([file('a.ndjson', many('EPIPE', 3)), ...BY_SKU]);
      command.closeOutput();
      expect(await command.exit).to.deep.equal({ code: 141, signal: null });
      expect(await counted('EPIPE-')).to.equal(3);
    });
  });
});

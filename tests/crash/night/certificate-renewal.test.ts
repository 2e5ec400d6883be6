import { once } from 'node:events';
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { expect } from 'chai';
import { type Chain, chain } from '../../support/certificate-chain.js';
import { type ChildProcessService, certifiedService } from '../../support/child-process-service.js';
import { HttpClient } from '../../support/http-client.js';
import { FIRST_KEY } from '../../support/in-process-service.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/until.js';

/** Longer than two checks of the files by the service. */
const TWO_CHECKS_MS = 2_600;
const DAY_MS = 86_400_000;

describe('a certificate that is renewed while the program runs', () => {
  const folder = temporaryFolder();
  const link = (target: string, name: string) => {
    symlinkSync(target, join(folder, 'new-link'));
    renameSync(join(folder, 'new-link'), join(folder, name));
  };
  let service: ChildProcessService;
  let port: number;
  let pairs: { first: Chain; second: Chain; third: Chain; late: Chain };

  const isServed = ({ authority }: Chain) =>
    new Promise<boolean>((resolve) => {
      const socket = connect({ port, host: 'localhost', ca: authority }, () => {
        resolve(socket.authorized);
        socket.destroy();
      });
      socket.once('error', () => resolve(false));
    });
  const becomesServed = (pair: Chain) => until('the other certificate is served', () => isServed(pair));
  const lines = (pattern: RegExp) => service.log.split('\n').filter((line) => pattern.test(line));

  before(async () => {
    const [first, second, third] = await Promise.all([chain('EC'), chain('RSA'), chain('EC')]);
    const late = await chain('EC', { from: Date.now() - 30 * DAY_MS, to: Date.now() - DAY_MS });
    pairs = { first, second, third, late };
    for (const [name, { cert, key }] of Object.entries(pairs)) {
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, 'cert.pem'), cert);
      writeFileSync(join(folder, name, 'key.pem'), key);
    }
    link('first', '..data');
    link('..data/cert.pem', 'cert.pem');
    link('..data/key.pem', 'key.pem');
    service = certifiedService(folder);
    port = await service.listening();
  });
  after(() => service.stop('SIGKILL'));

  it('is served with its chain, so a client that trusts only the root accepts it', async () => {
    expect(await isServed(pairs.first)).to.equal(true);
    expect(await isServed(pairs.second)).to.equal(false);
  });

  it('is replaced with the link of its folder: new connections get the new one, open ones continue', async () => {
    const { first, second } = pairs;
    const trusted = join(folder, 'trusted.pem');
    writeFileSync(trusted, first.authority);
    const client = new HttpClient(port, trusted, FIRST_KEY);
    const openConnection = await client.connect();
    const request = async () => {
      openConnection.write('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n');
      return String((await once(openConnection, 'data'))[0]).slice(0, 15);
    };
    expect(await request()).to.equal('HTTP/1.1 200 OK');
    const importing = client.startLines('/products/imports');
    importing.write('{"name":"Before"}\n');
    const [response] = (await once(importing, 'response')) as [IncomingMessage];
    const results: string[] = [];
    response.on('data', (chunk) => results.push(String(chunk)));

    link('second', '..data');
    rmSync(join(folder, 'first'), { recursive: true });
    await becomesServed(second);
    expect(await isServed(first)).to.equal(false);

    importing.end('{"name":"After"}\n');
    await once(response, 'end');
    expect(results.join('').match(/"status":201/g)).to.have.length(2);
    expect(await request()).to.equal('HTTP/1.1 200 OK');
    openConnection.destroy();
    client.close();
    await service.logs(/certificate reloaded/);
    expect(lines(/"level":"error"/)).to.deep.equal([]);
  });

  it('stays in use if the new one is unusable, which is logged once', async () => {
    const { second, third, late } = pairs;
    const put = (name: string, text: string) => writeFileSync(join(folder, 'second', name), text);
    const unreadable = () => {
      link('second', '..data');
      rmSync(join(folder, 'second', 'key.pem'));
      mkdirSync(join(folder, 'second', 'key.pem'));
    };
    for (const [spoil, complaint] of [
      [
        () => put('cert.pem', third.cert.slice(0, third.cert.length / 3)),
        /TLS_CERT_FILE: the certificate cert\.pem cannot be used/,
      ],
      [() => put('cert.pem', third.cert), /TLS_KEY_FILE: the key key\.pem is not the one of the certificate cert\.pem/],
      [() => link('late', '..data'), /TLS_CERT_FILE: the certificate cert\.pem is not valid now, but from/],
      [() => link('nowhere', '..data'), /TLS_CERT_FILE: the certificate cert\.pem cannot be read: .*\(ENOENT\)/],
      [unreadable, /TLS_KEY_FILE: the key key\.pem cannot be read: .*\(EISDIR\)/],
    ] as const) {
      spoil();
      await service.logs(complaint);
      // At least two further checks find the same.
      await sleep(TWO_CHECKS_MS);
      expect(lines(complaint), String(complaint)).to.have.length(1);
      expect(await isServed(second), String(complaint)).to.equal(true);
    }
    expect(await isServed(late)).to.equal(false);
    link('third', '..data');
    await becomesServed(third);
    await service.logs(/certificate reloaded[\s\S]*certificate reloaded/);
    expect(service.log).to.not.include(readFileSync(join(folder, 'third/key.pem'), 'utf8').slice(30, 60));
  });
});

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import {
  HttpsWebhookTransport,
  type ResolvedAddress,
  type TransportOptions,
} from '#src/adapters/outbound/webhooks/https-transport.js';
import { until } from '../../../../support/until.js';
import { status, WebhookReceiver } from '../../../../support/webhook-receiver.js';

const LOOPBACK = '127.0.0.0/8';
const NOT_ALLOWED = { error: 'The host has no address, or one that is not allowed' };
const v4 = (address: string): ResolvedAddress => ({ address, family: 4 });

describe('the transport of webhooks', () => {
  const receiver = new WebhookReceiver();
  before(() => receiver.start());
  after(() => receiver.stop());
  beforeEach(() => {
    receiver.messages.length = 0;
    receiver.answer = status(204);
  });

  const transport = (options: TransportOptions = {}, networks = LOOPBACK) =>
    new HttpsWebhookTransport(networks, { ca: receiver.authority, ...options });
  const message = (url = receiver.urlOf('/hook?x=1'), client = 'key:1') => ({
    client,
    url,
    headers: { 'webhook-id': 'msg_1' },
    body: '{"é":1}',
  });

  it('sends a POST, and says the status of the response', async () => {
    for (const code of [200, 204, 299, 301, 400, 410, 500, 599]) {
      receiver.answer = status(code);
      expect(await transport().post(message())).to.deep.equal({ status: code });
    }
    const [first] = receiver.messages;
    expect([first?.url, first?.body]).to.deep.equal(['/hook?x=1', '{"é":1}']);
    expect(first?.headers).to.include({ 'webhook-id': 'msg_1', 'content-length': '8', connection: 'close' });
    expect(first?.headers.host).to.equal(new URL(receiver.urlOf('/')).host);
  });

  it('follows no redirect', async () => {
    receiver.answer = status(307, { Location: receiver.urlOf('/other') });
    expect(await transport().post(message())).to.deep.equal({ status: 307 });
    expect(receiver.messages).to.have.length(1);
  });

  it('looks a name up once, and connects to the address that it has checked', async () => {
    const answers = [['127.0.0.1'], ['127.0.0.9'], ['10.0.0.1']];
    const asked: string[] = [];
    const resolve = async (host: string) => {
      asked.push(host);
      return (answers.shift() ?? []).map(v4);
    };
    const named = transport({ resolve });
    const url = receiver.urlOf('/hook', 'localhost');
    expect(await named.post(message(url))).to.deep.equal({ status: 204 });
    expect(asked, 'one look-up').to.deep.equal(['localhost']);
    expect(receiver.messages[0]?.headers.host).to.match(/^localhost:/);
    // Nothing listens there, though the name of the URL is that of this machine.
    expect(await named.post(message(url))).to.deep.equal({ error: 'The connection failed (ECONNREFUSED)' });
    expect(await named.post(message(url))).to.deep.equal(NOT_ALLOWED);
    expect(receiver.messages).to.have.length(1);
  });

  it('connects nowhere if one address of the host is not allowed, or there is none', async () => {
    const hosts: [readonly string[], boolean][] = [
      [['127.0.0.1', '10.0.0.1'], false],
      [['8.8.8.8', '127.0.0.1'], true],
      [['::1'], false],
      [[], false],
    ];
    for (const [addresses, isAllowed] of hosts) {
      const resolve = async () =>
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
      expect(await transport({ resolve }).allows('https://example.com/', 'key:1'), `${addresses}`).to.equal(
        isAllowed,
      );
      if (!isAllowed)
        expect(await transport({ resolve }).post(message('https://example.com/'))).to.deep.equal(NOT_ALLOWED);
    }
    const failing = transport({ resolve: () => Promise.reject(new Error('ENOTFOUND')) });
    expect(await failing.post(message('https://example.com/'))).to.deep.equal(NOT_ALLOWED);
    expect(await transport({}, '').post(message())).to.deep.equal(NOT_ALLOWED);
    expect(await transport({}, '').allows(receiver.urlOf('/'), 'key:1')).to.equal(false);
    expect(receiver.messages).to.have.length(0);
  });

  it('takes https URLs alone', async () => {
    for (const url of [
      'http://127.0.0.1/',
      'ftp://127.0.0.1/',
      'https://',
      'https://127.0.0.1:99999/',
      'x',
    ]) {
      expect(await transport().allows(url, 'key:1'), url).to.equal(false);
      expect(await transport().post(message(url)), url).to.deep.equal(NOT_ALLOWED);
    }
  });

  it('verifies the certificate, whatever the environment says', async () => {
    const untrusting = new HttpsWebhookTransport(LOOPBACK);
    const setting = 'NODE_TLS_REJECT_UNAUTHORIZED';
    const { [setting]: before } = process.env;
    process.env[setting] = '0';
    try {
      const { error } = await untrusting.post(message());
      expect(error).to.equal('The connection failed (UNABLE_TO_VERIFY_LEAF_SIGNATURE)');
    } finally {
      if (before === undefined) delete process.env[setting];
      else process.env[setting] = before;
    }
    const resolve = async () => [v4('127.0.0.1')];
    const { error } = await transport({ resolve }).post(message(receiver.urlOf('/', 'example.com')));
    expect(error).to.equal('The connection failed (ERR_TLS_CERT_ALTNAME_INVALID)');
    expect(receiver.messages).to.have.length(0);
  });

  it('reads 16 KiB of a response without an end, and its status counts', async () => {
    let sent = 0;
    let isClosed = false;
    receiver.answer = (response) => {
      response.once('close', () => {
        isClosed = true;
      });
      response.writeHead(200);
      const more = () => {
        if (isClosed) return;
        sent += 1_024;
        response.write(Buffer.alloc(1_024), () => setImmediate(more));
      };
      more();
    };
    expect(await transport().post(message())).to.deep.equal({ status: 200 });
    await until('the connection is closed', () => isClosed);
    expect(sent).to.be.greaterThan(16_384);
  });

  it('gives up after its time: no name, no response, no end of it', async () => {
    const timeoutMs = 100;
    const late = { error: 'No response within 0.1 seconds' };
    const resolve = () => new Promise<never>(() => {});
    expect(await transport({ timeoutMs, resolve }).post(message('https://example.com/'))).to.deep.equal(late);
    expect(await transport({ timeoutMs, resolve }).allows('https://example.com/', 'key:1')).to.equal(false);
    receiver.answer = () => {};
    expect(await transport({ timeoutMs }).post(message())).to.deep.equal(late);
    receiver.answer = (response) => void response.writeHead(200).write('x');
    expect(await transport({ timeoutMs: 500 }).post(message()), 'the head is enough').to.deep.equal({
      status: 200,
    });
  });

  it('looks one name up at once for a client, so that names that hang stop nobody else', async () => {
    const resolve = (host: string) =>
      host.startsWith('hangs') ? new Promise<never>(() => {}) : Promise.resolve([v4('127.0.0.1')]);
    const shared = transport({ resolve });
    for (let n = 0; n < 3; n++) void shared.post(message(`https://hangs${n}.example.com/`, 'key:1'));
    // It is refused when its time in the queue is over, which may be after the test.
    shared.allows('https://hangs.example.com/', 'key:1').catch(() => undefined);
    expect(await shared.allows('https://example.com/', 'key:2')).to.equal(true);
    expect(await shared.post(message(receiver.urlOf('/', 'localhost'), 'key:2'))).to.deep.equal({
      status: 204,
    });
  });

  it('says that too many names are looked up, which is no fault of the host', async () => {
    const shared = transport({ resolve: () => new Promise<never>(() => {}), timeoutMs: 100 });
    const url = 'https://example.com/';
    const ask = () => shared.allows(url, 'key:1').catch(({ code }) => code);
    const outcomes = Array.from({ length: 102 }, ask);
    expect(await outcomes.at(-1), 'the queue is full').to.equal('unavailable');
    expect(await shared.post(message(url))).to.deep.equal({
      error: 'Too many names of receivers are being looked up',
    });
    const [hanging, ...waiting] = await Promise.all(outcomes);
    expect(hanging).to.equal(false);
    expect(new Set(waiting)).to.deep.equal(new Set(['unavailable']));
  });

  it('ends early by the signal of its caller', async () => {
    const ending = new AbortController();
    receiver.answer = () => ending.abort();
    expect(await transport().post(message(), ending.signal)).to.deep.equal({ error: 'The service stopped' });
    expect(await transport().post(message(), ending.signal)).to.deep.equal({ error: 'The service stopped' });
  });

  for (const [title, bytes] of [
    ['that is no HTTP', 'nonsense\r\n\r\n'],
    [
      'that switches protocols',
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
    ],
    ['that ends in its head', 'HTTP/1.1 200 OK\r\nContent-'],
  ] as const)
    it(`says that a response failed ${title}`, async () => {
      receiver.answer = (response) => {
        const { socket } = response;
        socket?.end(bytes);
      };
      expect((await transport().post(message())).error).to.match(/^The connection failed/);
    });

  it('uses no proxy of the environment, and keeps no connection', async () => {
    const connections: Socket[] = [];
    const proxy = createServer((socket) => connections.push(socket)).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const names = ['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'];
    for (const name of names) process.env[name] = name === 'NODE_USE_ENV_PROXY' ? '1' : address;
    try {
      expect(await transport().post(message())).to.deep.equal({ status: 204 });
    } finally {
      for (const name of names) delete process.env[name];
      proxy.close();
    }
    expect(connections).to.have.length(0);
  });
});

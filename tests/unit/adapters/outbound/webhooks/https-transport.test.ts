import { createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import type { ResolvedAddress } from '#src/adapters/outbound/webhooks/host-addresses.js';
import { HttpsWebhookTransport, type TransportOptions } from '#src/adapters/outbound/webhooks/https-transport.js';
import { listen } from '#src/process/listen.js';
import { until } from '../../../../support/until.js';
import { status, WebhookReceiver } from '../../../../support/webhook-receiver.js';

const LOOPBACK = '127.0.0.0/8';
const ERRORS = {
  port: { error: 'The port of the URL is not from 1 to 65535' },
  unknown: { error: 'The host has no address' },
  address: { error: 'The host has an address that is not allowed' },
};
const TOO_LONG = { error: 'The receiver sent over 64 KiB, or over 8 informational responses or session tickets' };
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
    expect(await named.post(message(url))).to.deep.equal(ERRORS.address);
    expect(receiver.messages).to.have.length(1);
  });

  it('connects nowhere if one address of the host is not allowed, or there is none', async () => {
    const hosts: [readonly string[], 'address' | 'unknown' | undefined][] = [
      [['127.0.0.1', '10.0.0.1'], 'address'],
      [['8.8.8.8', '127.0.0.1'], undefined],
      [['::1'], 'address'],
      [[], 'unknown'],
    ];
    for (const [addresses, problem] of hosts) {
      const resolve = async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
      const url = 'https://example.com/';
      expect(await transport({ resolve }).problemOf(url, 'key:1'), `${addresses}`).to.equal(problem);
      if (problem) expect(await transport({ resolve }).post(message(url))).to.deep.equal(ERRORS[problem]);
    }
    const failing = transport({ resolve: () => Promise.reject(new Error('ENOTFOUND')) });
    expect(await failing.post(message('https://example.com/'))).to.deep.equal(ERRORS.unknown);
    expect(await transport({}, '').post(message())).to.deep.equal(ERRORS.address);
    expect(await transport({}, '').problemOf(receiver.urlOf('/'), 'key:1')).to.equal('address');
    expect(receiver.messages).to.have.length(0);
  });

  it('takes https URLs alone', async () => {
    for (const [url, problem] of [
      ['http://127.0.0.1/', 'address'],
      ['ftp://127.0.0.1/', 'address'],
      ['https://', 'unknown'],
      ['https://256.1.1.1:8443/', 'unknown'],
      ['x', 'unknown'],
      ['https://127.0.0.1:65536/', 'port'],
      ['https://[::1]:99999?x', 'port'],
      ['https://127.0.0.1:0', 'port'],
    ] as const) {
      expect(await transport().problemOf(url, 'key:1'), url).to.equal(problem);
      expect(await transport().post(message(url)), url).to.deep.equal(ERRORS[problem]);
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
      response.once('close', () => (isClosed = true));
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
    const url = 'https://example.com/';
    expect(await transport({ timeoutMs, resolve }).post(message(url))).to.deep.equal(ERRORS.unknown);
    expect(await transport({ timeoutMs, resolve }).problemOf(url, 'key:1')).to.equal('unknown');
    receiver.answer = () => {};
    expect(await transport({ timeoutMs }).post(message())).to.deep.equal(late);
    receiver.answer = (response) => void response.writeHead(200).write('x');
    expect(await transport({ timeoutMs: 500 }).post(message()), 'the head is enough').to.deep.equal({ status: 200 });
  });

  it('looks up a name of another client at once, however many names of two clients hang', async () => {
    const resolve = (host: string) =>
      host.startsWith('hangs') ? new Promise<never>(() => {}) : Promise.resolve([v4('127.0.0.1')]);
    const shared = transport({ resolve });
    const stopping = new AbortController();
    const hanging = Array.from({ length: 20 }, (_, n) =>
      shared.post(message(`https://hangs${n}.example.com/`, `key:${n % 2}`), stopping.signal),
    );
    const asked = shared.problemOf('https://example.com/', 'key:3').catch(({ code }) => code);
    expect(await asked).to.equal(undefined);
    const named = message(receiver.urlOf('/', 'localhost'), 'key:3');
    expect(await shared.post(named)).to.deep.equal({ status: 204 });
    stopping.abort();
    expect(new Set(await Promise.all(hanging))).to.deep.equal(
      new Set(hanging.map(() => ({ error: 'The service stopped' }))),
    );
  });

  it('throws if it has no look-up or file of its own left: that is no failure of the receiver', async () => {
    const full = transport({ resolve: () => new Promise<never>(() => {}), timeoutMs: 100 });
    const url = 'https://example.com/';
    const codeOf = (work: Promise<unknown>) => work.catch(({ code }) => code);
    const outcomes = Array.from({ length: 109 }, () => codeOf(full.problemOf(url, 'key:1')));
    expect(await outcomes.at(-1), 'the queue is full').to.equal('unavailable');
    expect(await codeOf(full.post(message(url)))).to.equal('unavailable');
    await Promise.all(outcomes);
    for (const code of ['EMFILE', 'ECONNREFUSED']) {
      const resolve = () => Promise.reject(Object.assign(new Error('of this machine'), { code }));
      expect(await codeOf(transport({ resolve }).post(message(url))), code).to.equal('unavailable');
      expect(await codeOf(transport({ resolve }).problemOf(url, 'key:1')), code).to.equal('unavailable');
    }
  });

  const interim = (status: string, bytes: number) => {
    const head = `HTTP/1.1 ${status}\r\nX: `;
    return `${head}${'x'.repeat(bytes - head.length - 4)}\r\n\r\n`;
  };
  const FINAL = 'HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n';
  for (const [title, before, outcome] of [
    ['8 informational responses', interim('103 Early Hints', 100).repeat(8), { status: 200 }],
    ['9 informational responses', interim('103 Early Hints', 100).repeat(9), TOO_LONG],
    ['9 times 100 Continue', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(9), TOO_LONG],
    ['8 informational responses of 64 KiB', interim('102 Processing', 8_192).repeat(8), TOO_LONG],
    ['empty lines of nearly 64 KiB', '\r\n'.repeat(32_768 - FINAL.length), { status: 200 }],
    ['empty lines of 64 KiB', '\r\n'.repeat(32_768), TOO_LONG],
  ] as const)
    it(`takes at most 64 KiB and 8 informational responses off a connection: ${title}`, async () => {
      receiver.answer = ({ socket }) => {
        socket?.write(before.slice(0, 1_001));
        socket?.write(before.slice(1_001) + FINAL + 'x'.repeat(20_000));
      };
      expect(await transport().post(message())).to.deep.equal(outcome);
    });

  for (const [title, bytes] of [
    ['100 Continue', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['103 Early Hints', interim('103 Early Hints', 1_000)],
    ['empty lines', '\r\n'],
    ['chunks with extensions', `1;${'x'.repeat(8_000)}\r\nx\r\n`],
  ] as const)
    it(`closes the connection of a receiver that sends ${title} without end`, async () => {
      const closed = new Promise<void>((resolve) => {
        receiver.answer = ({ socket }) => {
          if (title.startsWith('chunks')) socket?.write('HTTP/1.1 500 X\r\nTransfer-Encoding: chunked\r\n\r\n');
          const more = () => {
            if (socket && !socket.destroyed) socket.write(bytes.repeat(20), () => setImmediate(more));
          };
          socket?.once('close', () => resolve()).on('error', () => {});
          more();
        };
      });
      const outcome = title.startsWith('chunks') ? { status: 500 } : TOO_LONG;
      expect(await transport({ timeoutMs: 600_000 }).post(message())).to.deep.equal(outcome);
      await closed;
    });

  it('ends early by the signal of its caller', async () => {
    const ending = new AbortController();
    receiver.answer = () => ending.abort();
    expect(await transport().post(message(), ending.signal)).to.deep.equal({ error: 'The service stopped' });
    expect(await transport().post(message(), ending.signal)).to.deep.equal({ error: 'The service stopped' });
  });

  for (const [title, bytes] of [
    ['that is no HTTP', 'nonsense\r\n\r\n'],
    ['that switches protocols', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'],
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
    const proxy = createServer((socket) => connections.push(socket));
    const address = `http://127.0.0.1:${await listen(proxy, '127.0.0.1', 0)}`;
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

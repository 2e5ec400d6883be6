import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { ChildProcessService } from '../../support/child-process-service.js';
import type { HttpClient } from '../../support/http-client.js';
import { FIRST_KEY } from '../../support/in-process-service.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const ROUNDS = 200;
const HEADERS = `Host: localhost\r\nAuthorization: Bearer ${FIRST_KEY}\r\n`;
const LIST = `GET /products?limit=1000 HTTP/1.1\r\n${HEADERS}\r\n`;
/** A duplicate, so its 409 shows that the service received the body unchanged. */
const BODY = '{"name":"Lamp","sku":"taken"}';
const POST = `POST /products HTTP/1.1\r\n${HEADERS}Content-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n`;

/** Yields the status of each response on a connection when its last byte is received. */
async function* statusesOn(socket: Socket): AsyncGenerator<number, void, void> {
  let text = '';
  for await (const chunk of socket) {
    text += chunk.toString('latin1');
    for (let end = endOfResponse(text); end > 0; end = endOfResponse(text)) {
      yield Number(text.slice(9, 12));
      text = text.slice(end);
    }
  }
}

/** Returns the index after the first response, or 0 if it is incomplete. */
function endOfResponse(text: string): number {
  const body = text.indexOf('\r\n\r\n') + 4;
  if (body < 4) return 0;
  const length = /\r\nContent-Length: (\d+)\r\n/i.exec(text.slice(0, body))?.[1];
  const end = body + Number(length);
  return end > text.length ? 0 : end;
}

// In another process, so the client can send before the service knows that its response was sent.
describe('a persistent connection', () => {
  const folder = temporaryFolder();
  const rounds = Array.from({ length: ROUNDS }, () => [200, 409]).flat();
  let service: ChildProcessService;
  let client: HttpClient;

  before(async () => {
    service = new ChildProcessService(folder, { STORE: 'memory', BOOTSTRAP_API_KEY: FIRST_KEY });
    client = await service.started(FIRST_KEY);
    const product = { name: 'Lamp', description: 'x'.repeat(1_500) };
    await client.post('/products', { ...product, sku: 'taken' });
    for (let i = 0; i < 300; i++) await client.post('/products', product);
  });
  after(async () => {
    client.close();
    await service.stop();
  });

  const connected = async () => (await client.connect()).setNoDelay();

  it('accepts a request in two pieces immediately after a large response', async () => {
    const socket = await connected();
    const statuses = statusesOn(socket);
    const seen: (number | undefined)[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      socket.write(LIST);
      seen.push((await statuses.next()).value ?? undefined);
      socket.write(POST);
      await turn();
      socket.write(BODY);
      seen.push((await statuses.next()).value ?? undefined);
    }
    socket.destroy();
    expect(seen).to.deep.equal(rounds);
  });

  it('stays open while its client sends requests, for responses of any size', async () => {
    const request = async () => {
      for (let round = 0; round < 60; round++) {
        const { status } = await client.get(`/products?limit=${[1, 40, 100, 300][round % 4]}`);
        expect(status).to.equal(200);
      }
    };
    await Promise.all(Array.from({ length: 20 }, request));
  });

  it('accepts pipelined requests in pieces while large responses are pending', async () => {
    const socket = await connected();
    for (let round = 0; round < ROUNDS; round++)
      for (const piece of [LIST, POST, BODY]) {
        socket.write(piece);
        await turn();
      }
    const seen: number[] = [];
    for await (const status of statusesOn(socket)) if (seen.push(status) === rounds.length) break;
    expect(seen).to.deep.equal(rounds);
  });
});

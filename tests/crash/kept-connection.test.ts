import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { ChildProcessService } from '../support/child-process-service.js';
import type { HttpClient } from '../support/http-client.js';
import { FIRST_KEY } from '../support/in-process-service.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const ROUNDS = 200;
const HEADERS = `Host: localhost\r\nAuthorization: Bearer ${FIRST_KEY}\r\n`;
const LIST = `GET /products?limit=1000 HTTP/1.1\r\n${HEADERS}\r\n`;
/** A duplicate: the refusal shows that it was read as it was sent. */
const BODY = '{"name":"Lamp","sku":"taken"}';
const POST = `POST /products HTTP/1.1\r\n${HEADERS}Content-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n`;

/** The statuses of the answers that come over a connection, each as soon as the last byte of its answer is there. */
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

/** Behind the first answer; 0 where that is not there in full. */
function endOfResponse(text: string): number {
  const body = text.indexOf('\r\n\r\n') + 4;
  if (body < 4) return 0;
  const length = /\r\nContent-Length: (\d+)\r\n/i.exec(text.slice(0, body))?.[1];
  const end = body + Number(length);
  return end > text.length ? 0 : end;
}

// A process of its own, so that the client can be faster than the service learns that its bytes are sent.
describe('a connection that is kept', () => {
  const folder = temporaryFolder();
  const rounds = Array.from({ length: ROUNDS }, () => [200, 409]).flat();
  let service: ChildProcessService;
  let client: HttpClient;

  before(async () => {
    service = new ChildProcessService(folder, { STORE: 'memory', BOOTSTRAP_API_KEY: FIRST_KEY });
    client = await service.started(FIRST_KEY);
    const product = { name: 'Lamp', description: 'x'.repeat(100) };
    await client.post('/products', { ...product, sku: 'taken' });
    for (let i = 0; i < 300; i++) await client.post('/products', product);
  });
  after(async () => {
    client.close();
    await service.stop();
  });

  const connected = async () => (await client.connect()).setNoDelay();

  it('takes a request in two pieces right behind a large answer', async () => {
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

  it('goes on for as long as its client asks, whatever the size of the responses', async () => {
    const request = async () => {
      for (let round = 0; round < 60; round++) {
        const { status } = await client.get(`/products?limit=${[1, 40, 100, 300][round % 4]}`);
        expect(status).to.equal(200);
      }
    };
    await Promise.all(Array.from({ length: 20 }, request));
  });

  it('takes requests in pieces that do not wait for the large answers before them', async () => {
    const socket = await connected();
    for (let round = 0; round < ROUNDS; round++) {
      for (const piece of [LIST, POST, BODY]) {
        socket.write(piece);
        await turn();
      }
    }
    const seen: number[] = [];
    for await (const status of statusesOn(socket)) {
      if (seen.push(status) === rounds.length) break;
    }
    expect(seen).to.deep.equal(rounds);
  });
});

import { once } from 'node:events';
import { expect } from 'chai';
import { ChildProcessService } from '../support/child-process-service.js';
import type { HttpClient } from '../support/http-client.js';
import { FIRST_KEY } from '../support/in-process-service.js';
import { logLines } from '../support/line-stream.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const HEADERS = `Host: localhost\r\nAuthorization: Bearer ${FIRST_KEY}\r\n`;
const EXPORT = `GET /products HTTP/1.1\r\nAccept: application/x-ndjson\r\n${HEADERS}\r\n`;
const CUT_POST = `POST /products HTTP/1.1\r\n${HEADERS}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"name"`;

describe('the log, if clients close connections early', () => {
  const folder = temporaryFolder();
  let service: ChildProcessService;
  let client: HttpClient;

  before(async () => {
    service = new ChildProcessService(folder, { STORE: 'memory', BOOTSTRAP_API_KEY: FIRST_KEY });
    client = await service.started(FIRST_KEY);
  });
  after(async () => {
    client.close();
    await service.stop();
  });
  const lines = () => logLines(service.log);

  it('has one info line for each export that is reset', async () => {
    const product = { name: 'Lamp', description: '\u{1f600}'.repeat(5_000) };
    for (let i = 0; i < 1_000; i++) await client.post('/products', product);
    for (const pipelined of ['', 'nonsense\r\n\r\n']) {
      const socket = await client.connect();
      socket.write(EXPORT);
      await once(socket, 'data');
      socket.pause();
      if (pipelined !== '') await new Promise((resolve) => socket.write(pipelined, resolve));
      // Closing with unread bytes resets the connection.
      socket.destroy();
      socket.on('error', () => {});
    }
    await service.logs(/("complete":false[\s\S]*){2}/);
    expect(lines().filter(({ msg }) => msg === 'response aborted')).to.deep.equal([]);
    for (const line of lines().filter(({ complete }) => complete === false))
      expect(line).to.include({ method: 'GET', status: 200 });
  });

  it('has no status if no response was sent', async () => {
    const socket = await client.connect();
    await new Promise((resolve) => socket.write(CUT_POST, resolve));
    // The response to this later request shows that the service has read the POST.
    await client.get('/products/1');
    socket.destroy();
    await service.logs(/"method":"POST"[^\n]*"complete":false/);
    const cut = lines().find(({ method, complete }) => method === 'POST' && complete === false);
    expect(cut).to.not.have.property('status');
  });
});

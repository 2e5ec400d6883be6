import { expect } from 'chai';
import { received, statusesIn } from '../support/http-client.js';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';
import { LineStream, type ResultLine } from '../support/line-stream.js';

const PATH = '/v1/products/imports';
const line = (fields: object) => `${JSON.stringify(fields)}\n`;

describe('an import', () => {
  const service = inProcessService({ STORE: 'sqlite', BODY_LIMIT_BYTES: '2048' });
  const open = (headers?: Record<string, string>) => new LineStream(service.startLines(PATH, headers));
  const count = async (query: string) =>
    Number(
      (await service.get(`/v1/products?${query}&limit=1`, { headers: { Prefer: 'count=exact' } })).headers[
        'x-total-count'
      ],
    );

  it('responds to each line immediately, so that a client can wait for each result', async () => {
    const stream = open();
    for (let number = 1; number <= 5; number++) {
      await stream.send(line({ name: `waiting ${number}` }));
      expect(await stream.next()).to.include({ line: number, status: 201 });
    }
    stream.end();
    expect(await stream.rest()).to.deep.equal([]);
  });

  it('holds the results for a client that reads only after sending everything', async () => {
    const stream = open();
    // Each result of the rejected record has some 200 issues: more bytes than sockets and the memory of a buffer hold.
    const unknown = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`x${at}`, 0]));
    const rounds = 150;
    for (let round = 0; round < rounds; round++) await stream.send(line({ name: 'unread' }).repeat(5) + line(unknown));
    stream.end();
    const results = await stream.rest();
    const outcomes = Array.from({ length: rounds }, () => [...Array(5).fill(201), 400]).flat();
    expect(results.map(({ line }) => line)).to.deep.equal(outcomes.map((_, at) => at + 1));
    expect(results.map(({ status }) => status)).to.deep.equal(outcomes);
    expect(JSON.stringify(results).length).to.be.greaterThan(2_000_000);
    expect(await count('name=unread')).to.equal(rounds * 5);
  });

  it('rejects only the line over the limit, and discards it however long it is', async () => {
    const stream = open();
    const name = 'within the limit';
    const within = JSON.stringify({ name }).padEnd(2_048);
    await stream.send(`${within}\n${within} \n${line({ name })}`);
    for (let i = 0; i < 200; i++) await stream.send('x'.repeat(65_536));
    await stream.send(`\n${line({ name })}${'y'.repeat(3_000)}`);
    stream.end();
    const results = await stream.rest();
    const refused = '413 payload_too_large';
    const found = results.map(({ line: at, status, error }) => `${at}: ${status} ${error?.code ?? ''}`.trim());
    expect(found).to.deep.equal(['1: 201', `2: ${refused}`, '3: 201', `4: ${refused}`, '5: 201', `6: ${refused}`]);
    expect(results[1]?.error).to.deep.equal({
      code: 'payload_too_large',
      message:
        'The line is larger than 2048 bytes. Are line ends missing? curl removes them with -d, and keeps them with --data-binary.',
      details: [],
    });
  });

  it('creates nothing from half a line if its client disconnects', async () => {
    const stream = open();
    await stream.send(`${line({ name: 'gone' })}{"name":"gone"}`);
    expect(await stream.next()).to.include({ line: 1, status: 201 });
    stream.request.destroy();
    // If the half line were still imported, it would be before this import.
    const later = open();
    await later.send(line({ name: 'later' }));
    later.end();
    await later.rest();
    expect(await count('name=gone')).to.equal(1);
  });

  it('is cut off if its client continues with bytes that are not HTTP, without a second response', async () => {
    const socket = await service.connect();
    socket.on('data', () => socket.write('no chunk\r\n'));
    socket.write(`POST ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${FIRST_KEY}\r\n`);
    socket.write('Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{}\n\r\n');
    expect(statusesIn(await received(socket))).to.deep.equal(['200']);
  });

  it('has no line end inside a result, not even one of Unicode', async () => {
    const { text } = await service.post(PATH, '{"name":"x","a\u2028b\u0085":1}\n', {
      headers: { 'Content-Type': 'application/x-ndjson' },
    });
    expect(text).to.match(/^[^\n\u0085\u2028\u2029]+\n$/);
  });

  it('counts as one request against the rate limit', async () => {
    const remaining = async (lines: number) => {
      const stream = open();
      await stream.send(line({ name: 'limited' }).repeat(lines));
      stream.end();
      const { ratelimit } = (await stream.response).headers;
      await stream.rest();
      return Number(/r=(\d+)/.exec(String(ratelimit))?.[1]);
    };
    const before = await remaining(1);
    expect(await remaining(500)).to.equal(before - 1);
  });

  it('sends 100 Continue if the client expects it', async () => {
    const stream = open({ Expect: '100-continue' });
    await new Promise((resolve) => stream.request.once('continue', resolve));
    await stream.send(line({ name: 'continued' }));
    stream.end();
    expect((await stream.rest()).map(({ status }: ResultLine) => status)).to.deep.equal([201]);
  });
});

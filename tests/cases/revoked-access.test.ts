import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { received, statusesIn } from '../support/http-client.js';
import { inProcessService } from '../support/in-process-service.js';
import { LineStream } from '../support/line-stream.js';
import { TestIssuer } from '../support/test-issuer.js';

const IMPORTS = '/v1/products/imports';
const line = (name: string) => `${JSON.stringify({ name })}\n`;

describe('a request of a key that is revoked meanwhile', () => {
  const service = inProcessService();
  const newKey = async (...scopes: string[]) => {
    const { json } = await service.post('/v1/api-keys', { name: 'short', scopes });
    const authorization = { Authorization: `Bearer ${json.key}` };
    const revoke = async () => expect((await service.delete(`/v1/api-keys/${json.id}`)).status).to.equal(204);
    return { authorization, revoke };
  };
  const count = async (name: string) => (await service.get(`/v1/products?name=${name}`)).json.length;

  it('imports no more lines, and says why for each', async () => {
    const { authorization, revoke } = await newKey('products:write');
    const stream = new LineStream(service.startLines(IMPORTS, authorization));
    await stream.send(line('before'));
    expect(await stream.next()).to.include({ line: 1, status: 201 });
    await revoke();
    await stream.send(line('after'));
    expect(await stream.next()).to.deep.include({ line: 2, status: 401 });
    await stream.send(`${line('after')}{"name":5}\n`);
    stream.end();
    const rest = await stream.rest();
    const refused = rest.map(({ line: at, status, error }) => `${at} ${status} ${error.code}`);
    expect(refused).to.deep.equal(['3 401 invalid_token', '4 401 invalid_token']);
    expect([await count('before'), await count('after')]).to.deep.equal([1, 0]);
  });

  it('changes and deletes no more records that it matches', async () => {
    const { authorization, revoke } = await newKey('products:write', 'products:read');
    const put = async (sku: string) =>
      (await service.put(`/v1/products/sku/${sku}`, { name: 'kept' })).json.id as number;
    const [one, two] = [await put('one'), await put('two')];
    const stream = new LineStream(service.startLines(`${IMPORTS}?match=sku`, authorization));
    await stream.send('{"sku":"one","name":"before"}\n');
    expect(await stream.next()).to.deep.equal({ line: 1, status: 200, id: one, version: 2 });
    await revoke();
    await stream.send('{"sku":"one","name":"after"}\n');
    const refused = await stream.next();
    expect([refused?.status, refused?.error.code]).to.deep.equal([401, 'invalid_token']);
    expect(refused).to.have.all.keys('line', 'status', 'error');
    await stream.send('{"sku":"two","deleted":true}\n{"sku":"three","name":"after"}\n{"sku":5}\n');
    stream.end();
    const rest = await stream.rest();
    const others = rest.map(({ status, error }) => `${status} ${error.code}`);
    expect(others).to.deep.equal(['401 invalid_token', '401 invalid_token', '400 validation_failed']);
    expect((await service.get(`/v1/products/${one}`)).json.name).to.equal('before');
    expect((await service.get(`/v1/products/${two}`)).json.name).to.equal('kept');
    expect((await service.get('/v1/products/sku/three')).status).to.equal(404);
  });

  it('exports no more pages: the connection is cut', async () => {
    const description = 'x'.repeat(5_000);
    for (let i = 0; i < 40; i++) {
      const stream = new LineStream(service.startLines(IMPORTS));
      await stream.send(`${JSON.stringify({ name: 'large', description })}\n`.repeat(100));
      stream.end();
      for (const { status } of await stream.rest()) expect(status).to.equal(201);
    }
    const { authorization, revoke } = await newKey('products:read');
    const socket = await service.connect();
    socket.pause();
    const head = `Host: x\r\nAuthorization: ${authorization.Authorization}\r\nAccept: application/x-ndjson\r\n`;
    socket.write(`GET /v1/products HTTP/1.1\r\n${head}Connection: close\r\n\r\n`);
    await once(socket, 'readable');
    await revoke();
    const text = await received(socket);
    expect(statusesIn(text)).to.deep.equal(['200']);
    expect(text.endsWith('\r\n0\r\n\r\n'), 'the response is complete').to.equal(false);
    expect(text.length).to.be.below(18_000_000);
  });

  for (const [title, request] of [
    ['changes nothing', 'POST /v1/products'],
    ['learns nothing of the record', 'PUT /v1/products/9007199254740991'],
  ])
    it(`${title} if its body took longer than a second`, async () => {
      const { authorization, revoke } = await newKey('products:write');
      const socket = await service.connect();
      const body = JSON.stringify({ name: 'slow' });
      socket.write(
        `${request} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization.Authorization}\r\n` +
          `Expect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n{`,
      );
      const [interim] = await once(socket, 'data');
      expect(String(interim), 'the key is valid').to.match(/^HTTP\/1\.1 100 /);
      // From here on the body takes its time.
      await sleep(1_050);
      await revoke();
      socket.write(body.slice(1));
      expect(statusesIn(await received(socket))).to.deep.equal(['401 invalid_token']);
      expect(await count('slow')).to.equal(0);
    });
});

describe('an import whose access token expires meanwhile', () => {
  const issuer = new TestIssuer();
  const service = inProcessService({}, { issuer });

  it('goes on, because a stream ends by idleness and not by time', async () => {
    const token = issuer.token({ exp: Math.ceil(service.clock.now() / 1_000) + 60, scope: 'products:write' });
    const stream = new LineStream(service.startLines(IMPORTS, { Authorization: `Bearer ${token}` }));
    await stream.send(line('before'));
    expect(await stream.next()).to.include({ line: 1, status: 201 });
    service.clock.pass(121_000);
    expect((await service.get('/v1/products', { token })).json.code).to.equal('token_expired');
    await stream.send(line('after'));
    expect(await stream.next()).to.include({ line: 2, status: 201 });
    stream.end();
    expect(await stream.rest()).to.deep.equal([]);
  });

  it('ends a day later: nobody can revoke such a token', async () => {
    const token = issuer.token({ exp: Math.ceil(service.clock.now() / 1_000) + 60, scope: 'products:write' });
    const stream = new LineStream(service.startLines(IMPORTS, { Authorization: `Bearer ${token}` }));
    await stream.send(line('before'));
    expect(await stream.next()).to.include({ line: 1, status: 201 });
    service.clock.pass(24 * 3_600_000 + 121_000);
    await stream.send(line('after'));
    const { status, error } = (await stream.next()) as { status: number; error: { code: string } };
    expect([status, error.code]).to.deep.equal([401, 'token_expired']);
    stream.end();
    await stream.rest();
  });
});

import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { SpawnedService } from '../support/spawned-service.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const coded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const signed = `${coded({ alg: 'HS256', typ: 'at+jwt' })}.${coded({ sub: '7' })}`;
const TOKEN = `${signed}.${createHmac('sha256', 'x').update(signed).digest('base64url')}`;

describe('the log of the program', () => {
  const service = new SpawnedService(temporaryFolder(), { STORE: 'memory' });
  after(() => service.stop('SIGKILL'));

  it('holds no access token, whatever it is put into, nor a line that a client has written', async () => {
    const client = await service.started();
    for (const headers of [{ Authorization: `Bearer ${TOKEN}` }, { 'X-Request-Id': TOKEN.slice(0, 128) }])
      await client.get('/products', { token: null, headers: { ...headers, 'User-Agent': TOKEN } });
    await client.get(`/${TOKEN}?access_token=${TOKEN}`, { token: null });
    await client.get(`/${'x'.repeat(200)}${TOKEN}`, { token: null });
    await client.get('/products/%0A%7B%22level%22:%22forged%22%7D', { headers: { 'X-Request-Id': 'a"\\b' } });
    await client.raw('GET /a\\n{"level":"forged"} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    client.close();
    await service.stop();
    const lines = service.log.trimEnd().split('\n');
    expect(lines.filter((line) => line.includes('"msg":"request"'))).to.have.length.greaterThan(4);
    for (const line of lines) expect(JSON.parse(line)['level'], line).to.be.oneOf(['info', 'warn']);
    for (const part of TOKEN.split('.')) expect(service.log).to.not.include(part.slice(0, 20));
  });
});

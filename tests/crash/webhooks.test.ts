import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { catalogue } from '../support/child-process-service.js';
import { CrashService } from '../support/crash-service.js';
import { jsonLines } from '../support/line-stream.js';
import { python } from '../support/python.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';
import { ACCEPT, isSigned, status, WebhookReceiver } from '../support/webhook-receiver.js';

const LINES = 250;

describe('webhooks of a service', () => {
  const root = temporaryFolder();
  const receiver = new WebhookReceiver();
  const running: CrashService[] = [];
  before(() => receiver.start());
  after(() => receiver.stop());
  beforeEach(() => {
    receiver.messages.length = 0;
    receiver.answer = ACCEPT;
  });
  afterEach(async () => {
    for (const service of running.splice(0)) await service.end('SIGKILL').catch(() => {});
  });

  const environment = () => ({
    WEBHOOK_NETWORKS: '127.0.0.0/8',
    NODE_EXTRA_CA_CERTS: receiver.authorityFile,
    PUBLIC_URL: 'https://localhost/catalogue',
  });
  const start = async (folder: string, workers = 1, token?: string): Promise<CrashService> => {
    const service = await CrashService.start(folder, workers, token, environment());
    running.push(service);
    return service;
  };
  const addWebhook = (service: CrashService, resources: readonly string[]) =>
    service.with(async (client) => {
      const fields = { name: 'index', url: receiver.urlOf('/hook?key=secret', 'localhost'), resources };
      const { status: code, json, text } = await client.post('/v1/webhooks', fields);
      expect(code, text).to.equal(201);
      return json as { readonly id: number; readonly secret: string };
    });
  const importProducts = (service: CrashService, count: number) =>
    service.with(async (client) => {
      const body = Array.from({ length: count }, () => `{"name":"${randomUUID()}"}\n`).join('');
      const headers = { 'Content-Type': 'application/x-ndjson' };
      const { text } = await client.post('/v1/products/imports', body, { headers });
      return jsonLines(text).map(({ id }): number => id);
    });

  it('tell an import of two workers in messages of at most 100 changes, signed, whose next is the feed behind them', async () => {
    const service = await start(mkdtempSync(join(root, 'a-')), 2);
    const { id, secret } = await addWebhook(service, ['products', 'users']);
    const ids = await importProducts(service, LINES);
    await until('every product is told', () => receiver.changesOf('products').length >= LINES);
    expect(new Set(receiver.changesOf('products').map((change) => change.id))).to.deep.equal(new Set(ids));
    for (const message of receiver.messages) {
      expect(isSigned(message, secret), message.body).to.equal(true);
      expect(message.url).to.equal('/hook?key=secret');
      expect(message.json.data.changes.length).to.be.within(1, 100);
      expect(message.json.data.next).to.match(/^\/catalogue\/v1\/products\/changes\?cursor=/);
    }
    const { data } = receiver.messages.at(-1)?.json ?? {};
    const [added] = await importProducts(service, 1);
    await service.with(async (client) => {
      const changes = await client.get(data.next.replace('/catalogue', ''));
      expect([changes.status, changes.json.map((one: { id: number }) => one.id)]).to.deep.equal([200, [added]]);
      await until('the last one is told', () => receiver.changesOf('products').some((one) => one.id === added));
      await until('the delivery is stored', async () => {
        const { json } = await client.get(`/v1/webhooks/${id}`);
        return json.status === 'active' && json.lastDeliveryAt !== undefined;
      });
      const test = await client.post(`/v1/webhooks/${id}/deliveries`, undefined);
      expect([test.status, test.json.status, test.json.type]).to.deep.equal([201, 204, 'webhook.test']);
      const renewed = await client.post(`/v1/webhooks/${id}/secret`, undefined);
      await client.post(`/v1/webhooks/${id}/deliveries`, undefined);
      const last = receiver.messages.at(-1);
      for (const one of [secret, renewed.json.secret]) expect(last && isSigned(last, one)).to.equal(true);
      receiver.answer = status(410);
      await client.delete(`/v1/products/${added}`);
      await until('it is paused', async () => (await client.get(`/v1/webhooks/${id}`)).json.status === 'paused');
      const { json: deliveries } = await client.get(`/v1/webhooks/${id}/deliveries`);
      expect(deliveries[0]).to.include({ type: 'products.changed', changes: 1, status: 410 });
    });
    await until('the log says so', () => service.logged('a webhook was paused').length > 0);
    expect(service.logged('a webhook was paused')[0]).to.include({ webhookId: id, reason: 'gone' });
    await service.end('SIGTERM');
  });

  it('are paused in a copy, and in a database that was restored', async () => {
    const folder = mkdtempSync(join(root, 'b-'));
    const service = await start(folder);
    const { id } = await addWebhook(service, ['products']);
    const { token } = service;
    expect((await catalogue(folder, ['backup', 'b.sqlite'], { DATA_DIR: 'data' })).code).to.equal(0);
    await importProducts(service, 1);
    await until('it tells', () => receiver.messages.length >= 1);
    await service.end('SIGTERM');
    const target = mkdtempSync(join(root, 'c-'));
    const [from, to] = [folder, target].map((where) => `sqlite:${where}/data/catalogue.sqlite`);
    const copied = await catalogue(folder, ['copy', '--from', `${from}`, '--to', `${to}`]);
    expect(copied.code, copied.err).to.equal(0);
    const restored = await catalogue(folder, ['restore', 'b.sqlite'], { DATA_DIR: 'data' });
    expect(restored.code, restored.err).to.equal(0);
    const before = receiver.messages.length;
    for (const where of [target, folder]) {
      const other = await start(where, 1, token);
      await other.with(async (client) => {
        expect((await client.get(`/v1/webhooks/${id}`)).json.status, where).to.equal('paused');
        // Who resumes it learns that changes are missing, though nothing changes now.
        await client.patch(`/v1/webhooks/${id}`, { status: 'active' });
        await until('it tells to read everything', () => receiver.messages.length > before);
        expect(receiver.messages.at(-1)?.json.type).to.equal('products.resync');
      });
      await other.end('SIGTERM');
      receiver.messages.splice(before);
    }
  });

  it('are verified by the programs of docs/how-to/webhooks.md', async () => {
    const service = await start(mkdtempSync(join(root, 'd-')));
    const { id, secret } = await addWebhook(service, ['products']);
    await service.with((client) => client.post(`/v1/webhooks/${id}/deliveries`, undefined));
    await service.end('SIGTERM');
    const [{ headers, body } = { headers: {}, body: '' }] = receiver.messages;
    const document = readFileSync('docs/how-to/webhooks.md', 'utf8');
    const program = (language: string) =>
      new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'ms').exec(document)?.[1] ?? '';
    const { isAuthentic } = await import(`data:text/javascript,${encodeURIComponent(program('js'))}`);
    const main = `${program('python')}
import json, sys
headers, body, secret = json.loads(sys.argv[1])
print(is_authentic(headers, body.encode(), secret))`;
    for (const [text, isGenuine] of [
      [body, true],
      [`${body} `, false],
    ] as const) {
      expect(isAuthentic(headers, text, secret)).to.equal(isGenuine);
      const said = await python(main, JSON.stringify([headers, text, secret]));
      expect(said.trim()).to.equal(isGenuine ? 'True' : 'False');
    }
  });
});

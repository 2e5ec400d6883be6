import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { HttpsWebhookTransport } from '#src/adapters/outbound/webhooks/https-transport.js';
import { serverPair } from '../../support/certificates.js';
import { CrashService } from '../../support/crash-service.js';
import { figuresOf } from '../../support/figure.js';
import { freePort } from '../../support/free-port.js';
import { TEST_SEED } from '../../support/run-settings.js';
import { SeededRandom } from '../../support/seeded-random.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/until.js';
import { ACCEPT, type Answer, isSigned, status, WebhookReceiver } from '../../support/webhook-receiver.js';
import { isAlive } from '../../support/workers.js';

const figure = figuresOf('webhooks');
const ROUNDS = 12;

describe('webhooks while senders are killed and receivers fail', function () {
  this.timeout(1_200_000);
  const folder = temporaryFolder();
  const receiver = new WebhookReceiver();
  const random = new SeededRandom(TEST_SEED);
  let service: CrashService | undefined;
  before(() => receiver.start());
  after(async () => {
    await service?.end('SIGKILL');
    await receiver.stop();
  });

  it('tell each change at least once, and each message under one id with one body', async () => {
    const environment = { WEBHOOK_NETWORKS: '127.0.0.0/8', NODE_EXTRA_CA_CERTS: receiver.authorityFile };
    const running = await CrashService.start(folder, 2, undefined, environment);
    service = running;
    const secret = await running.with(async (client) => {
      const fields = { name: 'index', url: receiver.urlOf('/'), resources: ['products'] };
      return (await client.post('/v1/webhooks', fields)).json.secret as string;
    });
    const resume = async (client: Parameters<Parameters<CrashService['with']>[0]>[0]) => {
      // Ends the wait after a failure.
      for (const status of ['paused', 'active']) await client.patch('/v1/webhooks/1', { status });
    };
    const hangs: Answer = () => {};
    const answers: readonly Answer[] = [ACCEPT, ACCEPT, status(500), hangs, (response) => response.destroy()];
    const versions = new Map<number, number>();
    const accepted: (typeof receiver.messages)[number][] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const answer = random.oneOf(answers);
      receiver.answer = (response, message) => {
        if (answer === ACCEPT) accepted.push(message);
        answer(response, message);
      };
      const body = Array.from({ length: 150 }, () => `{"name":"${randomUUID()}"}\n`).join('');
      const headers = { 'Content-Type': 'application/x-ndjson' };
      await running.with(async (client) => {
        const { text } = await client.post('/v1/products/imports', body, { headers });
        for (const line of text.trim().split('\n')) versions.set(JSON.parse(line).id, 1);
        const id = random.oneOf([...versions.keys()]);
        const { status: code } = await client.delete(`/v1/products/${id}`);
        if (code === 204) versions.set(id, 2);
        await resume(client);
      });
      const known = receiver.messages.length + random.below(2);
      await until('the next message has begun', () => receiver.messages.length >= known);
      const victim = random.oneOf(running.pids.filter(isAlive));
      process.kill(victim, 'SIGKILL');
      const before = running.pids.length;
      await until('another worker takes its place', () => running.pids.length > before);
    }
    receiver.answer = (response, message) => {
      accepted.push(message);
      ACCEPT(response, message);
    };
    const told = () =>
      new Map(
        accepted.flatMap(({ json }) =>
          (json.data.changes as { id: number; version: number }[]).map(({ id, version }) => [id, version] as const),
        ),
      );
    await running.with((client) => resume(client));
    await until(
      'everything is told',
      () => {
        const known = told();
        return [...versions].every(([id, version]) => known.get(id) === version);
      },
      300_000,
    );
    const bodies = new Map<string, string>();
    for (const message of receiver.messages) {
      const id = String(message.headers['webhook-id']);
      expect(bodies.get(id) ?? message.body, 'one id, one body').to.equal(message.body);
      bodies.set(id, message.body);
      expect(isSigned(message, secret)).to.equal(true);
    }
    figure('messages', bodies.size);
    figure('sent again', receiver.messages.length - bodies.size);
  });

  it('are not held up by a receiver that sends session tickets without end', async () => {
    const pair = await serverPair(folder);
    writeFileSync(join(folder, 'receiver.pem'), pair.key + pair.cert);
    const port = await freePort();
    const certificate = join(folder, 'receiver.pem');
    const args = ['s_server', '-quiet', '-accept', `${port}`, '-cert', certificate, '-num_tickets', '10000000'];
    const server = spawn('openssl', args, { stdio: ['pipe', 'ignore', 'inherit'] });
    try {
      const transport = new HttpsWebhookTransport('127.0.0.0/8', {
        ca: readFileSync(pair.authority, 'utf8'),
        timeoutMs: 600_000,
      });
      const message = { url: `https://127.0.0.1:${port}/`, headers: {}, body: '{}', client: 'key:1' };
      const errors: string[] = [];
      await until('the receiver has sent too many', async () => {
        const outcome = await transport.post(message);
        errors.push('error' in outcome ? outcome.error : '');
        return !errors.at(-1)?.includes('ECONNREFUSED');
      });
      expect(errors.at(-1)).to.include('session tickets');
    } finally {
      server.kill();
    }
  });
});

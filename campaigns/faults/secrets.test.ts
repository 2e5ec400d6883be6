/**
 * Sends secrets in every part of a request, in plain and encoded forms, with the log at `trace`, and looks for them in
 * log lines, spans and metrics.
 */
import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { newApiKey } from '#src/adapters/outbound/system/random.js';
import { ALL_STORES, unreachableServers } from '../../tests/stores/index.js';
import { ChildProcessService } from '../../tests/support/child-process-service.js';
import { freePort } from '../../tests/support/free-port.js';
import { HttpClient } from '../../tests/support/http-client.js';
import { OtlpReceiver } from '../../tests/support/otlp-receiver.js';
import { temporaryFolder } from '../../tests/support/temporary-folder.js';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const encodeAll = (text: string) =>
  Array.from(text, (character) => `%${character.charCodeAt(0).toString(16)}`).join('');
const layered = (text: string, layers: number): string =>
  layers === 0 ? text : layered(text.replaceAll('%', '%25').replaceAll('_', '%5f'), layers - 1);

function forgedJwt(): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${encode({ alg: 'HS256', typ: 'at+jwt' })}.${encode({ sub: 'forged-subject' })}`;
  return `${signed}.${createHmac('sha256', 'x').update(signed).digest('base64url')}`;
}

/** The forms in which a client may send a secret. */
const FORMS: readonly ((secret: string) => string)[] = [
  (secret) => secret,
  (secret) => encodeAll(secret),
  (secret) => layered(secret, 1),
  (secret) => layered(secret, 2),
  (secret) => layered(secret, 7),
  (secret) => base64(secret),
  (secret) => base64(`7:${secret}`),
  (secret) => base64(`ann:${secret}`).replaceAll('=', ''),
  (secret) => Buffer.from(secret).toString('base64url'),
  (secret) => `https://ann:${secret}@host.example/x`,
];

/** The forms that add nothing by which a secret can be told from other text. */
const PLAIN_FORMS = [0, 5, 8].map((at) => FORMS[at] as (typeof FORMS)[number]);
const isPassword = (secret: string) => !/^(pcs_|eyJ)/.test(secret);

const SCHEMES = ['Bearer', 'bearer', 'Basic', 'Token', 'ApiKey', 'Digest response='];
const HEADERS = [
  ...['Cookie', 'X-Api-Key', 'Proxy-Authorization', 'User-Agent', 'Referer', 'Origin', 'Forwarded', 'From'],
  ...['X-Forwarded-For', 'X-Forwarded-Proto', 'X-Request-Id', 'X-Correlation-Id', 'Idempotency-Key', 'Via'],
  ...['If-Match', 'If-None-Match', 'Accept', 'Accept-Encoding', 'Accept-Language', 'API-Version', 'Prefer'],
  ...['Content-Type', 'Content-Encoding', 'traceparent', 'tracestate', 'baggage', 'Expect'],
];
const PATHS: readonly ((form: string) => string)[] = [
  (form) => `/${form}`,
  (form) => `/v1/products/${form}`,
  (form) => `/v1/${form}/products`,
  (form) => `/v1/products/7/${form}`,
  (form) => `/docs/${form}`,
  (form) => `//ann:${form}@host/v1/products`,
  (form) => `/v1/products;key=${form}`,
  (form) => `/${'x'.repeat(230)}/${form}`,
  (form) => `/v1/products?access_token=${form}`,
  (form) => `/v1/products?${form}`,
  (form) => `/v1/products?${form}=1&name=${form}&sort=${form}&fields=${form}&q=${form}`,
  (form) => `/v1/products?cursor=${form}`,
  (form) => `/v1/products?attributes.${form}=x`,
];
const BODIES: readonly ((secret: string) => readonly [path: string, type: string, body: string])[] = [
  (secret) => ['/v1/products', 'application/json', JSON.stringify({ name: secret })],
  (secret) => ['/v1/products', 'application/json', JSON.stringify({ name: 1, [secret]: secret })],
  (secret) => ['/v1/products', 'application/json', `{"name": ${secret}`],
  (secret) => ['/v1/users', 'application/json', JSON.stringify({ name: 'x', email: secret })],
  (secret) => ['/v1/products/imports', 'application/x-ndjson', `{"name":"${secret}"}\n${secret}\n`],
  (secret) => ['/v1/products/imports', 'text/csv', `name,${secret}\r\nx,"${secret}\r\n`],
  (secret) => ['/v1/api-keys', 'application/json', JSON.stringify({ name: secret, scopes: [secret] })],
  ...['client_secret', 'client_id', 'grant_type', 'scope', 'password', 'assertion'].map(
    (field) =>
      (secret: string): readonly [string, string, string] => [
        '/oauth/token',
        'application/x-www-form-urlencoded',
        new URLSearchParams({
          grant_type: 'client_credentials',
          client_id: '1',
          client_secret: 'x',
          [field]: secret,
        }).toString(),
      ],
  ),
];
/** Messages that are no HTTP requests, or no proper ones. */
const MESSAGES: readonly ((secret: string) => string)[] = [
  (secret) => `GET https://ann:${secret}@localhost/v1/products?${secret} HTTP/1.1\r\nHost: x\r\n`,
  (secret) => `GET /v1/products#${secret} HTTP/1.1\r\nHost: ${secret}\r\n`,
  (secret) => `${secret} /v1/products HTTP/1.1\r\nHost: x\r\n`,
  (secret) => `GET /${secret} HTTP/9.9\r\nHost: x\r\n`,
  (secret) => `GET /v1/products HTTP/1.1\r\nHost: x\r\n${secret}\r\n`,
  (secret) => `GET /v1/products HTTP/1.1\r\nHost: x\r\nX: ${secret}\u0000\r\n`,
  (secret) => `GET /v1/products HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\nAuthorization: ${secret}\r\n`,
  (secret) => `GET /v1/products HTTP/1.1\r\nHost: x\r\nX: ${secret.repeat(600)}\r\n`,
  (secret) => `GET /${secret.repeat(400)} HTTP/1.1\r\nHost: x\r\n`,
  (secret) => `POST /v1/products HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${secret}\r\n`,
  (secret) => secret,
];

/** The shortest part of a secret that is searched. It does not occur by chance. */
const PART_LENGTH = 8;
const MAX_LAYERS = 9;

/** @returns the parts of the secret, and of its encodings in Base64, that the text holds, encoded or not */
function found(text: string, secret: string): string[] {
  const parts = [0, 1, 2].map((shift) =>
    // The first and the last characters of the encoding depend on what surrounds the secret.
    base64('x'.repeat(shift) + secret).slice(shift === 0 ? 0 : 4, -4),
  );
  const urlParts = parts.map((part) => part.replaceAll('+', '-').replaceAll('/', '_'));
  const wanted = [secret.slice(0, 16), secret.slice(-PART_LENGTH), ...parts, ...urlParts];
  const hits = new Set<string>();
  let decoded = text;
  for (let layer = 0; layer < MAX_LAYERS; layer++) {
    for (const part of wanted) if (decoded.includes(part)) hits.add(part);
    decoded = decoded.replaceAll(/%([0-7][0-9a-f])/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
  }
  return [...hits];
}

describe('the search for secrets', () => {
  it('finds every form of a secret', () => {
    for (const secret of [newApiKey(), forgedJwt(), 'correct-horse-battery-1'])
      for (const [at, form] of FORMS.entries())
        for (const before of ['', 'a', 'ab'])
          expect(found(`{"path":"/${before}${form(secret)}"}`, secret), `form ${at} of ${secret}`).to.not.deep.equal(
            [],
          );
  });
});

describe('a secret that a client or the operator gives', () => {
  const folders = { json: temporaryFolder(), text: temporaryFolder() };
  const receiver = new OtlpReceiver();
  let endpoint: string;
  let service: ChildProcessService;

  before(async () => {
    endpoint = await receiver.start();
  });
  afterEach(() => service.kill('SIGKILL'));
  after(() => receiver.stop());

  const startSecret = 'settings-password-77';
  const bootstrapKey = newApiKey();
  const environment = () => ({
    LOG_LEVEL: 'trace',
    BOOTSTRAP_API_KEY: bootstrapKey,
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer ${startSecret}`,
    OTEL_BSP_SCHEDULE_DELAY: '100',
    OTEL_BSP_MAX_QUEUE_SIZE: '100000',
    ...unreachableServers(startSecret),
  });

  for (const LOG_FORMAT of ['json', 'text'] as const)
    it(`is in no line (${LOG_FORMAT}), no span and no metric, wherever it is sent`, async function () {
      this.timeout(600_000);
      receiver.requests.length = 0;
      const redis = `redis://ann:${startSecret}@127.0.0.1:${await freePort()}`;
      service = new ChildProcessService(folders[LOG_FORMAT], {
        ...environment(),
        LOG_FORMAT,
        RATE_LIMITER: 'redis',
        REDIS_URL: redis,
      });
      const client = await service.started(bootstrapKey);
      client.documented = undefined;
      const made = (await client.post('/v1/api-keys', { name: 'x', scopes: ['products:read'] })).json;
      const credentials = {
        grant_type: 'client_credentials',
        client_id: `${made.id}`,
        client_secret: made.key,
      };
      const token = await client.post('/oauth/token', new URLSearchParams(credentials).toString(), {
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      });
      expect(token.status).to.equal(200);
      const all: readonly string[] = [
        bootstrapKey,
        made.key,
        token.json.access_token,
        newApiKey(),
        forgedJwt(),
        'correct-horse-battery-1',
        'ya29.a0AfH6SMBx-9_kQ7vLw2',
      ];

      // The format is applied to lines that are without secrets already.
      const secrets = LOG_FORMAT === 'json' ? all : all.filter((_, at) => at % 2 === 1);

      let sent = 0;
      const send = async (client: HttpClient, ...[method, path, options]: Parameters<HttpClient['request']>) => {
        sent++;
        await client.request(method, path, options);
      };
      const [, managementPort] = await service
        .logs(/"port":(\d+),"msg":"management listening"|management listening .*port=(\d+)/)
        .then(([text, json, plain]) => [text, json ?? plain]);
      const management = new HttpClient(Number(managementPort), undefined, 'none');

      for (const [number, secret] of secrets.entries()) {
        // Each address may fail to authenticate 20 times a minute.
        const from = `127.0.0.${10 + number}`;
        const requests: Promise<void>[] = [];
        for (const form of FORMS.map((make) => make(secret))) {
          for (const scheme of SCHEMES)
            requests.push(
              send(client, 'GET', '/v1/products', {
                token: null,
                from,
                headers: { Authorization: `${scheme} ${form}` },
              }),
            );
          for (const header of HEADERS) {
            // A password alone cannot be told from a request id.
            if (header === 'X-Request-Id' && PLAIN_FORMS.some((make) => make(secret) === form) && isPassword(secret))
              continue;
            requests.push(send(client, 'GET', '/v1/products', { headers: { [header]: form } }));
          }
          for (const path of PATHS) {
            requests.push(send(client, 'GET', path(form)), send(client, 'DELETE', path(form), { token: null }));
            requests.push(send(management, 'GET', path(form), { token: null }));
          }
        }
        requests.push(send(client, 'GET', '/v1/products', { headers: { [secret.replaceAll('.', '-')]: secret } }));
        for (const [path, type, body] of BODIES.map((make) => make(secret)))
          requests.push(send(client, 'POST', path, { body, headers: { 'Content-Type': type } }));
        await Promise.all(requests);
        for (const message of MESSAGES)
          await client.raw(`${message(secret)}Connection: close\r\n\r\n`).then(() => sent++);
      }
      expect(sent).to.be.greaterThan(secrets.length * 700);
      expect((await client.get('/v1/products', { token: made.key })).status).to.equal(200);

      const metrics = (await management.get('/metrics', { token: null })).text;
      client.close();
      management.close();
      expect(await service.stop()).to.deep.equal({ code: 0, signal: null });
      const spans = receiver.requests.map(({ body }) => body.toString()).join('\n');
      expect(service.log.split('\n').length).to.be.greaterThan(sent / 2);
      expect(spans.split('"kind":2').length, 'spans').to.be.greaterThan(sent / 4);
      expect(metrics).to.include('# HELP');
      expect(service.log).to.include('Redis cannot be used');
      for (const secret of [...secrets, startSecret])
        for (const [where, text] of Object.entries({ output: service.out, log: service.log, metrics, spans }))
          expect(found(text, secret), `${where}: ${secret}`).to.deep.equal([]);
    });

  it('is in no line about a store that cannot be reached', async () => {
    const expectNone = async (STORE: string, LOG_FORMAT: 'json' | 'text') => {
      const ending = new ChildProcessService(folders[LOG_FORMAT], {
        ...environment(),
        LOG_FORMAT,
        STORE,
        STORE_START_TIMEOUT_SECONDS: '1',
      });
      expect((await ending.exit).code).to.equal(75);
      expect(ending.log).to.include('the store cannot be reached yet');
      expect(found(ending.out + ending.log, startSecret)).to.deep.equal([]);
    };
    for (const { name, unreachable } of ALL_STORES)
      if (unreachable) await Promise.all([expectNone(name, 'json'), expectNone(name, 'text')]);
  });
});

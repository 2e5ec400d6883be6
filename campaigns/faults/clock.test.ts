/**
 * Sets the clock of running processes with libfaketime: 400 days or an hour behind or ahead, at their start and under
 * load. No request is refused that would be accepted otherwise, and no record, version, id, cursor or replay is
 * confused.
 */
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { expect } from 'chai';
import { LocalCa } from '#src/adapters/outbound/certificates/local-ca.js';
import { sqliteStorage } from '#src/adapters/outbound/sqlite/storage.js';
import { newApiKey } from '#src/adapters/outbound/system/random.js';
import { HOUR_MS, RESERVATION_MS, Retention } from '#src/application/maintenance/retention.js';
import { storageOf } from '#src/composition/storage.js';
import { ChildProcessService } from '../../tests/support/child-process-service.js';
import { concurrently } from '../../tests/support/concurrently.js';
import { FakeClock } from '../../tests/support/fakes.js';
import { figuresOf } from '../../tests/support/figure.js';
import { freePort } from '../../tests/support/free-port.js';
import { type HttpClient, type HttpResponse, ProxiedClient } from '../../tests/support/http-client.js';
import { FIRST_KEY } from '../../tests/support/in-process-service.js';
import { linksOf } from '../../tests/support/links.js';
import { accessToken } from '../../tests/support/oauth.js';
import { RedisServer } from '../../tests/support/redis-server.js';
import { ENDLESS, TABLES } from '../../tests/support/tables.js';
import { temporaryFolder } from '../../tests/support/temporary-folder.js';
import { until } from '../../tests/support/until.js';
import { FakeTime } from './fake-time.js';

const figure = figuresOf('clock');

const DAY_MS = 24 * HOUR_MS;
const OFFSETS = { '-400 d': -400 * DAY_MS, '-1 h': -HOUR_MS, '+1 h': HOUR_MS, '+400 d': 400 * DAY_MS };
/** How long the load runs after each step. */
const STEP_MS = 1_500;
const FAILURES = 20;
/** A second less than a failed authentication counts. */
const LOCK_MS = 59_000;
const QUOTA = 5;
const WINDOW_SECONDS = 3;
/** So long that a step comes before its end on a busy machine too. */
const STEPPED_WINDOW_SECONDS = 10;

describe('a clock that is wrong, or that somebody sets', () => {
  const root = temporaryFolder();
  const services: ChildProcessService[] = [];
  const clients: HttpClient[] = [];
  const newFolder = () => mkdtempSync(join(root, 'clock-'));
  after(async () => {
    for (const client of clients) client.close();
    await Promise.all(services.map((service) => service.stop('SIGKILL')));
  });

  /** Starts a service behind a proxy. */
  const start = async (folder: string, time: FakeTime, settings: Record<string, string> = {}) => {
    const PORT = `${await freePort()}`;
    const service = new ChildProcessService(folder, {
      TLS: 'proxy',
      TRUSTED_PROXIES: '127.0.0.1',
      BOOTSTRAP_API_KEY: FIRST_KEY,
      PUBLIC_URL: 'https://localhost:8443',
      PORT,
      ...settings,
      ...time.environment,
    });
    services.push(service);
    await service.prints(/in plain HTTP behind a proxy/);
    const client = new ProxiedClient(Number(PORT), undefined, FIRST_KEY);
    clients.push(client);
    return { service, client };
  };
  const replay = (client: HttpClient, key: string, name = 'Lamp') =>
    client.post('/v1/products', { name }, { headers: { 'Idempotency-Key': key } });
  /** Creates a user. @returns its time of creation */
  const creationTime = async (client: HttpClient, name: string) => {
    const { json } = await client.post('/v1/users', { name, email: `${name}@example.com` });
    const path = `/v1/users/${json.id}?fields=createdAt`;
    return Date.parse((await client.get(path)).json.createdAt);
  };
  const errorsIn = (service: ChildProcessService) =>
    service.log.split('\n').filter((line) => line.includes('"level":"error"'));

  concurrently({
    'during a load, steps of an hour and of 400 days refuse no request and confuse no record': async () => {
      const time = new FakeTime(newFolder());
      const { service, client } = await start(newFolder(), time);
      const unexpected: string[] = [];
      const acknowledged = new Map<number, string>();
      let sent = 0;
      let refreshed = 0;
      const expected = (response: HttpResponse, ...statuses: number[]) => {
        sent++;
        const { status, text } = response;
        if (!statuses.includes(status)) throw new Error(`${status} ${text.slice(0, 200)}`);
        return response;
      };
      const body = { name: 'expires', scopes: ['products:read'] };
      const expiresAt = new Date(Date.now() + HOUR_MS / 2).toISOString();
      const expiring = (await client.post('/v1/api-keys', { ...body, expiresAt })).json.key;
      const statusOfExpiring = async () => (await client.get('/v1/products?limit=1', { token: expiring })).status;
      expect(await statusOfExpiring()).to.equal(200);
      const firstPage = await client.get('/v1/products?limit=1&sort=createdAt');
      expect(firstPage.status).to.equal(200);

      // Twenty failures lock an address for a minute, whatever the clock says.
      const wrong = newApiKey();
      const from = (address: string, token: string) =>
        client.get('/v1/products?limit=1', { token, headers: { 'X-Forwarded-For': address } });
      const lockedAt = performance.now();
      for (let at = 0; at < FAILURES; at++) expect((await from('192.0.2.1', wrong)).status).to.equal(401);

      let isOver = false;
      const write = async (writer: number) => {
        let last = 0;
        for (let at = 0; !isOver; at++) {
          const key = `clock-${writer}-${at}`;
          const created = expected(await replay(client, key), 201);
          const { id } = created.json;
          if (id <= last) unexpected.push(`the id ${id} follows ${last}`);
          last = id;
          const again = expected(await replay(client, key), 201);
          if (again.headers['idempotency-replayed'] !== 'true' || again.text !== created.text)
            unexpected.push(`the replay of ${id} is ${again.text}, the first response ${created.text}`);
          const path = `/v1/products/${id}?fields=name,version,createdAt,updatedAt`;
          const before = expected(await client.get(path), 200).json;
          const headers = { 'If-Match': String(created.headers.etag) };
          expected(await client.patch(`/v1/products/${id}`, { name: `Lamp ${at}` }, { headers }), 200);
          const changed = expected(await client.get(path), 200).json;
          if (changed.updatedAt < before.updatedAt || changed.updatedAt < changed.createdAt)
            unexpected.push(`${id} was updated at ${changed.updatedAt}, before ${before.updatedAt}`);
          if (changed.version !== 2) unexpected.push(`${id} has the version ${changed.version}`);
          if (at % 4 === 0) {
            expected(await client.delete(`/v1/products/${id}`), 204);
            expected(await client.get(path), 404);
            const late = expected(await replay(client, key), 201);
            if (late.headers['idempotency-replayed'] !== 'true') unexpected.push(`${id} is created twice`);
          } else acknowledged.set(id, changed.name);
        }
      };
      /** Pages with a token of the built-in issuer. A token that the step made invalid is requested again, at most twice. */
      const page = async () => {
        let token = await accessToken(client, 1, FIRST_KEY);
        const first = '/v1/products?limit=5&sort=-updatedAt';
        let path = first;
        while (!isOver) {
          let response = await client.get(path, { token });
          // The clock may be set again before the new token is used.
          for (let again = 0; response.status === 401 && again < 2; again++) {
            refreshed++;
            token = await accessToken(client, 1, FIRST_KEY);
            response = await client.get(path, { token });
          }
          expected(response, 200);
          path = linksOf(response.headers['link'])['next'] ?? first;
          await sleep(5);
        }
      };
      const search = async () => {
        while (!isOver) {
          expected(await client.get('/v1/products?q=lam&limit=10'), 200);
          expected(await client.get('/v1/products?createdAt.gte=2001-01-01T00:00:00Z&limit=10'), 200);
          await sleep(5);
        }
      };
      const guarded = (work: Promise<void>) =>
        work.catch((error: Error) => {
          unexpected.push(error.message);
        });
      const load = [write(1), write(2), page(), page(), search()].map(guarded);
      const expiry: Record<string, number> = {};
      for (const [name, offset] of [...Object.entries(OFFSETS), ['0', 0] as const]) {
        await sleep(STEP_MS / 2);
        time.step(offset);
        await sleep(STEP_MS / 2);
        expiry[name] = await statusOfExpiring();
        const locked = await from('192.0.2.1', wrong);
        // A lock of a minute is over before, if the machine is very slow.
        if (performance.now() - lockedAt < LOCK_MS) {
          expect(locked.status).to.equal(429);
          expect(Number(locked.headers['retry-after'])).to.be.within(1, 60);
        }
        expect((await from('192.0.2.1', FIRST_KEY)).status, 'a key that was used lately').to.equal(200);
        expect((await from('192.0.2.2', wrong)).status, 'another address').to.equal(401);
        const createdAt = await creationTime(client, `ann${offset}`);
        expect(Math.abs(createdAt - time.now()), `createdAt at ${name}`).to.be.below(HOUR_MS / 2);
      }
      await sleep(STEP_MS);
      isOver = true;
      await Promise.all(load);

      figure('requests during steps', sent);
      figure('tokens requested again', refreshed);
      figure('unexpected', unexpected.length);
      expect(unexpected).to.deep.equal([]);
      expect(sent).to.be.greaterThan(100);
      expect(expiry).to.deep.equal({ '-400 d': 200, '-1 h': 200, '+1 h': 401, '+400 d': 401, '0': 200 });
      const all = await client.get('/v1/products', { headers: { Accept: 'application/x-ndjson' } });
      const found = all.text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line));
      expect(new Map(found.map(({ id, name }) => [id, name]))).to.deep.equal(acknowledged);
      const { json: key } = await client.get('/v1/api-keys/1?fields=lastUsedAt');
      // It never goes back: after a clock that ran ahead it stays in the future until that minute has passed.
      expect(Date.parse(key.lastUsedAt)).to.be.greaterThan(Date.now() + 399 * DAY_MS);
      expect(errorsIn(service)).to.deep.equal([]);
    },

    'no step ends a rate limit early, and none prolongs it': limits,

    'no step prolongs a rate limit in Redis, whose clock is set back by 400 days': async () => {
      const redis = await RedisServer.onFreePort();
      await redis.run();
      try {
        const { client } = await start(newFolder(), new FakeTime(newFolder()), {
          RATE_LIMIT_REQUESTS: `${QUOTA}`,
          RATE_LIMIT_WINDOW_SECONDS: `${WINDOW_SECONDS}`,
          RATE_LIMITER: 'redis',
          REDIS_URL: redis.url,
        });
        const request = (address: string, token: string | null = null) =>
          client.get('/v1/products', { token, headers: { 'X-Forwarded-For': address } });
        const wrong = newApiKey();
        for (let at = 0; at < FAILURES; at++) await request('192.0.2.1', wrong);
        for (let at = 0; at <= QUOTA; at++) await request('192.0.2.2');
        expect((await request('192.0.2.2')).status).to.equal(429);
        // Redis keeps the time of day at which a window ends, so a step back moves the end of every window.
        const keys = (await redis.command('KEYS', 'catalogue:rate:*')).match(/catalogue:rate:\S+/g) ?? [];
        expect(keys).to.have.length.of.at.least(2);
        for (const each of keys) await redis.command('PEXPIRE', each, `${400 * DAY_MS}`);
        const msLeft = async (each: string) => Number(/:(-?\d+)/.exec(await redis.command('PTTL', each))?.[1]);
        for (const each of keys) {
          const isOfFailures = each.includes(':auth:');
          const seconds = isOfFailures ? 60 : WINDOW_SECONDS;
          const address = each.slice(each.lastIndexOf(':') + 1);
          await until(`${each} ends in time`, async () => {
            await request(address, isOfFailures ? wrong : null);
            return (await msLeft(each)) <= seconds * 1_000;
          });
        }
        await until('the window ends', async () => (await request('192.0.2.2')).status === 401);
      } finally {
        await redis.kill();
      }
    },

    ...Object.fromEntries(
      Object.entries(OFFSETS).map(([name, offset]) => [
        `a store that begins at ${name} is in full use then, and after the clock is right`,
        async () => {
          const folder = newFolder();
          const time = new FakeTime(newFolder(), offset);
          const first = await start(folder, time);
          const created = await replay(first.client, 'once');
          expect(created.status).to.equal(201);
          expect(Math.abs((await creationTime(first.client, 'ann')) - time.now())).to.be.below(HOUR_MS / 2);
          const token = await accessToken(first.client, 1, FIRST_KEY);
          expect((await first.client.get('/v1/products', { token })).status).to.equal(200);
          expect((await first.service.stop()).code).to.equal(0);

          time.step(0);
          const { client, service } = await start(folder, time);
          const again = await replay(client, 'once');
          expect(again.headers['idempotency-replayed']).to.equal('true');
          expect(again.text).to.equal(created.text);
          const changed = await client.patch(`/v1/products/${created.json.id}`, { name: 'Chair' });
          expect(changed.status).to.equal(200);
          const later = await replay(client, 'later');
          expect(later.json.id).to.be.greaterThan(created.json.id);
          // Tokens from a future minute are refused, expired ones too; new ones work.
          expect((await client.get('/v1/products', { token })).status).to.equal(401);
          const fresh = await accessToken(client, 1, FIRST_KEY);
          expect((await client.get('/v1/products', { token: fresh })).status).to.equal(200);
          expect(errorsIn(service)).to.deep.equal([]);
        },
      ]),
    ),

    'a deletion after the clock was corrected is not undone by a late retry': async () => {
      const folder = newFolder();
      const time = new FakeTime(newFolder(), OFFSETS['+400 d']);
      const { client, service } = await start(folder, time);
      const { json } = await replay(client, 'late');
      time.step(0);
      expect((await client.delete(`/v1/products/${json.id}`)).status).to.equal(204);
      expect((await service.stop()).code).to.equal(0);
      await purge(folder, Date.now() + 60 * HOUR_MS);
      const { client: next } = await start(folder, time);
      const late = await replay(next, 'late');
      expect([late.status, late.headers['idempotency-replayed']]).to.deep.equal([201, 'true']);
      expect((await next.get(`/v1/products/${json.id}`)).status).to.equal(404);
    },

    'two replicas whose clocks differ by an hour share one store': async () => {
      const folder = newFolder();
      const [fast, slow] = await Promise.all([
        start(folder, new FakeTime(newFolder(), HOUR_MS)),
        start(folder, new FakeTime(newFolder(), 0)),
      ]);
      const both = [fast, slow] as const;
      for (const [one, other] of [both, both.toReversed()] as [typeof fast, typeof slow][]) {
        const key = `shared-${one.client.port}`;
        const created = await replay(one.client, key);
        const again = await replay(other.client, key);
        expect([again.headers['idempotency-replayed'], again.text]).to.deep.equal(['true', created.text]);
        const path = `/v1/products/${created.json.id}?fields=version,createdAt,updatedAt`;
        let last = (await other.client.get(path)).json.createdAt;
        for (const [at, { client }] of [other, one, other, one].entries()) {
          await client.patch(`/v1/products/${created.json.id}`, { name: `Lamp ${at}` });
          const { json } = await client.get(path);
          expect(json.version).to.equal(at + 2);
          expect(json.updatedAt >= last, `${json.updatedAt} after ${last}`).to.equal(true);
          last = json.updatedAt;
        }
        expect((await other.client.delete(`/v1/products/${created.json.id}`)).status).to.equal(204);
        const late = await replay(one.client, key);
        expect(late.headers['idempotency-replayed']).to.equal('true');
        expect((await one.client.get(path)).status).to.equal(404);
      }
      // docs/how-to/operations.md: the clocks of replicas have to agree, because a token is checked by them.
      const tokens = await Promise.all(both.map(({ client }) => accessToken(client, 1, FIRST_KEY)));
      const statuses = await Promise.all(
        both.flatMap(({ client }) => tokens.map(async (token) => (await client.get('/v1/products', { token })).status)),
      );
      expect(statuses, 'fast with fast and slow, slow with fast and slow').to.deep.equal([200, 401, 401, 200]);

      const retried = await replay(slow.client, 'promised');
      // What the fast replica purges when 24 hours have passed.
      await purge(folder, Date.now() + RESERVATION_MS - 10_000);
      expect((await replay(slow.client, 'promised')).text).to.equal(retried.text);
      expect([...errorsIn(fast.service), ...errorsIn(slow.service)]).to.deep.equal([]);
    },

    'each step renews the certificates at most once': async () => {
      const folder = join(newFolder(), 'tls');
      const clock = new FakeClock(Date.now());
      const ca = new LocalCa(folder, clock);
      const seen = new Set<string>();
      const authorities = new Set<string>();
      for (const offset of [0, HOUR_MS, -400 * DAY_MS, 0, 400 * DAY_MS, 0]) {
        clock.time = Date.now() + offset;
        const { cert } = await ca.current();
        seen.add(cert);
        authorities.add(readFileSync(ca.authorityFile, 'utf8'));
        for (let check = 0; check < 3; check++) {
          clock.time += 60_000;
          expect((await ca.current()).cert).to.equal(cert);
        }
      }
      // Only the step before the beginning of the CA replaces it. The first one is kept beside the folder.
      expect(authorities.size).to.equal(2);
      expect(seen.size).to.equal(5);
      expect(readdirSync(join(folder, '..')).filter((name) => name.endsWith('.old'))).to.have.length(1);
    },

    'a self-signed certificate from before a step of an hour serves clients whose clocks are right': async () => {
      const folder = newFolder();
      const time = new FakeTime(newFolder());
      const PORT = `${await freePort()}`;
      const service = new ChildProcessService(folder, {
        BOOTSTRAP_API_KEY: FIRST_KEY,
        PORT,
        ...time.environment,
      });
      services.push(service);
      const client = await service.started(FIRST_KEY);
      clients.push(client);
      const before = await certificateOf(client.port);
      for (const offset of [HOUR_MS, -HOUR_MS + 60_000, 0]) {
        time.step(offset);
        expect((await client.get('/v1/products')).status).to.equal(200);
        expect(await certificateOf(client.port)).to.equal(before);
      }
    },
  });

  /** Uses up quotas, steps meanwhile, and expects that each limit ends with its window. */
  async function limits(): Promise<void> {
    const time = new FakeTime(newFolder());
    const { client } = await start(newFolder(), time, {
      RATE_LIMIT_REQUESTS: `${QUOTA}`,
      RATE_LIMIT_WINDOW_SECONDS: `${STEPPED_WINDOW_SECONDS}`,
    });
    const request = (address: string) =>
      client.get('/v1/products', { token: null, headers: { 'X-Forwarded-For': address } });
    const windows: { readonly address: string; readonly begin: number }[] = [];
    let limited = 0;
    for (const [at, offset] of [...Object.values(OFFSETS), 0].entries()) {
      const address = `192.0.2.${at}`;
      const begin = performance.now();
      windows.push({ address, begin });
      const statuses: number[] = [];
      for (let sent = 0; sent <= QUOTA; sent++) statuses.push((await request(address)).status);
      const refusals = [statuses.at(-1)];
      time.step(offset);
      const refused = await request(address);
      refusals.push(refused.status);
      expect(Number(refused.headers['retry-after'] ?? 1)).to.be.within(1, STEPPED_WINDOW_SECONDS);
      // On a machine that is very slow at this moment, the window may have ended.
      if (performance.now() - begin > (STEPPED_WINDOW_SECONDS - 1) * 1_000) continue;
      expect(refusals).to.deep.equal([429, 429]);
      limited++;
    }
    expect(limited, 'windows that a step could have ended early').to.be.at.least(1);
    let longest = 0;
    for (const { address, begin } of windows) {
      // A limit that follows the clock would go on for an hour or 400 days after a step back.
      await until('the window ends', async () => (await request(address)).status === 401);
      longest = Math.max(longest, performance.now() - begin);
    }
    figure('longest window of 10 s', longest / 1_000, 's');
  }

  /** Purges a store as a process whose clock has this time. */
  async function purge(folder: string, now: number): Promise<void> {
    const { store, purgeable } = storageOf(
      sqliteStorage({ file: join(folder, 'data/catalogue.sqlite'), tables: TABLES, budget: ENDLESS }),
    );
    await store.open();
    await new Retention(purgeable, new FakeClock(now)).purgeExpired();
    await store.close();
  }

  function certificateOf(port: number): Promise<string> {
    return new Promise((done, reject) => {
      const socket = connect({ port, host: 'localhost', rejectUnauthorized: false }, () => {
        done(socket.getPeerCertificate().fingerprint256);
        socket.destroy();
      });
      socket.once('error', reject);
    });
  }
});

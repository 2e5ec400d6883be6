/**
 * Gives canaries in the settings that hold secrets, in requests, to commands and to the server for language models.
 * Processes then crash by an exception, a rejection, SIGABRT, SIGUSR2, and out of memory. Each canary is looked for in
 * logs, responses, arguments, files and memory reports: as it is, percent-encoded, and in Base64 at each of its three
 * alignments. No report, heap snapshot or core file appears. Files that hold secrets are readable by their owner alone,
 * whatever the umask.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect } from 'chai';
import { newApiKey } from '#src/adapters/outbound/system/random.js';
import { ALL_STORES, unreachableServers } from '../../tests/stores/index.js';
import { ChildProcessService, CLI, catalogue, MAIN, SERVICE } from '../../tests/support/child-process-service.js';
import { concurrently } from '../../tests/support/concurrently.js';
import { figuresOf } from '../../tests/support/figure.js';
import { freePort } from '../../tests/support/free-port.js';
import { temporaryFolder } from '../../tests/support/temporary-folder.js';
import { until } from '../../tests/support/until.js';

const figure = figuresOf('leaks');

/** A secret that percent-encoding changes. */
const canary = (name: string) => `${name}+${randomBytes(9).toString('hex')}`;
const inUrl = encodeURIComponent;

/** The texts that give a secret away: itself, percent-encoded, and in Base64 at any of its three alignments. */
function formsOf(secret: string): ReadonlySet<string> {
  const encoded = (['base64', 'base64url'] as const).flatMap((alphabet) =>
    [0, 1, 2].map((offset) => {
      const bytes = Buffer.from(`${' '.repeat(offset)}${secret}`);
      // The first and the last character also depend on the bytes beside the secret.
      const [begin, end] = [Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6)];
      return bytes.toString(alphabet).slice(begin, end);
    }),
  );
  return new Set([secret, inUrl(secret), ...encoded]);
}

function has(text: string | Buffer, secret: string): boolean {
  return [...formsOf(secret)].some((form) => text.includes(form));
}

/**
 * Secrets that an operator gives in the environment. The service does not read the variables of `proxy` and `issuer`, so
 * only a dump of the environment would show them.
 */
const OPERATOR = {
  store: canary('store'),
  redis: canary('redis'),
  proxy: canary('proxy'),
  issuer: canary('issuer'),
  exporter: canary('exporter'),
  bootstrap: newApiKey(),
};

describe('a canary secret', () => {
  const root = temporaryFolder();
  const running: ChildProcessService[] = [];
  let places = 0;
  let leaks = 0;
  const canaries = new Set<string>();

  after(async () => {
    for (const service of running) await service.stop('SIGKILL');
    figure('canaries', canaries.size);
    figure('places', places);
    figure('found', leaks);
  });

  const folder = () => mkdtempSync(join(root, 'run-'));
  const environment = async (more: Record<string, string> = {}): Promise<Record<string, string>> => ({
    LOG_LEVEL: 'trace',
    BOOTSTRAP_API_KEY: OPERATOR.bootstrap,
    ...unreachableServers(inUrl(OPERATOR.store)),
    RATE_LIMITER: 'redis',
    REDIS_URL: `redis://ann:${inUrl(OPERATOR.redis)}@127.0.0.1:${await freePort()}`,
    HTTPS_PROXY: `http://ann:${inUrl(OPERATOR.proxy)}@127.0.0.1:1`,
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer ${OPERATOR.exporter}`,
    OAUTH_ISSUER: 'http://127.0.0.1:1/',
    OAUTH_AUDIENCE: 'https://catalogue.example',
    OAUTH_CLIENT_SECRET: OPERATOR.issuer,
    ...more,
  });
  const start = (where: string, settings: Record<string, string>, program = SERVICE) => {
    const service = new ChildProcessService(where, settings, program);
    running.push(service);
    return service;
  };

  /** Expects that no text has a secret in any form. */
  const expectNone = (texts: Readonly<Record<string, string | Buffer>>, secrets: readonly string[]) => {
    for (const [place, text] of Object.entries(texts))
      for (const secret of secrets) {
        canaries.add(secret);
        const isFound = has(text, secret);
        if (isFound) leaks++;
        expect(isFound, `${place}: ${secret}`).to.equal(false);
      }
    places += Object.keys(texts).length;
  };
  const filesIn = (where: string): string[] =>
    readdirSync(where, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(where, join(entry.parentPath, entry.name)));
  const contentsOf = (where: string) =>
    Object.fromEntries(filesIn(where).map((name) => [name, readFileSync(join(where, name))]));
  const all = Object.values(OPERATOR);

  /** Files that a crash of Node or of the system could leave. */
  const CRASH_FILES = /report|heap|core|\.cpuprofile|isolate/i;
  const expectNoCrashFile = (where: string) => {
    places++;
    expect(filesIn(where).filter((name) => CRASH_FILES.test(name))).to.deep.equal([]);
  };

  async function crash(
    name: string,
    end: (service: ChildProcessService) => unknown,
    program: readonly string[],
    prints: RegExp,
    secrets: readonly string[] = [],
  ): Promise<void> {
    const where = folder();
    const service = start(where, await environment(), program);
    await end(service);
    const { code, signal } = await service.exit;
    expect(code === 0, `${name} ends it`).to.equal(false);
    expect(service.out + service.log, `${signal}`).to.match(prints);
    expectNone({ [`${name}: output`]: service.out, [`${name}: log`]: service.log, ...contentsOf(where) }, [
      ...all,
      ...secrets,
    ]);
    expectNoCrashFile(where);
  }

  /** Loads code into the service that fails as soon as the service has taken over the handling of errors. */
  const failing = (code: string): readonly string[] => {
    const whenReady = `const timer = setInterval(() => {
      if (process.listenerCount('uncaughtException') === 0) return;
      clearInterval(timer);
      ${code}
    }, 20)`;
    // Not in the folder of the service, and no data: URL, which every line of a stack would quote.
    const file = join(folder(), 'failing.mjs');
    writeFileSync(file, whenReady);
    return [`--import=${file}`, MAIN];
  };

  async function crashes(): Promise<void> {
    const key = newApiKey();
    const password = canary('thrown');
    const error = `new Error('failed at mongodb://ann:${inUrl(password)}@db.example/ with ${key}')`;
    await Promise.all([
      crash('uncaughtException', () => {}, failing(`throw ${error}`), /The service ends/, [key, password]),
      crash('unhandledRejection', () => {}, failing(`Promise.reject(${error})`), /The service ends/, [key, password]),
      crash('out of memory', () => {}, ['--max-old-space-size=20', MAIN], /heap/),
      crash(
        'SIGABRT',
        async (service) => {
          await service.started(OPERATOR.bootstrap);
          service.kill('SIGABRT');
        },
        [MAIN],
        /listens/,
      ),
      // Node's own signals for a report and a heap snapshot are off unless the operator turns them on.
      crash(
        'SIGUSR2',
        async (service) => {
          await service.started(OPERATOR.bootstrap);
          service.kill('SIGUSR2');
        },
        [MAIN],
        /listens/,
      ),
    ]);
  }

  async function commands(): Promise<void> {
    const where = folder();
    const settings = await environment();
    const servers = Object.values(unreachableServers(inUrl(OPERATOR.store)));
    const lines: readonly string[][] = [
      ['config'],
      ['config', '--json'],
      ['check'],
      ['check', '--json'],
      ['seed', '--products', '3', '--json'],
      ['keys', 'create', '--name', 'x', '--scopes', 'products:read'],
      ['keys', 'list', '--json'],
      ['signing-keys', 'rotate'],
      ['signing-keys', 'list', '--json'],
      ['backup', 'b.sqlite', '--json'],
      ['restore', 'b.sqlite', '--json'],
      ...servers.flatMap((server) => [
        ['copy', '--from', 'sqlite:b.sqlite', '--to', server],
        ['copy', '--from', server, '--to', 'sqlite:c.sqlite'],
      ]),
      ['openapi'],
      ['completion', 'bash'],
      ['keys', 'revoke', OPERATOR.bootstrap],
      ...servers.map((server) => ['restore', server]),
    ];
    for (const line of lines) {
      const { out, err } = await catalogue(where, line, settings);
      expect(out + err, line.join(' ')).to.not.equal('');
      expectNone({ [`${line[0]}: output`]: out, [`${line[0]}: messages`]: err }, all);
    }
    const keys = (await catalogue(where, ['signing-keys', 'list', '--json'], settings)).out;
    expect(keys).to.not.match(/"d"|PRIVATE/);
    expectNone(contentsOf(where), all);
    for (const { name, unreachable } of ALL_STORES)
      if (unreachable) {
        const check = await catalogue(where, ['check'], { ...settings, STORE: name });
        expect(check.code, name).to.equal(1);
        expectNone({ [`check of ${name}: output`]: check.out, [`check of ${name}: messages`]: check.err }, all);
      }
  }

  /** Private keys and databases are for their owner alone, and so is every folder. */
  const expectOwnerOnly = (where: string) => {
    for (const entry of readdirSync(where, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      const mode = statSync(path).mode & 0o777;
      places++;
      if (entry.isDirectory()) expect(mode & 0o077, path).to.equal(0);
      if (/key\.pem$|\.sqlite/.test(entry.name)) expect(mode & 0o077, path).to.equal(0);
    }
  };

  async function files(): Promise<void> {
    const where = folder();
    // An operator with a permissive umask.
    const settings = await environment({ WORKERS: '2' });
    const service = new ChildProcessService(
      where,
      settings,
      ['-c', `umask 000; exec '${process.execPath}' '${MAIN}'`],
      'sh',
    );
    running.push(service);
    const client = await service.started(OPERATOR.bootstrap);
    client.documented = undefined;
    const made = (await client.post('/v1/api-keys', { name: 'x', scopes: ['products:write'] })).json;
    const form = { grant_type: 'client_credentials', client_id: `${made.id}`, client_secret: made.key };
    const token = await client.post('/oauth/token', new URLSearchParams(form).toString(), {
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    });
    expect(token.status).to.equal(200);
    const secrets = [...all, made.key, token.json.access_token];
    const cookie = canary('cookie');
    const write = await client.post('/v1/products', { name: 'Lamp' }, { headers: { Cookie: `session=${cookie}` } });
    expect(write.status).to.equal(201);
    for (const [path, headers] of [
      ['/', {}],
      ['/docs', {}],
      ['/console', {}],
      ['/openapi.json', {}],
      ['/oauth/jwks', {}],
      ['/.well-known/oauth-authorization-server', {}],
      ['/.well-known/oauth-protected-resource', {}],
      ['/health/ready', {}],
      ['/v1/api-keys', {}],
      [`/v1/api-keys/${made.id}`, {}],
      ['/v1/nothing', { Cookie: cookie }],
      ['/v1/products?access_token=x', { Cookie: cookie }],
    ] as const) {
      const { text, headers: received } = await client.get(path, { headers });
      expectNone({ [path]: text, [`${path}: headers`]: JSON.stringify(received) }, [...secrets, cookie]);
      expect(text, path).to.not.match(/PRIVATE KEY|"d":"/);
    }
    const [, port = ''] = await service.logs(/"port":(\d+)[^\n]*"msg":"management listening"/);
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const workers = () => new Set([...service.log.matchAll(/"pid":(\d+)/g)].map(([, pid]) => Number(pid)));
    // The service prints that it runs when the first of its workers serves.
    await until('both workers serve', () => workers().size === 2);
    for (const pid of [service.pid, ...workers()])
      expectNone({ 'arguments of a process': readFileSync(`/proc/${pid}/cmdline`) }, secrets);

    // The import is not complete when the process is killed, and nobody reads its results.
    const request = client.startLines('/v1/products/imports');
    request.on('error', () => {});
    const imported = canary('imported');
    request.write('{"name":"First line"}\n');
    for (let i = 0; i < 2_000; i++) request.write(`${JSON.stringify({ name: 'x', nothing: imported })}\n`);
    await until('the import runs', async () => (await client.get('/v1/products?q=first')).json.length === 1);
    const backup = await catalogue(where, ['backup', 'b.sqlite'], settings);
    expect(backup.code, backup.err).to.equal(0);
    expect(statSync(join(where, 'b.sqlite')).mode & 0o777).to.equal(0o600);
    client.close();
    // The primary first: it would replace a worker that was killed.
    for (const pid of [service.pid, ...workers()]) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // A worker ends with its primary.
      }
    }
    await service.exit;
    expectOwnerOnly(join(where, 'data'));
    expectNone({ output: service.out, log: service.log, metrics, ...contentsOf(where) }, [
      ...secrets,
      cookie,
      imported,
    ]);
    expectNoCrashFile(where);
  }

  async function tlsKey(): Promise<void> {
    const where = folder();
    mkdirSync(join(where, 'pem'));
    const secret = canary('tlskey');
    writeFileSync(join(where, 'pem/key.pem'), `-----BEGIN PRIVATE KEY-----\n${secret}\n-----END PRIVATE KEY-----\n`);
    writeFileSync(join(where, 'pem/cert.pem'), `-----BEGIN CERTIFICATE-----\n${secret}\n-----END CERTIFICATE-----\n`);
    const settings = await environment({
      TLS: 'files',
      TLS_CERT_FILE: 'pem/cert.pem',
      TLS_KEY_FILE: 'pem/key.pem',
    });
    const service = start(where, settings);
    expect((await service.exit).code).to.equal(78);
    const check = await catalogue(where, ['check'], settings);
    const outputs = { output: service.out, log: service.log, check: check.out + check.err };
    expectNone(outputs, [secret, ...all]);
  }

  async function wrongSettings(): Promise<void> {
    const where = folder();
    const secret = canary('wrong');
    const addresses = Object.keys(unreachableServers(''));
    const settings = {
      BOOTSTRAP_API_KEY: secret,
      ...Object.fromEntries(addresses.map((name) => [name, `http://ann:${secret}@127.0.0.1`])),
      REDIS_URL: `http://ann:${secret}@127.0.0.1`,
    };
    writeFileSync(join(where, 'settings.json'), JSON.stringify(settings));
    for (const given of [settings, { CONFIG_FILE: 'settings.json' }])
      for (const { name: STORE, unreachable } of ALL_STORES)
        if (unreachable) {
          const wrong = await catalogue(where, ['config'], { STORE, RATE_LIMITER: 'redis', ...given });
          expect(wrong.code).to.equal(78);
          for (const address of [...Object.keys(unreachable('')), 'REDIS_URL']) expect(wrong.err).to.include(address);
          expectNone({ 'settings: output': wrong.out, 'settings: messages': wrong.err }, [secret]);
        }
  }

  async function mcp(): Promise<void> {
    const where = folder();
    const service = start(where, await environment());
    const client = await service.started(OPERATOR.bootstrap);
    await client.post('/v1/products', { name: 'Lamp' });
    const reader = (await client.post('/v1/api-keys', { name: 'model', scopes: ['products:read'] })).json.key;
    client.close();
    const settings = await environment({ NODE_EXTRA_CA_CERTS: join(where, 'data/tls/ca.pem') });
    const command = ['mcp', '--url', `https://localhost:${client.port}`];

    const session = spawn(process.execPath, [CLI, ...command], {
      cwd: where,
      env: { ...settings, API_KEY: reader },
    });
    const requests = [
      {
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
      },
      { method: 'notifications/initialized' },
      { id: 2, method: 'tools/call', params: { name: 'search_products', arguments: {} } },
      { id: 3, method: 'tools/call', params: { name: 'nothing', arguments: { key: reader } } },
    ];
    const exit = once(session, 'close');
    let [out, err] = ['', ''];
    session.stdout.on('data', (chunk) => {
      out += chunk;
    });
    session.stderr.on('data', (chunk) => {
      err += chunk;
    });
    try {
      session.stdin.write(requests.map((one) => `${JSON.stringify({ jsonrpc: '2.0', ...one })}\n`).join(''));
      await until('every request has a response', () => [1, 2, 3].every((id) => out.includes(`"id":${id}`)));
      session.stdin.end();
      expect(await exit, err).to.deep.equal([0, null]);
    } finally {
      session.kill('SIGKILL');
    }
    expect(out).to.include('Lamp');
    expectNone({ 'mcp: output': out, 'mcp: messages': err }, [reader, ...all]);

    const unknown = newApiKey();
    const refused = await catalogue(where, command, { ...settings, API_KEY: unknown });
    expect(refused.code, refused.err).to.equal(77);
    expect(refused.err).to.include('(invalid_token)');
    expectNone({ 'refused mcp: output': refused.out, 'refused mcp: messages': refused.err }, [unknown, ...all]);
  }

  async function encodings(): Promise<void> {
    const secret = canary('found');
    for (const before of ['', 'a', 'ab', 'ann:'])
      for (const after of ['', 'x', '@db'])
        for (const encoding of ['latin1', 'base64', 'base64url'] as const)
          expect(has(Buffer.from(before + secret + after).toString(encoding), secret)).to.equal(true);
    expect(has(new URLSearchParams({ secret }).toString(), secret)).to.equal(true);
    expect(has(Buffer.from(`ann:${canary('found')}`).toString('base64'), secret)).to.equal(false);
  }

  concurrently({
    'is found however it is encoded': encodings,
    'is in no output and no file of a process that crashes': crashes,
    'is in no output of a command, and no file that it writes': commands,
    'is in no response, metric, argument or file of a service that is killed': files,
    'is in no message about a certificate': tlsKey,
    'is in no message about a wrong setting': wrongSettings,
    'is in no message of the server for language models': mcp,
  });
});

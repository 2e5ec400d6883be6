import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { LocalCa } from '#src/adapters/outbound/certificates/local-ca.js';
import { newApiKey } from '#src/adapters/outbound/system/random.js';
import { serverPair } from '../support/certificates.js';
import { ChildProcessService, CLI, catalogue } from '../support/child-process-service.js';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';
import { mcpSessions } from '../support/mcp-client.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { runInProcess } from '../unit/adapters/inbound/cli/run-command.js';

describe('catalogue mcp', () => {
  const service = inProcessService();
  const startSession = mcpSessions();
  const environment = (API_KEY = FIRST_KEY) => ({ API_KEY, PORT: `${service.port}`, DATA_DIR: service.folder });
  const keyFor = async (...scopes: string[]): Promise<{ id: number; key: string }> =>
    (await service.post('/v1/api-keys', { name: 'model', scopes })).json;

  it('offers only the tools that the key may use', async () => {
    for (const [scopes, names] of [
      [['products:read'], ['search_products', 'read_product', 'count_products_by']],
      [
        ['orders:write', 'keys:admin'],
        ['create_order', 'delete_order'],
      ],
      [
        ['users:read', 'users:write'],
        ['search_users', 'read_user', 'create_user', 'update_user', 'delete_user'],
      ],
    ] as const) {
      const { key } = await keyFor(...scopes);
      const tools = await (await startSession(environment(key), ['--allow-delete'])).tools();
      expect(tools.map(({ name }) => name)).to.deep.equal(names);
    }
  });

  it('returns the refusal of a key that is revoked meanwhile', async () => {
    const { id, key } = await keyFor('products:read');
    const reader = await startSession(environment(key));
    await service.delete(`/v1/api-keys/${id}`);
    const { isError, value } = await reader.call('search_products', {});
    expect([isError, value.code]).to.deep.equal([true, 'invalid_token']);
    expect(JSON.stringify(value) + reader.log).to.not.include(key);
  });

  it('serves the newest revision of the protocol as well as those before it', async () => {
    const versionNegotiation = { mode: { pin: '2026-07-28' } } as const;
    const modern = await startSession(environment(), [], { versionNegotiation });
    const older = await startSession(environment());
    expect(older.client.getProtocolEra()).to.equal('legacy');
    expect(modern.client.getProtocolEra()).to.equal('modern');
    for (const session of [modern, older]) {
      expect(await session.tools()).to.have.length(14);
      expect(await session.succeed('search_products', {})).to.deep.equal({ records: [] });
    }
  });

  /** Serves something else on a free port while it is used. */
  const beside = async (
    identity: object,
    listener: RequestListener,
    use: (PORT: string) => ReturnType<typeof runInProcess>,
  ) => {
    const other = createServer(identity, listener).listen(0);
    await once(other, 'listening');
    return use(`${(other.address() as AddressInfo).port}`).finally(() => other.close());
  };

  describe('does not start, and says why,', () => {
    const folder = temporaryFolder();
    const settings = () => ({ PORT: `${service.port}`, DATA_DIR: service.folder });
    const run = (variables: Record<string, string>, ...args: string[]) =>
      runInProcess(['mcp', ...args], { ...settings(), ...variables });

    it('in one line', async () => {
      const unknown = newApiKey();
      mkdirSync(`${folder}/broken/tls/ca.pem`, { recursive: true });
      const file = `${folder}/missing.pem`;
      const ca = `${folder}/broken/tls/ca.pem`;
      const down = '--url=https://127.0.0.1:1';
      const noFile = 'no such file or directory (ENOENT)';
      for (const [variables, code, prints, ...args] of [
        [{}, 78, /^API_KEY .*\n$/],
        [{ API_KEY: '' }, 78, /^API_KEY .*\n$/],
        [{ API_KEY: 'a b' }, 78, /^API_KEY .*\n$/],
        [{ API_KEY: unknown }, 77, /^.* \(invalid_token\)\n$/],
        [{ API_KEY: (await keyFor('keys:admin')).key }, 77, /^API_KEY has no scope .*\n$/],
        [{ API_KEY: FIRST_KEY }, 75, /^https:\/\/127\.0\.0\.1:1 does not respond: .*ECONNREFUSED.*\n$/, down],
        [{ API_KEY: FIRST_KEY }, 75, /^https:\/\/127\.0\.0\.1:1\/shop does not respond: /, `${down}/shop/`],
        [{ DATA_DIR: `${folder}/broken` }, 78, `DATA_DIR: ${ca} cannot be read: illegal operation on a directory`],
        [{ NODE_EXTRA_CA_CERTS: file }, 78, `NODE_EXTRA_CA_CERTS: ${file} cannot be read: ${noFile}\n`],
      ] as const) {
        const given = typeof prints === 'string' ? { API_KEY: FIRST_KEY, ...variables } : variables;
        const outcome = await run(given, ...args);
        expect([outcome.code, outcome.out], outcome.err).to.deep.equal([code, '']);
        if (typeof prints === 'string') expect(outcome.err.startsWith(prints), outcome.err).to.equal(true);
        else expect(outcome.err).to.match(prints);
        expect(outcome.err).to.not.include(unknown);
      }
    });

    it('if another program responds', async () => {
      const identity = readFileSync(`${service.folder}/tls/server.pem`);
      for (const [status, body, code, prints] of [
        [200, '<html>', 65, 'status 200 and is not one of the service (unexpected_response)'],
        [302, '', 65, 'status 302'],
        [502, '<html>', 75, 'status 502'],
        [200, '{"openapi":"3.1.0","paths":{}}', 65, 'lacks createProduct: it is no product catalogue'],
        [200, ' '.repeat(16 * 2 ** 20 + 1), 75, 'more than 16 MiB'],
        [500, '{"code":"x\\n","message":"\\u001b[2J\\u202ey"}', 75, '\\u001b[2J\\u202ey (x\\u000a)'],
      ] as const) {
        const outcome = await beside(
          { cert: identity, key: identity },
          (_request, response) =>
            response.writeHead(status, { Location: `https://localhost:${service.port}/openapi.json` }).end(body),
          (PORT) => run({ API_KEY: FIRST_KEY, PORT }),
        );
        expect([outcome.code, outcome.out], outcome.err).to.deep.equal([code, '']);
        expect(outcome.err).to.include(prints);
        expect(outcome.err).to.match(/^\P{C}+\n$/u);
      }
    });

    it('if the certificate has expired, and then names no other CA', async () => {
      mkdirSync(`${folder}/past`);
      const past = { now: () => Date.now() - 800 * 86_400_000, elapsed: () => 0 };
      const { cert, key } = await new LocalCa(`${folder}/past/tls`, past).current();
      const { code, err } = await beside(
        { cert, key },
        () => {},
        (PORT) => run({ API_KEY: FIRST_KEY, PORT, DATA_DIR: `${folder}/past` }),
      );
      expect(code).to.equal(75);
      expect(err).to.match(/ does not respond: certificate has expired\n$/);
    });

    it('if the certificate is not trusted, unless DATA_DIR or NODE_EXTRA_CA_CERTS leads to its CA', async () => {
      const untrusting = { API_KEY: FIRST_KEY, DATA_DIR: folder };
      const refused = await run(untrusting);
      expect(refused.code).to.equal(75);
      expect(refused.err).to.include('NODE_EXTRA_CA_CERTS');
      const NODE_EXTRA_CA_CERTS = `${service.folder}/tls/ca.pem`;
      const { authority } = await serverPair(`${folder}/another`);
      for (const trusting of [{ NODE_EXTRA_CA_CERTS }, { ...settings(), NODE_EXTRA_CA_CERTS: authority }]) {
        // Without input, the session ends immediately.
        const started = catalogue(folder, ['mcp'], { ...settings(), ...untrusting, ...trusting });
        expect(await started).to.deep.equal({
          code: 0,
          out: '',
          err: `catalogue mcp: 14 tools of https://localhost:${service.port}\n`,
        });
      }
    });
  });
});

describe('catalogue mcp, on its standard output,', () => {
  const service = inProcessService();

  it('writes messages of the protocol and nothing else, and ends when its input ends', async () => {
    const env = { API_KEY: FIRST_KEY, PORT: `${service.port}`, DATA_DIR: service.folder };
    const command = spawn(process.execPath, [CLI, 'mcp'], { env });
    const exit = once(command, 'exit');
    const output = createInterface(command.stdout)[Symbol.asyncIterator]();
    const send = (message: object) => command.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    const read = async () => JSON.parse((await output.next()).value ?? '');
    const clientInfo = { name: 'tests', version: '1' };
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    send({ id: 1, method: 'initialize', params });
    expect(await read()).to.deep.include({ jsonrpc: '2.0', id: 1 });
    send({ method: 'notifications/initialized' });
    command.stdin.write('this is no message\n');
    send({ id: 2, method: 'tools/call', params: { name: 'search_products', arguments: {} } });
    expect((await read()).result).to.deep.equal({ content: [{ type: 'text', text: '{"records":[]}' }] });
    const name = 'a\u2028b\u2029c\u0085d';
    await service.post('/v1/products', { name });
    send({ id: 3, method: 'tools/call', params: { name: 'search_products', arguments: {} } });
    const line = (await output.next()).value ?? '';
    expect(line).to.not.match(/[\u0085\u2028\u2029]/);
    expect(JSON.parse(JSON.parse(line).result.content[0].text).records[0].name).to.equal(name);
    send({ id: 4, method: 'tools/call', params: { name } });
    expect((await output.next()).value).to.include('There is no tool a\\u2028b\\u2029c\\u0085d.');
    command.stdin.end();
    expect(await exit).to.deep.equal([0, null]);
    expect((await output.next()).done).to.equal(true);
  });
});

describe('catalogue mcp, while the service', () => {
  const folder = temporaryFolder();
  const startSession = mcpSessions();
  const sessionWith = (environment: Record<string, string>) => startSession({ API_KEY: FIRST_KEY, ...environment });

  it('is down, returns an error, and continues when it is back', async () => {
    const settings = { STORE: 'memory', BOOTSTRAP_API_KEY: FIRST_KEY };
    const service = new ChildProcessService(folder, settings);
    const PORT = `${await service.listening()}`;
    const session = await sessionWith({ PORT, DATA_DIR: `${folder}/data` });
    await service.stop();
    const { isError, value } = await session.call('search_products', {});
    expect([isError, value.code]).to.deep.equal([true, 'unavailable']);
    const next = new ChildProcessService(folder, { ...settings, PORT });
    await next.listening();
    expect(await session.succeed('search_products', {})).to.deep.equal({ records: [] });
    await next.stop();
  });

  describe('limits the rate,', () => {
    const service = inProcessService({ RATE_LIMIT_REQUESTS: '7', RATE_LIMIT_WINDOW_SECONDS: '600' });

    it('returns when to try again', async () => {
      const environment = { PORT: `${service.port}`, DATA_DIR: service.folder };
      const session = await sessionWith(environment);
      await session.succeed('search_products', {});
      const { isError, value } = await session.call('search_products', {});
      expect([isError, value.code]).to.deep.equal([true, 'rate_limited']);
      expect(value.retryAfterSeconds).to.be.within(1, 600);
      const { code } = await catalogue(service.folder, ['mcp'], { API_KEY: FIRST_KEY, ...environment });
      expect(code, 'a start that has to wait').to.equal(75);
    });
  });
});

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { serverPair } from '../../tests/support/certificates.js';
import { inProcessService } from '../../tests/support/in-process-service.js';
import { type Delivery, type Exchange, KNOWN_PREFIX, RecordingProxy } from './recording-proxy.js';

const README = readFileSync('examples/README.md', 'utf8');
const IMPORTED = 'Armchair,Bar stool,Coffee table,Desk,Desk lamp,Floor lamp,Mirror,Rug,Side table,Sofa,Vase';
const LIST = /^\/v1\/products\?/;
const IMPORTS = /^\/v1\/products\/imports$/;
const COLLECTION = /^\/v1\/products$/;
const ITEM = /^\/v1\/products\/\d+$/;
const LAMPS = '/v1/products?name=Reading%20lamp';

/** The environment variables of an example. */
export type ExampleSettings = Record<'CATALOGUE_URL' | 'API_KEY' | 'CATALOGUE_CA', string>;

/**
 * Runs an example three times against the service. In the first run there is trouble: the response to the import is
 * cut off, the rate limit is used up before the first page, the response to the creation is lost, a proxy refuses a
 * read, and another client is faster with an edit. The other runs have the service under a path. In the last run another
 * client is always faster.
 * @param run runs the example and returns what it prints
 * @param environment settings of the service
 */
export function testExample(
  run: (settings: ExampleSettings) => Promise<string>,
  environment: Record<string, string> = {},
): void {
  const service = inProcessService({
    RATE_LIMIT_REQUESTS: '50',
    RATE_LIMIT_WINDOW_SECONDS: '3',
    ...environment,
  });
  const seen = new Set<string>();
  let isAlwaysSlower = false;
  let proxy: RecordingProxy;
  let settings: ExampleSettings;
  let output: string;
  let exchanges: Exchange[];

  before(async () => {
    const { cert, key, authority } = await serverPair(service.folder);
    const target = { cert, key, ca: readFileSync(authority), port: service.port };
    proxy = new RecordingProxy(target, makeTrouble);
    const scopes = ['products:read', 'products:write'];
    settings = {
      CATALOGUE_URL: `https://localhost:${await proxy.listen()}`,
      API_KEY: (await service.client.post('/v1/api-keys', { name: 'example', scopes })).json.key,
      CATALOGUE_CA: authority,
    };
    output = await run(settings);
    exchanges = proxy.exchanges.splice(0);
  });
  after(() => proxy?.close());

  it('imports the valid lines and reports the other', async () => {
    const { json } = await service.client.get('/v1/products?sku.prefix=EX-&sort=name&fields=name');
    expect(json.map(({ name }: { name: string }) => name).join()).to.equal(IMPORTED);
    expect(output).to.match(/^import: line 4: 400 validation_failed: /);
  });

  it('sends the import again if its response is cut off', () => {
    expect(statusesOf('POST', IMPORTS)).to.deep.equal([200, 200]);
    expect(output).to.include('import: finished, 12 lines, errors: 1');
  });

  it('waits after a 503 whose Retry-After is a date', () => {
    expect(statusesOf('GET', ITEM)).to.deep.equal([503, 200, 200]);
  });

  it('waits as long as a 429 says, and follows the links to all pages', () => {
    expect(statusesOf('GET', LIST)).to.deep.equal([429, 200, 200, 200]);
  });

  it('creates one product although the first response is lost', async () => {
    const creations = matching('POST', COLLECTION);
    expect(creations.map(({ status }) => status)).to.deep.equal([201, 201]);
    expect(creations[1]?.received).to.include({ 'idempotency-replayed': 'true' });
    expect((await service.client.get(LAMPS)).json).to.have.length(1);
  });

  it('edits the newest state after a 412', async () => {
    expect(statusesOf('PUT', ITEM)).to.deep.equal([412, 200]);
    const [lamp] = (await service.client.get(LAMPS)).json;
    expect(lamp).to.deep.include({ description: 'faster', price: { amount: 3500, currency: 'EUR' } });
  });

  it('prints what examples/README.md shows, and imports nothing twice when it runs again', async () => {
    const withoutId = (text: string) => text.replace(/id \d+/, 'id …');
    proxy.exchanges.splice(0);
    expect(withoutId(await run(under('/shop/')))).to.equal(withoutId(blockOf('text', '# Examples')));
    expect((await service.client.get('/v1/products')).json).to.have.length(IMPORTED.split(',').length + 2);
    expectPrefix('/shop');
  });

  it('gives up an edit that another client always wins', async () => {
    proxy.exchanges.splice(0);
    isAlwaysSlower = true;
    const failure = await run(under(KNOWN_PREFIX)).then(() => undefined, String);
    expect(failure).to.include('412');
    expectPrefix(KNOWN_PREFIX);
    exchanges = proxy.exchanges.splice(0);
    expect(statusesOf('PUT', ITEM)).to.deep.equal([412, 412, 412, 412, 412]);
  });

  const under = (path: string) => ({ ...settings, CATALOGUE_URL: settings.CATALOGUE_URL + path });

  function expectPrefix(expected: string): void {
    for (const { prefix, path } of proxy.exchanges) expect(prefix, path).to.equal(expected);
  }

  /** Each trouble happens once, in the first run, unless another client is always faster. */
  async function makeTrouble({ method, path }: Exchange): Promise<Delivery> {
    const isFirst = (wanted: string, pattern: RegExp) =>
      method === wanted && pattern.test(path) && seen.size < seen.add(`${method} ${pattern}`).size;
    if (isFirst('GET', LIST)) await useUpLimit();
    if (isFirst('PUT', ITEM)) await service.client.patch(path, { description: 'faster' });
    else if (isAlwaysSlower && method === 'PUT')
      await service.client.patch(path, { description: `faster, ${proxy.exchanges.length}` });
    if (isFirst('POST', IMPORTS)) return 'cut';
    if (isFirst('GET', ITEM)) return 'refuse';
    return isFirst('POST', COLLECTION) ? 'lose' : 'forward';
  }

  /** Sends requests with the key of the example until it has to wait for over a second. */
  async function useUpLimit(): Promise<void> {
    for (;;) {
      const options = { token: settings.API_KEY };
      const { status, headers } = await service.client.get('/v1/products?limit=1', options);
      if (status !== 429) continue;
      const waitSeconds = Number(headers['retry-after']);
      if (waitSeconds > 1) return;
      await sleep(waitSeconds * 1_000);
    }
  }

  function matching(wanted: string, pattern: RegExp): Exchange[] {
    return exchanges.filter(({ method, path }) => method === wanted && pattern.test(path));
  }

  function statusesOf(wanted: string, pattern: RegExp): (number | undefined)[] {
    return matching(wanted, pattern).map(({ status }) => status);
  }
}

/** Runs the command of a section of examples/README.md. @returns what it prints */
export async function runCommand(heading: string, settings: ExampleSettings): Promise<string> {
  const options = { cwd: 'examples', env: { ...process.env, ...settings } };
  const { stdout } = await promisify(execFile)('sh', ['-c', blockOf('sh', heading)], options);
  // Maven resets the colours of the terminal even if there is none.
  return stdout.replaceAll('\u001b[0m', '');
}

/** Returns the first block of code of a language below a heading of examples/README.md. */
function blockOf(language: string, heading: string): string {
  const section = README.slice(README.indexOf(`${heading}\n`));
  const [, block] = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'ms').exec(section) ?? [];
  if (block === undefined) throw new Error(`examples/README.md has no ${language} block below ${heading}`);
  return block;
}

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { NODE_VERSIONS } from '../../scripts/suites.js';
import { ChildProcessService, catalogue } from '../../tests/support/child-process-service.js';
import type { HttpClient } from '../../tests/support/http-client.js';
import { TEST_SEED } from '../../tests/support/run-settings.js';
import { SeededRandom } from '../../tests/support/seeded-random.js';
import { temporaryFolder } from '../../tests/support/temporary-folder.js';
import { until } from '../../tests/support/until.js';

const GUIDE = readFileSync('docs/how-to/search-engine.md', 'utf8');
const LIBRARIES = resolve('build/search-engine');
const NDJSON = { 'Content-Type': 'application/x-ndjson', Accept: 'application/x-ndjson' };
/** Node.js that runs TypeScript. */
const [, NODE_VERSION] = NODE_VERSIONS;
const STRICT = `--strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --erasableSyntaxOnly
  --verbatimModuleSyntax --noEmit --target es2022 --module nodenext --types node`.split(/\s+/);

const NEW_INDEX = /^PUT \/catalogue-products-\d+$/;
const BULK = /_bulk$/;
const CURSOR = /^PUT .*_mapping$/;
const SWITCH = /^POST \/_aliases$/;

/** A request of the follower at which it is killed. */
interface Death {
  readonly at: RegExp;
  /** The first such request has the number 1. */
  readonly number?: number;
  /** Whether the search engine carries the request out. */
  readonly isCarriedOut: boolean;
}

const DEATHS: Readonly<Record<'beginning' | 'following' | 'resync', readonly Death[]>> = {
  beginning: [
    { at: NEW_INDEX, isCarriedOut: true },
    { at: BULK, number: 2, isCarriedOut: false },
    { at: SWITCH, isCarriedOut: false },
    { at: SWITCH, isCarriedOut: true },
  ],
  following: [
    { at: BULK, isCarriedOut: true },
    { at: CURSOR, isCarriedOut: false },
    { at: CURSOR, isCarriedOut: true },
    { at: BULK, isCarriedOut: false },
  ],
  resync: [
    { at: BULK, number: 3, isCarriedOut: true },
    { at: SWITCH, isCarriedOut: false },
  ],
};

/** OpenSearch, and before it a proxy at which the follower is killed. */
class Engine {
  private readonly proxy = createServer(async (request, response) => {
    const name = `${request.method} ${request.url}`;
    const body = await buffer(request);
    if (BULK.test(name)) await this.takeMeanwhile();
    const isDeath = this.death?.at.test(name) === true && ++this.count === (this.death.number ?? 1);
    if (!isDeath || this.death?.isCarriedOut) {
      const init = { headers: { 'Content-Type': 'application/json' }, body: body.length > 0 ? body : null };
      const result = await fetch(this.url + request.url, { method: request.method ?? '', ...init });
      const text = await result.text();
      if (!isDeath) response.writeHead(result.status).end(text);
    }
    if (isDeath) this.follower?.kill('SIGKILL');
  });
  /** Happens once, while the follower waits for the next write of products. */
  meanwhile: (() => Promise<void>) | undefined;
  private child: ChildProcess | undefined;
  private url = '';
  private count = 0;
  private death: Death | undefined;
  private follower: ChildProcess | undefined;

  /** @returns the address of the proxy */
  async start(folder: string): Promise<string> {
    const mvn = ['-q', '-B', 'dependency:copy-dependencies', `-DoutputDirectory=${LIBRARIES}`];
    await promisify(execFile)('mvn', mvn, { cwd: 'campaigns/examples/search-engine' });
    const program = ['-cp', `${LIBRARIES}/*`, 'campaigns/examples/search-engine/SearchEngine.java', folder];
    const flags = ['-Xmx512m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];
    const child = spawn('java', [...flags, ...program], { stdio: 'pipe' });
    this.child = child;
    let out = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        out += chunk;
      });
    await until('OpenSearch runs', () => {
      const [, port] = /^port (\d+)$/m.exec(out) ?? [];
      if (child.exitCode !== null) throw new Error(out);
      this.url = `http://127.0.0.1:${port}`;
      return port !== undefined;
    });
    await once(this.proxy.listen(0, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${(this.proxy.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.proxy.close();
    this.proxy.closeAllConnections();
    this.child?.stdin?.end();
    if (this.child?.exitCode === null) await once(this.child, 'exit');
  }

  private async takeMeanwhile(): Promise<void> {
    const { meanwhile } = this;
    this.meanwhile = undefined;
    await meanwhile?.();
  }

  kill(follower: ChildProcess, death: Death | undefined): void {
    this.follower = follower;
    this.death = death;
    this.count = 0;
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests check the body
  async get(path: string): Promise<any> {
    return (await fetch(this.url + path)).json();
  }

  /** The version and the name of each product that a search finds. */
  async content(): Promise<Record<string, string>> {
    await fetch(`${this.url}/_refresh`, { method: 'POST' });
    const { hits } = await this.get('/catalogue-products/_search?size=10000&version=true');
    const found = hits.hits as { _id: string; _version: number; _source: { name: string } }[];
    return Object.fromEntries(found.map((hit) => [hit._id, `${hit._version} ${hit._source.name}`]));
  }
}

describe('docs/how-to/search-engine.md, with OpenSearch', function () {
  this.timeout(1_200_000);
  const blocks = [...GUIDE.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block = '']) => block);
  const folder = temporaryFolder();
  const project = join(folder, 'search-engine');
  const engine = new Engine();
  const random = new SeededRandom(TEST_SEED);
  let service: ChildProcessService;
  let client: HttpClient;
  let node: string;
  let environment: Record<string, string>;
  let follower: ChildProcess | undefined;

  /** Starts the service, on its port once it has one. */
  const startService = async (PORT = '0') => {
    service = new ChildProcessService(folder, { PORT });
    client = await service.started(client && environment['FIRST_KEY']);
    return service.listening();
  };
  before(async () => {
    mkdirSync(join(folder, 'engine'));
    const SEARCH_URL = await engine.start(join(folder, 'engine'));
    const port = await startService();
    environment = {
      CATALOGUE_URL: `https://localhost:${port}`,
      SEARCH_URL,
      DATA_DIR: join(folder, 'data'),
      FIRST_KEY: service.firstKey,
    };
    const setUp = blocks[0]?.replaceAll('../search-engine', project).replace('$PWD', folder);
    const run = promisify(execFile);
    await run('bash', ['-ec', setUp ?? ''], { env: { ...process.env, ...environment } });
    const where = ['--yes', `--package=node-linux-${process.arch}@${NODE_VERSION}`, '-c'];
    node = (await run('npx', [...where, 'node -p process.execPath'])).stdout.trim();
  });
  after(async () => {
    follower?.kill('SIGKILL');
    await service?.stop();
    await engine.stop();
  });

  /** Runs the second block of the guide. @param death at which it is killed */
  function follow(death?: Death): Promise<unknown> {
    const command = blocks[1]?.replace('exec node', `exec '${node}'`) ?? '';
    const child = spawn('bash', ['-ec', command.replace(/^\((.*)\)$/m, '$1')], {
      cwd: project,
      env: { ...process.env, ...environment },
    });
    let out = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        out += chunk;
      });
    follower = child;
    engine.kill(child, death);
    return once(child, 'close').then(([code, signal]) => signal ?? `exit code ${code}:\n${out}`);
  }

  /** Creates, changes and deletes random products. */
  async function change(count: number): Promise<void> {
    const lines = Array.from({ length: count }, () => {
      const change = random.weighted({ name: 6, draft: 1, archived: 1, live: 2, deletion: 2 });
      const sku = `S-${random.below(4_000)}`;
      if (change === 'deletion') return { sku, deleted: true };
      const status = change === 'live' ? null : change;
      return { sku, name: `Lamp ${random.below(1_000_000)}`, ...(change !== 'name' && { status }) };
    });
    const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    expect((await client.post('/v1/products/imports?match=sku', body, { headers: NDJSON })).status).to.equal(200);
  }

  async function die(deaths: readonly Death[]): Promise<void> {
    for (const death of deaths) {
      const end = follow(death);
      await change(200);
      expect(await end, `${death.at}`).to.equal('SIGKILL');
    }
  }

  /** The version and the name of each live product. */
  async function live(): Promise<Record<string, string>> {
    const { text } = await client.get('/v1/products?fields=id,version,name,status', { headers: NDJSON });
    const products = text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    const shown = products.filter(({ status }) => status === undefined);
    return Object.fromEntries(shown.map(({ id, version, name }) => [id, `${version} ${name}`]));
  }

  async function untilEqual(): Promise<void> {
    const expected = await live();
    await until('the index is in step', async () => expect(await engine.content()).to.deep.equal(expected));
    const [index, ...others] = Object.keys(await engine.get('/catalogue-products-*/_alias'));
    expect([index, others]).to.deep.equal([Object.keys(await engine.get('/_alias/catalogue-products'))[0], []]);
  }

  const storedCursor = async () => {
    const [index] = Object.values(await engine.get('/catalogue-products/_mapping'));
    return (index as { mappings: { _meta: { cursor: string } } }).mappings._meta.cursor;
  };

  it('has a program whose types are right', async () => {
    const tsc = [resolve('packages/client/node_modules/typescript/bin/tsc'), ...STRICT];
    const types = ['--typeRoots', resolve('node_modules/@types'), 'search-engine.ts'];
    await promisify(execFile)(process.execPath, [...tsc, ...types], { cwd: project });
  });

  it('fills an index, however often it is killed meanwhile', async () => {
    await change(5_000);
    await die(DEATHS.beginning);
    follow();
    await untilEqual();
    expect(Object.keys(await live())).to.have.length.above(1_000);
  });

  it('misses nothing that changes while it reads the list', async () => {
    follower?.kill('SIGKILL');
    await catalogue(folder, ['changes', 'reset']);
    await new Promise<void>((done) => {
      engine.meanwhile = () => change(500).then(done);
      follow();
    });
    await untilEqual();
  });

  it('follows what is created, changed and deleted, however often it is killed meanwhile', async () => {
    follower?.kill('SIGKILL');
    await die(DEATHS.following);
    follow();
    await untilEqual();
  });

  it('stores newer cursors while nothing changes', async () => {
    const stored = await storedCursor();
    await until('another cursor is stored', async () => (await storedCursor()) !== stored);
  });

  it('makes another index after a reset, while the old one is found', async () => {
    follower?.kill('SIGKILL');
    const known = await engine.content();
    await change(500);
    await catalogue(folder, ['changes', 'reset']);
    await die(DEATHS.resync);
    expect(await engine.content()).to.deep.equal(known);
    follow();
    await untilEqual();
  });

  it('follows a catalogue that was restored, whose versions and ids begin again', async () => {
    await catalogue(folder, ['backup', 'backup.sqlite']);
    const create = async (name: string): Promise<number[]> => {
      const body = `${JSON.stringify({ name })}\n`.repeat(50);
      const { text } = await client.post('/v1/products/imports', body, { headers: NDJSON });
      return text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).id);
    };
    const ids = await create('Before');
    for (const id of ids) await client.patch(`/v1/products/${id}`, { name: 'Before 2' });
    await untilEqual();
    await service.stop();
    await catalogue(folder, ['restore', 'backup.sqlite']);
    await startService(new URL(environment['CATALOGUE_URL'] ?? '').port);
    expect(ids).to.include.members((await create('After')).slice(0, 10));
    await untilEqual();
  });

  it('makes another index if the cursor is taken out of it', async () => {
    follower?.kill('SIGKILL');
    const index = Object.keys(await engine.get('/_alias/catalogue-products'));
    const command = blocks.at(-1)?.replace('http://localhost:9200', environment['SEARCH_URL'] ?? '');
    await promisify(execFile)('bash', ['-ec', command ?? '']);
    await change(100);
    follow();
    await until('another index takes its place', async () =>
      expect(Object.keys(await engine.get('/_alias/catalogue-products'))).to.not.deep.equal(index),
    );
    await untilEqual();
  });
});

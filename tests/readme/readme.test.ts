import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect } from 'chai';
import { jsonLines } from '../support/line-stream.js';
import { AT_NIGHT } from '../support/run-settings.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { type Step, stepsIn } from './steps.js';
import { Terminal } from './terminal.js';

const STEPS = stepsIn(readFileSync('README.md', 'utf8'));

const ONE_FOLDER = [
  'build/tests/{architecture,contract,http,process}/**',
  'build/tests/unit/!(docs)/**',
  'build/packages/**',
]
  .map((pattern) => `--ignore '${pattern}'`)
  .join(' ');

/** Copies the files that a commit of everything would contain. */
function copyCheckout(target: string): void {
  const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
  });
  for (const file of list.split('\0'))
    if (file !== '' && existsSync(file)) cpSync(file, join(target, file), { recursive: true });
}

/** Links the installed packages into a copy of the checkout. A relative link leads to a workspace, that of the copy. */
function linkPackages(target: string): void {
  for (const folder of ['node_modules', 'packages/client/node_modules']) {
    mkdirSync(join(target, folder));
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      symlinkSync(entry.isSymbolicLink() ? readlinkSync(path) : resolve(path), join(target, path));
    }
  }
}

/** The environment of this process with its Node.js, without what npm adds to it for its scripts. */
function outsideNpm(): NodeJS.ProcessEnv {
  const { PATH = '', ...rest } = process.env;
  const own = Object.entries(rest).filter(([name]) => !/^npm_|^INIT_CWD$/.test(name));
  const path = PATH.split(':').filter((folder) => !folder.includes('node_modules'));
  return { ...Object.fromEntries(own), PATH: [dirname(process.execPath), ...path].join(':') };
}

/** The parts of a response as `curl -i` prints it. @throws Error if it prints something else first */
function responseIn(output: string): { status: number; headers: Record<string, string>; body: string } {
  const [head = '', ...body] = output.split('\n\n');
  const [start = '', ...fields] = head.split('\n');
  const [, status] = /^HTTP\/1\.1 (\d+) /.exec(start) ?? [];
  if (status === undefined) throw new Error(`no response: ${JSON.stringify(output)}`);
  const headers = Object.fromEntries(fields.map((field) => field.split(/: (.*)/s)));
  return { status: Number(status), headers, body: body.join('\n\n').trim() };
}

/**
 * Runs README.md from top to bottom as a newcomer does: two terminals in a fresh folder, every block pasted as it
 * stands. Four things differ: the ports, the key in place of `pcs_…`, `npm test` runs the tests of one folder only, and
 * packages are those of this checkout, in which `npm ci` has installed them; at night, `npm ci` runs once.
 */
describe('README.md', function () {
  this.timeout(620_000).bail(true);
  let first: Terminal;
  let second: Terminal;
  let third: Terminal;
  after(async () => {
    for (const terminal of [first, second, third]) await terminal?.close();
  });
  const root = temporaryFolder();
  const folder = join(root, 'checkout');
  const installation = join(root, 'installation');
  let port: string;
  let key: string;
  let lamp: string;

  const environment: NodeJS.ProcessEnv = {
    ...outsideNpm(),
    MOCHA_OPTIONS: ONE_FOLDER,
    // The steps need the packages, not what a registry says about them.
    npm_config_prefer_offline: 'true',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
  };

  before(async () => {
    copyCheckout(folder);
    if (!AT_NIGHT) linkPackages(folder);
    first = await Terminal.open(folder, { ...environment, PORT: '0', MANAGEMENT_PORT: '0' });
  });

  const filled = (text: string) => text.replaceAll('localhost:8443', `localhost:${port}`);

  /** Pastes a step into the second terminal. @returns what it shows */
  const run = async ({ text }: Step): Promise<string> => {
    const { code, output } = await second.run(filled(text).replaceAll('pcs_…', key));
    expect(code, output).to.equal(0);
    expect(output, 'the prompt is on its own line').to.match(/^$|\n$/);
    return output;
  };
  const respond = async (step: Step) => responseIn(await run(step));

  /** Waits until the service of a terminal is ready. @returns a terminal for requests to it, in the folder */
  const servedBy = async (terminal: Terminal, where: string): Promise<Terminal> => {
    [, port = ''] = await terminal.shows(/listens on https:\/\/localhost:(\d+)/);
    [, key = ''] = await terminal.shows(/shown this once: (\S+)/);
    const [, request = ''] = await terminal.shows(/^ *(curl .*)\n[\s\S]*\/docs/m);
    const [, management = ''] = await terminal.shows(/management listening.* port=(\d+)/);
    const opened = await Terminal.open(where, { ...environment, PORT: port, MANAGEMENT_PORT: management });
    const { code, output } = await opened.run(request);
    expect([code, output]).to.deep.equal([0, '[]\n']);
    return opened;
  };

  /** What each step of a section does, in order. */
  const EXPECTED: Readonly<Record<string, Readonly<Record<string, (step: Step) => Promise<void>>>>> = {
    'Run it': {
      'starts the service, which prints a key and a request that works': async ({ text }) => {
        expect(text).to.equal('npm ci && npm start');
        first.start(AT_NIGHT ? text : 'npm start');
        second = await servedBy(first, folder);
      },
      'loads sample products': async (step) => {
        expect(await run(step)).to.match(/^200 products of seed 1 created, 0 existed already$/m);
      },
      'defines the key and the function': async (step) => {
        expect(await run(step)).to.equal('');
      },
    },
    'Without a clone': {
      // What else the page has must work with it as well, which is the last test.
      'installs the package and starts the service': async ({ text }) => {
        execFileSync(process.execPath, ['scripts/package.js']);
        mkdirSync(installation);
        execFileSync('npm', ['pack', '--silent', '--pack-destination', installation, './build/package']);
        third = await Terminal.open(installation, { ...environment, PORT: '0', MANAGEMENT_PORT: '0' });
        third.start(text);
        await third.shows(/shown this once: (\S+)/);
      },
    },
    'With Docker': {
      // A function in place of Docker prints the line of the service, with the prefix of Compose.
      'sends a request with the key of the log': async (step) => {
        const line = `catalogue-1  | API key, with every scope, shown this once: ${key}`;
        await second.run(`docker() { [ "$2" != logs ] || echo '${line}'; }`);
        expect(JSON.parse(await run(step))).to.have.length(100);
      },
    },
    'Seven requests': {
      'lists the products that match, and leads to the next page': async (step) => {
        const { status, headers, body } = await respond(step);
        const products = JSON.parse(body);
        expect([status, products.length], body).to.deep.equal([200, 3]);
        for (const { price } of products) expect(price.amount).to.be.at.least(1000);
        expect(headers['Link']).to.include('rel="next"');
      },
      'creates a product and keeps its path': async (step) => {
        const { status, headers, body } = await respond(step);
        lamp = (await second.run('echo "$lamp"')).output.trim();
        expect(status).to.equal(201);
        expect(lamp).to.match(/^\/v1\/products\/\d+$/);
        expect(lamp).to.equal(headers['Location']);
        expect(JSON.parse(body)).to.deep.equal({
          id: Number(lamp.split('/').at(-1)),
          name: 'Lamp',
          description: 'Brass',
          price: { amount: 1999, currency: 'EUR' },
        });
      },
      'reads it': async (step) => {
        const { status, headers, body } = await respond(step);
        expect([status, headers['ETag'], JSON.parse(body).name]).to.deep.equal([200, '"1"', 'Lamp']);
      },
      'changes it': async (step) => {
        const { status, headers, body } = await respond(step);
        const { id, ...changed } = JSON.parse(body);
        expect([status, headers['ETag']]).to.deep.equal([200, '"2"']);
        expect(changed).to.deep.equal({ name: 'Lamp', price: { amount: 1799, currency: 'EUR' } });
      },
      'creates the products of a file, and says what is wrong with a line': async (step) => {
        const [shade, bulb, nameless] = resultsOf(await run(step));
        expect(shade).to.include({ line: 1, status: 201, version: 1 });
        expect(bulb).to.include({ line: 2, status: 201, version: 1 });
        expect(nameless).to.include({ line: 3, status: 400 });
        expect(nameless.error.details[0]).to.include({ code: 'required', pointer: '/name' });
      },
      'changes what differs in the next file': async (step) => {
        const [shade, bulb] = resultsOf(await run(step));
        expect(shade).to.include({ line: 1, status: 200, version: 1, unchanged: true });
        expect(bulb).to.include({ line: 2, status: 200, version: 2 }).and.to.not.have.property('unchanged');
      },
      'deletes the product': async (step) => {
        const { status, body } = await respond(step);
        expect([status, body]).to.deep.equal([204, '']);
        expect(responseIn((await second.run('api "$lamp" -i')).output).status).to.equal(404);
      },
    },
    'From TypeScript': {
      'builds and installs the client': async (step) => {
        await run(step);
        expect(existsSync(join(root, 'shop/node_modules/product-catalogue-client/dist/index.js'))).to.equal(true);
      },
      'saves a program': async ({ file, text }) => {
        writeFileSync(join(folder, file), `${filled(text)}\n`);
      },
      'runs the program': async (step) => {
        expect(await run(step)).to.match(/^\d+ Bright Lamp$/m);
      },
    },
    'Operate it': {
      'finds nothing wrong': async (step) => {
        expect(await run(step))
          .to.match(/^ok +store +/m)
          .and.to.match(/^ok +ports +a service runs /m)
          .and.to.not.match(/^(warning|wrong|problem)/m);
      },
      'lists the API keys and their requests': async (step) => {
        const table = await run(step);
        expect(table).to.match(/^ID +NAME +SCOPES .*REQUESTS, 24 H$/m);
        expect(table).to.match(/^1 .* all /m);
      },
      'loads more sample products': async (step) => {
        expect(await run(step)).to.match(/^9800 products of seed 1 created, 200 existed already$/m);
      },
      'makes a backup': async (step) => {
        expect(await run(step)).to.match(/^backup\.sqlite: \d+ bytes, checked$/m);
        expect(statSync(join(folder, 'backup.sqlite')).size).to.be.greaterThan(0);
      },
    },
    'Test it': {
      'runs the tests': async (step) => {
        expect(step.text).to.equal('npm ci && npm test');
        const report = await run({ ...step, text: 'npm test' });
        expect(report).to.match(/^ +[1-9]\d* passing/m);
        expect(report).to.not.match(/^ +\d+ failing/m);
      },
    },
    Documentation: {
      'prints the OpenAPI document': async (step) => {
        const output = await run(step);
        expect(JSON.parse(output.slice(output.indexOf('{'))).openapi).to.match(/^3\.1\./);
      },
    },
  };

  it('has an expectation for each block and each command, and no other', () => {
    const headings = [...new Set(STEPS.map(({ heading }) => heading))];
    const counts = headings.map((heading) => [heading, stepsOf(heading).length]);
    expect(counts).to.deep.equal(Object.entries(EXPECTED).map(([name, all]) => [name, Object.keys(all).length]));
  });

  for (const [heading, expectations] of Object.entries(EXPECTED))
    for (const [index, [title, check]] of Object.entries(expectations).entries()) {
      const step = stepsOf(heading)[index];
      it(`${heading}: ${title} (line ${step?.line})`, () => check(step ?? expect.fail('no such step')));
    }

  it('Run it: Ctrl-C stops the service cleanly', async () => {
    const { code, output } = await first.interrupt();
    expect(code, output).to.equal(0);
    expect(output).to.match(/\n$/);
  });

  it('Without a clone: samples and the seven requests are as in a clone', async () => {
    await second.close();
    second = await servedBy(third, installation);
    const [, ...samples] = Object.values(EXPECTED['Run it'] ?? {});
    const requests = Object.values(EXPECTED['Seven requests'] ?? {});
    const steps = [...stepsOf('Run it').slice(1), ...stepsOf('Seven requests')];
    for (const [index, check] of [...samples, ...requests].entries())
      await check(steps[index] ?? expect.fail('no such step'));
    // The exit code is that of npx, which is 130 for Ctrl-C.
    expect((await third.interrupt()).output).to.match(/ info +stopped\s*$/);
  });
});

/** The function `api` adds a line end to what it prints. */
function resultsOf(output: string) {
  return jsonLines(output.replace(/\n$/, ''));
}

function stepsOf(heading: string): Step[] {
  return STEPS.filter((step) => step.heading === heading);
}

import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ChildProcessService } from '../../tests/support/child-process-service.js';
import type { HttpClient } from '../../tests/support/http-client.js';
import { FIRST_KEY } from '../../tests/support/in-process-service.js';
import { AT_NIGHT } from '../../tests/support/run-settings.js';
import { temporaryFolder } from '../../tests/support/temporary-folder.js';
import { CLIENTS, type UseTool } from './clients.js';
import { runPostmanCollection } from './postman.js';
import { compareThroughPrism } from './prism.js';
import { Toolbox } from './toolbox.js';

const SPECTRAL = 'Spectral finds neither an error nor a warning';
const PRISM = 'Prism finds no violation in requests and responses';
const POSTMAN = 'the Postman collection of the document runs';
const VALIDATOR = "Go's libopenapi-validator takes the requests of lists with several filters";

/** The tools of the gate: clients in TypeScript, Python and Go. Its rules for documents are those of Redocly, in `cases`. */
const IN_GATE = ['hey-api', 'openapi-fetch', 'openapi-python-client', 'oapi-codegen', 'rtk-query'];
const USED = AT_NIGHT ? [...Object.keys(CLIENTS), SPECTRAL, PRISM, POSTMAN, VALIDATOR] : IN_GATE;

/** All tools start at once; each test waits for one. */
describe('the tools that read the OpenAPI document', function () {
  this.timeout(600_000);
  const folder = temporaryFolder();
  const services: ChildProcessService[] = [];
  const results = new Map<string, Promise<string>>();

  before(async () => {
    const { url, authority, client } = await startService('service');
    const tools = new Toolbox(folder, {
      CATALOGUE_URL: url,
      CATALOGUE_TOKEN: FIRST_KEY,
      CATALOGUE_CA: authority,
    });
    await tools.requirePrograms();
    const document = join(folder, 'openapi.json');
    writeFileSync(document, (await client.get('/openapi.json')).text);
    client.close();
    const uses: Readonly<Record<string, UseTool>> = {
      ...CLIENTS,
      [SPECTRAL]: lint,
      [VALIDATOR]: validateRequests,
      [PRISM]: (...of) => compareThroughPrism(...of, url, authority),
      [POSTMAN]: async (...of) => {
        const empty = await startService('empty-service');
        empty.client.close();
        return runPostmanCollection(...of, { ...empty, key: FIRST_KEY });
      },
    };
    for (const name of USED) {
      const use = uses[name];
      if (!use) throw new Error(`no tool has the name ${name}`);
      start(name, use(tools, document));
    }
  });

  after(() => Promise.all(services.map((service) => service.stop('SIGKILL'))));

  for (const name of USED)
    it(name, async function () {
      const result = await results.get(name);
      if (this.test) this.test.title += ` (${result})`;
    });

  /** Starts the program with a store of its own. */
  async function startService(name: string): Promise<{ url: string; authority: string; client: HttpClient }> {
    const home = join(folder, name);
    mkdirSync(home);
    const service = new ChildProcessService(home, {
      STORE: 'memory',
      BOOTSTRAP_API_KEY: FIRST_KEY,
      WEBHOOK_NETWORKS: '127.0.0.0/8',
    });
    services.push(service);
    const client = await service.started(FIRST_KEY);
    return {
      url: `https://localhost:${client.port}`,
      authority: join(home, 'data', 'tls', 'ca.pem'),
      client,
    };
  }

  /** Keeps a result for its test. A failure is reported there. */
  function start(name: string, result: Promise<string>): void {
    result.catch(() => {});
    results.set(name, result);
  }
});

async function lint(tools: Toolbox, document: string): Promise<string> {
  const npm = await tools.npm();
  tools.copy('spectral.yaml', join(npm, 'spectral.yaml'));
  const args = ['lint', document, '--ruleset', 'spectral.yaml', '--fail-severity', 'warn'];
  await tools.run('node_modules/.bin/spectral', args, npm);
  return `${Math.round(statSync(document).size / 1_000)} KB`;
}

async function validateRequests(tools: Toolbox, document: string): Promise<string> {
  const output = await tools.run('go', ['run', '.', document], await tools.validator());
  return output.trim();
}

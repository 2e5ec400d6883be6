/** A set of tests that runs as one: `npm run suite NAME`. */
export interface Suite {
  readonly name: string;
  /** What it tests, for a list. */
  readonly tests: string;
  /** A command of the shell, in the root of a compiled checkout. */
  readonly command: string;
  /** The command of the night, if it differs. */
  readonly atNight?: string;
  /** The programs that it starts, besides Node.js and npm. */
  readonly needs: readonly Program[];
  /** Those that it needs at night in addition. */
  readonly needsAtNight?: readonly Program[];
  /** Empty: somebody runs it by hand. A suite of the gate is smaller there than at night. */
  readonly runs: readonly Run[];
  /** It has no tests to count: it passes or fails as a whole. */
  readonly isWhole?: true;
  /** It uses the servers that `REDIS_URL` and `MONGODB_URL` name; those that are not named are started for it. */
  readonly usesServers?: true;
  /** The gate runs it on the Node.js of the image, which starts fastest. */
  readonly usesImageNode?: true;
  /** The gate runs it on {@link OLDEST_POSTGRESQL}, so that it has both versions; the others have the newest. */
  readonly usesOldestPostgresql?: true;
}

export type Run = 'gate' | 'night';

/** The Debian package of each program that a suite needs in addition to Node.js and npm. */
export const DEBIAN_PACKAGES = {
  buildah: 'buildah',
  caddy: 'caddy',
  chromium: 'chromium fonts-dejavu-core',
  curl: 'curl',
  faketime: 'faketime',
  fish: 'fish',
  go: 'golang-go',
  h2load: 'nghttp2-client',
  haproxy: 'haproxy',
  java: 'openjdk-17-jdk-headless',
  mvn: 'maven',
  nginx: 'nginx-light',
  openssl: 'openssl',
  pg_ctlcluster: 'postgresql-15',
  pgbouncer: 'pgbouncer',
  php: 'php-cli php-guzzlehttp-guzzle php-mbstring',
  promtool: 'prometheus',
  python3: 'python3-venv',
  'redis-server': 'redis-server',
  ruby: 'ruby ruby-typhoeus',
  slowhttptest: 'slowhttptest',
  soffice: 'libreoffice-calc',
  sslscan: 'sslscan',
  strace: 'strace',
  'systemd-analyze': 'systemd',
  taskset: 'util-linux',
  wrk: 'wrk',
  zsh: 'zsh',
} as const;

export type Program = keyof typeof DEBIAN_PACKAGES;

/** The newest version of each line of Node.js that `engines` allows besides the lowest. */
export const NODE_VERSIONS = ['22.23.3', '24.21.0', '26.10.0'] as const;

/** The programs of the oldest version that the service supports, which Debian has. */
export const OLDEST_POSTGRESQL = '/usr/lib/postgresql/15/bin';

const STAND_IN = ['java', 'mvn'] as const;
const BOTH: readonly Run[] = ['gate', 'night'];

/** @param files below the compiled checkout, without `.test.js` */
function mocha(files: string, options = ''): string {
  const quoted = files.split(/\s+/).map((file) => `'build/${file}.test.js'`);
  return ['mocha', ...(options === '' ? [] : [options]), ...quoted].join(' ');
}

/** The tests of the HTTP interface that depend on the store. @param stores the variable `HTTP_STORES` */
function httpStores(stores: string): string {
  return `HTTP_STORES=${stores} mocha --parallel --jobs 2 $(grep -l HTTP_STORE_NAMES build/tests/http/*.test.js)`;
}

/** A suite that the night alone runs. */
function nightly(name: string, tests: string, command: string, ...needs: Program[]): Suite {
  return { name, tests, command, needs, runs: ['night'] };
}

/** A campaign of one promise of `docs/explanation/reliability.md`. It ends even if a failed test left a load behind. */
function campaign(name: string, ...needs: Program[]): Suite {
  const command = mocha(`campaigns/faults/${name}`, '--exit');
  return nightly(name, `campaigns/faults/${name}.test.ts`, command, ...needs);
}

/** `npm test` and the other tests that Node.js alone runs, on another version of it; and native threads. */
function onNode(version: string): Suite {
  const suites = [
    'npm test',
    ...['timers', 'cases', 'interrupts', 'readme'].map((name) => `node build/scripts/run-suites.js ${name}`),
  ];
  const command = `npx --yes --package=node-linux-${process.arch}@${version} -c '${suites.join(' && ')}'`;
  return nightly(
    `node-${version.split('.')[0]}`,
    `test, timers, cases, interrupts and README.md on Node.js ${version}`,
    command,
    'curl',
  );
}

/**
 * The gate starts the suites in this order, those that take longest first; but those that need Node.js alone while it
 * installs the rest.
 */
export const SUITES: readonly Suite[] = [
  {
    name: 'integration',
    tests: 'MongoDB, PostgreSQL, Redis, HAProxy and the package of the client',
    command: mocha('tests/integration/**/* packages/client/tests/integration/*', '--parallel --jobs 2'),
    needs: [...STAND_IN, 'redis-server', 'haproxy', 'curl'],
    runs: BOTH,
    usesServers: true,
    usesOldestPostgresql: true,
  },
  {
    name: 'durability',
    tests: 'no acknowledged write is lost or doubled, on SQLite, MongoDB and PostgreSQL; as root on Linux',
    command: mocha('tests/durability/**/*', '--exit --timeout 300000'),
    needs: [...STAND_IN, 'python3', 'strace'],
    runs: BOTH,
    usesImageNode: true,
    usesOldestPostgresql: true,
  },
  {
    name: 'crash',
    tests: 'whole processes: starts that fail, signals, restore, terminals; at night traces and certificates too',
    command: mocha('tests/crash/*', '--parallel --jobs 2'),
    atNight: mocha('tests/crash/**/*'),
    needs: ['python3', 'zsh', 'fish', 'curl'],
    needsAtNight: ['openssl'],
    runs: BOTH,
    usesImageNode: true,
    usesOldestPostgresql: true,
  },
  {
    name: 'pages',
    tests: 'the pages at /docs and /console, and the client, in a browser, with axe',
    command: mocha('{tests,packages/client/tests}/pages/*'),
    atNight: mocha('{tests,packages/client/tests}/pages/**/*'),
    needs: ['chromium', 'python3', 'curl', 'go'],
    runs: BOTH,
  },
  {
    name: 'test',
    tests: 'unit, contract, HTTP and architecture tests: npm test',
    command: 'npm test',
    needs: [],
    runs: ['gate'],
  },
  {
    name: 'cases',
    tests: 'many cases: every credential, hostile bytes, random values and queries, data of earlier releases',
    command: mocha('tests/cases/*', '--parallel --jobs 2'),
    needs: [],
    runs: ['gate'],
    usesImageNode: true,
  },
  {
    name: 'postgresql-15',
    tests: 'the contracts, queries and processes on the oldest PostgreSQL that the service supports',
    command: `POSTGRES_BIN=${OLDEST_POSTGRESQL} ${mocha(
      `tests/contract/stores tests/cases/stores tests/cases/postgresql-* tests/cases/query-property
      tests/durability/two-processes tests/durability/killed-servers
      tests/integration/postgresql-*`,
      '--parallel --jobs 2 --timeout 300000 --grep /postgresql/i',
    )}`,
    needs: ['pg_ctlcluster'],
    runs: ['night'],
  },
  {
    name: 'http-stores',
    tests: 'the tests of the HTTP interface that `npm test` runs in memory, on SQLite; at night on PostgreSQL too',
    command: httpStores('sqlite'),
    atNight: httpStores('others'),
    needs: [],
    runs: BOTH,
    usesImageNode: true,
  },
  {
    name: 'conformance',
    tests:
      'Schemathesis against the OpenAPI document: one example per operation as an administrator; ten minutes as everybody at night',
    command: 'node build/campaigns/conformance/main.js',
    needs: ['python3'],
    runs: BOTH,
    usesImageNode: true,
  },
  {
    name: 'readme',
    tests: 'every block and command of README.md in a fresh copy of the checkout, pasted into terminals',
    command: mocha('tests/readme/*'),
    needs: ['curl'],
    runs: BOTH,
  },
  {
    name: 'timers',
    tests: 'tests that wait for real time',
    command: mocha('tests/timers/**/*', '--parallel --jobs 3'),
    needs: [],
    runs: ['gate'],
  },
  {
    name: 'sockets',
    tests: 'the tests that depend on Node.js most, once more with the Node.js of the image',
    command: mocha(
      `tests/timers/broken-import tests/timers/connections tests/timers/drain tests/timers/handshake
      tests/timers/http-limits tests/timers/pipelining tests/timers/stalled-writes tests/cases/chunked-bodies
      tests/http/compression-streams tests/http/export tests/http/koa-listener tests/http/request-smuggling`,
      '--parallel --jobs 3',
    ),
    needs: [],
    runs: ['gate'],
    usesImageNode: true,
  },
  {
    name: 'lint',
    tests: 'the rules of the code and its format, by Biome',
    command: 'npm run --silent lint',
    needs: [],
    runs: ['gate'],
    isWhole: true,
  },
  {
    name: 'generators',
    tests:
      'clients of five generators, the patterns of the document in four languages; at night all thirteen clients, Spectral, Prism, Postman, a validator, six languages',
    command: mocha('campaigns/generators/*'),
    needs: ['go', 'java', 'python3'],
    needsAtNight: ['mvn', 'php', 'ruby'],
    runs: BOTH,
  },
  {
    name: 'npm-start',
    tests: 'npm start, and the request that it prints',
    command: 'tests/readme/npm-start.sh',
    needs: ['curl'],
    runs: ['gate'],
    isWhole: true,
  },
  ...NODE_VERSIONS.map(onNode),
  nightly(
    'deployment',
    'proxies, one with a cache, one before the console, PgBouncer, a scan of TLS, the unit of systemd, LibreOffice',
    mocha('campaigns/deployment/*'),
    'chromium',
    'caddy',
    'nginx',
    'pgbouncer',
    'sslscan',
    'systemd-analyze',
    'soffice',
  ),
  {
    ...nightly(
      'deployment-files',
      'Dockerfile, docker-compose.yml and manifests of Kubernetes against their schemas',
      'campaigns/deployment-files/run.sh',
      'go',
      'python3',
    ),
    isWhole: true,
  },
  {
    ...nightly(
      'workflows',
      'the workflows of GitHub, by actionlint',
      'go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12 .github/workflows/*.yml',
      'go',
    ),
    isWhole: true,
  },
  nightly(
    'examples',
    'the programs of examples/, with lost responses, other clients, the rate limit and SIGKILL in their way',
    mocha('campaigns/examples/*', '--parallel --jobs 2 --timeout 300000'),
    'chromium',
    'go',
    'java',
    'mvn',
    'python3',
  ),
  nightly(
    'alerts',
    'rules and dashboards on a real Prometheus',
    mocha('campaigns/alerts/*', '--timeout 120000'),
    'promtool',
  ),
  nightly(
    'image',
    'the image, built with Buildah and run',
    mocha('campaigns/image/*', '--timeout 600000'),
    'buildah',
    'curl',
  ),
  {
    ...nightly(
      'debian-packages',
      'the 63,666 packages of Debian 12 as products',
      'node build/campaigns/imports/import-debian-packages.js',
    ),
    isWhole: true,
  },
  {
    ...nightly('large-csv', 'a large CSV file, in and out', 'node build/campaigns/imports/large-csv.js'),
    isWhole: true,
  },
  nightly(
    'sabotage',
    'each patch of tests/sabotage turns its test red',
    'node build/tests/sabotage/main.js',
    ...STAND_IN,
    'redis-server',
    'python3',
  ),
  campaign('linearizability', ...STAND_IN, 'go'),
  campaign('lists-during-writes', ...STAND_IN),
  campaign('list-answers'),
  campaign('redis-outages', 'redis-server'),
  campaign('mongo-outages', ...STAND_IN),
  campaign('mongo-feed', ...STAND_IN),
  campaign('postgresql-outages'),
  campaign('overload', 'go', 'taskset'),
  campaign('floods'),
  campaign('request-costs'),
  campaign('dry-run-memory'),
  campaign('slow-clients', 'slowhttptest'),
  campaign('framing', 'haproxy', 'nginx'),
  campaign('random-values', ...STAND_IN),
  campaign('keyed-imports', ...STAND_IN),
  campaign('killed-imports', ...STAND_IN),
  campaign('injection', ...STAND_IN),
  campaign('access'),
  campaign('rolling-restarts', 'haproxy'),
  campaign('disk', 'python3'),
  campaign('backup', 'python3'),
  campaign('clock', 'faketime', 'redis-server'),
  campaign('secrets'),
  campaign('leaks'),
  campaign('interrupts'),
  {
    ...nightly(
      'soak',
      'mixed requests and faults for half an hour',
      'node build/campaigns/soak/main.js',
      'redis-server',
    ),
    atNight: 'node build/campaigns/soak/main.js --minutes 20',
    isWhole: true,
  },
  {
    ...nightly(
      'bench',
      'the service beside others under load',
      'node build/campaigns/bench/main.js',
      'wrk',
      'h2load',
      'taskset',
    ),
    atNight: 'node build/campaigns/bench/main.js --rounds 3',
    isWhole: true,
  },
  {
    name: 'mutation',
    tests: 'small changes of the source that the tests notice',
    command: 'node build/campaigns/mutation/main.js',
    needs: [],
    runs: [],
    isWhole: true,
  },
];

/** The suites of a run, in order. */
export function suitesOf(run: Run): Suite[] {
  return SUITES.filter(({ runs }) => runs.includes(run));
}

/** A suite of the night: what `npm run test:all` runs as one, and a job of `.github/workflows/nightly.yml`. */
export interface Suite {
  readonly name: string;
  /** A command of the shell. It has `TEST_NIGHT` and `TEST_SEED`. */
  readonly command: string;
  /** The programs that it starts. */
  readonly needs: readonly Program[];
}

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
  php: 'php-cli php-guzzlehttp-guzzle',
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

const STAND_IN = ['java', 'mvn'] as const;

function mocha(files: string): string {
  return `mocha ${files
    .split(' ')
    .map((file) => `'build/${file}.test.js'`)
    .join(' ')}`;
}

function onNode(version: string, command: string): string {
  return `npx --yes --package=node-linux-${process.arch}@${version} -c '${command}'`;
}

/** A campaign of one promise of `docs/explanation/reliability.md`. */
function campaign(file: string, ...needs: Program[]): Suite {
  return { name: file, command: mocha(`campaigns/faults/${file}`), needs };
}

export const SUITES: readonly Suite[] = [
  ...NODE_VERSIONS.map((version) => ({
    name: `node-${version.split('.')[0]}`,
    command: onNode(version, 'npm test && npm run test:timers && npm run test:cases'),
    needs: [],
  })),
  { name: 'crash', command: mocha('tests/crash/**/*'), needs: ['python3', 'zsh', 'fish', 'curl'] },
  {
    name: 'durability',
    command: 'npm run test:durability',
    needs: [...STAND_IN, 'python3', 'strace'],
  },
  {
    name: 'integration',
    command: 'node build/scripts/with-servers.js npm run test:integration',
    needs: [...STAND_IN, 'redis-server', 'haproxy', 'curl'],
  },
  {
    name: 'deployment',
    command: 'npm run test:deployment',
    needs: ['caddy', 'nginx', 'sslscan', 'systemd-analyze', 'soffice'],
  },
  { name: 'deployment-files', command: 'campaigns/deployment-files/run.sh', needs: ['go', 'python3'] },
  {
    name: 'workflows',
    command: 'go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12 .github/workflows/*.yml',
    needs: ['go'],
  },
  { name: 'pages', command: 'npm run test:pages', needs: ['chromium', 'python3', 'curl', 'go'] },
  { name: 'readme', command: 'npm run test:readme', needs: ['curl'] },
  { name: 'examples', command: 'npm run test:examples', needs: ['chromium', 'go', 'java', 'mvn', 'python3'] },
  {
    name: 'generators',
    command: 'npm run test:generators',
    needs: ['go', 'java', 'mvn', 'php', 'python3', 'ruby'],
  },
  { name: 'alerts', command: 'npm run test:alerts', needs: ['promtool'] },
  { name: 'image', command: 'npm run test:image', needs: ['buildah', 'curl'] },
  { name: 'conformance', command: 'npm run test:conformance -- --seed $TEST_SEED', needs: ['python3'] },
  { name: 'debian-packages', command: 'npm run test:debian-packages', needs: [] },
  { name: 'large-csv', command: 'npm run test:large-csv', needs: [] },
  { name: 'sabotage', command: 'npm run test:sabotage', needs: [...STAND_IN, 'redis-server', 'python3'] },
  campaign('linearizability', ...STAND_IN, 'go'),
  campaign('lists-during-writes', ...STAND_IN),
  campaign('redis-outages', 'redis-server'),
  campaign('mongo-outages', ...STAND_IN),
  campaign('overload', 'go', 'taskset'),
  campaign('floods'),
  campaign('request-costs'),
  campaign('slow-clients', 'slowhttptest'),
  campaign('framing', 'haproxy', 'nginx'),
  campaign('random-values', ...STAND_IN),
  campaign('injection', ...STAND_IN),
  campaign('access'),
  campaign('rolling-restarts', 'haproxy'),
  campaign('disk', 'python3'),
  campaign('backup', 'python3'),
  campaign('clock', 'faketime', 'redis-server'),
  campaign('secrets'),
  campaign('leaks'),
  { name: 'soak', command: 'npm run test:soak -- --minutes 20', needs: ['redis-server'] },
  { name: 'bench', command: 'npm run bench -- --rounds 3', needs: ['wrk', 'h2load', 'taskset'] },
];

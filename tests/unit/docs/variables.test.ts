import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describeSettings } from '#src/config/settings-schema.js';
import { list } from '../../support/list.js';

const FOLDERS = ['docs', 'deploy', '.github', 'examples', 'config'];
const FILES = [
  ...readdirSync('.').filter((name) => name.endsWith('.md')),
  'Dockerfile',
  'docker-compose.yml',
  'packages/client/README.md',
  ...FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter((name) => /\.(cfg|conf|env|html|java|json|md|py|go|rules|service|sh|socket|ya?ml)$|file$/i.test(name)),
  ),
];

/** Names of several words, and those of one word to which a value is assigned. */
const NAME = /\b[A-Z][A-Z\d]*(?:_[A-Z\d]+)+\b|(?<![\w$.{-])[A-Z][A-Z\d]+(?==[\w./:'"$-])/g;
/** What other programs read, and what the examples and the tests do. */
const FOREIGN = new Set([
  ...[
    ...list`API_KEY  CATALOGUE_URL  CATALOGUE_CA  SEARCH_URL  SEARCH_AUTHORIZATION  CONFIG_FILE  CERTIFICATE_FILE`,
    ...list`CERTIFICATE_OWNER`,
  ],
  ...[
    ...list`NODE_ENV  NODE_EXTRA_CA_CERTS  NODE_OPTIONS  NO_COLOR  FORCE_COLOR  TERM  PATH  SSL_CERT_FILE`,
    ...list`CURL_CA_BUNDLE  LC_ALL  TOKIO_WORKER_THREADS`,
  ],
  ...[
    ...list`CATALOGUE_IMAGE  REDISCLI_AUTH  RENEWED_LINEAGE  GITHUB_TOKEN  GITHUB_REPOSITORY  GH_TOKEN  PUBLISH  TAG`,
    ...list`TARGETARCH`,
  ],
  ...[
    ...list`COMPOSE_FILE  COMPOSE_PROFILES  MONGO_OWNER  POSTGRES_BIN  POSTGRES_PASSWORD  POSTGRES_PASSWORD_FILE`,
    ...list`POSTGRES_USER`,
  ],
  // A misspelt name, as the example of a warning.
  'RATE_LIMIT_REQUEST',
  // Constants that docs/how-to/change-the-service.md has its readers write.
  ...['SUPPLIER', 'SUPPLIERS', 'USERS_2', 'FIELDS_OF_VERSION_2'],
  ...['AF_UNIX', 'AF_INET', 'AF_INET6', 'LISTEN_FDS', 'LISTEN_PID', 'LISTEN_FDNAMES', 'UTF_8'],
]);
const FOREIGN_PREFIX = /^(OTEL|TLS_AES|TLS_CHACHA20)_/;

/** The names of constants of the code, which the documents for developers use as well. */
function constants(): Set<string> {
  const names = new Set<string>();
  for (const folder of ['src', 'tests', 'scripts', 'packages/mcp', 'packages/pages'])
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
      if (file.endsWith('.ts'))
        for (const [, name = ''] of readFileSync(join(folder, file), 'utf8').matchAll(/\bconst ([A-Z][A-Z\d_]+)\b/g))
          names.add(name);
  return names;
}

describe('the variables that files name', () => {
  const settings = new Set(describeSettings().map(({ name }) => name));
  const known = constants();

  for (const file of FILES)
    it(`exist: ${file}`, () => {
      const text = readFileSync(file, 'utf8');
      const names = new Set([...text.matchAll(NAME)].map(([name]) => name));
      const unknown = [...names].filter(
        (name) =>
          !settings.has(name) &&
          !FOREIGN.has(name) &&
          !FOREIGN_PREFIX.test(name) &&
          !(/^(docs|ARCHITECTURE|CONTRIBUTING)/.test(file) && known.has(name)) &&
          // A program's own constant, and a variable of the shell that the same text uses.
          !new RegExp(
            `\\$\\{?${name}\\b|^(\\s*(private |static |final |[\\w<>.]+ )*)${name}( [\\w.]+)? :?= `,
            'm',
          ).test(text),
      );
      expect(unknown).to.deep.equal([]);
    });

  it('are the settings, where an instance gets its environment', () => {
    const image = [...readFileSync('Dockerfile', 'utf8').matchAll(/^ENV (.*)$/gm)].flatMap(([, line = '']) =>
      [...line.matchAll(/(\w+)=/g)].map(([, name = '']) => name),
    );
    const compose =
      /\n {4}environment:\n((?: {6}\w+:.*\n)+)/.exec(readFileSync('docker-compose.yml', 'utf8'))?.[1] ?? '';
    const cluster = readFileSync('deploy/kubernetes/kustomization.yaml', 'utf8');
    const secret = readFileSync('deploy/kubernetes/secret.example.yaml', 'utf8').split('stringData:')[1] ?? '';
    const names = [
      ...image.filter((name) => name !== 'NODE_ENV' && name !== 'PATH'),
      ...[...compose.matchAll(/^ +(\w+):/gm)].map(([, name = '']) => name).filter((name) => name !== 'CONFIG_FILE'),
      ...[...cluster.matchAll(/^ +- (\w+)=/gm)].map(([, name = '']) => name),
      ...[...secret.matchAll(/^ +(\w+):/gm)].map(([, name = '']) => name),
    ];
    expect(names.length).to.be.greaterThan(25);
    expect(names.filter((name) => !settings.has(name))).to.deep.equal([]);
  });
});

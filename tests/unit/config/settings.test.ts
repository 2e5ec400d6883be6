import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { STORES } from '#src/composition/stores/index.js';
import { explainSettings, loadSettings, SettingsError, toEnvironment, unknownVariables } from '#src/config/settings.js';
import { describeSettings } from '#src/config/settings-schema.js';
import { shownValue } from '#src/config/shown-value.js';
import { list } from '../../support/list.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

/** A well-formed key. */
const KEY = `pcs_${'0'.repeat(30)}0B9c15`;

function issuesOf(environment: Record<string, string>): readonly string[] {
  try {
    loadSettings(environment);
  } catch (error) {
    if (error instanceof SettingsError) return error.issues;
    throw error;
  }
  return [];
}

describe('settings', () => {
  const folder = temporaryFolder();
  const file = (text: string) => {
    const path = join(folder, 'settings.json');
    writeFileSync(path, text);
    return path;
  };

  it('have the defaults of the contract', () => {
    expect(loadSettings({})).to.include({
      HOST: '127.0.0.1',
      PORT: 8443,
      DATA_DIR: './data',
      STORE: 'sqlite',
      SQLITE_FILE: 'data/catalogue.sqlite',
      POSTGRESQL_PREPARED: 'on',
      RATE_LIMIT_REQUESTS: 600,
      RATE_LIMIT_WINDOW_SECONDS: 60,
      BODY_LIMIT_BYTES: 1_048_576,
      TLS: 'self-signed',
      MANAGEMENT_HOST: '127.0.0.1',
      MANAGEMENT_PORT: 9464,
      SHUTDOWN_GRACE_SECONDS: 20,
      STORE_START_TIMEOUT_SECONDS: 60,
      WORKERS: 1,
    });
  });

  it('are overridden by a file, and the file by the environment', () => {
    const CONFIG_FILE = file('{"PORT": 1111, "DATA_DIR": "/x", "LOG_LEVEL": "warn"}');
    const settings = loadSettings({ CONFIG_FILE, PORT: '2222', LOG_LEVEL: '' });
    expect(settings).to.include({ PORT: 2222, DATA_DIR: '/x', LOG_LEVEL: 'warn', SQLITE_FILE: '/x/catalogue.sqlite' });
  });

  it('are frozen', () => {
    expect(Object.isFrozen(loadSettings({}))).to.equal(true);
  });

  it('accept IP addresses and host names for HOST', () => {
    for (const HOST of ['0.0.0.0', '::', '::1', 'localhost', '192.0.2.1'])
      expect(issuesOf({ HOST }), HOST).to.deep.equal([]);
  });

  it('accept a number of workers, or auto for one worker per core', () => {
    expect(loadSettings({ WORKERS: '64' }).WORKERS).to.equal(64);
    expect(loadSettings({ WORKERS: 'auto' }).WORKERS).to.equal(Math.min(availableParallelism(), 64));
    for (const WORKERS of ['0', '65', '-1', '1.5', 'many'])
      expect(issuesOf({ WORKERS }), WORKERS).to.deep.equal([
        `WORKERS must be a whole number from 1 to 64, or auto; it is "${WORKERS}"`,
      ]);
  });

  it('reject several workers on a store that only one process can open', () => {
    for (const WORKERS of ['2', '64'])
      expect(issuesOf({ WORKERS, STORE: 'memory' })).to.deep.equal([
        `WORKERS must be 1 with STORE=memory, which only one process can open; it is "${WORKERS}"`,
      ]);
    expect(issuesOf({ WORKERS: '1', STORE: 'memory' })).to.deep.equal([]);
  });

  it('pass to a child process unchanged, even if the file has changed since', () => {
    const CONFIG_FILE = file('{"DATA_DIR": "/x", "PUBLIC_READ": "products", "RATE_LIMIT_REQUESTS": 7}');
    const settings = loadSettings({ CONFIG_FILE, WORKERS: '3', REQUIRE_IF_MATCH: 'true' });
    file('{"RATE_LIMIT_REQUESTS": 8, "LOG_LEVEL": "no such level"}');
    expect(loadSettings({ CONFIG_FILE, ...toEnvironment(settings) })).to.deep.equal(settings);
  });

  it('report each invalid value on its own line', () => {
    const issues = issuesOf({ PORT: '70000', STORE: 'paper', RATE_LIMIT_REQUESTS: '1.5', REQUIRE_IF_MATCH: 'perhaps' });
    expect(issues).to.have.length(4);
    for (const [i, name] of ['PORT', 'STORE', 'REQUIRE_IF_MATCH', 'RATE_LIMIT_REQUESTS'].entries())
      expect(issues[i])
        .to.match(new RegExp(`^${name} `))
        .and.to.not.include('\n');
  });

  it('accept only a normalized HTTPS URL without a trailing slash for PUBLIC_URL', () => {
    for (const PUBLIC_URL of ['https://api.example.com', 'https://localhost:8443', 'https://x.org/catalogue'])
      expect(loadSettings({ PUBLIC_URL })).to.include({ PUBLIC_URL });
    for (const PUBLIC_URL of [
      ...list`http://x.org  https://*.x.org  x.org  https://x.org/  https://x.org?a  https://u:p@x.org`,
      ...list`https://:p@x.org  https://x.org:443  https://X.org  https://x.org/"a  https://x.org//a`,
      'https://x.org/a\nb',
    ])
      expect(issuesOf({ PUBLIC_URL })[0], PUBLIC_URL).to.match(/^PUBLIC_URL must be /);
  });

  it('accept an HTTPS URL or a loopback URL for OAUTH_ISSUER, and then require OAUTH_AUDIENCE', () => {
    const OAUTH_AUDIENCE = 'catalogue';
    for (const OAUTH_ISSUER of ['https://id.example.com/realms/x', 'http://localhost:9000', 'http://[::1]:9/']) {
      expect(loadSettings({ OAUTH_ISSUER, OAUTH_AUDIENCE })).to.include({ OAUTH_ISSUER });
      expect(issuesOf({ OAUTH_ISSUER })).to.deep.equal(['OAUTH_AUDIENCE is required by OAUTH_ISSUER']);
    }
    for (const OAUTH_ISSUER of [
      ...list`http://id.example.com  id  https://x.org?a  http://localhost.evil.org  https://:secret@x.org`,
      ...list`https:x.org  HTTPS://x.org  http://127.1`,
      'https://x.org\n',
    ])
      expect(issuesOf({ OAUTH_ISSUER, OAUTH_AUDIENCE })[0], OAUTH_ISSUER).to.match(/^OAUTH_ISSUER must be /);
  });

  it('reject the URL of this service for OAUTH_ISSUER', () => {
    const own = (issuer: string) => [
      `OAUTH_ISSUER must be another than this service itself, whose own tokens are taken anyway; it is "${issuer}"`,
    ];
    const OAUTH_AUDIENCE = 'catalogue';
    for (const [OAUTH_ISSUER, PORT] of [
      ['https://localhost:8443', undefined],
      ['https://localhost:8443/', undefined],
      ['https://localhost:9443', '9443'],
      ['https://localhost', '443'],
    ] as const) {
      const environment = { OAUTH_ISSUER, OAUTH_AUDIENCE, ...(PORT && { PORT }) };
      expect(issuesOf(environment), OAUTH_ISSUER).to.deep.equal(own(OAUTH_ISSUER));
    }
    for (const [OAUTH_ISSUER, PORT] of [
      ['https://localhost:9443', '8443'],
      ['https://localhost:8443', '9443'],
      ['https://localhost:8443/realms/shop', '8443'],
      ['http://localhost:8443', '8443'],
      ['https://localhost', '8443'],
      ['https://localhost:9443', '0'],
    ] as const)
      expect(loadSettings({ OAUTH_ISSUER, OAUTH_AUDIENCE, PORT }), OAUTH_ISSUER).to.include({ OAUTH_ISSUER });
    expect(issuesOf({ OAUTH_ISSUER: 'not a URL', OAUTH_AUDIENCE, PORT: 'x', PUBLIC_URL: 'x' })).to.have.length(3);
    const PUBLIC_URL = 'https://x.org/catalogue';
    for (const OAUTH_ISSUER of [PUBLIC_URL, `${PUBLIC_URL}/`])
      expect(issuesOf({ OAUTH_ISSUER, OAUTH_AUDIENCE, PUBLIC_URL }), OAUTH_ISSUER).to.deep.equal(own(OAUTH_ISSUER));
    const others = { OAUTH_ISSUER: 'https://localhost:9443', OAUTH_AUDIENCE, PUBLIC_URL };
    expect(issuesOf(others)).to.deep.equal([]);
  });

  it('report one line for a value of the wrong type', () => {
    expect(issuesOf({ CONFIG_FILE: file('{"STORE": 5}') })).to.have.length(1);
  });

  it('require REDIS_URL with RATE_LIMITER=redis, and accept only a Redis URL for it', () => {
    expect(issuesOf({ RATE_LIMITER: 'redis' })).to.deep.equal(['REDIS_URL is required by RATE_LIMITER=redis']);
    for (const REDIS_URL of ['redis://localhost', 'rediss://:secret@[::1]:6380/2'])
      expect(loadSettings({ RATE_LIMITER: 'redis', REDIS_URL })).to.include({ REDIS_URL });
    const wrong = ['secret', 'http://:secret@h', 'redis://:secret@h/x', 'redis://:secret@h?db=1'];
    for (const REDIS_URL of [...wrong, 'redis://:100%secret@h', 'redis://:%FFsecret@h']) {
      const issues = issuesOf({ RATE_LIMITER: 'redis', REDIS_URL });
      expect(issues, REDIS_URL).to.have.length(1);
      expect(issues[0])
        .to.match(/^REDIS_URL must be /)
        .and.to.not.include('secret');
    }
  });

  it('suggest the value that is probably meant', () => {
    for (const [name, given, meant] of [
      ['STORE', 'postgres', 'postgresql'],
      ['STORE', 'mongo', 'mongodb'],
      ['STORE', 'SQLite3', 'sqlite'],
      ['LOG_LEVEL', 'WARNING', 'warn'],
      ['TLS', 'self_signed', 'self-signed'],
      ['RATE_LIMITER', 'reddis', undefined],
      ['STORE', 'paper', undefined],
      ['POSTGRESQL_PREPARED', 'o', undefined],
    ] as const) {
      const [issue = ''] = issuesOf({ [name]: given });
      expect(issue).to.include(`; it is "${given}"`);
      expect(issue.split('"; ')[1], `${name}=${given}`).to.equal(meant && `is ${meant} meant?`);
    }
  });

  it('require TRUSTED_PROXIES with TLS=proxy, and two files with TLS=files', () => {
    expect(issuesOf({ TLS: 'proxy' })).to.deep.equal(['TRUSTED_PROXIES is required by TLS=proxy']);
    expect(issuesOf({ TLS: 'proxy', CONFIG_FILE: file('{"TRUSTED_PROXIES": ""}') })).to.have.length(1);
    expect(issuesOf({ TLS: 'files' })).to.deep.equal([
      'TLS_CERT_FILE is required by TLS=files',
      'TLS_KEY_FILE is required by TLS=files',
    ]);
    expect(issuesOf({ TLS_CERT_FILE: 'absent.pem', TRUSTED_PROXIES: '::1' })).to.deep.equal([]);
  });

  it('accept only IPv4 and IPv6 addresses and CIDRs for TRUSTED_PROXIES', () => {
    const TLS = 'proxy';
    for (const TRUSTED_PROXIES of ['10.0.0.1', '10.0.0.0/8, ::1 ,2001:DB8::/32', '::ffff:10.0.0.0/104'])
      expect(issuesOf({ TLS, TRUSTED_PROXIES }), TRUSTED_PROXIES).to.deep.equal([]);
    for (const TRUSTED_PROXIES of [
      ...list`localhost  10.0.0.1,  ,  10.0.0.1 10.0.0.2  10.0.0.0/33  ::/129  10.0.0.0/08  10.0.0.0/  10.0.0.0/8/8`,
      ...list`010.0.0.1  0x7f.1  10.0.0.1:80  [::1]  fe80::1%eth0  *`,
      ' ',
    ])
      expect(issuesOf({ TLS, TRUSTED_PROXIES }), TRUSTED_PROXIES).to.deep.equal([
        `TRUSTED_PROXIES must be addresses and CIDRs, separated by commas; it is "${TRUSTED_PROXIES}"`,
      ]);
  });

  it('accept only ASCII host names and addresses for TLS_NAMES, which is empty by default', () => {
    expect(loadSettings({}).TLS_NAMES).to.equal('');
    const longest = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`;
    for (const [TLS_NAMES, read] of [
      ['catalogue', 'catalogue'],
      ['Shop.Example, 10.0.0.7 ,2001:DB8::1', 'shop.example,10.0.0.7,2001:db8::1'],
      ['xn--ksezentrum-r5a.example,localhost,::ffff:10.0.0.1', 'xn--ksezentrum-r5a.example,localhost,::ffff:a00:1'],
      [longest, longest],
      [Array(100).fill('a').join(), Array(100).fill('a').join()],
    ] as const)
      expect(loadSettings({ TLS_NAMES }).TLS_NAMES).to.equal(read);
    const wrong = 'no host name in ASCII and no address; write it without scheme, port and brackets';
    for (const name of [
      ...list`käse.example  https://shop.example  shop.example/  shop.example:8443  10.0.0.7:8443  [::1]`,
      ...list`[::1]:8443  fe80::1%eth0  10.0.0.256  10.0.0.0/8  010.0.0.1  0x7f.1  v1.fe::  1.2  a b  a..b  .a  a.`,
      ...list`-a  a-  a_b  a@b`,
      ...['\u212aa.example', 'a\nb', 'x'.repeat(64), `${longest}d`],
    ])
      expect(issuesOf({ TLS_NAMES: `a,${name}` }), name).to.deep.equal([
        `TLS_NAMES: name 2, "${shownValue(name)}", is ${wrong}`,
      ]);
    for (const name of ['*', '*.example', 'a*.example', '*:443'])
      expect(issuesOf({ TLS_NAMES: name }), name).to.deep.equal([
        `TLS_NAMES: name 1, "${name}", is a wildcard; write every name in full`,
      ]);
    expect(issuesOf({ TLS_NAMES: ' ' })).to.deep.equal(['TLS_NAMES: name 1 is empty']);
    expect(issuesOf({ TLS_NAMES: Array(101).fill('a').join() })).to.deep.equal([
      'TLS_NAMES: there are more than 100 names',
    ]);
  });

  it('report every wrong name of TLS_NAMES, in each mode of TLS', () => {
    for (const TLS of ['self-signed', 'files', 'proxy']) {
      const others = { TLS_CERT_FILE: 'a', TLS_KEY_FILE: 'b', TRUSTED_PROXIES: '::1' };
      const lines = issuesOf({ TLS, ...others, TLS_NAMES: '*.x,,ok.example,x:1', PORT: 'x' });
      expect(lines.map((line) => line.split(/[ ;]/, 5).join(' '))).to.deep.equal([
        ...list`PORT must be a whole  TLS_NAMES: name 1, "*.x", is  TLS_NAMES: name 2 is empty`,
        ...list`TLS_NAMES: name 4, "x:1", is`,
      ]);
    }
    expect(issuesOf({ CONFIG_FILE: file('{"TLS_NAMES": ["a"]}') })).to.deep.equal([
      'TLS_NAMES must be a string; it is "["a"]"',
    ]);
  });

  it('accept only serialized origins for CORS_ORIGINS, which is empty by default', () => {
    expect(loadSettings({}).CORS_ORIGINS).to.equal('');
    for (const CORS_ORIGINS of [
      ...list`*  https://shop.example  https://shop.example:8443  http://[::1]:3000  capacitor://localhost`,
      'https://shop.example, http://localhost:3000,https://xn--ksezentrum-r5a.example',
      'chrome-extension://abcdefghijklmnop',
    ])
      expect(loadSettings({ CORS_ORIGINS })).to.include({ CORS_ORIGINS });
    for (const CORS_ORIGINS of [
      ...list`shop.example  //shop.example  localhost:3000  https://  capacitor://  https://shop.example/`,
      ...list`https://shop.example/path  https://shop.example?  https://shop.example#  https://user@shop.example`,
      ...list`https://shop.example:443  http://shop.example:80  https://shop.example:x  HTTPS://shop.example`,
      ...list`https://Shop.example  capacitor://Localhost  https://*.shop.example  https://käse.example`,
      ...list`*, https://shop.example  https://shop.example,  ,  null  https://a.example https://b.example`,
      ' ',
    ])
      expect(issuesOf({ CORS_ORIGINS }), CORS_ORIGINS).to.deep.equal([
        `CORS_ORIGINS must be origins such as https://shop.example, separated by commas and without a path, or *; it is "${CORS_ORIGINS.replace('user@', '***@')}"`,
      ]);
  });

  it('reject a malformed first key together with every other issue, without showing it', () => {
    const malformed = 'BOOTSTRAP_API_KEY must be a well-formed key, as catalogue keys generate prints one; it is "***"';
    for (const BOOTSTRAP_API_KEY of ['hunter2', `${KEY}x`, KEY.replace('5', '6'), ` ${KEY}`])
      expect(issuesOf({ BOOTSTRAP_API_KEY, PORT: '99999' })).to.deep.equal([
        'PORT must be a whole number from 0 to 65,535; it is "99999"',
        malformed,
      ]);
    expect(issuesOf({ BOOTSTRAP_API_KEY: KEY })).to.deep.equal([]);
  });

  it('reject an unknown name in a file and suggest the closest', () => {
    expect(
      issuesOf({
        CONFIG_FILE: file('{"PROT": 1, "rate-limit-requests": 2, "COLOUR": "red", "__proto__": {"PORT": 1}}'),
      }),
    ).to.deep.equal([
      ...list`PROT: there is no setting of this name; is PORT meant?`,
      ...list`rate-limit-requests: there is no setting of this name; is RATE_LIMIT_REQUESTS meant?`,
      ...list`COLOUR: there is no setting of this name  __proto__: there is no setting of this name`,
    ]);
  });

  it('warn of environment variables that are probably misspelt, and of no others', () => {
    const MISSPELT = {
      RATE_LIMIT_REQUEST: 'RATE_LIMIT_REQUESTS',
      MONGO_URL: 'MONGODB_URL',
      PROT: 'PORT',
      MANAGMENT_PORT: 'MANAGEMENT_PORT',
      datadir: 'DATA_DIR',
      LIMIT_RATE_REQUESTS: 'RATE_LIMIT_REQUESTS',
      'TLS-NAMES': 'TLS_NAMES',
      CORS_ORIGIN: 'CORS_ORIGINS',
    };
    for (const [given, meant] of Object.entries(MISSPELT))
      expect(unknownVariables({ [given]: 'x' }), given).to.deep.equal([
        `the environment variable ${given} is no setting and has no effect; is ${meant} meant?`,
      ]);
    const others = list`HOSTNAME=x  HOSTTYPE=x  PORTAGE=x  PORTS=x  STORED=x  META_DIR=x  XDG_DATA_DIRS=x  LOGNAME=x
      TLS_CERT=x  npm_config_port=1  NODE_ENV=production  OTEL_LOG_LEVEL=info  MANAGEMENT_SERVICE_HOST=10.0.0.1
      CATALOGUE_PORT=tcp://10.0.0.1:8443  MANAGEMENTS_PORT=tcp://10.0.0.1:8443
      CATALOGUE_PORT_8443_TCP=tcp://10.0.0.1:8443  MONGODB_URI=`;
    expect(unknownVariables(Object.fromEntries(others.map((one) => one.split('='))))).to.deep.equal([]);
    expect(unknownVariables({ MONGO_URL: 'x', MONGODB_URL: 'y' }), 'both are set').to.deep.equal([]);
    expect(unknownVariables({ ...toEnvironment(loadSettings({})), RATE_LIMIT_REQUEST: '1' }), 'a worker').to.deep.equal(
      [],
    );
  });

  it('show what was given, without secrets and without characters that control a terminal', () => {
    const secret = 'hunter2';
    const key = 'pcs_abcdefghijklmnop';
    const lines = issuesOf({
      MONGODB_URL: `http://user:${secret}@db`,
      REDIS_URL: `redis://:${secret}/x@host/x?password=${secret}`,
      RATE_LIMITER: 'redis',
      STORE: 'mongodb',
      PORT: key,
      LOG_LEVEL: '\u001b[31mred',
      PUBLIC_READ: 'x'.repeat(500),
      HOST: `https://u:${secret}@h`,
    });
    expect(lines).to.have.length(6);
    expect(lines.join()).to.not.include(secret).and.to.not.include(key);
    const shown = lines.map((line) => /it is "(.*)"$/.exec(line)?.[1]);
    expect(shown).to.include.members(['http://***@db', '\\u001b[31mred']);
    expect(shown.find((text) => text?.startsWith('xxx'))).to.equal(`${'x'.repeat(100)}…`);
  });

  it('refuse a URL whose password had to be percent-encoded, and show nothing of it', () => {
    const secrets = ['P@ssword#24', '12345?abc', 'a/b', 'a%40b#', 'a#b?', '/', 'a@b/c'];
    for (const [name, scheme, more] of [
      ['POSTGRESQL_URL', 'postgresql', { STORE: 'postgresql' }],
      ['POSTGRESQL_URL', 'postgres', {}],
      ['MONGODB_URL', 'mongodb', { STORE: 'mongodb' }],
      ['MONGODB_URL', 'mongodb+srv', {}],
      ['REDIS_URL', 'rediss', { RATE_LIMITER: 'redis' }],
    ] as const)
      for (const secret of secrets) {
        const { settings, issues } = explainSettings({
          ...more,
          [name]: `${scheme}://user:${secret}@host.example/base`,
        });
        expect(issues, secret).to.have.length(1);
        expect(issues[0]).to.match(new RegExp(`^${name} has a #, .*percent-encode .*%40$`));
        expect(settings.find((setting) => setting.name === name)?.value).to.equal('***');
      }
    const encoded = 'postgresql://u:P%40ss%23%2F%3F@h1/base?application_name=a%40b';
    expect(issuesOf({ POSTGRESQL_URL: encoded })).to.deep.equal([]);
  });

  it('reject one port for both PORT and MANAGEMENT_PORT, unless on two addresses', () => {
    const both = { PORT: '9000', MANAGEMENT_PORT: '9000' };
    for (const hosts of [
      {},
      { HOST: 'localhost' },
      { HOST: 'localhost', MANAGEMENT_HOST: '::1' },
      { HOST: '0.0.0.0' },
      { MANAGEMENT_HOST: '::' },
    ])
      expect(issuesOf({ ...both, ...hosts })[0]).to.match(/^MANAGEMENT_PORT and PORT name one port/);
    expect(issuesOf({ ...both, HOST: '192.0.2.1' })).to.deep.equal([]);
    expect(issuesOf({ PORT: '0', MANAGEMENT_PORT: '0' })).to.deep.equal([]);
  });

  it('are explained with their sources, with secrets masked', () => {
    const CONFIG_FILE = file('{"PORT": 1111, "LOG_LEVEL": "warn"}');
    const explained = explainSettings({
      CONFIG_FILE,
      LOG_LEVEL: 'error',
      STORE: 'mongodb',
      MONGODB_URL: 'mongodb://me:hunter2@a:1,b:2/x?replicaSet=rs0',
      BOOTSTRAP_API_KEY: KEY,
      WORKERS: 'auto',
    });
    expect(explained.issues).to.deep.equal([]);
    expect(JSON.stringify(explained)).to.not.include('hunter2').and.not.include(KEY);
    const by = Object.fromEntries(explained.settings.map(({ name, ...rest }) => [name, rest]));
    expect(by['PORT']).to.deep.equal({ value: 1111, source: `file ${CONFIG_FILE}` });
    expect(by['LOG_LEVEL']).to.deep.equal({ value: 'error', source: 'environment' });
    expect(by['HOST']).to.deep.equal({ value: '127.0.0.1', source: 'default' });
    expect(by['PUBLIC_URL']).to.deep.equal({ value: 'https://localhost:1111', source: 'computed' });
    expect(by['SQLITE_FILE']).to.deep.equal({ value: 'data/catalogue.sqlite', source: 'computed' });
    expect(by['MONGODB_URL']?.value).to.equal('mongodb://***@a:1,b:2/x');
    expect(by['WORKERS']).to.deep.equal({ value: Math.min(availableParallelism(), 64), source: 'environment: auto' });
    expect(by['LOG_FORMAT']).to.deep.equal({ value: 'auto', source: 'default' });
    expect(by['CONFIG_FILE']).to.deep.equal({ value: CONFIG_FILE, source: 'environment' });
  });

  it('are explained even if some are wrong, with every problem', () => {
    const { settings, issues } = explainSettings({ CONFIG_FILE: join(folder, 'absent.json'), PORT: 'x', TLS: 'y' });
    expect(issues.map((line) => line.split(/[ :]/, 1)[0])).to.deep.equal(['CONFIG_FILE', 'PORT', 'TLS']);
    expect(settings.find(({ name }) => name === 'PORT')?.value).to.equal('x');
  });

  it('are described one by one, with their defaults', () => {
    const descriptions = describeSettings();
    const defaults = loadSettings({});
    expect(descriptions.map(({ name }) => name)).to.have.members(Object.keys(defaults));
    for (const { name, description } of descriptions)
      expect(description, name)
        .to.match(/^[A-Z].*\.$/)
        .and.to.not.match(/\. /);
    const byName = Object.fromEntries(descriptions.map((one) => [one.name, one]));
    for (const [name, value] of Object.entries(defaults)) {
      if (name === 'PUBLIC_URL') continue;
      const shown = byName[name]?.default.replace(/^DATA_DIR\//, 'data/');
      expect(shown, name).to.equal(String(value));
    }
    expect(byName['PORT']).to.include({ type: 'integer', minimum: 0, maximum: 65_535 });
    expect(byName['STORE']?.values).to.deep.equal(Object.keys(STORES));
    expect(byName['WORKERS']).to.deep.include({ minimum: 1, maximum: 64, values: ['auto'], default: '1' });
    expect(byName['SQLITE_FILE']?.default).to.equal('DATA_DIR/catalogue.sqlite');
    expect(byName['PUBLIC_READ']?.values).to.deep.equal(['products']);
  });

  it('reject a file that is missing or not a JSON object, without quoting it', () => {
    const absent = join(folder, 'absent.json');
    expect(issuesOf({ CONFIG_FILE: absent, PORT: 'x' })).to.deep.equal([
      `CONFIG_FILE: ${absent} cannot be read: no such file or directory (ENOENT)`,
      'PORT must be a whole number from 0 to 65,535; it is "x"',
    ]);
    for (const text of ['{"BOOTSTRAP_API_KEY": "secret" oops}', '[]', 'null']) {
      const issues = issuesOf({ CONFIG_FILE: file(text) });
      expect(issues).to.have.length(1);
      expect(issues[0]).to.not.include('secret');
    }
  });
});

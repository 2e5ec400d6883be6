import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ChildProcessService, MAIN } from '../support/child-process-service.js';
import { python } from '../support/python.js';
import { temporaryFolder } from '../support/temporary-folder.js';

/**
 * Starts the program in sys.argv[1:] on a pseudo-terminal of its own, sends requests when the banner is there, stops it,
 * and prints what the terminal received. With the variable LOG_FILE, standard error is that file.
 */
const ON_TERMINAL = `
import os, pty, re, select, signal, ssl, subprocess, sys, urllib.request
main, ours = pty.openpty()
log = open(os.environ['LOG_FILE'], 'w') if 'LOG_FILE' in os.environ else ours
child = subprocess.Popen(sys.argv[1:], stdin=ours, stdout=ours, stderr=log, start_new_session=True)
os.close(ours)
received = b''
isAsked = False
while True:
    ready, _, _ = select.select([main], [], [], 60)
    if not ready: sys.exit('nothing more arrived: %r' % received)
    try: chunk = os.read(main, 65536)
    except OSError: break
    if not chunk: break
    received += chunk
    found = re.search(rb'or, in a browser: https://localhost:(\\d+)/console .*/docs', received)
    if found and not isAsked:
        isAsked = True
        for path in ['/', '/nowhere/%1B%5B31m']:
            url = 'https://localhost:%s%s' % (found[1].decode(), path)
            try: urllib.request.urlopen(url, context=ssl._create_unverified_context()).read()
            except urllib.error.HTTPError: pass
        child.send_signal(signal.SIGTERM)
child.wait()
sys.stdout.buffer.write(received)
sys.exit(0 if child.returncode == 0 else 'the program ended with %s: %r' % (child.returncode, received))
`;

const BANNER =
  /The product catalogue listens on \S+ \(127\.0\.0\.1\)\.\nData: \S+\nAPI key, with every scope, shown this once: pcs_\w+\nTry it:\n {2}curl -w '\\n' --cacert \S+ -H "Authorization: Bearer pcs_\w+" https:\S+\nor, in a browser: \S+\/console \(records\), \S+\/docs \(the interface\)\n/;

describe('the program on a terminal', () => {
  const root = temporaryFolder();
  let count = 0;
  const run = async (environment: Record<string, string>): Promise<string> => {
    const { PATH = '' } = process.env;
    const variables = {
      PATH,
      PORT: '0',
      MANAGEMENT_PORT: '0',
      DATA_DIR: join(root, `${++count}`),
      TERM: 'xterm-256color',
      LOG_LEVEL: 'trace',
      ...environment,
    };
    const settings = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
    const program = ['env', '-i', ...settings, process.execPath, MAIN];
    const received = await python(ON_TERMINAL, ...program);
    return received.replaceAll('\r\n', '\n');
  };
  const COLOUR = /\u001b\[\d+m/g;

  for (const WORKERS of ['1', '2'])
    it(`writes one readable line per event and cuts no banner, with WORKERS=${WORKERS}`, async () => {
      const text = await run({ WORKERS });
      expect(text).to.match(BANNER);
      const lines = text.replace(BANNER, '').replace(COLOUR, '').trimEnd().split('\n');
      for (const line of lines) expect(line).to.match(/^\d\d:\d\d:\d\d (info |warn |error) \S/);
      const log = lines.join('\n');
      expect(log).to.match(/ info {2}listening {2}host=127\.0\.0\.1 {2}port=\d+$/m);
      expect(log).to.match(/ info {2}GET \/ {2}200 {2}[\d.]+ ms {2}\d+ bytes {2}requestId=\S+$/m);
      expect(log).to.match(/ info {2}GET \/\*\/\* {2}404 /m);
      expect(text).to.match(/ started {2}store=sqlite [\s\S]*The product catalogue listens/);
    });

  it('uses colours only if the terminal has them and NO_COLOR is unset', async () => {
    expect(await run({})).to.match(COLOUR);
    for (const environment of [{ NO_COLOR: '1' }, { TERM: 'dumb' }])
      expect(await run(environment), JSON.stringify(environment)).to.not.include('\u001b');
  });

  it('writes JSON lines to the terminal with LOG_FORMAT=json', async () => {
    const text = await run({ LOG_FORMAT: 'json' });
    const lines = text.replace(BANNER, '').trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).msg)).to.include.members(['listening', 'request', 'stopped']);
  });

  it('writes readable lines to a pipe with LOG_FORMAT=text, in colour only with FORCE_COLOR', async () => {
    for (const [environment, isColoured] of [
      [{ TERM: 'xterm-256color' }, false],
      [{ FORCE_COLOR: '1' }, true],
    ] as const) {
      const service = new ChildProcessService(root, { LOG_FORMAT: 'text', ...environment });
      try {
        const client = await service.started(service.firstKey || 'none');
        await client.get('/', { token: null });
        client.close();
        await service.stop();
      } finally {
        service.kill('SIGKILL');
      }
      expect(service.log.includes('\u001b')).to.equal(isColoured);
      expect(service.log.replaceAll(COLOUR, '')).to.match(/^\d\d:\d\d:\d\d info {2}GET \/ {2}200 {2}/m);
    }
  });

  it('writes JSON lines to a file, and only the banner to the terminal', async () => {
    const LOG_FILE = join(root, 'log');
    process.env['LOG_FILE'] = LOG_FILE;
    const text = await run({}).finally(() => delete process.env['LOG_FILE']);
    expect(text.replace(BANNER, '')).to.equal('');
    const lines = readFileSync(LOG_FILE, 'utf8').trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).msg)).to.include.members(['listening', 'request', 'stopped']);
  });
});

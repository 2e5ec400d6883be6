import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import Database from 'libsql';
import { ChildProcessService } from '../../tests/support/child-process-service.js';
import { freePort } from '../../tests/support/free-port.js';
import { HttpClient } from '../../tests/support/http-client.js';
import { ALERT_TESTS_FILE, ALERTS_FILE, expressions } from '../../tests/support/monitoring-files.js';
import { metricsIn } from '../../tests/support/promql.js';
import { Scrape } from '../../tests/support/scrape.js';
import { temporaryFolder } from '../../tests/support/temporary-folder.js';
import { until } from '../../tests/support/until.js';
import { status, WebhookReceiver } from '../../tests/support/webhook-receiver.js';

const CONFIG = 'deploy/prometheus/prometheus.yml';
/** The conventions choose this name; `_count` is reserved for histograms by promtool alone. */
const KNOWN_LINT = ['db_client_connection_count non-histogram and non-summary metrics should not have "_count" suffix'];

/** Only a service on PostgreSQL has it. */
const METRIC_OF_POSTGRESQL = 'changes_delay_seconds';

/** Runs a program to its end. @returns its output; fails if it is not installed or its exit code is not in the list */
async function run(program: string, args: readonly string[], input = '', codes = [0]): Promise<string> {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  child.stdin.end(input);
  const [code] = await once(child, 'close');
  expect(code, output).to.be.oneOf(codes);
  return output;
}

describe('the alerts', () => {
  before('needs promtool and prometheus', async () => {
    for (const program of ['promtool', 'prometheus'])
      await promisify(execFile)(program, ['--version']).catch((error: Error) => {
        throw new Error(`${program} is missing: apt-get install prometheus (${error.message})`);
      });
  });

  it('are valid rules of a valid configuration', async () => {
    expect(await run('promtool', ['check', 'rules', ALERTS_FILE])).to.include('SUCCESS');
    expect(await run('promtool', ['check', 'config', CONFIG])).to.include('SUCCESS');
  });

  it('fire for the test series that are theirs', async () => {
    expect(await run('promtool', ['test', 'rules', ALERT_TESTS_FILE])).to.include('SUCCESS');
  });

  describe('and the dashboard, with a service that Prometheus scrapes', () => {
    const folder = temporaryFolder();
    const receiver = new WebhookReceiver();
    let service: ChildProcessService;
    let client: HttpClient;
    let management: HttpClient;
    let managementPort: string;
    let prometheus: ChildProcess;
    let prometheusUrl: string;
    let prometheusLog = '';
    const scrape = async () => new Scrape((await management.get('/metrics', { token: null })).text);
    const query = async (expr: string) => {
      const response = await fetch(`${prometheusUrl}/api/v1/query?query=${encodeURIComponent(expr)}`);
      return (await response.json()) as { status: string; error?: string; data: { result: unknown[] } };
    };

    before(async () => {
      await receiver.start();
      receiver.answer = status(410);
      const trust = { WEBHOOK_NETWORKS: '127.0.0.1/32', NODE_EXTRA_CA_CERTS: receiver.authorityFile };
      service = new ChildProcessService(folder, { WORKERS: '2', ...trust });
      client = await service.started();
      managementPort = (await service.logs(/"port":(\d+)[^\n]*"msg":"management listening"/))[1] ?? '';
      management = new HttpClient(Number(managementPort), undefined, '');
      const webhook = { name: 'gone', url: receiver.urlOf('/'), resources: ['products'] };
      expect((await client.post('/v1/webhooks', webhook)).status).to.equal(201);
      await traffic(client, `${folder}/data/catalogue.sqlite`);
      await until('the webhook is paused', async () => (await scrape()).sum('webhook_pauses_total') > 0);
      const port = await freePort();
      prometheusUrl = `http://127.0.0.1:${port}`;
      const config = readFileSync(CONFIG, 'utf8')
        .replace('127.0.0.1:9464', `127.0.0.1:${managementPort}`)
        .replaceAll('15s', '1s')
        .replace('alerts.yml', resolve(ALERTS_FILE));
      writeFileSync(join(folder, 'prometheus.yml'), config);
      prometheus = spawn(
        'prometheus',
        [
          `--config.file=${join(folder, 'prometheus.yml')}`,
          `--storage.tsdb.path=${join(folder, 'tsdb')}`,
          `--web.listen-address=127.0.0.1:${port}`,
        ],
        { stdio: ['ignore', 'ignore', 'pipe'] },
      );
      prometheus.stderr?.on('data', (chunk) => {
        prometheusLog += chunk;
      });
      await until(
        'Prometheus has scraped the service several times',
        async () => {
          const { data } = await query('count_over_time(up{job="catalogue"}[1m]) > 3 and up == 1');
          return data.result.length === 1;
        },
        60_000,
      ).catch((error: Error) => {
        throw new Error(`${error.message}\n${prometheusLog}`);
      });
      await traffic(client, `${folder}/data/catalogue.sqlite`);
    });
    after(async () => {
      client?.close();
      management?.close();
      if (prometheus?.exitCode === null) {
        const ended = once(prometheus, 'exit');
        prometheus.kill('SIGKILL');
        await ended;
      }
      await service?.stop('SIGKILL');
      await receiver.stop();
    });

    it('read metrics without lint', async () => {
      const output = await run('promtool', ['check', 'metrics'], (await scrape()).text, [0, 3]);
      expect(output.split('\n').filter(Boolean)).to.deep.equal(KNOWN_LINT);
    });

    it('name only metrics and labels that a scrape has after traffic', async () => {
      const now = await scrape();
      for (const { where, expr, shown } of expressions()) {
        const { metrics, groups } = metricsIn(expr);
        const series = metrics.map(({ metric }) => now.find(metric));
        for (const [at, { metric, labels }] of metrics.entries()) {
          if (['up', METRIC_OF_POSTGRESQL].includes(metric)) continue;
          expect(series[at], `${where}: ${metric}`).to.not.deep.equal([]);
          for (const label of labels) expectLabel(series[at] ?? [], label, where);
        }
        for (const label of [...groups, ...shown]) expectLabel(series.flat(), label, where);
      }
    });

    it('are expressions that Prometheus evaluates, and those of the dashboard have data', async () => {
      for (const { where, expr } of expressions()) {
        const asked = expr
          .replaceAll('$job', 'catalogue')
          .replaceAll('$instance', '.*')
          .replaceAll('$__rate_interval', '1m');
        const { status, error, data } = await query(asked);
        expect(status, `${where}: ${error}`).to.equal('success');
        if (asked !== expr && !expr.includes(METRIC_OF_POSTGRESQL))
          expect(data.result, `${where}: ${expr}`).to.not.deep.equal([]);
      }
    });

    it('are loaded by Prometheus, and none fires for a healthy service', async () => {
      const rules = (await (await fetch(`${prometheusUrl}/api/v1/rules`)).json()) as {
        data: { groups: readonly { rules: readonly { name: string; state: string; health: string }[] }[] };
      };
      const loaded = rules.data.groups.flatMap((group) => group.rules);
      expect(loaded).to.have.length.greaterThan(10);
      for (const { name, state, health } of loaded) {
        expect(health, name).to.be.oneOf(['ok', 'unknown']);
        expect(state, name).to.not.equal('firing');
      }
    });
  });
});

/** Prometheus adds the first two when it scrapes. */
function expectLabel(series: Scrape['series'], label: string, where: string): void {
  if (['job', 'instance'].includes(label)) return;
  expect(
    series.some(({ labels }) => label in labels),
    `${where}: ${label}`,
  ).to.equal(true);
}

/** Sends requests of many kinds, also such as fail. */
async function traffic(client: HttpClient, database: string): Promise<void> {
  for (let i = 0; i < 20; i++) {
    await client.post('/v1/products', { name: 'Lamp', sku: `LAMP-${Math.random()}` });
    await client.get('/v1/products');
    await client.get(`/v1/products/${i + 1}`);
  }
  // Another program holds the lock of writers for longer than the store waits: a call fails.
  const other = new Database(database);
  other.exec('BEGIN IMMEDIATE');
  expect((await client.post('/v1/products', { name: 'Lamp' })).status).to.equal(503);
  other.exec('ROLLBACK');
  other.close();
  await client.post('/v1/products/imports', '{"name":"a"}\n', {
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
  expect((await client.get('/v1/users', { token: null })).status).to.equal(401);
  expect((await client.get('/v1/users', { token: 'pcs_wrong' })).status).to.equal(401);
}

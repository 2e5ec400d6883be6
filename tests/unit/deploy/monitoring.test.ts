import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { load } from 'js-yaml';
import { DEFINITIONS } from '#src/adapters/outbound/prometheus/definitions.js';
import { PrometheusMetrics } from '#src/adapters/outbound/prometheus/metrics.js';
import { FakeClock } from '../../support/fakes.js';
import { ALERT_TESTS_FILE, alerts, DASHBOARD_FILE, expressions, panels } from '../../support/monitoring-files.js';
import { metricsIn } from '../../support/promql.js';
import { Scrape } from '../../support/scrape.js';

/** Prometheus adds these to every series. */
const TARGET_LABELS = ['job', 'instance'];

/** The labels of every series, by its name. */
async function knownSeries(): Promise<Map<string, readonly string[]>> {
  const known = new Map<string, readonly string[]>([['up', []]]);
  const { text, series } = new Scrape(await new PrometheusMetrics(new FakeClock()).text());
  for (const [, name = ''] of text.matchAll(/^# TYPE (\S+) /gm)) known.set(name, []);
  for (const { name, labels } of series) known.set(name, Object.keys(labels));
  for (const [name, { type, labels }] of Object.entries(DEFINITIONS)) {
    known.set(name, labels);
    if (type !== 'histogram') continue;
    known.set(`${name}_bucket`, [...labels, 'le']);
    known.set(`${name}_sum`, labels);
    known.set(`${name}_count`, labels);
  }
  return known;
}

/** Returns what an expression names and no series has. */
function unknownIn(expr: string, shown: readonly string[], known: ReadonlyMap<string, readonly string[]>): string[] {
  const { metrics, groups } = metricsIn(expr);
  const all = metrics.flatMap(({ metric }) => known.get(metric) ?? []).concat(TARGET_LABELS);
  return [
    ...metrics.flatMap(({ metric, labels }) => {
      const names = known.get(metric);
      if (!names) return [metric];
      return labels.filter((label) => ![...names, ...TARGET_LABELS].includes(label));
    }),
    ...[...groups, ...shown].filter((label) => !all.includes(label)),
  ];
}

describe('the alerts and the dashboard', () => {
  it('name only metrics and labels that exist', async () => {
    const known = await knownSeries();
    expect(expressions()).to.have.length.greaterThan(50);
    for (const { where, expr, shown } of expressions()) {
      expect(metricsIn(expr).metrics, where).to.not.deep.equal([]);
      expect(unknownIn(expr, shown, known), where).to.deep.equal([]);
    }
  });

  it('are found if they name others', async () => {
    const known = await knownSeries();
    for (const [expr, unknown] of [
      ['sum by (instance, le) (rate(http_server_request_duration_seconds_bucket{le="1"}[5m])) > 1', []],
      ['sum(rate(no_such_metric[5m])) / up', ['no_such_metric']],
      ['up{colour=~"red"} == 0', ['colour']],
      ['sum by (colour) (work_waiting{work="imports"})', ['colour']],
      ['http_server_request_duration_seconds_bucket{http_route="{a}", status="200"}', ['status']],
    ] as const)
      expect(unknownIn(expr, [], known), expr).to.deep.equal(unknown);
    expect(unknownIn('up', ['work'], known)).to.deep.equal(['work']);
  });

  it('show every metric of the service', () => {
    const named = new Set(expressions().flatMap(({ expr }) => metricsIn(expr).metrics.map(({ metric }) => metric)));
    const unnamed = Object.keys(DEFINITIONS).filter(
      (name) => ![name, `${name}_bucket`, `${name}_count`].some((one) => named.has(one)),
    );
    expect(unnamed).to.deep.equal([]);
  });
});

describe('each alert', () => {
  it('says how urgent it is, what happened and what to do', () => {
    for (const { alert, labels, annotations } of alerts()) {
      expect(labels['severity'], alert).to.be.oneOf(['page', 'ticket', 'info']);
      expect(annotations['summary'], alert).to.match(/\.$/);
      expect(annotations['runbook'], alert).to.match(/^.{40,}\.$/);
    }
  });

  it('has series that make it fire', () => {
    const { tests } = load(readFileSync(ALERT_TESTS_FILE, 'utf8')) as {
      tests: readonly { promql_expr_test: readonly { exp_samples: readonly { labels: string }[] }[] }[];
    };
    const fired = tests.flatMap(({ promql_expr_test: [test] }) =>
      (test?.exp_samples ?? []).map(({ labels }) => /alertname="(\w+)"/.exec(labels)?.[1]),
    );
    expect(fired.sort()).to.deep.equal(
      alerts()
        .map(({ alert }) => alert)
        .sort(),
    );
  });
});

describe('the dashboard', () => {
  it('has panels with different ids, titles and places', () => {
    const dashboard = JSON.parse(readFileSync(DASHBOARD_FILE, 'utf8'));
    for (const key of ['id', 'title'] as const) {
      const values = panels().map((panel) => panel[key]);
      expect(new Set(values)).to.have.property('size', values.length);
    }
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }: { gridPos: Record<string, number> }) =>
      Array.from({ length: (w as number) * (h as number) }, (_, at) => {
        return `${(x as number) + (at % (w as number))},${(y as number) + Math.floor(at / (w as number))}`;
      }),
    );
    expect(new Set(cells)).to.have.property('size', cells.length);
  });
});

describe('docs/how-to/monitoring.md', () => {
  it('has a row for every metric of the service, and no other', () => {
    const text = readFileSync('docs/how-to/monitoring.md', 'utf8');
    const rows = Object.entries(DEFINITIONS).map(([name, { type, labels, help }]) => {
      const names = labels.length > 0 ? labels.map((label) => `\`${label}\``).join(', ') : '';
      return `| \`${name}\` | ${type} | ${names} | ${help} |`.replaceAll(/ {2,}/g, ' ');
    });
    const table = [...text.matchAll(/^\| `\w+` \| (?:counter|gauge|histogram) \|.*\|$/gm)].map(([row]) => row);
    expect(table).to.deep.equal(rows);
  });
});

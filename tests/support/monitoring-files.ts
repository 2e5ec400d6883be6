import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';

export const ALERTS_FILE = 'deploy/prometheus/alerts.yml';
export const ALERT_TESTS_FILE = 'deploy/prometheus/alerts.test.yml';
export const DASHBOARD_FILE = 'deploy/grafana/catalogue.json';

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

export function alerts(): readonly Alert[] {
  const file = load(readFileSync(ALERTS_FILE, 'utf8')) as { groups: readonly { rules: readonly Alert[] }[] };
  return file.groups.flatMap(({ rules }) => rules);
}

export function panels(): readonly Panel[] {
  return (JSON.parse(readFileSync(DASHBOARD_FILE, 'utf8')) as { panels: readonly Panel[] }).panels;
}

/** A text with an expression or the names of labels, and where it stands. */
interface Expression {
  readonly where: string;
  readonly expr: string;
  /** The labels that its legend or its annotations show. */
  readonly shown: readonly string[];
}

/** Every expression of the alerts and the dashboard. */
export function expressions(): readonly Expression[] {
  return [
    ...alerts().map(({ alert, expr, annotations }) => ({
      where: alert,
      expr,
      shown: [
        ...Object.values(annotations)
          .join(' ')
          .matchAll(/\$labels\.(\w+)/g),
      ].map(([, name = '']) => name),
    })),
    ...panels().flatMap(({ title, targets = [] }) =>
      targets.map(({ expr, legendFormat }) => ({
        where: title,
        expr,
        shown: [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, name = '']) => name),
      })),
    ),
  ];
}

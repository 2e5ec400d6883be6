/** One line of a scrape. */
interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A scrape in Prometheus' text format. */
export class Scrape {
  readonly series: readonly Series[];

  constructor(readonly text: string) {
    this.series = text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map(seriesOf);
  }

  /** The sum of the series of this name with these labels. */
  sum(name: string, labels: Readonly<Record<string, string>> = {}): number {
    return this.find(name, labels).reduce((sum, { value }) => sum + value, 0);
  }

  find(name: string, labels: Readonly<Record<string, string>> = {}): readonly Series[] {
    return this.series.filter(
      (one) => one.name === name && Object.entries(labels).every(([label, value]) => one.labels[label] === value),
    );
  }

  /** Every different value of a label, over all metrics. */
  valuesOf(label: string): string[] {
    return [...new Set(this.series.flatMap(({ labels }) => labels[label] ?? []))].sort();
  }
}

/** @throws Error if the line has another format */
function seriesOf(line: string): Series {
  const [, name, labels = '', value] = /^([a-zA-Z_:]\w*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
  if (name === undefined || Number.isNaN(Number(value?.replace('Inf', 'Infinity'))))
    throw new Error(`no line of a scrape: ${line}`);
  const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"(?:,|$)/g)].map(([, label = '', text = '']) => [
    label,
    text,
  ]);
  return { name, labels: Object.fromEntries(pairs), value: Number(value) };
}

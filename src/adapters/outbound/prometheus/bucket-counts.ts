import type { MetricValue } from '../../../application/ports/metrics.js';

/**
 * One series of a histogram. By hand: an observation adds to three numbers, where prom-client hashes the labels of
 * each observation, which costs ten times as much.
 */
export class BucketCounts {
  /** By bucket; the last one has no bound. */
  private readonly counts: number[];
  private sum = 0;

  /** @param bounds the upper bounds of the buckets, ascending */
  constructor(private readonly bounds: readonly number[]) {
    this.counts = [...bounds.map(() => 0), 0];
  }

  observe(value: number): void {
    const { bounds, counts } = this;
    let at = 0;
    while (at < bounds.length && value > (bounds[at] as number)) at++;
    counts[at] = (counts[at] as number) + 1;
    this.sum += value;
  }

  values(name: string, labels: MetricValue['labels']): MetricValue[] {
    let count = 0;
    const buckets = this.counts.map((inBucket, at) => {
      count += inBucket;
      const le = this.bounds[at] ?? '+Inf';
      return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: this.sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }
}

/** Returns the entry of a key, which is made at its first use. */
export function entryOf<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const existing = map.get(key);
  if (existing !== undefined) return existing;
  const made = make();
  map.set(key, made);
  return made;
}

/** The labels that apply. */
export function definedLabels(labels: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(labels).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

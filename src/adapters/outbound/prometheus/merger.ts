import type { Registry } from 'prom-client';
import type { MetricFigures, MetricsMerger, MetricValue } from '../../../application/ports/metrics.js';
import { definitionOf, type MetricName } from './definitions.js';

/** Totals that are no counters, which `promtool` refuses, and a minimum that says nothing. */
const OMITTED = /^nodejs_(active_\w+_total|eventloop_lag_min_seconds)$/;

/** The metrics of prom-client whose values of several workers are neither added nor averaged. */
const AGGREGATORS: readonly (readonly [name: RegExp, aggregator: string])[] = [
  // The start of the youngest worker, so that each new one shows.
  [/^process_start_time_seconds$/, 'max'],
  // The worst worker: an average would hide it.
  [/^nodejs_eventloop_lag/, 'max'],
];

/**
 * The metrics of this process by prom-client. It is loaded at the first scrape, because it costs 12 MiB that a process
 * without Prometheus does not need, so these metrics begin with that scrape.
 */
export class ProcessMetrics {
  private registry: Promise<Registry> | undefined;

  async figures(): Promise<readonly MetricFigures[]> {
    this.registry ??= this.createRegistry().catch((error: unknown) => {
      // The next scrape tries again.
      this.registry = undefined;
      throw error;
    });
    const metrics = (await (await this.registry).getMetricsAsJSON()) as unknown as readonly MetricFigures[];
    const kept = metrics.filter(({ name }) => !OMITTED.test(name));
    return kept.map(({ name, help, type, aggregator, values }) => ({
      name,
      help,
      type,
      aggregator: AGGREGATORS.find(([pattern]) => pattern.test(name))?.[1] ?? aggregator,
      // Statistics of nothing are not numbers.
      values: values.filter(({ value }) => Number.isFinite(value)),
    }));
  }

  private async createRegistry(): Promise<Registry> {
    const { collectDefaultMetrics, Registry } = await import('prom-client');
    const registry = new Registry();
    collectDefaultMetrics({ register: registry });
    return registry;
  }
}

/** Makes one report of the figures of several processes, by prom-client. */
export class PrometheusMerger implements MetricsMerger {
  async merge(processes: readonly (readonly MetricFigures[])[]): Promise<readonly MetricFigures[]> {
    const registry = await aggregated(processes);
    return (await registry.getMetricsAsJSON()) as unknown as readonly MetricFigures[];
  }

  async report(
    processes: readonly (readonly MetricFigures[])[],
    { serving, reporting }: { readonly serving: number; readonly reporting: number },
  ): Promise<string> {
    const workers = [
      figuresOf('worker_processes', [{ labels: {}, value: serving }]),
      figuresOf('worker_processes_reporting', [{ labels: {}, value: reporting }]),
    ];
    return (await aggregated([...processes, workers])).metrics();
  }
}

export function figuresOf(name: MetricName, values: readonly MetricValue[]): MetricFigures {
  const { type, help, aggregator = 'sum' } = definitionOf(name);
  return { name, help, type, aggregator, values };
}

async function aggregated(processes: readonly (readonly MetricFigures[])[]): Promise<Registry> {
  const { AggregatorRegistry } = await import('prom-client');
  return AggregatorRegistry.aggregate([...processes]);
}

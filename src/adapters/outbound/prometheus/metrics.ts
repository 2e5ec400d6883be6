import type { Registry } from 'prom-client';
import type { CounterName, Metrics } from '../../../application/ports/metrics.js';

const COUNTERS: Readonly<Record<CounterName, string>> = {
  rate_limiter_fallback_total:
    'Requests that this process counted on its own because the shared rate limiter did not respond in time.',
};

/**
 * The counters and the process metrics that Prometheus scrapes. prom-client is loaded at the first scrape, because it
 * costs 12 MiB that a process without Prometheus does not need. Process metrics begin then.
 */
export class PrometheusMetrics implements Metrics {
  /** The media type of {@link text}. */
  readonly contentType = 'text/plain; version=0.0.4; charset=utf-8';
  private readonly counts = new Map<CounterName, number>();
  private registry: Promise<Registry> | undefined;

  increment(counter: CounterName): void {
    this.counts.set(counter, this.countOf(counter) + 1);
  }

  /** All current values in Prometheus' text exposition format 0.0.4. */
  async text(): Promise<string> {
    this.registry ??= this.createRegistry().catch((error: unknown) => {
      // The next scrape tries again.
      this.registry = undefined;
      throw error;
    });
    return (await this.registry).metrics();
  }

  private countOf(counter: CounterName): number {
    return this.counts.get(counter) ?? 0;
  }

  private async createRegistry(): Promise<Registry> {
    const { Counter, collectDefaultMetrics, Registry } = await import('prom-client');
    const registry = new Registry();
    collectDefaultMetrics({ register: registry });
    for (const [name, help] of Object.entries(COUNTERS)) {
      const collect = () => {
        counter.reset();
        counter.inc(this.countOf(name as CounterName));
      };
      const counter: InstanceType<typeof Counter> = new Counter({
        name,
        help,
        registers: [registry],
        collect,
      });
    }
    return registry;
  }
}

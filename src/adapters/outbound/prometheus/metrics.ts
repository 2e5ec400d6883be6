import { Counter, collectDefaultMetrics, Registry } from 'prom-client';
import type { CounterName, Metrics } from '../../../application/ports/metrics.js';

const COUNTERS: Readonly<Record<CounterName, string>> = {
  rate_limiter_fallback_total:
    'Requests that this process counted on its own because the shared rate limiter did not respond in time.',
};

/** The counters and the process metrics that Prometheus scrapes. Each instance has its own registry. */
export class PrometheusMetrics implements Metrics {
  private readonly registry = new Registry();
  private readonly counters = new Map<CounterName, Counter>();

  constructor() {
    collectDefaultMetrics({ register: this.registry });
    for (const [name, help] of Object.entries(COUNTERS))
      this.counters.set(name as CounterName, new Counter({ name, help, registers: [this.registry] }));
  }

  increment(counter: CounterName): void {
    this.counters.get(counter)?.inc();
  }

  /** The media type of {@link text}. */
  get contentType(): string {
    return this.registry.contentType;
  }

  /** All current values in Prometheus' text exposition format 0.0.4. */
  text(): Promise<string> {
    return this.registry.metrics();
  }
}

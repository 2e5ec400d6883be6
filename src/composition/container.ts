import 'reflect-metadata';
import { join } from 'node:path';
import { container as root } from 'tsyringe';
import { ResultBuffers } from '../adapters/inbound/http/import/result-buffer.js';
import type { Line } from '../adapters/outbound/cluster/rate-messages.js';
import { PinoJournal } from '../adapters/outbound/pino/pino-journal.js';
import { PrometheusMetrics } from '../adapters/outbound/prometheus/prometheus-metrics.js';
import { RandomBackoff } from '../adapters/outbound/system/random-backoff.js';
import { SystemClock } from '../adapters/outbound/system/system-clock.js';
import { ChecksummedApiKey } from '../adapters/outbound/tokens/api-key-format.js';
import { QueryBudget } from '../application/query-budget.js';
import { Retention } from '../application/retention.js';
import type { Settings } from '../config/settings.js';
import { bindAuth } from './auth.js';
import { bindOpenApi } from './openapi.js';
import { RATE_LIMITS } from './rate-limits.js';
import { composeResources } from './resources.js';
import { STORES } from './stores.js';
import { Sweeping } from './sweeping.js';
import * as t from './tokens.js';
import { TRANSPORTS } from './transports.js';
import { type Bind, type Get, getter, provide } from './typed-token.js';

/**
 * The wiring: for every port its adapter. Nothing is made before it is first asked for.
 * @param primary where this process is one of several workers: its line to the one that counts for all
 */
export function compose(settings: Settings, primary?: Line): Get {
  const container = root.createChildContainer();
  const bind: Bind = (name, make) => provide(container, name, make);
  bind(t.SETTINGS, () => settings);
  bindSystem(bind);
  bindStore(bind);
  bindRateLimits(bind, primary);
  bindAuth(bind);
  bindResources(bind);
  bindOpenApi(bind);
  return getter(container);
}

/** A well-formed API key that no store knows. */
export function generateKey(): string {
  return new ChecksummedApiKey().generate();
}

function bindSystem(bind: Bind): void {
  bind(t.CLOCK, () => new SystemClock());
  bind(t.BACKOFF, () => new RandomBackoff());
  bind(t.JOURNAL, (get) => new PinoJournal(get(t.SETTINGS).LOG_LEVEL));
  bind(t.METRICS, () => new PrometheusMetrics());
  bind(t.SPOOLS, (get) => new ResultBuffers({ folder: join(get(t.SETTINGS).DATA_DIR, 'spool') }));
  bind(t.TRANSPORT, (get) => {
    const settings = get(t.SETTINGS);
    return TRANSPORTS[settings.TLS](settings, get(t.CLOCK), get(t.JOURNAL));
  });
}

function bindStore(bind: Bind): void {
  bind(t.STORED, (get) => {
    const settings = get(t.SETTINGS);
    const budget = new QueryBudget(get(t.CLOCK), settings.QUERY_TIMEOUT_MS);
    return STORES[settings.STORE](settings, budget, get(t.JOURNAL));
  });
  bind(t.STORE, (get) => get(t.STORED).store);
  bind(t.SWEEPING, (get) => {
    const retention = new Retention(get(t.STORED).expiring, get(t.CLOCK));
    return new Sweeping(retention, get(t.JOURNAL));
  });
}

function bindRateLimits(bind: Bind, primary: Line | undefined): void {
  bind(t.RATE_LIMITS, (get) => {
    const [settings, metrics, journal] = [get(t.SETTINGS), get(t.METRICS), get(t.JOURNAL)];
    return RATE_LIMITS[settings.RATE_LIMITER]({ settings, metrics, journal, primary });
  });
  bind(t.REQUEST_LIMITER, (get) => get(t.RATE_LIMITS).requests);
  bind(t.FAILURE_LIMITER, (get) => get(t.RATE_LIMITS).failures);
}

function bindResources(bind: Bind): void {
  bind(t.RESOURCES, (get) =>
    composeResources({
      settings: get(t.SETTINGS),
      storage: get(t.STORED),
      clock: get(t.CLOCK),
      backoff: get(t.BACKOFF),
      format: get(t.KEY_FORMAT),
      credentials: get(t.CREDENTIAL_CACHE),
      imports: { resultBuffers: get(t.SPOOLS), journal: get(t.JOURNAL) },
    }),
  );
}

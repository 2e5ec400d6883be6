import 'reflect-metadata';
import { instanceCachingFactory, container as root } from 'tsyringe';
import { CertificateError } from '../adapters/outbound/certificates/check-key-pair.js';
import type { Channel } from '../adapters/outbound/cluster/messages.js';
import type { Clock } from '../application/ports/clock.js';
import { StoreConfigError } from '../application/ports/store.js';
import type { TracingSettings } from '../config/settings.js';
import { type Settings, SettingsError } from '../config/settings.js';
import { type Application, type Choices, MAKERS } from './parts.js';
import { RATE_LIMITERS } from './rate-limits.js';
import { STORES } from './stores/index.js';
import { loadTracer } from './tracing.js';

export type { Application };

/**
 * Composes the program, with the adapters that the settings choose.
 * @param primary in a cluster worker: its channel to the primary, which counts for all workers
 * @param tracing default: no traces
 * @param clock default: the one of the system
 */
export async function compose(
  settings: Settings,
  primary?: Channel,
  tracing: TracingSettings = {},
  clock?: Clock,
): Promise<Application> {
  const makeParts = await STORES[settings.STORE].load(settings);
  const makeRateLimits = await RATE_LIMITERS[settings.RATE_LIMITER]();
  const makeTracing = await loadTracer(tracing);
  return composeWith({ settings, makeParts, makeRateLimits, makeTracing, primary, clock });
}

/**
 * Composes the program as {@link compose} does, with adapters that are loaded already. Only this function knows the
 * container: every part gets its dependencies as arguments. A process may compose several programs, as tests do.
 */
export function composeWith(choices: Choices): Application {
  const container = root.createChildContainer();
  const application = { choices } as Application;
  for (const [name, make] of Object.entries(MAKERS)) {
    container.register(name, { useFactory: instanceCachingFactory<unknown>(() => make(application)) });
    Object.defineProperty(application, name, { get: () => container.resolve(name) });
  }
  return application;
}

/** Returns the error of a setting for a store or a certificate that cannot be used as it is configured. */
export function asSettingsError(error: unknown): unknown {
  if (error instanceof StoreConfigError) return new SettingsError(error.message.split('\n'));
  return error instanceof CertificateError ? new SettingsError([error.message]) : error;
}

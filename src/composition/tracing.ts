import type { Tracing } from '../adapters/outbound/opentelemetry/tracing.js';
import type { Logger } from '../application/ports/logger.js';
import type { TracingSettings } from '../config/settings.js';
import { packageVersion } from '../config/settings.js';

/** Starts to record traces, if the settings ask for it. */
export type MakeTracing = (logger: Logger) => Tracing | undefined;

/** Loads OpenTelemetry if the settings ask for traces, and returns a function that starts to record them. */
export async function loadTracer({ protocol, problem }: TracingSettings): Promise<MakeTracing> {
  if (protocol === undefined) {
    return (logger) => {
      if (problem !== undefined) logger.warn('traces are off', { reason: problem });
      return undefined;
    };
  }
  const { EXPORTERS, Tracing } = await import('../adapters/outbound/opentelemetry/tracing.js');
  const makeExporter = await EXPORTERS[protocol]();
  return (logger) => new Tracing({ makeExporter, version: packageVersion(), logger });
}

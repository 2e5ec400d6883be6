import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { Logger } from '../../../application/ports/logger.js';

type ReportResult = Parameters<SpanExporter['export']>[1];

export type MakeExporter = () => SpanExporter;

/** Loads the exporter of each encoding of OTLP, which reads its endpoint, headers and the like from the environment. */
export const EXPORTERS: Readonly<Record<'http/protobuf' | 'http/json', () => Promise<MakeExporter>>> = {
  'http/protobuf': async () => {
    const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto');
    return () => new OTLPTraceExporter();
  },
  'http/json': async () => {
    const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
    return () => new OTLPTraceExporter();
  },
};

/** An exporter that logs the begin and the end of an outage of its collector, not each failure. */
export class WatchedExporter implements SpanExporter {
  private isFailing = false;

  constructor(
    private readonly exporter: SpanExporter,
    private readonly logger: Logger,
  ) {}

  export(spans: ReadableSpan[], report: ReportResult): void {
    this.exporter.export(spans, (result) => {
      // 0: success. `ExportResultCode` is in a package that nothing else needs.
      this.note(result.code !== 0, result.error);
      report(result);
    });
  }

  async forceFlush(): Promise<void> {
    await this.exporter.forceFlush?.();
  }

  shutdown(): Promise<void> {
    return this.exporter.shutdown();
  }

  private note(failed: boolean, error: unknown): void {
    if (failed === this.isFailing) return;
    this.isFailing = failed;
    if (failed) this.logger.warn('traces cannot be exported', { reason: reasonOf(error) });
    else this.logger.info('traces are exported again');
  }
}

/** Returns the status or the code of the system alone. A message may quote what the collector sent. */
function reasonOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  if (typeof code === 'number') return `the collector responds with status ${code}`;
  return typeof code === 'string' ? code : 'the collector does not accept them in time';
}

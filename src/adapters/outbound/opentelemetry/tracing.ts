import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Attributes,
  type Context,
  DiagLogLevel,
  diag,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base';
import type { Logger } from '../../../application/ports/logger.js';
import {
  type EndStoreCall,
  HTTP_METHODS,
  type ObservedRequest,
  type Observer,
  type RemoteSpan,
  type RequestEntry,
  type StoreCall,
  type TraceIds,
} from '../../../application/ports/observer.js';
import { AppError } from '../../../domain/errors.js';
import { withTimeout } from '../../../shared/promises.js';

const SERVICE = 'product-catalogue-service';

/** How long the end of the process waits for the collector. Later spans are lost. */
const FLUSH_MS = 2_000;

/**
 * Messages of the SDK that quote no header, no URL and no response: wrong variables of the environment, and spans that
 * were lost. Any other message of the SDK is dropped.
 */
const SAFE_MESSAGE = /^(OTEL_[A-Z_]+[ =]|Configuration: OTEL_|Unknown value|Failed to read|Dropped \d+ spans)/;

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

export interface TracingOptions {
  readonly makeExporter: MakeExporter;
  readonly version: string;
  readonly logger: Logger;
}

/**
 * Records a span of each request, with a child for each call of the store and of Redis, and sends them by OTLP. Names
 * follow OpenTelemetry's semantic conventions. The SDK reads its variables from the environment: the collector, the
 * sampler, the name of the service, limits of spans and batches.
 */
export class Tracing implements Observer {
  /** The span of the current request; undefined if it is not recorded. */
  private readonly current = new AsyncLocalStorage<Context | undefined>();
  private readonly tracer: Tracer;

  private readonly provider: BasicTracerProvider;

  constructor({ makeExporter, version, logger }: TracingOptions) {
    // First, because the SDK reports wrong variables when it reads them.
    logMessages(logger);
    const own = { 'service.name': SERVICE, 'service.version': version, 'process.pid': process.pid };
    const resource = defaultResource()
      .merge(resourceFromAttributes(own))
      .merge(detectResources({ detectors: [envDetector] }));
    const spanProcessors = [new BatchSpanProcessor(new WatchedExporter(makeExporter(), logger))];
    this.provider = new BasicTracerProvider({ resource, spanProcessors });
    this.tracer = this.provider.getTracer(SERVICE, version);
  }

  request(method: string, parent: RemoteSpan | undefined): ObservedRequest {
    const known = HTTP_METHODS.includes(method) ? method : '_OTHER';
    const attributes = { 'http.request.method': known, 'url.scheme': 'https' };
    const span = this.tracer.startSpan(known, { kind: SpanKind.SERVER, attributes }, contextOf(parent));
    return new ServerSpan(span, this.current);
  }

  /** Begins the span of a call. A call outside a request, as at the start or of a job, is not recorded. */
  storeCall(call: StoreCall): EndStoreCall {
    const parent = this.current.getStore();
    if (!parent) return () => {};
    const { system, operation, collection } = call;
    const kind = system === 'memory' ? SpanKind.INTERNAL : SpanKind.CLIENT;
    const span = this.tracer.startSpan(
      collection === undefined ? operation : `${operation} ${collection}`,
      { kind, attributes: callAttributes(call) },
      parent,
    );
    return (error) => {
      if (error !== undefined) fail(span, error instanceof AppError ? error.code : '_OTHER');
      span.end();
    };
  }

  /** Sends what is recorded. Resolves after {@link FLUSH_MS} at the latest, whether the collector responds or not. */
  async close(): Promise<void> {
    // A failed export is logged when it fails.
    await withTimeout(this.provider.shutdown(), FLUSH_MS).catch(() => {});
  }
}

class ServerSpan implements ObservedRequest {
  readonly span: TraceIds;

  constructor(
    private readonly recorded: Span,
    private readonly current: AsyncLocalStorage<Context | undefined>,
  ) {
    this.span = recorded.spanContext();
  }

  /** Also without a recording: this request may run in the asynchronous context of another one of its connection. */
  run<Result>(work: () => Result): Result {
    const { recorded } = this;
    const context = recorded.isRecording() ? trace.setSpan(ROOT_CONTEXT, recorded) : undefined;
    return this.current.run(context, work);
  }

  end({ requestId, method, route, path, status, responseBytes }: RequestEntry): void {
    const { recorded: span } = this;
    if (!span.isRecording()) return;
    span.setAttributes({
      'url.path': path,
      'http.response.size': responseBytes,
      'catalogue.request_id': requestId,
    });
    if (route !== 'unknown') {
      span.updateName(`${HTTP_METHODS.includes(method) ? method : 'HTTP'} ${route}`);
      span.setAttribute('http.route', route);
    }
    if (status !== undefined) span.setAttribute('http.response.status_code', status);
    // A disconnection of the client, or an error of the service. Other statuses are errors of the client alone.
    if (status === undefined || status >= 500) fail(span, status === undefined ? '_OTHER' : String(status));
    span.end();
  }
}

/** `db.collection.name` is for tables; Redis has none. */
function callAttributes({ system, operation, collection }: StoreCall): Attributes {
  return {
    'db.system.name': system,
    'db.operation.name': operation,
    ...(system !== 'redis' && collection !== undefined && { 'db.collection.name': collection }),
  };
}

/** @param type of few values; the message of an error may hold a secret and is not recorded */
function fail(span: Span, type: string): void {
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

function contextOf(parent: RemoteSpan | undefined): Context {
  if (!parent) return ROOT_CONTEXT;
  const { traceId, spanId, isSampled } = parent;
  const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

function logMessages(logger: Logger): void {
  const warn = (message: string) => {
    if (SAFE_MESSAGE.test(message)) logger.warn('OpenTelemetry', { message });
  };
  const drop = () => {};
  const target = { error: warn, warn, info: drop, debug: drop, verbose: drop };
  diag.setLogger(target, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}

/** An exporter that logs the begin and the end of an outage of its collector, not each failure. */
class WatchedExporter implements SpanExporter {
  private isFailing = false;

  constructor(
    private readonly exporter: SpanExporter,
    private readonly logger: Logger,
  ) {}

  export(spans: ReadableSpan[], report: Parameters<SpanExporter['export']>[1]): void {
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

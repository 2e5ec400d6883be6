import { type LevelWithSilent, type Logger as Pino, pino, stdSerializers, stdTimeFunctions } from 'pino';
import type { Logger } from '../../../application/ports/logger.js';
import type { Observer, RequestEntry } from '../../../application/ports/observer.js';
import { withoutLineEnds } from '../../../shared/json.js';
import { redactSecrets } from '../../../shared/shown-text.js';
import type { LogDestination } from './standard-error.js';

type Details = Readonly<Record<string, unknown>>;

/** Writes JSON lines. No line holds an API key or an access token. */
export class PinoLogger implements Logger, Observer {
  private readonly pino: Pino;
  private readonly logsRequests: boolean;
  private readonly clock = new IsoClock();

  /** @param level the least severe level that is written */
  constructor(
    level: LevelWithSilent,
    private readonly destination: LogDestination,
  ) {
    const options = {
      level,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label: string) => ({ level: label }) },
      serializers: { error: stdSerializers.err },
      base: { pid: process.pid },
    };
    this.pino = pino(options, { write: (line) => this.write(line) });
    this.logsRequests = this.pino.isLevelEnabled('info');
  }

  info(event: string, details: Details = {}): void {
    this.pino.info(details, event);
  }

  warn(event: string, details: Details = {}): void {
    this.pino.warn(details, event);
  }

  error(event: string, details: Details = {}): void {
    this.pino.error(details, event);
  }

  request(): this {
    return this;
  }

  /** Writes the line that `info('request', …)` would write, without a general serializer. */
  end(entry: RequestEntry): void {
    if (!this.logsRequests) return;
    const { requestId, trace, method, route, version, path, status, complete, durationMs } = entry;
    const { waitedMs, responseBytes, principal, errorCode } = entry;
    this.write(
      `{"level":"info","time":"${this.clock.now()}","pid":${process.pid},"requestId":${quote(requestId)}` +
        `${trace === undefined ? '' : `,"trace_id":"${trace.traceId}","span_id":"${trace.spanId}"`}` +
        `,"method":${quote(method)},"route":${quote(route)}${version === undefined ? '' : `,"version":${version}`}` +
        `,"path":${quote(path)}${status === undefined ? '' : `,"status":${status}`},"complete":${complete}` +
        `,"durationMs":${durationMs}${waitedMs === undefined ? '' : `,"waitedMs":${waitedMs}`},"responseBytes":${responseBytes}` +
        `${principal === undefined ? '' : `,"principal":${quote(principal)}`}` +
        `${errorCode === undefined ? '' : `,"errorCode":${quote(errorCode)}`},"msg":"request"}\n`,
    );
  }

  /** Writes out what is buffered, as {@link LogDestination.flush} does. Call it before the process ends. */
  flush(limitMs?: number): Promise<void> {
    return this.destination.flush(limitMs);
  }

  private write(line: string): void {
    this.destination.write(withoutLineEnds(redactSecrets(line)));
  }
}

/** The time of day as ISO 8601. Many requests end in one millisecond. */
class IsoClock {
  private ms = Number.NaN;
  private text = '';

  now(): string {
    const ms = Date.now();
    if (ms !== this.ms) this.text = new Date(ms).toISOString();
    this.ms = ms;
    return this.text;
  }
}

/** ASCII characters that JSON does not escape (RFC 8259 section 7). */
const PLAIN = /^[ !#-[\]-~]*$/;

function quote(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

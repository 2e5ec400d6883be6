import { constants, fstatSync, openSync, write } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { styleText } from 'node:util';
import { type LevelWithSilent, type Logger as Pino, pino, stdSerializers, stdTimeFunctions } from 'pino';
import type { Logger } from '../../../application/ports/logger.js';
import type { Observer, RequestEntry } from '../../../application/ports/observer.js';
import { withoutLineEnds } from '../../../shared/json.js';
import { escapeControls, redactSecrets } from '../../../shared/shown-text.js';

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

/** Where lines are written. */
export interface LogDestination {
  write(line: string): void;
  /** Writes out what is buffered. @param limitMs how long to wait for a slow reader, if longer than usual */
  flush(limitMs?: number): Promise<void>;
}

/** ECMA-48 section 8.3.117, Select Graphic Rendition. */
const STYLES = { dim: '\u001b[2m', red: '\u001b[31m', yellow: '\u001b[33m', reset: '\u001b[0m' };
const LEVEL_STYLES: Readonly<Record<string, keyof typeof STYLES>> = {
  warn: 'yellow',
  error: 'red',
  fatal: 'red',
};

/** A log line as pino writes it. */
interface LogEntry {
  readonly level: string;
  readonly time: string;
  readonly msg: string;
  readonly [detail: string]: unknown;
}

/** The form of the lines: readable, JSON, or readable on a terminal alone. */
export type LogFormat = 'auto' | 'json' | 'text';

export function standardErrorLog(format: LogFormat): LogDestination {
  const stderr = new BufferedStderr();
  const isText = format === 'text' || (format === 'auto' && isatty(STANDARD_ERROR));
  return isText ? new TerminalLog(stderr, hasColors()) : stderr;
}

/** On a terminal, as TERM and NO_COLOR say; anywhere with FORCE_COLOR. Node reads these variables. */
function hasColors(): boolean {
  return styleText('red', 'text', { stream: process.stderr }) !== 'text';
}

/**
 * Turns each JSON line into one line for a person. By hand, because pino-pretty brings a dozen packages and its own
 * stream to standard error, and a terminal needs neither speed nor options.
 */
export class TerminalLog implements LogDestination {
  constructor(
    private readonly target: LogDestination,
    private readonly hasColors: boolean,
  ) {}

  /** @param line JSON with a line feed */
  write(line: string): void {
    const { level, time, pid: _pid, msg, ...details } = JSON.parse(line) as LogEntry;
    const text = msg === 'request' ? requestText(details) : [msg, ...namedValues(details)].join('  ');
    const levelText = this.styled(level.padEnd(5), LEVEL_STYLES[level]);
    this.target.write(`${this.styled(timeOfDay(time), 'dim')} ${levelText} ${escapeControls(text)}\n`);
  }

  flush(limitMs?: number): Promise<void> {
    return this.target.flush(limitMs);
  }

  private styled(text: string, style: keyof typeof STYLES | undefined): string {
    return this.hasColors && style ? STYLES[style] + text + STYLES.reset : text;
  }
}

/** In the time zone of this machine. */
function timeOfDay(time: string): string {
  return new Date(time).toTimeString().slice(0, 8);
}

function requestText(entry: Readonly<Record<string, unknown>>): string {
  const { method, path, status, complete, durationMs, responseBytes, principal, requestId, trace_id } = entry;
  return [
    `${method} ${/[\s"]/.test(`${path}`) ? JSON.stringify(path) : path}`,
    `${status ?? 'no response'}${complete ? '' : ', cut off'}`,
    `${durationMs} ms`,
    `${responseBytes} bytes`,
    ...namedValues({ principal, requestId, trace_id }),
  ].join('  ');
}

function namedValues(details: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(details).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${valueText(name, value)}`],
  );
}

function valueText(name: string, value: unknown): string {
  if (name === 'error') return errorText(value);
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}

/** The message of an error, and where it was thrown. */
function errorText(error: unknown): string {
  const { type, message, stack = '' } = error as { type?: string; message?: string; stack?: string };
  if (message === undefined) return JSON.stringify(error);
  const [, place] = /\n\s+(at .*)/.exec(stack) ?? [];
  return [JSON.stringify(type ? `${type}: ${message}` : message), ...(place ? [place] : [])].join(' ');
}

const STANDARD_ERROR = 2;
/** Linux writes at most this many bytes to a pipe in one piece. The lines of several processes must not mix. */
const PIPE_BUF = 4_096;
/** A file takes any number of bytes in one piece. */
const FILE_PIECE = 64 * 1024;
/** How long lines are buffered, so that no request pays for its own write. */
const BUFFERING_MS = 100;
/** In bytes. Further lines are lost. */
const MAX_BUFFERED = 16 * 1024 * 1024;

/** The pauses between attempts on a full pipe: short for a busy reader, longer for one that takes nothing. */
const FIRST_RETRY_MS = 1;
const MAX_RETRY_MS = 20;
/** How long a flush waits for a slow reader at least. */
const MIN_FLUSH_MS = 2_000;

/**
 * Buffers log lines and writes them to standard error in the background. A full disk or a closed pipe loses lines and
 * stops nothing. A slow reader delays no request. `pino.destination` does not guarantee this for a pipe that several
 * processes share.
 */
export class BufferedStderr implements LogDestination {
  /** Whole lines, as many in each piece as are written at once. */
  private readonly pieces: string[] = [];
  /** The last piece, which may still grow. */
  private last = '';
  private lastBytes = 0;
  private buffered = 0;
  private timer: NodeJS.Timeout | undefined;
  /** The bytes that are being written. */
  private unwritten: Buffer = Buffer.alloc(0);
  private retryMs = FIRST_RETRY_MS;
  private readonly pieceBytes: number;

  /**
   * @param descriptor its writes do not block
   * @param elapsed milliseconds since some moment; never goes back
   */
  constructor(
    private readonly descriptor = nonBlockingStderr(),
    private readonly elapsed = () => performance.now(),
  ) {
    this.pieceBytes = fstatSync(descriptor).isFile() ? FILE_PIECE : PIPE_BUF;
  }

  write(line: string): void {
    if (this.buffered >= MAX_BUFFERED) return;
    const bytes = Buffer.byteLength(line);
    if (this.lastBytes + bytes > this.pieceBytes) this.closePiece();
    this.last += line;
    this.lastBytes += bytes;
    this.buffered += bytes;
    this.timer ??= setTimeout(() => this.startWriting(), BUFFERING_MS).unref();
  }

  /** Resolves when everything is written, or after `limitMs`, but not before {@link MIN_FLUSH_MS}. */
  async flush(limitMs = MIN_FLUSH_MS): Promise<void> {
    const deadline = this.elapsed() + Math.max(limitMs, MIN_FLUSH_MS);
    this.startWriting();
    while (this.unwritten.length > 0 && this.elapsed() < deadline) await sleep(MAX_RETRY_MS);
  }

  private closePiece(): void {
    if (this.lastBytes > 0) this.pieces.push(this.last);
    this.last = '';
    this.lastBytes = 0;
  }

  private startWriting(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.closePiece();
    if (this.unwritten.length === 0) this.writeBytes(this.takePiece());
  }

  private writeBytes(bytes: Buffer): void {
    this.unwritten = bytes;
    if (bytes.length === 0) return;
    write(this.descriptor, bytes, 0, bytes.length, null, (error, written) => {
      if (isPipeFull(error)) return this.retry(bytes);
      this.retryMs = FIRST_RETRY_MS;
      this.writeBytes(error || written === bytes.length ? this.takePiece() : bytes.subarray(written));
    });
  }

  private retry(bytes: Buffer): void {
    setTimeout(() => this.writeBytes(bytes), this.retryMs).unref();
    this.retryMs = Math.min(this.retryMs * 2, MAX_RETRY_MS);
  }

  private takePiece(): Buffer {
    const bytes = Buffer.from(this.pieces.shift() ?? '');
    this.buffered -= bytes.length;
    return bytes;
  }
}

let ownPipe: number | undefined;

/**
 * Returns a descriptor of standard error whose writes do not block. A thread that waits for a reader would keep the
 * process from its end. A pipe is opened once more, because all processes that share a descriptor share its flags. Node
 * makes a socket non-blocking when it opens `process.stderr`, until another process that shares it ends.
 */
function nonBlockingStderr(): number {
  if (!fstatSync(STANDARD_ERROR).isFIFO()) return process.stderr.fd;
  try {
    ownPipe ??= openSync(`/proc/self/fd/${STANDARD_ERROR}`, constants.O_WRONLY | constants.O_NONBLOCK);
    return ownPipe;
  } catch {
    return process.stderr.fd;
  }
}

function isPipeFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN';
}

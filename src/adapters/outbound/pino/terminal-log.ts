import { isatty } from 'node:tty';
import { styleText } from 'node:util';
import { escapeControls } from '../../../shared/shown-text.js';
import { BufferedStderr } from './buffered-stderr.js';
import type { LogDestination } from './logger.js';

const STANDARD_ERROR = 2;

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

/** Writes to standard error. */
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

import {
  type DestinationStream,
  destination,
  type LevelWithSilent,
  type Logger,
  pino,
  stdSerializers,
  stdTimeFunctions,
} from 'pino';
import type { Journal } from '../../../application/ports/journal.js';

type Details = Readonly<Record<string, unknown>>;

/** Lines are gathered for so long, or to so many bytes, so that a request does not pay for a write of its own. */
const FLUSH_MS = 100;
const GATHERED_BYTES = 3_072;
/** PIPE_BUF of Linux: a pipe takes no more in one piece, and the lines of several processes must not mingle. */
const LARGEST_WRITE_BYTES = 4_096;
const STANDARD_ERROR = 2;
const API_KEY = /pcs_[0-9A-Za-z]{8,}/g;

/** JSON lines on standard error; standard output is for people. No line ever holds an API key. */
export class PinoJournal implements Journal {
  private readonly logger: Logger;
  private readonly stream = destination({
    dest: STANDARD_ERROR,
    sync: false,
    minLength: GATHERED_BYTES,
    maxWrite: LARGEST_WRITE_BYTES,
    periodicFlush: FLUSH_MS,
  });

  constructor(level: LevelWithSilent) {
    const masked: DestinationStream = { write: (line) => this.stream.write(masking(line)) };
    const options = {
      level,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label: string) => ({ level: label }) },
      serializers: { error: stdSerializers.err },
      base: { pid: process.pid },
    };
    this.logger = pino(options, masked);
  }

  info(event: string, details: Details = {}): void {
    this.logger.info(details, event);
  }

  warn(event: string, details: Details = {}): void {
    this.logger.warn(details, event);
  }

  error(event: string, details: Details = {}): void {
    this.logger.error(details, event);
  }

  /** Writes out what is gathered; call it before the process ends. */
  flush(): void {
    this.stream.flushSync();
  }
}

function masking(line: string): string {
  return line.includes('pcs_') ? line.replaceAll(API_KEY, 'pcs_[secret]') : line;
}

import { type LevelWithSilent, type Logger, pino, stdSerializers, stdTimeFunctions } from 'pino';
import type { Journal } from '../../../application/ports/journal.js';
import { masking } from '../../../shared/redact.js';
import { GatheredLines } from './gathered-lines.js';

type Details = Readonly<Record<string, unknown>>;

/** JSON lines on standard error; standard output is for people. No line ever holds an API key or an access token. */
export class PinoJournal implements Journal {
  private readonly logger: Logger;
  private readonly lines = new GatheredLines();

  /** @param level lines below it are not written */
  constructor(level: LevelWithSilent) {
    const options = {
      level,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label: string) => ({ level: label }) },
      serializers: { error: stdSerializers.err },
      base: { pid: process.pid },
    };
    this.logger = pino(options, { write: (line) => this.lines.write(masking(line)) });
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
  flush(): Promise<void> {
    return this.lines.flush();
  }
}

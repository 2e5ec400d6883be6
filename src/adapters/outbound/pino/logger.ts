import { type LevelWithSilent, type Logger as Pino, pino, stdSerializers, stdTimeFunctions } from 'pino';
import type { Logger } from '../../../application/ports/logger.js';
import { redactSecrets } from '../../../shared/redact.js';
import { BufferedStderr } from './buffered-stderr.js';

type Details = Readonly<Record<string, unknown>>;

/** Writes JSON lines to standard error; standard output is for people. No line holds an API key or an access token. */
export class PinoLogger implements Logger {
  private readonly pino: Pino;
  private readonly stderr = new BufferedStderr();

  /** @param level the least severe level that is written */
  constructor(level: LevelWithSilent) {
    const options = {
      level,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label: string) => ({ level: label }) },
      serializers: { error: stdSerializers.err },
      base: { pid: process.pid },
    };
    this.pino = pino(options, { write: (line) => this.stderr.write(redactSecrets(line)) });
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

  /** Writes out what is buffered. Call it before the process ends. */
  flush(): Promise<void> {
    return this.stderr.flush();
  }
}

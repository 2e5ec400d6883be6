import type { Logger } from '../../../../application/ports/logger.js';
import type { Creation, CreationOutcome } from '../../../../application/records/create-records.js';
import {
  type IdempotentRequest,
  idempotentRequest,
  lineKey,
} from '../../../../application/records/idempotency.js';
import type { RecordService } from '../../../../application/records/record-service.js';
import { AppError, type Issue } from '../../../../domain/errors.js';
import { jsonLine } from '../../../../shared/json-line.js';
import type { MaybePromise } from '../../../../shared/maybe-promise.js';
import type { Turn } from '../../../../shared/turn.js';
import { type CodedError, isCoded } from '../core/http-error.js';
import { statusOf } from '../response/error-response.js';
import type { ImportLine } from './read-lines.js';

/** Other work of the process runs after this many lines, or bytes of lines, are validated. */
const LINES_PER_TURN = 32;
const BYTES_PER_TURN = 32_768;

export interface ImportRecord {
  /** As it would be in JSON. */
  readonly body: unknown;
  /**
   * What is wrong with how the record is written, by the JSON Pointer to the value in the body. It takes the place of
   * what is wrong with that value.
   */
  readonly issues: ReadonlyMap<string, Issue>;
}

export interface BatchImporterOptions<Fields> {
  readonly service: Pick<RecordService<Fields>, 'draft' | 'createAll'>;
  /** Reads the record in a line, or throws a coded error. */
  readonly parse: (line: ImportLine) => ImportRecord;
  /** The key under which the stream is reserved. Undefined: a repeated line creates another record. */
  readonly key: string | undefined;
  readonly logger: Logger;
  /** The ids of the request, for the log. */
  readonly ids: Readonly<Record<string, string>>;
  /** Whose import it is. */
  readonly turn: Turn;
  /** Throws an AppError if the client may import no more lines. Absent: it may import all. */
  readonly checkAccess?: () => MaybePromise<void>;
}

/** Creates the records of an import, batch by batch. */
export class BatchImporter<Fields> {
  /** How many lines were recognised as repeated. */
  replays = 0;
  private isStoreDown = false;
  /** The error of all further lines, after the client has lost its access. */
  private refusal: AppError | undefined;

  constructor(private readonly options: BatchImporterOptions<Fields>) {}

  /** @returns one result per line, in the same order, as NDJSON */
  async import(lines: readonly ImportLine[]): Promise<string> {
    const creations: (Creation<Fields> | CodedError)[] = [];
    let [count, bytes] = [LINES_PER_TURN, 0];
    for (const line of lines) {
      if (count >= LINES_PER_TURN || bytes >= BYTES_PER_TURN) {
        await this.options.turn.next();
        [count, bytes] = [0, 0];
      }
      creations.push(this.creation(line));
      count++;
      bytes += 'bytes' in line ? line.bytes.length : 0;
    }
    const outcomes = (await this.createAll(creations.filter(isCreation))).values();
    const results = creations.map((creation) => (isCreation(creation) ? outcomes.next().value : creation));
    this.replays += results.filter((result) => result && 'isReplay' in result && result.isReplay).length;
    return lines.map(({ number }, at) => jsonLine(JSON.stringify(resultLine(number, results[at])))).join('');
  }

  /**
   * If the store is unavailable, or the client has lost its access, every line gets that error. Retrying with a key
   * creates nothing twice.
   */
  private async createAll(
    creations: readonly Creation<Fields>[],
  ): Promise<readonly CreationOutcome<Fields>[]> {
    const { service, checkAccess } = this.options;
    try {
      if (this.refusal) throw this.refusal;
      await checkAccess?.();
      const outcomes = await service.createAll(creations);
      this.isStoreDown = false;
      return outcomes;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.code === 'unavailable') this.logOnce(error);
      else this.refusal = error;
      return creations.map(() => error);
    }
  }

  /** Logs an outage once, not for each batch of a long stream. */
  private logOnce({ code, cause }: AppError): void {
    const { logger, ids } = this.options;
    if (!this.isStoreDown) logger.error(code, { ...ids, error: cause });
    this.isStoreDown = true;
  }

  private creation(line: ImportLine): Creation<Fields> | CodedError {
    const { service, parse } = this.options;
    try {
      const { body, issues } = parse(line);
      const draft = service.draft(body);
      return {
        draft: issues.size > 0 ? { ...draft, issues: merged(draft.issues, issues) } : draft,
        idempotency: this.idempotency(line.number, body),
      };
    } catch (error) {
      if (isCoded(error)) return error;
      throw error;
    }
  }

  private idempotency(number: number, body: unknown): IdempotentRequest | undefined {
    const { key } = this.options;
    return key === undefined
      ? undefined
      : idempotentRequest({ key: lineKey(key, number), body, storesFields: false });
  }
}

/** @param ofText see {@link ImportRecord} */
function merged(issues: readonly Issue[], ofText: ReadonlyMap<string, Issue>): Issue[] {
  return [...new Set([...issues.map((issue) => ofText.get(issue.pointer) ?? issue), ...ofText.values()])];
}

function isCreation<Fields>(creation: Creation<Fields> | CodedError): creation is Creation<Fields> {
  return !isCoded(creation);
}

function resultLine(line: number, outcome: CreationOutcome<unknown> | CodedError | undefined): object {
  if (!outcome) throw new Error(`Line ${line} has no result.`);
  if (!isCoded(outcome)) {
    const { record, isReplay } = outcome;
    return { line, status: 201, id: record.id, ...(isReplay && { replayed: true }) };
  }
  const { code, message, details } = outcome;
  return { line, status: statusOf(outcome), error: { code, message, details } };
}

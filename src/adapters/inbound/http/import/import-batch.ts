import type { Logger } from '../../../../application/ports/logger.js';
import type { Creation, CreationOutcome } from '../../../../application/records/create-records.js';
import {
  type IdempotentRequest,
  idempotentRequest,
  lineKey,
} from '../../../../application/records/idempotency.js';
import type { RecordService } from '../../../../application/records/record-service.js';
import { AppError } from '../../../../domain/errors.js';
import { yieldFairly } from '../../../../shared/event-loop.js';
import { tooLarge } from '../body/json-body.js';
import { parseStrictJson } from '../body/strict-json.js';
import { statusOf } from '../response/error-response.js';
import { type CodedError, isCoded } from '../response/http-error.js';
import type { ImportLine } from './read-lines.js';

/** So many lines are judged in one go; then others have their turn. */
const SLICE = 32;

export interface ImportBatchOptions<Fields> {
  readonly service: Pick<RecordService<Fields>, 'draft' | 'createAll'>;
  /** The name under which the stream is reserved; absent: each line makes a record, however often it is sent. */
  readonly key: string | undefined;
  readonly bodyLimitBytes: number;
  readonly logger: Logger;
  readonly requestId: string;
  /** As {@link yieldFairly} has it. */
  readonly client: string;
}

/** Makes of lines records, and tells of each what became of it. */
export class ImportBatch<Fields> {
  private isStoreAway = false;

  constructor(private readonly options: ImportBatchOptions<Fields>) {}

  /** @returns a line for each of them, in their order */
  async results(lines: readonly ImportLine[]): Promise<string> {
    const creations: (Creation<Fields> | CodedError)[] = [];
    for (const [at, line] of lines.entries()) {
      if (at % SLICE === 0) await yieldFairly(this.options.client);
      creations.push(this.creation(line));
    }
    const outcomes = (await this.created(creations.filter(isSound))).values();
    const results = creations.map((creation) => (isSound(creation) ? outcomes.next().value : creation));
    return lines.map(({ number }, at) => `${JSON.stringify(resultLine(number, results[at]))}\n`).join('');
  }

  /** A store that cannot be reached says so of every line: whoever sends them again under a key does no harm. */
  private async created(creations: readonly Creation<Fields>[]): Promise<readonly CreationOutcome<Fields>[]> {
    try {
      const outcomes = await this.options.service.createAll(creations);
      this.isStoreAway = false;
      return outcomes;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      this.note(error);
      return creations.map(() => error);
    }
  }

  /** Once, not for each batch of a long stream. */
  private note({ code, cause }: AppError): void {
    const { logger, requestId } = this.options;
    if (!this.isStoreAway) logger.error(code, { requestId, error: cause });
    this.isStoreAway = true;
  }

  private creation(line: ImportLine): Creation<Fields> | CodedError {
    const { service, bodyLimitBytes } = this.options;
    if ('tooLong' in line) return tooLarge(bodyLimitBytes, 'line');
    try {
      const body = parseStrictJson(line.bytes);
      return { draft: service.draft(body), idempotency: this.idempotency(line.number, body) };
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

function isSound<Fields>(creation: Creation<Fields> | CodedError): creation is Creation<Fields> {
  return !isCoded(creation);
}

function resultLine(line: number, outcome: CreationOutcome<unknown> | CodedError | undefined): object {
  if (!outcome) throw new Error(`Nothing became of line ${line}.`);
  if (!isCoded(outcome)) {
    const { record, isReplay } = outcome;
    return { line, status: 201, id: record.id, ...(isReplay && { replayed: true }) };
  }
  const { code, message, details } = outcome;
  return { line, status: statusOf(outcome), error: { code, message, details } };
}

import type { IncomingMessage } from 'node:http';
import type { Logger } from '../../../../application/ports/logger.js';
import type { RecordService } from '../../../../application/records/record-service.js';
import { sendContinue, tooLarge } from '../body/json-body.js';
import { parseBody } from '../body/strict-json.js';
import { turnOf } from '../core/concurrency-limits.js';
import type { Context } from '../core/context.js';
import { HttpError } from '../core/http-error.js';
import { NDJSON, NDJSON_UTF8 } from '../core/media-types.js';
import type { BodyHandler } from '../core/route.js';
import { loggedIds } from '../middleware/request-id.js';
import { requestKey } from '../query/idempotency-key.js';
import { connectionOf } from '../server/connection.js';
import { BatchImporter, type ImportRecord } from './batch-importer.js';
import { CARRIAGE_RETURN, type ImportLine, LineSplitter, readLines, unmarked } from './read-lines.js';
import type { ResultBuffer, ResultBuffers } from './result-buffer.js';

export interface ImportPolicy {
  /** The limit of a body, and of each line of an import. */
  readonly bodyLimitBytes: number;
}

/** What the imports of all resources permit. */
export interface ImportTools {
  /** For results that the client has not read yet. */
  readonly resultBuffers: ResultBuffers;
  readonly logger: Logger;
}

/** How a media type writes the records of an import. */
export interface ImportFormat {
  /** Throws `unsupported_media_type` for a parameter of the media type that cannot be read. */
  checkType?(contentType: string): void;
  /**
   * Reads what precedes the first record.
   * @throws HttpError, AppError if the whole request is invalid
   */
  open(request: IncomingMessage, limitBytes: number): ImportStream | Promise<ImportStream>;
}

interface ImportStream {
  readonly batches: AsyncIterable<readonly ImportLine[]>;
  /** Reads the record in a line, or throws a coded error. */
  readonly parse: (line: ImportLine) => ImportRecord;
}

/** Splits NDJSON into lines. Skips blank lines, and a byte order mark at the beginning. */
export class NdjsonSplitter extends LineSplitter {
  private isFirst = true;

  protected override read(line: Buffer): Buffer | undefined {
    const text = this.isFirst ? unmarked(line) : line;
    this.isFirst = false;
    return isBlank(text) ? undefined : text;
  }
}

function isBlank(line: Buffer): boolean {
  return line.every((byte) => byte === SPACE || byte === TAB || byte === CARRIAGE_RETURN);
}

function parseLine(line: ImportLine, limitBytes: number): unknown {
  try {
    if ('tooLong' in line) throw tooLarge(limitBytes, 'line');
    return parseBody(line.bytes);
  } catch (error) {
    if (!(error instanceof HttpError) || !isJoined(line)) throw error;
    throw new HttpError(error.code, `${error.message} ${LINE_ENDS}`, error.details);
  }
}

const LINE_ENDS = 'Are line ends missing? curl removes them with -d, and keeps them with --data-binary.';

/** Whether a line may be several that have lost their ends. */
function isJoined(line: ImportLine): boolean {
  return 'tooLong' in line || /\}[ \t]*\{/.test(line.bytes.toString('latin1'));
}

const NO_ISSUES: ImportRecord['issues'] = new Map();

const SPACE = 0x20;
const TAB = 0x09;

/** Imports from NDJSON: a line is a record. */
export const NDJSON_IMPORT: ImportFormat = {
  open: (request, limitBytes) => ({
    batches: readLines(request, new NdjsonSplitter(limitBytes)),
    parse: (line) => ({ body: parseLine(line, limitBytes), issues: NO_ISSUES }),
  }),
};

/**
 * The handler of an import, which creates one record per line and returns one result per line, in the same order. It
 * reads the stream itself.
 */
export function importHandler<Fields>(
  service: ImportService<Fields>,
  policy: ImportPolicy,
  tools: ImportTools,
  format: ImportFormat,
): BodyHandler {
  return { produces: [NDJSON_UTF8], handle: (ctx) => importLines(ctx, service, policy, tools, format) };
}

type ImportService<Fields> = Pick<RecordService<Fields>, 'draft' | 'createAll' | 'reserveStream'>;

/**
 * If the request is invalid or the store fails to reserve the key, the response is an error. A later failure cuts the
 * connection.
 */
async function importLines<Fields>(
  ctx: Context,
  service: ImportService<Fields>,
  { bodyLimitBytes }: ImportPolicy,
  { resultBuffers, logger }: ImportTools,
  format: ImportFormat,
): Promise<void> {
  format.checkType?.(ctx.headers['content-type'] ?? '');
  const key = requestKey(ctx);
  const turn = turnOf(ctx);
  await ctx.state.limits.acquire(ctx, 'imports');
  if (key !== undefined) await service.reserveStream(key);
  connectionOf(ctx.req.socket).deadline.lift(ctx.req);
  sendContinue(ctx);
  const { batches, parse } = await openStream(ctx.req, bodyLimitBytes, format);
  const results = resultBuffers.open(turn.client);
  const ids = loggedIds(ctx.state);
  const { checkAccess } = ctx.state;
  const importer = new BatchImporter({
    service,
    parse,
    key,
    logger,
    ids,
    turn,
    ...(checkAccess && { checkAccess }),
  });
  ctx.set('Content-Type', NDJSON);
  ctx.body = results.readable;
  void writeResults(batches, importer, results, () => {
    ctx.state.replays = importer.replays;
  });
}

async function openStream(
  request: IncomingMessage,
  limitBytes: number,
  format: ImportFormat,
): Promise<ImportStream> {
  try {
    return await format.open(request, limitBytes);
  } catch (error) {
    // The client has gone. The code is only for the log.
    if (request.destroyed && !request.complete) throw new HttpError('request_timeout', 'The body broke off.');
    // Drops the rest of the body, so that the client can read the response.
    request.unpipe();
    request.resume();
    throw error;
  }
}

/** Imports all batches. Continues if the client does not read the results, until their buffer is full. */
async function writeResults(
  batches: AsyncIterable<readonly ImportLine[]>,
  importer: BatchImporter<unknown>,
  results: ResultBuffer,
  onBatch: () => void,
): Promise<void> {
  try {
    for await (const batch of batches) {
      const lines = await importer.import(batch);
      onBatch();
      await results.write(lines);
    }
    results.end();
  } catch (error) {
    results.fail(error);
  }
}

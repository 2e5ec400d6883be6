import type { Logger } from '../../../../application/ports/logger.js';
import type { RecordService } from '../../../../application/records/record-service.js';
import { sendContinue } from '../body/json-body.js';
import type { Context } from '../context.js';
import { NDJSON, NDJSON_UTF8 } from '../list/ndjson.js';
import { loggedIds } from '../middleware/request-id.js';
import { requestKey } from '../query/idempotency-key.js';
import type { BodyHandler } from '../route.js';
import { liftDeadline } from '../server/node-workarounds.js';
import { clientOf } from '../work-limits.js';
import { BatchImporter } from './batch-importer.js';
import { type ImportLine, readLines } from './read-lines.js';
import type { ResultBuffer, ResultBuffers } from './result-buffer.js';

export interface ImportPolicy {
  /** The limit of a body, and of each line of an import. */
  readonly bodyLimitBytes: number;
}

/** What the imports of all resources share. */
export interface ImportTools {
  /** For results that the client has not read yet. */
  readonly resultBuffers: ResultBuffers;
  readonly logger: Logger;
}

/**
 * The handler of an import, which creates one record per line and returns one result per line, in the same order. It
 * reads the stream itself.
 */
export function importHandler<Fields>(
  service: ImportService<Fields>,
  policy: ImportPolicy,
  tools: ImportTools,
): BodyHandler {
  return { produces: [NDJSON_UTF8], handle: (ctx) => importLines(ctx, service, policy, tools) };
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
): Promise<void> {
  const key = requestKey(ctx);
  const client = clientOf(ctx);
  await ctx.state.limits.take(ctx, 'imports');
  if (key !== undefined) await service.reserveStream(key);
  const results = resultBuffers.open(client);
  liftDeadline(ctx.req);
  sendContinue(ctx);
  const ids = loggedIds(ctx.state);
  const importer = new BatchImporter({ service, key, bodyLimitBytes, logger, ids, client });
  ctx.set('Content-Type', NDJSON);
  ctx.body = results.readable;
  void writeResults(readLines(ctx.req, bodyLimitBytes), importer, results, () => {
    ctx.state.replays = importer.replays;
  });
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

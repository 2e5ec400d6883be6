import type { Logger } from '../../../../application/ports/logger.js';
import type { RecordService } from '../../../../application/records/record-service.js';
import { sendContinue } from '../body/json-body.js';
import type { Context } from '../context.js';
import { NDJSON, NDJSON_UTF8 } from '../list/ndjson.js';
import { requestKey } from '../query/idempotency-key.js';
import type { BodyHandler } from '../route.js';
import { liftDeadline } from '../server/node-workarounds.js';
import { clientOf } from '../work-limits.js';
import { ImportBatch } from './import-batch.js';
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

/** Creates many records from one request: one record per line, and one result per line, in the same order. */
export class ImportRoute<Fields> {
  constructor(
    private readonly service: Pick<RecordService<Fields>, 'draft' | 'createAll' | 'reserveStream'>,
    private readonly policy: ImportPolicy,
    private readonly tools: ImportTools,
  ) {}

  /** Reads the stream itself, line by line. */
  handler(): BodyHandler {
    return { produces: [NDJSON_UTF8], handle: (ctx) => this.import(ctx) };
  }

  /**
   * A problem with the request as a whole, or with the store when it reserves the key, gets an error response. A later
   * failure cuts the connection.
   */
  private async import(ctx: Context): Promise<void> {
    const key = requestKey(ctx);
    const client = clientOf(ctx);
    await ctx.state.limits.take(ctx, 'imports');
    if (key !== undefined) await this.service.reserveStream(key);
    const results = this.tools.resultBuffers.open(client);
    liftDeadline(ctx.req);
    sendContinue(ctx);
    const { bodyLimitBytes } = this.policy;
    const lines = new ImportBatch({
      service: this.service,
      key,
      bodyLimitBytes,
      logger: this.tools.logger,
      requestId: ctx.state.requestId,
      client,
    });
    ctx.set('Content-Type', NDJSON);
    ctx.body = results.readable;
    void response(readLines(ctx.req, bodyLimitBytes), lines, results);
  }
}

/** Imports even if the client does not read the results, until their buffer is full. */
async function response(
  batches: AsyncIterable<readonly ImportLine[]>,
  lines: ImportBatch<unknown>,
  results: ResultBuffer,
): Promise<void> {
  try {
    for await (const batch of batches) await results.write(await lines.results(batch));
    results.end();
  } catch (error) {
    results.fail(error);
  }
}

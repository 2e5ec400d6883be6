import type { Journal } from '../../../../application/ports/journal.js';
import type { RecordService } from '../../../../application/records/record-service.js';
import { sendContinue } from '../bodies/read-json-body.js';
import type { Context } from '../context.js';
import { ImportLines } from '../imports/import-lines.js';
import { LINES, NDJSON_TYPE } from '../list/ndjson.js';
import { requestKey } from '../query/idempotency-key.js';
import type { BodyHandler } from '../route.js';
import { liftDeadline } from '../server/node-workarounds.js';
import { clientOf } from '../work-bounds.js';
import { type RequestLine, requestLines } from './read-lines.js';
import type { ResultBuffer, ResultBuffers } from './result-buffer.js';

export interface ImportPolicy {
  /** The limit of a body, and of each line of an import. */
  readonly bodyLimitBytes: number;
}

/** What the imports of all resources share. */
export interface ImportTools {
  /** For results that the client has not read yet. */
  readonly resultBuffers: ResultBuffers;
  readonly journal: Journal;
}

/** Creates many records from one request: one record per line, and one result per line, in the same order. */
export class ImportEndpoint<Fields> {
  constructor(
    private readonly useCases: Pick<RecordService<Fields>, 'draft' | 'createAll' | 'reserveStream'>,
    private readonly policy: ImportPolicy,
    private readonly tools: ImportTools,
  ) {}

  /** Reads the stream itself, line by line. */
  handler(): BodyHandler {
    return { produces: [NDJSON_TYPE], handle: (ctx) => this.import(ctx) };
  }

  /**
   * A problem with the request as a whole, or with the store when it reserves the key, gets an error response. A later
   * failure cuts the connection.
   */
  private async import(ctx: Context): Promise<void> {
    const key = requestKey(ctx);
    const client = clientOf(ctx);
    await ctx.state.bounds.take(ctx, 'imports');
    if (key !== undefined) await this.useCases.reserveStream(key);
    const results = this.tools.resultBuffers.open(client);
    liftDeadline(ctx.req);
    sendContinue(ctx);
    const { bodyLimitBytes } = this.policy;
    const lines = new ImportLines({
      useCases: this.useCases,
      key,
      bodyLimitBytes,
      journal: this.tools.journal,
      requestId: ctx.state.requestId,
      client,
    });
    ctx.set('Content-Type', LINES);
    ctx.body = results.readable;
    void answer(requestLines(ctx.req, bodyLimitBytes), lines, results);
  }
}

/** Imports even if the client does not read the results, until their buffer is full. */
async function answer(
  batches: AsyncIterable<readonly RequestLine[]>,
  lines: ImportLines<unknown>,
  results: ResultBuffer,
): Promise<void> {
  try {
    for await (const batch of batches) await results.write(await lines.results(batch));
    results.end();
  } catch (error) {
    results.fail(error);
  }
}

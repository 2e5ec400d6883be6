import type { Journal } from '../../../../application/ports/journal.js';
import type { RecordService } from '../../../../application/records/record-service.js';
import { checkMediaType, mediaType, sendContinue } from '../bodies/read-json-body.js';
import { clientOf } from '../client.js';
import type { Context } from '../context.js';
import type { Work } from '../endpoint.js';
import { readIdempotencyKey, requestKey } from '../idempotency-key.js';
import { LINES, NDJSON_TYPE } from '../lists/ndjson.js';
import { noParameter } from '../query.js';
import type { ResourceDescription } from '../resource-description.js';
import { liftDeadline } from '../server/request-deadline.js';
import { ImportLines } from './import-lines.js';
import type { RequestLine } from './line-splitter.js';
import { requestLines } from './request-lines.js';
import type { Spool } from './spool.js';
import type { Spools } from './spools.js';

export interface ImportPolicy {
  /** Of a body; in a stream, of a line. */
  readonly bodyLimitBytes: number;
}

/** What imports of all resources share. */
export interface ImportTools {
  /** For results that their client does not read yet. */
  readonly spools: Spools;
  readonly journal: Journal;
}

export function sendsLines(ctx: Context): boolean {
  return mediaType(ctx) === LINES;
}

/** Many records in one request, a line each; of each line its result, in the order of the lines. */
export class ImportEndpoint<Fields> {
  constructor(
    private readonly resource: ResourceDescription<Fields>,
    private readonly useCases: Pick<RecordService<Fields>, 'draft' | 'createAll' | 'reserveStream'>,
    private readonly policy: ImportPolicy,
    private readonly tools: ImportTools,
  ) {}

  work(): Work {
    return {
      scope: this.resource.writeScope,
      parameter: noParameter,
      // Whoever takes JSON takes it by the line too.
      types: [NDJSON_TYPE],
      headers: readIdempotencyKey,
      body: (ctx, next) => {
        checkMediaType(ctx, [LINES]);
        return next();
      },
      handle: (ctx) => this.import(ctx),
    };
  }

  /**
   * What is wrong with the request as a whole, or with the store when it takes the key, is answered as ever; what breaks
   * later cuts the connection.
   */
  private async import(ctx: Context): Promise<void> {
    const key = requestKey(ctx);
    const client = clientOf(ctx);
    await ctx.state.bounds.take(ctx, 'imports');
    if (key !== undefined) await this.useCases.reserveStream(key);
    const spool = this.tools.spools.open(client);
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
    ctx.body = spool.readable;
    void answer(requestLines(ctx.req, bodyLimitBytes), lines, spool);
  }
}

/** Reads on whether or not the client does, as far as the spool allows. */
async function answer(
  batches: AsyncIterable<readonly RequestLine[]>,
  lines: ImportLines<unknown>,
  spool: Spool,
): Promise<void> {
  try {
    for await (const batch of batches) await spool.write(await lines.results(batch));
    spool.end();
  } catch (error) {
    spool.fail(error);
  }
}

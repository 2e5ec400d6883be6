import type { Logger } from '../../../../application/ports/logger.js';
import type { RecordService } from '../../../../application/records/record-service.js';
import { uniqueFields } from '../../../../domain/fields.js';
import type { MaybePromise } from '../../../../shared/promises.js';
import { type ImportLine, NdjsonSplitter } from '../../../../shared/record-splitters.js';
import { sendContinue } from '../body/json-body.js';
import { parseBody } from '../body/strict-json.js';
import { taskOf } from '../core/concurrency-limits.js';
import type { Context } from '../core/context.js';
import { type CodedError, HttpError, invalidParameters, parameterIssue } from '../core/http-error.js';
import { CSV, NDJSON, NDJSON_UTF8 } from '../core/media-types.js';
import { type Parameter, type ParameterDocs, type Parameters, parametersOf, type Query } from '../core/parameter.js';
import type { ResourceDefinition } from '../core/resource-definition.js';
import type { BodyHandler } from '../core/route.js';
import { loggedIds } from '../middleware/observe.js';
import { invalid } from '../parameters/query.js';
import { requestKey } from '../parameters/request-headers.js';
import { connectionOf } from '../server/connection.js';
import { BatchImporter, type ImportRecord, type Match, preparer } from './batch-importer.js';
import { bytesOf, InputPatience, type LineSource, lengthOf, readLines } from './read-lines.js';
import type { ResultBuffer, ResultBuffers } from './result-buffer.js';

/** What an import does with the records that exist, and whether it writes anything. */
export interface ImportMode {
  /** Absent: each line is a new record. */
  readonly match?: Match;
  readonly isDryRun: boolean;
}

/** A parameter that takes one of these values; the one that it has if a request has none. */
function oneOf(
  name: string,
  values: readonly string[],
  docs: Omit<ParameterDocs, 'schema'>,
  standard?: string,
): Parameter {
  return {
    name,
    issues: (value) => (values.includes(value) ? [] : [invalid(name, 'invalid_format', `takes ${values.join(', ')}`)]),
    docs: { ...docs, schema: { type: 'string', enum: values, default: standard } },
  };
}

const EXISTING = oneOf(
  'existing',
  ['merge', 'replace', 'skip'] satisfies Match['existing'][],
  {
    description:
      'What a line does to the record that it finds. `merge`: JSON Merge Patch (RFC 7396), what is left out stays; `replace`: as PUT; `skip`: nothing. It needs `match`.',
    example: 'merge',
  },
  'merge',
);

const EMPTY = oneOf(
  'empty',
  ['keep', 'clear'],
  {
    description:
      'What an empty cell of CSV does under `merge`. `keep`: nothing; `clear`: as `null` in JSON, it removes the value. It needs `match` and CSV.',
    example: 'clear',
  },
  'keep',
);

const DRY_RUN = oneOf(
  'dryRun',
  ['true', 'false'],
  {
    description: 'With `true`, the results are the same, and nothing is written. A new record has no id.',
    example: 'true',
  },
  'false',
);

export class ImportParameters {
  readonly fields: readonly string[];
  readonly table: Parameters;

  constructor({ fields }: Pick<ResourceDefinition<never>, 'fields'>) {
    this.fields = ['id', ...uniqueFields(fields)];
    const match = oneOf('match', this.fields, {
      description:
        'The field by which a line finds its record. A record that has the value is changed as `existing` says; where none has it, one is created, but not by `id`. Absent: each line creates a record.',
      example: this.fields.at(-1),
    });
    this.table = parametersOf(match, EXISTING, EMPTY, DRY_RUN);
  }

  /**
   * @param query a valid query
   * @param hasCells whether the body is CSV
   * @throws HttpError `invalid_parameter` for `existing` and `empty` without what they need
   */
  read(query: Query, hasCells: boolean): ImportMode {
    const field = query.get('match');
    const existing = query.get('existing') as Match['existing'] | undefined;
    const lacking = [
      ...(field === undefined ? ['existing', 'empty'].map((name) => invalid(name, 'required', 'needs match')) : []),
      ...(hasCells ? [] : [invalid('empty', 'required', `needs ${CSV}; in JSON, null removes a value`)]),
    ].filter(({ name }) => query.has(name));
    if (lacking.length > 0) throw invalidParameters(lacking.map((issue) => ['invalid_parameter', issue]));
    const clears = query.get('empty') === 'clear';
    return {
      isDryRun: query.get('dryRun') === 'true',
      ...(field !== undefined && { match: { field, existing: existing ?? 'merge', clears } }),
    };
  }
}

/** Whether the results of an import show records that exist, so that it is also a way to read them. */
export function showsRecords(querystring: string): boolean {
  const parameters = new URLSearchParams(querystring);
  return parameters.has('match') || parameters.getAll('dryRun').includes('true');
}

/** The error of a key that an import does not need. */
function needlessKey(parameter: string): HttpError {
  const message = `An import with ${parameter} takes no Idempotency-Key: to repeat it is harmless.`;
  return new HttpError('invalid_idempotency_key', message, [
    parameterIssue('header', 'Idempotency-Key', 'invalid_format', message),
  ]);
}

export interface ImportPolicy {
  /** The limit of a body, and of each line of an import. */
  readonly bodyLimitBytes: number;
  /** Whether every change of a record must say the version that its client has seen. */
  readonly requireIfMatch: boolean;
}

/** What the imports of all resources permit. */
export interface ImportTools {
  /** For results that the client has not read yet. */
  readonly resultBuffers: ResultBuffers;
  readonly logger: Logger;
}

/** How a media type writes the records of an import. */
export interface ImportFormat {
  /** Whether a record is cells, of which an empty one may mean two things. */
  readonly hasCells: boolean;
  /** Throws `unsupported_media_type` for a parameter of the media type that cannot be read. */
  checkType?(contentType: string): void;
  /**
   * Reads what precedes the first record.
   * @param limitBytes the limit of a record
   * @param match absent: each record is a new one
   * @throws HttpError, AppError if the whole request is invalid
   */
  open(source: LineSource, limitBytes: number, match?: Match): ImportStream | Promise<ImportStream>;
}

interface ImportStream {
  readonly batches: AsyncIterable<readonly ImportLine[]>;
  /** Reads the record in a line, or throws a coded error. */
  readonly parse: (line: ImportLine) => ImportRecord;
}

function parseLine(line: ImportLine, limitBytes: number): unknown {
  let bytes: Buffer | undefined;
  try {
    bytes = bytesOf(line, limitBytes, 'line');
    return parseBody(bytes);
  } catch (error) {
    if (!(error instanceof HttpError) || (bytes && !JOINED.test(bytes.toString('latin1')))) throw error;
    throw new HttpError(error.code, `${error.message} ${LINE_ENDS}`, error.details);
  }
}

const LINE_ENDS = 'Are line ends missing? curl removes them with -d, and keeps them with --data-binary.';

/** In a line that may be several which have lost their ends. */
const JOINED = /\}[ \t]*\{/;

const NO_ISSUES: ImportRecord['issues'] = new Map();

/** Imports from NDJSON: a line is a record. */
export const NDJSON_IMPORT: ImportFormat = {
  hasCells: false,
  open: (source, limitBytes) => ({
    batches: readLines(source, new NdjsonSplitter(limitBytes, source.memory)),
    parse: (line) => ({ body: parseLine(line, limitBytes), issues: NO_ISSUES }),
  }),
};

/** What an import works with. */
export interface ImportParts<Fields> {
  readonly resource: ResourceDefinition<Fields>;
  readonly service: RecordService<Fields>;
  readonly policy: ImportPolicy;
  readonly tools: ImportTools;
  readonly parameters: ImportParameters;
  /** Returns an error as the client may see it. */
  readonly shown: (ctx: Context, error: CodedError) => CodedError;
}

/** The handler of an import: a record a line, and a result a line, in the same order. It reads the stream itself. */
export function importHandler<Fields>(parts: ImportParts<Fields>, format: ImportFormat): BodyHandler {
  return { produces: [NDJSON_UTF8], handle: (ctx, query) => importLines(ctx, query, parts, format) };
}

/**
 * If the request is invalid or the store fails to reserve the key, the response is an error. A later failure cuts the
 * connection.
 */
async function importLines<Fields>(
  ctx: Context,
  query: Query,
  { resource, service, policy, tools, parameters, shown }: ImportParts<Fields>,
  format: ImportFormat,
): Promise<void> {
  format.checkType?.(ctx.headers['content-type'] ?? '');
  const { match, isDryRun } = parameters.read(query, format.hasCells);
  const key = requestKey(ctx);
  if (key !== undefined && (match || isDryRun)) throw needlessKey(match ? 'match' : 'dryRun');
  const { req, state } = ctx;
  const { limits, checkAccess } = state;
  const task = taskOf(ctx);
  await limits.acquire(ctx, 'imports');
  if (isDryRun) await limits.acquire(ctx, 'dry runs');
  if (key !== undefined) await service.reserveStream(key);
  const connection = connectionOf(req.socket);
  connection.deadline.lift(req);
  sendContinue(ctx);
  const lineMemory = limits.lines.open(task.client);
  const dryRunMemory = limits.dryRuns.open(task.client);
  const working = (isWorking: boolean) => {
    connection.isWorking = isWorking;
  };
  const end = () => {
    working(false);
    lineMemory.release();
    dryRunMemory.release();
  };
  const patience = new InputPatience({ end: () => req.destroy(), working });
  let stream: ImportStream;
  try {
    stream = await format.open({ request: req, memory: lineMemory, patience }, policy.bodyLimitBytes, match);
  } catch (error) {
    end();
    // The client has gone. The code is only for the log.
    if (req.destroyed && !req.complete) throw new HttpError('request_timeout', 'The body broke off.');
    // Drops the rest of the body, so that the client can read the response.
    req.unpipe();
    req.resume();
    throw error;
  }
  const versionNeeded = policy.requireIfMatch ? ({ in: 'version', by: 'changes' } as const) : undefined;
  const by = match && { field: match.field, versionNeeded };
  const prepare = preparer(resource, match, key);
  const importer = new BatchImporter({
    prepare: (line) => prepare(stream.parse(line), line),
    writer: isDryRun ? service.dryRun(dryRunMemory, by) : service.writer(by),
    showsVersions: match !== undefined,
    shown: (error) => shown(ctx, error),
    logger: tools.logger,
    ids: loggedIds(state),
    task,
    takePlace: (bytes) => limits.take(task.client, 'import batches', bytes),
    ...(checkAccess && { checkAccess }),
  });
  const results = tools.resultBuffers.open(task.client);
  ctx.set('Content-Type', NDJSON);
  ctx.body = results.readable;
  void writeResults(stream.batches, importer, results, () => {
    state.replays = importer.replays;
  }).finally(end);
}

/** While earlier lines are tried again, this many further lines are written, of this many bytes; later ones wait. */
const MAX_LINES_AHEAD = 4_096;
const MAX_BYTES_AHEAD = 256 * 1_024;

/**
 * Imports all batches. Continues if the client does not read the results, until their buffer is full, and while earlier
 * lines are tried again.
 */
async function writeResults(
  batches: AsyncIterable<readonly ImportLine[]>,
  importer: BatchImporter,
  output: ResultBuffer,
  onBatch: () => void,
): Promise<void> {
  let written = Promise.resolve();
  let batchesToRepeat = 0;
  let [linesAhead, bytesAhead] = [0, 0];
  const write = async (results: MaybePromise<string>) => {
    await output.write(await results);
    if (results instanceof Promise) batchesToRepeat--;
    onBatch();
  };
  try {
    for await (const batch of batches) {
      const { results } = await importer.import(batch);
      if (results instanceof Promise) batchesToRepeat++;
      written = written.then(() => write(results));
      written.catch((error) => output.fail(error));
      linesAhead += batch.length;
      bytesAhead += lengthOf(...batch);
      if (batchesToRepeat > 0 && linesAhead < MAX_LINES_AHEAD && bytesAhead < MAX_BYTES_AHEAD) continue;
      await written;
      [linesAhead, bytesAhead] = [0, 0];
    }
    await written;
    output.end();
  } catch (error) {
    output.fail(error);
  }
}

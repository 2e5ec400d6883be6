import type { ChangeReader } from '../../../../application/changes/change-reader.js';
import type { Generation } from '../../../../application/changes/feed-state.js';
import { fieldValue, foldedValue } from '../../../../application/records/query-semantics.js';
import type { Change, SentRecord } from '../../../../application/records/record-format.js';
import { responseJson } from '../../../../application/records/record-json.js';
import type { Created, RecordAddress, RecordService } from '../../../../application/records/record-service.js';
import type { Precondition } from '../../../../application/records/write-conditions.js';
import {
  AppError,
  DuplicateValue,
  duplicateValue,
  fieldIssue,
  jsonPointer,
  notFound,
  PreconditionFailed,
} from '../../../../domain/errors.js';
import type { Versioned } from '../../../../domain/record.js';
import { isJsonObject } from '../../../../shared/json.js';
import { andThen } from '../../../../shared/promises.js';
import { readJsonBody } from '../body/json-body.js';
import { MAX_RECORD_BYTES } from '../core/concurrency-limits.js';
import type { Context, Middleware } from '../core/context.js';
import { respondTagged } from '../core/etag.js';
import { type CodedError, isCoded } from '../core/http-error.js';
import { CSV, JSON_PATCH, JSON_TYPE, MERGE_PATCH, NDJSON } from '../core/media-types.js';
import { parametersOf } from '../core/parameter.js';
import {
  type Reading,
  type ReadPolicy,
  type ResourceDefinition,
  readingOf,
  varyByReader,
} from '../core/resource-definition.js';
import {
  type BodyHandler,
  type Handler,
  idOf,
  keyOf,
  type Operation,
  type PathKey,
  type Policy,
  type Purpose,
  type ResourceKind,
} from '../core/route.js';
import { csvImport } from '../import/csv-records.js';
import {
  type ImportFormat,
  ImportParameters,
  type ImportPolicy,
  type ImportTools,
  importHandler,
  NDJSON_IMPORT,
  showsRecords,
} from '../import/import-handler.js';
import { changesOperation } from '../lists/changes.js';
import { columnsOf } from '../lists/csv.js';
import { facetsOperation } from '../lists/facets.js';
import { listOperation } from '../lists/list-operation.js';
import { type FieldSelection, FieldSelector } from '../parameters/fields.js';
import { idempotencyOf, prefersMinimal, readIdempotencyKey, writePrecondition } from '../parameters/request-headers.js';

/** The last segment of the path of imports. No id looks like it. */
export const IMPORTS = 'imports';

export interface ResourcePolicy<Fields> extends ImportPolicy, ReadPolicy<Fields> {
  /** Of the store. Absent: it never has one. */
  readonly generation?: Pick<Generation, 'current'>;
}

/** Changes the record of a request, and returns what the response shows. */
type Update<Fields> = (ctx: Context, precondition: Precondition, change: Change) => Promise<Versioned<Fields>>;

/** The operations that resources permit. A resource picks from them and may add its own. */
export class ResourceOperations<Fields> {
  private readonly key: PathKey | undefined;
  /** Differs by API version, because versions may show one state differently (RFC 9110 section 8.8.1). */
  private readonly tagPrefix: string;
  private readonly versionTag: RegExp;
  readonly readJson: Middleware;

  constructor(
    private readonly resource: ResourceDefinition<Fields>,
    private readonly service: RecordService<Fields>,
    private readonly policy: ResourcePolicy<Fields>,
    key?: PathKey,
  ) {
    const { version, tagState } = resource;
    this.key = key;
    this.readJson = readJsonBody(policy.bodyLimitBytes);
    this.tagPrefix = version === 1 ? '' : `v${version}.`;
    const state = tagState?.pattern ?? '';
    this.versionTag = new RegExp(`^"${this.tagPrefix.replace('.', '\\.')}([1-9][0-9]*)(?:-([0-9a-z]+))?${state}"$`);
  }

  /** For the OpenAPI document. */
  purpose(kind: ResourceKind): Purpose {
    const { resource, policy, key } = this;
    return { kind, resource, requireIfMatch: policy.requireIfMatch, key: key?.field };
  }

  /** @param hasChanges whether there are {@link changes} */
  list(hasChanges = false): Operation {
    return {
      purpose: this.purpose('list'),
      ...this.readPolicy(),
      ...listOperation(this.resource, this.service, this.policy, hasChanges),
    };
  }

  facets(): Operation {
    return {
      purpose: this.purpose('facets'),
      ...this.readPolicy(),
      ...facetsOperation(this.resource, this.service, this.policy),
    };
  }

  /** Needs a credential even if everybody may read the records: drafts are among the changes. */
  changes(reader: ChangeReader<Fields>): Operation {
    return {
      purpose: this.purpose('changes'),
      scopes: [this.resource.readScope],
      ...changesOperation(this.resource, reader),
    };
  }

  create(): Operation {
    return {
      ...this.creation('create', (ctx) => this.createOne(ctx)),
      subpathByType: Object.fromEntries(Object.keys(this.importFormats()).map((type) => [type, IMPORTS])),
    };
  }

  /** The operation of a POST of one record, under an idempotency key if the client sends one. */
  creation(kind: ResourceKind, handle: BodyHandler['handle']): Operation {
    return {
      purpose: this.purpose(kind),
      scopes: [this.resource.writeScope],
      headers: readIdempotencyKey,
      consumes: { [JSON_TYPE]: { read: this.readJson, handle: this.tagging(handle) } },
    };
  }

  importMany(tools: ImportTools): Operation {
    const { resource, service, policy } = this;
    const parameters = new ImportParameters(resource);
    const shown = (ctx: Context, error: CodedError) => this.shown(ctx, error);
    const parts = { resource, service, policy, tools, parameters, shown };
    const consumes = Object.entries(this.importFormats()).map(([type, format]) => [type, importHandler(parts, format)]);
    return {
      purpose: this.purpose('import'),
      scopes: [resource.writeScope],
      moreScopes: ({ querystring }) => (showsRecords(querystring) ? [resource.readScope] : []),
      parameters: parameters.table,
      headers: readIdempotencyKey,
      consumes: Object.fromEntries(consumes),
    };
  }

  /** By media type. A record that is several rows of CSV cannot be imported from it. */
  private importFormats(): Readonly<Record<string, ImportFormat>> {
    const columns = columnsOf(this.resource);
    const isRow = columns.sendable.every(({ isListed }) => !isListed);
    return { [NDJSON]: NDJSON_IMPORT, ...(isRow && { [CSV]: csvImport(columns) }) };
  }

  /** @param read returns the record to show */
  read(read = (ctx: Context): Promise<Versioned<Fields>> => this.service.read(this.addressIn(ctx))): Operation {
    const views = new FieldSelector(this.resource, 'item');
    return {
      purpose: this.purpose('read'),
      ...this.readPolicy(),
      ensureExists: (ctx) => this.visible(ctx, read),
      varyBy: varyByReader(this.policy),
      parameters: parametersOf(views.parameter),
      handle: this.tagging(async (ctx, parameters) =>
        this.respondToRead(ctx, await this.visible(ctx, read), views.read(parameters)),
      ),
    };
  }

  /** @throws AppError `not_found`, also if the caller sees only what everybody sees, and not this record */
  private async visible(ctx: Context, read: (ctx: Context) => Promise<Versioned<Fields>>): Promise<Versioned<Fields>> {
    const record = await read(ctx);
    if (this.reading(ctx).only?.includes(record) === false) throw notFound();
    return record;
  }

  private reading(ctx: Context): Reading<Fields> {
    return readingOf(ctx, this.resource.readScope, this.policy);
  }

  replace(): Operation {
    return {
      ...this.itemWrite('replace'),
      consumes: { [JSON_TYPE]: this.update('replacement') },
    };
  }

  /** Creates the record that has the key of the path, or replaces it. */
  put(): Operation {
    return {
      purpose: this.purpose('put'),
      scopes: [this.resource.writeScope],
      consumes: {
        [JSON_TYPE]: { read: this.readJson, handle: this.tagging((ctx) => this.putOne(ctx)) },
      },
    };
  }

  /**
   * @param update changes the record of the request, and returns what the response shows
   * @param kind for the OpenAPI document
   */
  patch(update: Update<Fields> = this.updateRecord, kind: ResourceKind = 'patch'): Operation {
    const mergePatch = this.update('merge-patch', update);
    const consumes = {
      // Most generators of clients take the first type alone.
      [MERGE_PATCH]: mergePatch,
      [JSON_PATCH]: this.update('json-patch', update),
      [JSON_TYPE]: mergePatch,
    };
    return {
      ...this.itemWrite(kind),
      // The response shows the record, so that a patch is also a way to read it.
      scopes: [...new Set([this.resource.writeScope, this.resource.readScope])],
      consumes,
    };
  }

  /** @param remove deletes the record of the request, or throws `precondition_failed` */
  remove(
    remove = (ctx: Context, precondition: Precondition): Promise<void> =>
      this.service.remove(this.addressIn(ctx), precondition),
  ): Operation {
    return {
      ...this.itemWrite('delete'),
      handle: this.tagging(async (ctx) => {
        const precondition = this.precondition(ctx);
        await this.writing(ctx, () => remove(ctx, precondition));
        ctx.status = 204;
      }),
    };
  }

  /**
   * A request without a body that changes a record.
   * @param change changes it, and returns what the response shows
   */
  act(kind: ResourceKind, change: (ctx: Context, precondition: Precondition) => Promise<Versioned<Fields>>): Operation {
    return {
      ...this.itemWrite(kind),
      handle: this.tagging(async (ctx) => {
        const precondition = this.precondition(ctx);
        this.respondToWrite(ctx, 200, await this.writing(ctx, () => change(ctx, precondition)));
      }),
    };
  }

  private async createOne(ctx: Context): Promise<void> {
    const { body } = ctx.request;
    const creation = { draft: this.service.draft(body), idempotency: idempotencyOf(ctx, body) };
    await ctx.state.limits.reserveResponse(ctx, MAX_RECORD_BYTES);
    const created = await this.writing(ctx, () => this.service.create(creation)).catch((error) => {
      throw Array.isArray(body) && error.code === 'validation_failed' ? manyRecords(ctx) : error;
    });
    this.setCreationHeaders(ctx, created);
    this.respondToWrite(ctx, 201, created.record);
  }

  private async putOne(ctx: Context): Promise<void> {
    const { requireIfMatch } = this.policy;
    const { field, value } = this.keyIn(ctx);
    const { body } = ctx.request;
    const mustExist = ctx.headers['if-match'] !== undefined;
    const write = {
      precondition: this.precondition(ctx, false),
      mustExist,
      sent: (stored?: Versioned<unknown>) => withPathKey(this.resource, field, value, body, stored),
    };
    const versionNeeded = requireIfMatch ? ({ in: 'If-Match', by: 'all' } as const) : undefined;
    await ctx.state.limits.reserveResponse(ctx, MAX_RECORD_BYTES);
    const { record, isNew } = await this.writing(ctx, () => this.service.put({ field, value }, write, versionNeeded));
    if (isNew) this.setLocation(ctx, record);
    this.respondToWrite(ctx, isNew ? 201 : 200, record);
  }

  private readonly updateRecord: Update<Fields> = (ctx, precondition, change) =>
    this.service.update(this.addressIn(ctx), precondition, change);

  private update(kind: Change['kind'], update = this.updateRecord): BodyHandler {
    return {
      read: this.readJson,
      handle: this.tagging(async (ctx) => {
        const change = { kind, body: ctx.request.body };
        const precondition = this.precondition(ctx);
        await ctx.state.limits.reserveResponse(ctx, MAX_RECORD_BYTES);
        const record = await this.writing(ctx, () => update(ctx, precondition, change));
        this.respondToWrite(ctx, 200, record);
      }),
    };
  }

  /** Returns an operation that reads the generation before the record, for the tags in the request and the response. */
  private tagging(handle: Handler['handle']): Handler['handle'] {
    const { generation } = this.policy;
    if (!generation) return handle;
    return (ctx, parameters) =>
      andThen(generation.current(), (name) => {
        ctx.state.generation = name;
        return handle(ctx, parameters);
      });
  }

  private respondToRead(ctx: Context, record: Versioned<Fields>, view: FieldSelection<Fields>): void {
    ctx.set('Cache-Control', this.reading(ctx).cacheControl);
    this.setContentLocation(ctx, record);
    respondTagged(ctx, this.tagOf(ctx, record, view.name), () => view.toJson(record));
  }

  respondToWrite(ctx: Context, status: 200 | 201, record: Versioned<Fields>): void {
    ctx.set('ETag', this.tagOf(ctx, record));
    if (this.hasSecret(record) || !prefersMinimal(ctx)) {
      this.setContentLocation(ctx, record);
      respondJsonText(ctx, responseJson(this.resource.present, record));
      ctx.status = status;
      return;
    }
    ctx.body = null;
    ctx.status = status === 200 ? 204 : status;
  }

  /** Whether the response is the only one that shows the secret. */
  private hasSecret(record: Versioned<Fields>): boolean {
    const { secret, present } = this.resource;
    return secret !== undefined && present(record)[secret.name] !== undefined;
  }

  /** Sets the URL of a new record, and whether an earlier request created it. */
  setCreationHeaders(ctx: Context, { record, isReplay }: Created<Fields>): void {
    if (isReplay) {
      ctx.state.replays = 1;
      ctx.set('Idempotency-Replayed', 'true');
    }
    this.setLocation(ctx, record);
  }

  private setLocation(ctx: Context, record: Versioned<Fields>): void {
    ctx.set('Location', this.urlOf(ctx, record));
  }

  /** The URL of a record that the path names by another field (RFC 9110 section 8.7). */
  private setContentLocation(ctx: Context, record: Versioned<Fields>): void {
    if (this.key) ctx.set('Content-Location', this.urlOf(ctx, record));
  }

  private urlOf(ctx: Context, { id }: Versioned<Fields>): string {
    const { version, path } = this.resource;
    return ctx.state.addressOf(`/v${version}/${path}/${id}`);
  }

  private addressIn(ctx: Context): RecordAddress {
    return this.key ? this.keyIn(ctx) : idOf(ctx);
  }

  /** @throws Error if the path names records by id */
  private keyIn(ctx: Context) {
    if (!this.key) throw new Error('The path has no key.');
    return { field: this.key.field, value: keyOf(ctx) };
  }

  /** Sets the current entity tag if the precondition fails. */
  private async writing<Result>(ctx: Context, write: () => Promise<Result>): Promise<Result> {
    try {
      return await write();
    } catch (error) {
      if (error instanceof PreconditionFailed) ctx.set('ETag', this.tagOf(ctx, error.current as Versioned<Fields>));
      throw isCoded(error) ? this.shown(ctx, error) : error;
    }
  }

  /** An error names another record only to a client that may read it. */
  private shown({ state }: Context, error: CodedError): CodedError {
    if (!(error instanceof DuplicateValue)) return error;
    return state.principal?.scopes.includes(this.resource.readScope) ? error : duplicateValue(error.field);
  }

  /**
   * The strong tag of a record in this API version: its version, the generation of the store if it has one, and the view
   * if it does not show the default fields.
   */
  tagOf({ state: { generation } }: Context, record: Versioned<Fields>, view?: string): string {
    const lineage = generation === undefined ? '' : `-${generation}`;
    const shown = this.resource.tagState?.of(record) ?? '';
    return `"${this.tagPrefix}${record.version}${lineage}${shown}${view === undefined ? '' : `:${view}`}"`;
  }

  private precondition(ctx: Context, isRequired = this.policy.requireIfMatch): Precondition {
    return writePrecondition(ctx.headers, isRequired, (tag) => {
      const [, version, generation] = this.versionTag.exec(tag) ?? [];
      return generation === ctx.state.generation && version ? Number(version) : undefined;
    });
  }

  private readPolicy(): Pick<Policy, 'scopes'> {
    return this.policy.publicView ? {} : { scopes: [this.resource.readScope] };
  }

  private itemWrite(kind: ResourceKind): Pick<Policy, 'purpose' | 'scopes' | 'ensureExists'> {
    return {
      purpose: this.purpose(kind),
      scopes: [this.resource.writeScope],
      ensureExists: (ctx) => this.service.read(this.addressIn(ctx)),
    };
  }
}

/** The body of a PUT to the path of a key, which may leave the key out. A stored one keeps its spelling then. */
function withPathKey(
  resource: ResourceDefinition<never>,
  field: string,
  value: string,
  body: unknown,
  stored: Versioned<unknown> | undefined,
): SentRecord {
  if (!isJsonObject(body)) return { body, issues: new Map() };
  const sent = body[field] ?? (stored ? fieldValue(stored, field) : value);
  const isSame = typeof sent === 'string' && compared(sent) === compared(value);
  const issue = fieldIssue('read_only_field', [field], 'must be the value in the path, or left out');
  return { body: { ...body, [field]: sent }, issues: new Map(isSame ? [] : [[jsonPointer([field]), issue]]) };

  function compared(text: string): unknown {
    return foldedValue(resource, field, text);
  }
}

/** The error of a body that is an array, and so no record. */
function manyRecords({ path, state }: Context): AppError {
  const imports = state.addressOf(`${path}/${IMPORTS}`);
  const message = `The body is an array, and this path takes one record. Send many records to ${imports} as ${NDJSON}, one JSON object a line.`;
  return new AppError('validation_failed', message, [{ code: 'invalid_type', message, in: 'body', pointer: '' }]);
}

function respondJsonText(ctx: Context, json: string): void {
  ctx.set('Content-Type', JSON_TYPE);
  ctx.body = json;
}

export function respondJson(ctx: Context, value: unknown): void {
  respondJsonText(ctx, JSON.stringify(value));
}

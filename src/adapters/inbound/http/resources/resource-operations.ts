import type { Created } from '../../../../application/records/create-records.js';
import type { Precondition } from '../../../../application/records/precondition.js';
import type { Change } from '../../../../application/records/record-format.js';
import { responseJson } from '../../../../application/records/record-json.js';
import type { RecordService } from '../../../../application/records/record-service.js';
import { AppError, PreconditionFailed } from '../../../../domain/errors.js';
import type { Id, Versioned } from '../../../../domain/record.js';
import { readJsonBody } from '../body/json-body.js';
import { MAX_RECORD_BYTES } from '../core/concurrency-limits.js';
import type { Context, Middleware } from '../core/context.js';
import { CSV, JSON_PATCH, JSON_TYPE, MERGE_PATCH, NDJSON } from '../core/media-types.js';
import { noParameter } from '../core/parameter.js';
import type { ResourceDefinition } from '../core/resource-definition.js';
import {
  type BodyHandler,
  idOf,
  type Operation,
  type Policy,
  type Purpose,
  type ResourceKind,
} from '../core/route.js';
import { csvImport } from '../import/csv-records.js';
import {
  type ImportFormat,
  type ImportPolicy,
  type ImportTools,
  importHandler,
  NDJSON_IMPORT,
} from '../import/import-handler.js';
import { columnsOf } from '../list/csv.js';
import { listOperation } from '../list/list-operation.js';
import { type FieldSelection, FieldSelector } from '../query/field-selection.js';
import { idempotencyOf, readIdempotencyKey } from '../query/idempotency-key.js';
import { writePrecondition } from '../query/preconditions.js';
import { prefersMinimal } from '../query/prefer-header.js';
import { entityTag, matchesIfNoneMatch } from '../response/etag.js';

/** The last segment of the path of imports. No id looks like it. */
export const IMPORTS = 'imports';

export interface ResourcePolicy extends ImportPolicy {
  readonly requireIfMatch: boolean;
  /** Whether reading needs no token. */
  readonly publicRead: boolean;
  /** The `Cache-Control` of reads. */
  readonly cacheControl: string;
}

/** The operations that resources permit. A resource picks from them and may add its own. */
export class ResourceOperations<Fields> {
  /** Differs by API version, because versions may show one state differently (RFC 9110 section 8.8.1). */
  private readonly tagPrefix: string;
  private readonly versionTag: RegExp;
  readonly readJson: Middleware;

  constructor(
    private readonly resource: ResourceDefinition<Fields>,
    private readonly service: RecordService<Fields>,
    private readonly policy: ResourcePolicy,
  ) {
    const { version, tagState } = resource;
    this.readJson = readJsonBody(policy.bodyLimitBytes);
    this.tagPrefix = version === 1 ? '' : `v${version}.`;
    const state = tagState?.pattern ?? '([1-9][0-9]*)';
    this.versionTag = new RegExp(`^"${this.tagPrefix.replace('.', '\\.')}${state}"$`);
  }

  /** For the OpenAPI document. */
  purpose(kind: ResourceKind): Purpose {
    return { kind, resource: this.resource, requireIfMatch: this.policy.requireIfMatch };
  }

  list(): Operation {
    return {
      purpose: this.purpose('list'),
      ...this.readPolicy(),
      ...listOperation(this.resource, this.service, this.policy.cacheControl),
    };
  }

  create(): Operation {
    return {
      purpose: this.purpose('create'),
      scopes: [this.resource.writeScope],
      parameter: noParameter,
      headers: readIdempotencyKey,
      consumes: {
        [JSON_TYPE]: { read: this.readJson, handle: (ctx) => this.createOne(ctx) },
      },
      subpathByType: Object.fromEntries(Object.keys(this.importFormats()).map((type) => [type, IMPORTS])),
    };
  }

  importMany(tools: ImportTools): Operation {
    const formats = this.importFormats();
    const consumes = Object.entries(formats).map(([type, format]) => [
      type,
      importHandler(this.service, this.policy, tools, format),
    ]);
    return {
      purpose: this.purpose('import'),
      scopes: [this.resource.writeScope],
      parameter: noParameter,
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
  read(read = (id: Id): Promise<Versioned<Fields>> => this.service.read(id)): Operation {
    const views = new FieldSelector(this.resource, 'item');
    return {
      purpose: this.purpose('read'),
      ...this.readPolicy(),
      ...this.itemPolicy(),
      parameter: (name) => (name === 'fields' ? views.parameter : undefined),
      parameterNames: () => 'there is fields',
      handle: async (ctx, parameters) =>
        this.respondToRead(ctx, await read(idOf(ctx)), views.read(parameters)),
    };
  }

  replace(): Operation {
    return {
      purpose: this.purpose('replace'),
      scopes: [this.resource.writeScope],
      ...this.itemPolicy(),
      consumes: { [JSON_TYPE]: this.update('replacement') },
    };
  }

  patch(): Operation {
    const mergePatch = this.update('merge-patch');
    const consumes = {
      // Most generators of clients take the first type alone.
      [MERGE_PATCH]: mergePatch,
      [JSON_PATCH]: this.update('json-patch'),
      [JSON_TYPE]: mergePatch,
    };
    return {
      purpose: this.purpose('patch'),
      // The response shows the record, so that a patch is also a way to read it.
      scopes: [this.resource.writeScope, this.resource.readScope],
      ...this.itemPolicy(),
      consumes,
    };
  }

  /** @param remove deletes the record of the request, or throws `precondition_failed` */
  remove(remove: (ctx: Context, precondition: Precondition) => Promise<void>): Operation {
    return {
      purpose: this.purpose('delete'),
      scopes: [this.resource.writeScope],
      ...this.itemPolicy(),
      handle: async (ctx) => {
        const precondition = this.precondition(ctx);
        await this.withCurrentTag(ctx, () => remove(ctx, precondition));
        ctx.status = 204;
      },
    };
  }

  private async createOne(ctx: Context): Promise<void> {
    const { body } = ctx.request;
    const creation = { draft: this.service.draft(body), idempotency: idempotencyOf(ctx, body) };
    await ctx.state.limits.reserveResponse(ctx, MAX_RECORD_BYTES);
    const created = await this.service.create(creation).catch((error) => {
      throw Array.isArray(body) && error.code === 'validation_failed' ? manyRecords(ctx) : error;
    });
    this.setCreationHeaders(ctx, created);
    this.respondToWrite(ctx, 201, created.record);
  }

  private update(kind: Change['kind']): BodyHandler {
    return {
      read: this.readJson,
      handle: async (ctx) => {
        const change = { kind, body: ctx.request.body };
        const precondition = this.precondition(ctx);
        await ctx.state.limits.reserveResponse(ctx, MAX_RECORD_BYTES);
        const record = await this.withCurrentTag(ctx, () =>
          this.service.update(idOf(ctx), precondition, change),
        );
        this.respondToWrite(ctx, 200, record);
      },
    };
  }

  private respondToRead(ctx: Context, record: Versioned<Fields>, view: FieldSelection<Fields>): void {
    const tag = this.tagOf(record, view.name);
    const isUnchanged = matchesIfNoneMatch(ctx, tag);
    ctx.set('Cache-Control', this.policy.cacheControl);
    ctx.set('ETag', tag);
    if (isUnchanged) ctx.status = 304;
    else respondJsonText(ctx, view.toJson(record));
  }

  private respondToWrite(ctx: Context, status: 200 | 201, record: Versioned<Fields>): void {
    ctx.set('ETag', this.tagOf(record));
    if (!prefersMinimal(ctx)) {
      respondJsonText(ctx, responseJson(this.resource.present, record));
      ctx.status = status;
      return;
    }
    ctx.body = null;
    ctx.status = status === 200 ? 204 : status;
  }

  /** Sets the URL of a new record, and whether an earlier request created it. */
  setCreationHeaders(ctx: Context, { record, isReplay }: Created<Fields>): void {
    const { version, path } = this.resource;
    if (isReplay) {
      ctx.state.replays = 1;
      ctx.set('Idempotency-Replayed', 'true');
    }
    ctx.set('Location', ctx.state.addressOf(`/v${version}/${path}/${record.id}`));
  }

  /** Sets the current entity tag if the precondition fails. */
  private async withCurrentTag<Result>(ctx: Context, write: () => Promise<Result>): Promise<Result> {
    try {
      return await write();
    } catch (error) {
      if (error instanceof PreconditionFailed)
        ctx.set('ETag', this.tagOf(error.current as Versioned<Fields>));
      throw error;
    }
  }

  /** The strong tag of a record in this API version. See {@link entityTag}. */
  tagOf(record: Versioned<Fields>, view?: string): string {
    const state = this.resource.tagState?.of(record) ?? record.version;
    return entityTag(`${this.tagPrefix}${state}`, view);
  }

  private precondition(ctx: Context): Precondition {
    return writePrecondition(ctx.headers, this.policy.requireIfMatch, (tag) => {
      const version = this.versionTag.exec(tag)?.[1];
      return version === undefined ? undefined : Number(version);
    });
  }

  private readPolicy(): Pick<Policy, 'scopes'> {
    return this.policy.publicRead ? {} : { scopes: [this.resource.readScope] };
  }

  private itemPolicy(): Pick<Policy, 'parameter' | 'ensureExists'> {
    return { parameter: noParameter, ensureExists: (ctx) => this.service.read(idOf(ctx)) };
  }
}

/** The error of a body that is an array, and so no record. */
function manyRecords({ path, state }: Context): AppError {
  const imports = state.addressOf(`${path}/${IMPORTS}`);
  const message = `The body is an array, and this path takes one record. Send many records to ${imports} as ${NDJSON}, one JSON object a line.`;
  return new AppError('validation_failed', message, [
    { code: 'invalid_type', message, in: 'body', pointer: '' },
  ]);
}

function respondJsonText(ctx: Context, json: string): void {
  ctx.set('Content-Type', JSON_TYPE);
  ctx.body = json;
}

export function respondJson(ctx: Context, value: unknown): void {
  respondJsonText(ctx, JSON.stringify(value));
}

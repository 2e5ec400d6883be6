import type { Created } from '../../../application/creation-attempt.js';
import type { Draft } from '../../../application/judgement.js';
import type { Records, VersionCondition } from '../../../application/record-use-cases.js';
import { PreconditionFailed } from '../../../domain/errors.js';
import type { Versioned } from '../../../domain/record.js';
import { BodyFields } from './bodies/body-fields.js';
import { readJsonBody } from './bodies/read-json-body.js';
import type { Context, Middleware } from './context.js';
import { ImportEndpoint, type ImportPolicy, type ImportTools } from './import/import-route.js';
import { ListEndpoint } from './list/list-route.js';
import { LINES } from './list/ndjson.js';
import {
  DescribedResource,
  describedChange,
  describedCreation,
  describedDeletion,
  describedListing,
  describedReading,
  describedReplacement,
} from './openapi/resource-operations.js';
import { onceFor, readIdempotencyKey } from './query/idempotency-key.js';
import { writeCondition } from './query/preconditions.js';
import { prefersMinimal } from './query/prefer-header.js';
import { noParameter } from './query/query.js';
import type { ResourceDescription } from './resource-description.js';
import { entityTag, isKnown } from './response/etag.js';
import { type BodyHandler, idOf, type Operation, type Policy, type Route } from './route.js';
import { type View, Views } from './views.js';
import { MAX_RECORD_BYTES } from './work-bounds.js';

const JSON_PATCH = 'application/json-patch+json';

type Edit<Fields> = (body: unknown, current: Versioned<Fields>) => Draft<Fields>;

export interface ResourcePolicy extends ImportPolicy {
  readonly requireIfMatch: boolean;
  /** Whether reading needs no token. */
  readonly publicRead: boolean;
  /** The Cache-Control of what is read. */
  readonly cacheControl: string;
}

/** The two addresses of a resource, alike for all resources. One that differs overrides a method. */
export class ResourceEndpoints<Fields> {
  protected readonly readJson: Middleware;
  private readonly fields: BodyFields<Fields>;

  constructor(
    protected readonly resource: ResourceDescription<Fields>,
    protected readonly useCases: Records<Fields>,
    protected readonly policy: ResourcePolicy,
    protected readonly imports: ImportTools,
  ) {
    this.readJson = readJsonBody(policy.bodyLimitBytes);
    this.fields = new BodyFields(resource);
  }

  endpoints(): Route[] {
    const { path, version, deprecation } = this.resource;
    const inVersion = `(?:/v${version})?/${path}`;
    return [
      {
        template: `/v${version}/${path}`,
        access: 'bearer',
        path: new RegExp(`^${inVersion}$`),
        version,
        deprecation,
        operations: { GET: this.listing(), POST: this.creation() },
      },
      {
        template: `/v${version}/${path}/{id}`,
        access: 'bearer',
        path: new RegExp(`^${inVersion}/([1-9][0-9]{0,15})$`),
        version,
        deprecation,
        ...this.ofEach(),
      },
    ];
  }

  /** What can be done with a single record. */
  protected ofEach(): Pick<Route, 'operations'> {
    return {
      operations: {
        GET: this.reading(),
        PUT: this.replacement(),
        PATCH: this.change(),
        DELETE: this.deletion(),
      },
    };
  }

  protected listing(): Operation {
    const list = new ListEndpoint(this.resource, this.useCases, this.policy.cacheControl);
    return { ...this.readAccess(), ...list.operation(), describe: () => describedListing(this.described) };
  }

  protected creation(): Operation {
    return {
      describe: () => describedCreation(this.described),
      scope: this.resource.writeScope,
      parameter: noParameter,
      headers: readIdempotencyKey,
      consumes: {
        'application/json': { read: this.readJson, handle: (ctx) => this.create(ctx) },
        [LINES]: new ImportEndpoint(this.resource, this.useCases, this.policy, this.imports).handler(),
      },
    };
  }

  private async create(ctx: Context): Promise<void> {
    const { body } = ctx.request;
    const creation = { draft: this.fields.ofNew(body), once: onceFor(ctx, body) };
    await ctx.state.bounds.reserveResponse(ctx, MAX_RECORD_BYTES);
    const created = await this.useCases.create(creation);
    this.tellCreated(ctx, created);
    this.answerWrite(ctx, 201, created.record);
  }

  protected reading(): Operation {
    const views = new Views(this.resource);
    return {
      describe: () => describedReading(this.described),
      ...this.readAccess(),
      ...this.ofItem(),
      parameter: (name) => (name === 'fields' ? views.parameter : undefined),
      handle: (ctx, parameters) => this.read(ctx, views.read(parameters)),
    };
  }

  protected replacement(): Operation {
    return {
      describe: () => describedReplacement(this.described),
      scope: this.resource.writeScope,
      ...this.ofItem(),
      consumes: {
        'application/json': this.editing((body, current) => this.fields.ofReplacement(body, current)),
      },
    };
  }

  protected change(): Operation {
    const mergePatch = this.editing((body, current) => this.fields.ofMergePatch(body, current));
    const consumes = {
      'application/merge-patch+json': mergePatch,
      [JSON_PATCH]: this.editing((body, current) => this.fields.ofJsonPatch(body, current)),
      'application/json': mergePatch,
    };
    return {
      describe: () => describedChange(this.described, Object.keys(consumes), JSON_PATCH),
      scope: this.resource.writeScope,
      ...this.ofItem(),
      consumes,
    };
  }

  protected deletion(): Operation {
    return {
      describe: () => describedDeletion(this.described),
      scope: this.resource.writeScope,
      ...this.ofItem(),
      handle: async (ctx) => {
        const condition = this.condition(ctx);
        await this.tellingTag(ctx, () => this.remove(ctx, condition));
        ctx.status = 204;
      },
    };
  }

  protected remove(ctx: Context, condition: VersionCondition): Promise<void> {
    return this.useCases.remove(idOf(ctx), condition);
  }

  private editing(edit: Edit<Fields>): BodyHandler {
    return {
      read: this.readJson,
      handle: async (ctx) => {
        const { body } = ctx.request;
        const condition = this.condition(ctx);
        await ctx.state.bounds.reserveResponse(ctx, MAX_RECORD_BYTES);
        const record = await this.tellingTag(ctx, () =>
          this.useCases.edit(idOf(ctx), condition, (current) => edit(body, current)),
        );
        this.answerWrite(ctx, 200, record);
      },
    };
  }

  private async read(ctx: Context, view: View<Fields>): Promise<void> {
    const record = await this.useCases.read(idOf(ctx));
    const tag = this.tagOf(record, view.name);
    const isUnchanged = isKnown(ctx, tag);
    ctx.set('Cache-Control', this.policy.cacheControl);
    ctx.set('ETag', tag);
    if (isUnchanged) ctx.status = 304;
    else answerJson(ctx, view.present(record));
  }

  private answerWrite(ctx: Context, status: 200 | 201, record: Versioned<Fields>): void {
    ctx.set('ETag', this.tagOf(record));
    if (!prefersMinimal(ctx)) {
      answerJson(ctx, this.resource.present(record));
      ctx.status = status;
      return;
    }
    ctx.body = null;
    ctx.status = status === 200 ? 204 : status;
  }

  /** Where the record is, and whether it was there already. The address names its version. */
  protected tellCreated(ctx: Context, { record, isReplay }: Created<Fields>): void {
    const { version, path } = this.resource;
    if (isReplay) ctx.set('Idempotency-Replayed', 'true');
    ctx.set('Location', `/v${version}/${path}/${record.id}`);
  }

  /** Lets a client that came too late know the tag that stands now. */
  private async tellingTag<Result>(ctx: Context, write: () => Promise<Result>): Promise<Result> {
    try {
      return await write();
    } catch (error) {
      if (error instanceof PreconditionFailed)
        ctx.set('ETag', this.tagOf(error.current as Versioned<Fields>));
      throw error;
    }
  }

  protected get described(): DescribedResource<Fields> {
    return new DescribedResource(this.resource, this.policy.requireIfMatch);
  }

  /** See {@link entityTag}. */
  protected tagOf({ version }: Versioned<Fields>, view?: string): string {
    return this.tag(version, view);
  }

  /** Two versions may show the same state at one address, otherwise: their strong tags are two (RFC 9110 section 8.8.1). */
  protected tag(state: number | string, view?: string): string {
    const { version } = this.resource;
    return entityTag(version === 1 ? state : `v${version}.${state}`, view);
  }

  /** What a write asks of the record as it stands. */
  protected condition(ctx: Context): VersionCondition {
    return writeCondition(ctx.headers, this.policy.requireIfMatch, (version) => this.tag(version));
  }

  private readAccess(): Pick<Policy, 'scope'> {
    return this.policy.publicRead ? {} : { scope: this.resource.readScope };
  }

  private ofItem(): Pick<Policy, 'parameter' | 'ensureExists'> {
    return { parameter: noParameter, ensureExists: (ctx) => this.useCases.read(idOf(ctx)) };
  }
}

export function answerJson(ctx: Context, value: unknown): void {
  ctx.set('Content-Type', 'application/json');
  ctx.body = JSON.stringify(value);
}

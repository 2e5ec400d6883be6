import type { Draft, RecordUseCases, VersionCondition } from '../../../application/record-use-cases.js';
import { CatalogueError, PreconditionFailed } from '../../../domain/errors.js';
import type { Versioned } from '../../../domain/record.js';
import { BodyFields } from './body-fields.js';
import type { Context, Middleware } from './context.js';
import { type Endpoint, idOf, type Operation } from './endpoint.js';
import { entityTag, names } from './entity-tag.js';
import { linkHeader, pageParameters, readPaging } from './paging.js';
import { prefersMinimal } from './preferences.js';
import type { Query } from './query.js';
import { readJsonBody } from './read-json-body.js';
import type { ResourceDescription } from './resource-description.js';

const JSON_TYPES = ['application/json'];
const PATCH_TYPES = ['application/merge-patch+json', 'application/json'];

export interface ResourcePolicy {
  readonly bodyLimitBytes: number;
  readonly requireIfMatch: boolean;
  /** Whether reading needs no token. */
  readonly publicRead: boolean;
  /** The Cache-Control of what is read. */
  readonly cacheControl: string;
}

/** The two addresses of a resource, alike for all resources. One that differs overrides a method. */
export class ResourceEndpoints<Fields> {
  private readonly fields: BodyFields<Fields>;

  constructor(
    protected readonly resource: ResourceDescription<Fields>,
    protected readonly useCases: RecordUseCases<Fields>,
    protected readonly policy: ResourcePolicy,
  ) {
    this.fields = new BodyFields(resource);
  }

  endpoints(): Endpoint[] {
    const { path } = this.resource;
    return [
      {
        route: `/v1/${path}`,
        path: new RegExp(`^(?:/v1)?/${path}$`),
        operations: { GET: this.listing(), POST: this.creation() },
      },
      {
        route: `/v1/${path}/{id}`,
        path: new RegExp(`^(?:/v1)?/${path}/([1-9][0-9]{0,15})$`),
        operations: {
          GET: this.reading(),
          PUT: this.replacement(),
          PATCH: this.change(),
          DELETE: this.deletion(),
        },
        acceptPatch: PATCH_TYPES.join(', '),
      },
    ];
  }

  protected listing(): Operation {
    return {
      ...this.readAccess(),
      parameters: pageParameters(this.resource.path),
      handle: async (ctx, parameters) => this.list(ctx, parameters),
    };
  }

  protected creation(): Operation {
    return {
      scope: this.resource.writeScope,
      parameters: [],
      body: this.body(JSON_TYPES),
      handle: async (ctx) => {
        const record = await this.useCases.create(this.fields.ofNew(ctx.request.body));
        ctx.set('Location', `/v1/${this.resource.path}/${record.id}`);
        this.answerWrite(ctx, 201, record);
      },
    };
  }

  protected reading(): Operation {
    return { ...this.readAccess(), ...this.ofItem(), handle: async (ctx) => this.read(ctx) };
  }

  protected replacement(): Operation {
    return this.writing(JSON_TYPES, (body, current) => this.fields.ofReplacement(body, current));
  }

  protected change(): Operation {
    return this.writing(PATCH_TYPES, (body, current) => this.fields.ofMergePatch(body, current));
  }

  protected deletion(): Operation {
    return {
      scope: this.resource.writeScope,
      ...this.ofItem(),
      handle: async (ctx) => {
        const condition = this.condition(ctx);
        await tellingVersion(ctx, () => this.useCases.remove(idOf(ctx), condition));
        ctx.status = 204;
      },
    };
  }

  private writing(
    mediaTypes: string[],
    edit: (body: unknown, current: Versioned<Fields>) => Draft<Fields>,
  ): Operation {
    return {
      scope: this.resource.writeScope,
      ...this.ofItem(),
      body: this.body(mediaTypes),
      handle: async (ctx) => {
        const { body } = ctx.request;
        const condition = this.condition(ctx);
        const record = await tellingVersion(ctx, () =>
          this.useCases.edit(idOf(ctx), condition, (current) => edit(body, current)),
        );
        this.answerWrite(ctx, 200, record);
      },
    };
  }

  private async list(ctx: Context, parameters: Query): Promise<void> {
    const list = this.resource.path;
    const query = readPaging(list, parameters);
    const page = await this.useCases.list(query);
    ctx.set('Link', linkHeader(list, ctx.path, query, page));
    this.markRead(ctx);
    answerJson(
      ctx,
      page.records.map((record) => this.resource.present(record)),
    );
  }

  private async read(ctx: Context): Promise<void> {
    const record = await this.useCases.read(idOf(ctx));
    const tag = entityTag(record.version);
    const { 'if-none-match': known } = ctx.headers;
    const isKnown = known !== undefined && names('If-None-Match', known, tag, 'weak');
    this.markRead(ctx);
    ctx.set('ETag', tag);
    if (isKnown) ctx.status = 304;
    else answerJson(ctx, this.resource.present(record));
  }

  private answerWrite(ctx: Context, status: 200 | 201, record: Versioned<Fields>): void {
    ctx.set('ETag', entityTag(record.version));
    if (!prefersMinimal(ctx)) {
      answerJson(ctx, this.resource.present(record));
      ctx.status = status;
      return;
    }
    ctx.body = null;
    ctx.status = status === 200 ? 204 : status;
  }

  /** @throws CatalogueError `precondition_required`, `invalid_parameter` */
  private condition(ctx: Context): VersionCondition {
    const { 'if-match': match, 'if-none-match': noneMatch } = ctx.headers;
    if (match === undefined && this.policy.requireIfMatch) {
      throw new CatalogueError('precondition_required', 'Say in If-Match which version you have seen.');
    }
    const holds: VersionCondition = (version) =>
      (match === undefined || names('If-Match', match, entityTag(version), 'strong')) &&
      (noneMatch === undefined || !names('If-None-Match', noneMatch, entityTag(version), 'weak'));
    return holds;
  }

  private readAccess(): Pick<Operation, 'scope'> {
    return this.policy.publicRead ? {} : { scope: this.resource.readScope };
  }

  private ofItem(): Pick<Operation, 'parameters' | 'subject'> {
    return { parameters: [], subject: (ctx) => this.useCases.read(idOf(ctx)) };
  }

  private markRead(ctx: Context): void {
    ctx.set('Cache-Control', this.policy.cacheControl);
  }

  private body(mediaTypes: string[]): Middleware {
    return readJsonBody({ limitBytes: this.policy.bodyLimitBytes, mediaTypes });
  }
}

/** Lets a client that came too late know the version that stands now. */
async function tellingVersion<Result>(ctx: Context, write: () => Promise<Result>): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    if (error instanceof PreconditionFailed) ctx.set('ETag', entityTag(error.currentVersion));
    throw error;
  }
}

function answerJson(ctx: Context, value: unknown): void {
  ctx.set('Content-Type', 'application/json');
  ctx.body = JSON.stringify(value);
}

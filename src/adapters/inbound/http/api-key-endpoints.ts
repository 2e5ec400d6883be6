import type { ApiKeyUseCases, IssuedApiKey } from '../../../application/api-key-use-cases.js';
import type { Draft } from '../../../application/judgement.js';
import type { VersionCondition } from '../../../application/record-use-cases.js';
import type { ApiKey } from '../../../domain/access.js';
import { parseInstant } from '../../../domain/instant.js';
import type { Versioned } from '../../../domain/record.js';
import { BodyFields } from './bodies/body-fields.js';
import type { Context } from './context.js';
import type { ImportTools } from './import/import-route.js';
import { describedIssuance, describedRevocation } from './openapi/resource-operations.js';
import { onceFor, readIdempotencyKey } from './query/idempotency-key.js';
import { writeCondition } from './query/preconditions.js';
import { noParameter } from './query/query.js';
import type { ResourceDescription } from './resource-description.js';
import { answerJson, ResourceEndpoints, type ResourcePolicy } from './resource-endpoints.js';
import { NEW_API_KEY } from './resources/api-keys.js';
import { idOf, type Operation, type Route } from './route.js';

const MINUTE_MS = 60_000;

/** API keys are made and revoked, and never changed; their secret is in the answer to their creation and nowhere else. */
export class ApiKeyEndpoints extends ResourceEndpoints<ApiKey> {
  private readonly newKeys = new BodyFields(NEW_API_KEY);

  constructor(
    resource: ResourceDescription<ApiKey>,
    protected override readonly useCases: ApiKeyUseCases,
    policy: ResourcePolicy,
    imports: ImportTools,
  ) {
    super(resource, useCases, policy, imports);
  }

  protected override ofEach(): Pick<Route, 'operations'> {
    return { operations: { GET: this.reading(), DELETE: this.deletion() } };
  }

  /** By JSON alone: a stream of secrets would be lost with its connection. */
  protected override creation(): Operation {
    return {
      describe: () => describedIssuance(this.described),
      scope: this.resource.writeScope,
      parameter: noParameter,
      headers: readIdempotencyKey,
      consumes: { 'application/json': { read: this.readJson, handle: (ctx) => this.issue(ctx) } },
    };
  }

  private async issue(ctx: Context): Promise<void> {
    const { body } = ctx.request;
    const creation = { draft: this.draft(body), once: onceFor(ctx, body) };
    this.answerIssued(ctx, await this.useCases.issueFor(ctx.state.principal, creation));
  }

  protected override deletion(): Operation {
    return { ...super.deletion(), describe: () => describedRevocation(this.described) };
  }

  protected override remove(ctx: Context, condition: VersionCondition): Promise<void> {
    return this.useCases.revokeFor(ctx.state.principal, idOf(ctx), condition);
  }

  /** It moves with the last use, which is shown: strong tags of two answers that differ are two (RFC 9110 section 8.8.1). */
  protected override tagOf({ version, fields: { lastUsedAt } }: Versioned<ApiKey>, view?: string): string {
    return this.tag(lastUsedAt === undefined ? version : `${version}@${lastUsedAt / MINUTE_MS}`, view);
  }

  /** Whoever saw the key revokes the key that they saw, however often it was used since. */
  protected override condition(ctx: Context): VersionCondition {
    const { 'if-match': match, 'if-none-match': noneMatch } = ctx.headers;
    const seen = {
      ...(match !== undefined && { 'if-match': withoutUse(match) }),
      ...(noneMatch !== undefined && { 'if-none-match': withoutUse(noneMatch) }),
    };
    return writeCondition(seen, this.policy.requireIfMatch, (version) => this.tag(version));
  }

  private draft(body: unknown): Draft<ApiKey> {
    const { fields, faults } = this.newKeys.ofNew(body);
    const { expiresAt, ...rest } = fields;
    const at = typeof expiresAt === 'string' ? parseInstant(expiresAt) : undefined;
    // What is kept has whole milliseconds.
    return { fields: { ...rest, ...(at !== undefined && { expiresAt: Math.floor(at) }) }, faults };
  }

  /** Whole whatever is preferred: what is left out here would be lost. */
  private answerIssued(ctx: Context, issued: IssuedApiKey): void {
    this.tellCreated(ctx, issued);
    ctx.set('ETag', this.tagOf(issued.record));
    answerJson(ctx, { ...this.resource.present(issued.record), key: issued.key });
    ctx.status = 201;
  }
}

/** As the tag was before the key's first use. */
function withoutUse(tags: string): string {
  return tags.replaceAll(/"((?:v\d+\.)?\d+)@\d+/g, '"$1');
}

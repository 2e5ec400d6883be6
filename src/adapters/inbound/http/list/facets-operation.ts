import type { Facet, FacetField, FacetQuery } from '../../../../application/ports/list-query.js';
import type { RecordService } from '../../../../application/records/record-service.js';
import { taskOf } from '../core/concurrency-limits.js';
import type { Context } from '../core/context.js';
import { matchesIfNoneMatch, weakTag } from '../core/etag.js';
import { JSON_TYPE } from '../core/media-types.js';
import type { Query } from '../core/parameter.js';
import {
  type ReadPolicy,
  type ResourceDefinition,
  readingOf,
  varyByReader,
} from '../core/resource-definition.js';
import type { Handler, Policy } from '../core/route.js';
import { FacetQueryParser, facetName } from './facet-query-parser.js';
import { nextLink } from './link-header.js';
import { listName } from './list-operation.js';

/** The last segment of the path of facets. No id looks like it. */
export const FACETS = 'facets';

/** The maximum size of a value with its count, in bytes. A text has at most 500 characters. */
const MAX_VALUE_BYTES = 2_048;

/** The operation that counts the records of a list by the values of some fields. */
export function facetsOperation<Fields>(
  resource: ResourceDefinition<Fields>,
  service: Pick<RecordService<Fields>, 'facets'>,
  policy: ReadPolicy<Fields>,
): Handler & Pick<Policy, 'parameter' | 'parameterNames' | 'varyBy'> {
  const parser = new FacetQueryParser(listName(resource), resource);
  return {
    parameter: (name) => parser.parameter(name),
    parameterNames: (unknown) => parser.parameterNames(unknown),
    varyBy: ['Accept-Encoding', ...varyByReader(policy)],
    handle: async (ctx, parameters) => {
      const query = parser.read(parameters);
      const { cacheControl, only } = readingOf(ctx, resource.readScope, policy);
      const filters = only ? [...query.filters, only.filter] : query.filters;
      await ctx.state.limits.reserveResponse(ctx, query.fields.length * query.limit * MAX_VALUE_BYTES);
      const facets = await service.facets({ ...query, filters, task: taskOf(ctx) });
      const link = linkToMore(ctx, parameters, parser, query, facets);
      const body = JSON.stringify(facets.map((facet, at) => shown(query, facet, at)));
      const tag = weakTag(body, link ?? '');
      const isUnchanged = matchesIfNoneMatch(ctx, tag);
      ctx.set('Cache-Control', cacheControl);
      ctx.set('ETag', tag);
      if (link) ctx.set('Link', link);
      ctx.set('Content-Type', JSON_TYPE);
      if (isUnchanged) ctx.status = 304;
      else ctx.body = body;
    },
  };
}

function shown({ fields }: FacetQuery, { values, hasMore }: Facet, at: number): object {
  return { field: facetName(fields[at] as FacetField), values, more: hasMore };
}

/** @returns undefined if several fields were asked for, or there are no more values */
function linkToMore(
  { path, state: { addressOf } }: Context,
  parameters: Query,
  parser: FacetQueryParser,
  query: FacetQuery,
  [facet, another]: readonly Facet[],
): string | undefined {
  const last = facet?.values.at(-1);
  if (!facet?.hasMore || !last || another) return undefined;
  return nextLink({ path, parameters, addressOf }, query.limit, parser.cursorBehind(query, last));
}

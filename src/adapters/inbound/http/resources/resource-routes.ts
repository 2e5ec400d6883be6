import type { ChangeReader } from '../../../../application/changes/change-reader.js';
import type { RecordService } from '../../../../application/records/record-service.js';
import type { ResourceDefinition } from '../core/resource-definition.js';
import type { PathKey, Route } from '../core/route.js';
import type { ImportTools } from '../import/import-handler.js';
import { FACETS, facetNames } from '../lists/facets.js';
import { CHANGES } from '../lists/link-header.js';
import { IMPORTS, ResourceOperations, type ResourcePolicy } from './resource-operations.js';

/** The operations of a path below that of the collection, such as `/{id}`. Undefined: there is no such path. */
type Paths = Readonly<Record<string, Route['operations'] | undefined>>;

/**
 * The routes of a resource.
 * @param key the field in braces at the end of the paths, unless that is the id
 */
export function routesOf(
  { path, version, deprecation }: ResourceDefinition<never>,
  paths: Paths,
  key?: PathKey,
): Route[] {
  return Object.entries(paths).flatMap(([rest, operations]): Route[] => {
    if (!operations) return [];
    const pattern = rest.replace('{id}', '([1-9][0-9]{0,15})').replace(/\{.+\}$/, '([^/]+)');
    return [
      {
        template: `/v${version}/${path}${rest}`,
        access: 'bearer',
        path: new RegExp(`^(?:/v${version})?/${path}${pattern}$`),
        version,
        deprecation,
        operations,
        key,
      },
    ];
  });
}

/**
 * The routes of a resource whose records clients create, read, change and delete.
 * @param changes absent: the resource does not show its changes
 */
export function resourceRoutes<Fields>(
  resource: ResourceDefinition<Fields>,
  service: RecordService<Fields>,
  policy: ResourcePolicy<Fields>,
  imports: ImportTools,
  changes?: ChangeReader<Fields>,
): Route[] {
  const all = new ResourceOperations(resource, service, policy);
  const ofResource = routesOf(resource, {
    '': { GET: all.list(changes !== undefined), POST: all.create() },
    '/{id}': { GET: all.read(), PUT: all.replace(), PATCH: all.patch(), DELETE: all.remove() },
    [`/${IMPORTS}`]: { POST: all.importMany(imports) },
    [`/${CHANGES}`]: changes && { GET: all.changes(changes) },
    [`/${FACETS}`]: facetNames(resource).length > 0 ? { GET: all.facets() } : undefined,
  });
  const byKey = Object.entries(resource.table).flatMap(([field, rule]) => {
    if (rule.kind !== 'text' || !rule.unique) return [];
    const key = { field, rule };
    const one = new ResourceOperations(resource, service, policy, key);
    const operations = { GET: one.read(), PUT: one.put(), PATCH: one.patch(), DELETE: one.remove() };
    return routesOf(resource, { [`/${field}/{${field}}`]: operations }, key);
  });
  return [...ofResource, ...byKey];
}

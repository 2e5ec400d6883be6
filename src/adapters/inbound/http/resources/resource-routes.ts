import type { ChangeReader } from '../../../../application/changes/change-reader.js';
import type { RecordService } from '../../../../application/records/record-service.js';
import type { FieldTable } from '../../../../domain/fields.js';
import type { ResourceDefinition } from '../core/resource-definition.js';
import type { PathKey, Route } from '../core/route.js';
import type { ImportTools } from '../import/import-handler.js';
import { FACETS, facetNames } from '../lists/facets.js';
import { CHANGES } from '../lists/link-header.js';
import { IMPORTS, ResourceOperations, type ResourcePolicy } from './resource-operations.js';

/** Further routes of a resource. */
interface FurtherRoutes {
  readonly imports?: Route['operations'];
  readonly changes?: Route['operations'] | undefined;
  readonly facets?: Route['operations'] | undefined;
  /** What belongs to an item, by the last segment of its path. */
  readonly below?: Readonly<Record<string, Route['operations']>>;
  /** An item by the value of a unique field. */
  readonly byKey?: readonly { readonly key: PathKey; readonly operations: Route['operations'] }[];
}

const ID = '/([1-9][0-9]{0,15})';

/** The routes of a resource: the collection, the item, and others if it has any. */
export function routesOf(
  { path, version, deprecation }: ResourceDefinition<never>,
  collection: Route['operations'],
  item: Route['operations'],
  { imports, changes, facets, below = {}, byKey = [] }: FurtherRoutes = {},
): Route[] {
  const route = (rest: string, pattern: string, operations: Route['operations'], key?: PathKey): Route => ({
    template: `/v${version}/${path}${rest}`,
    access: 'bearer',
    path: new RegExp(`^(?:/v${version})?/${path}${pattern}$`),
    version,
    deprecation,
    operations,
    key,
  });
  return [
    route('', '', collection),
    route('/{id}', ID, item),
    ...Object.entries(below).map(([name, operations]) => route(`/{id}/${name}`, `${ID}/${name}`, operations)),
    ...(imports ? [route(`/${IMPORTS}`, `/${IMPORTS}`, imports)] : []),
    ...(changes ? [route(`/${CHANGES}`, `/${CHANGES}`, changes)] : []),
    ...(facets ? [route(`/${FACETS}`, `/${FACETS}`, facets)] : []),
    ...byKey.map(({ key, operations }) =>
      route(`/${key.field}/{${key.field}}`, `/${key.field}/([^/]+)`, operations, key),
    ),
  ];
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
  const operations = new ResourceOperations(resource, service, policy);
  const byKey = pathKeys(resource.table).map((key) => {
    const keyed = new ResourceOperations(resource, service, policy, key);
    const item = { GET: keyed.read(), PUT: keyed.put(), PATCH: keyed.patch(), DELETE: keyed.remove() };
    return { key, operations: item };
  });
  return routesOf(
    resource,
    { GET: operations.list(changes !== undefined), POST: operations.create() },
    {
      GET: operations.read(),
      PUT: operations.replace(),
      PATCH: operations.patch(),
      DELETE: operations.remove(),
    },
    {
      imports: { POST: operations.importMany(imports) },
      changes: changes && { GET: operations.changes(changes) },
      facets: facetNames(resource).length > 0 ? { GET: operations.facets() } : undefined,
      byKey,
    },
  );
}

/** The unique fields by which a path can name a record. */
function pathKeys(table: FieldTable): PathKey[] {
  return Object.entries(table).flatMap(([field, rule]) =>
    rule.kind === 'text' && rule.unique ? [{ field, rule }] : [],
  );
}

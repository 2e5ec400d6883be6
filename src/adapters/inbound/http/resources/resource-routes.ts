import type { RecordService } from '../../../../application/records/record-service.js';
import type { ResourceDefinition } from '../core/resource-definition.js';
import { idOf, type Route } from '../core/route.js';
import type { ImportTools } from '../import/import-handler.js';
import { IMPORTS, ResourceOperations, type ResourcePolicy } from './resource-operations.js';

/** The routes of a resource: the collection, the item, and the imports if it has any. */
export function routesOf(
  { path, version, deprecation }: ResourceDefinition<never>,
  collection: Route['operations'],
  item: Route['operations'],
  imports?: Route['operations'],
): Route[] {
  const route = (below: string, pattern: string, operations: Route['operations']): Route => ({
    template: `/v${version}/${path}${below}`,
    access: 'bearer',
    path: new RegExp(`^(?:/v${version})?/${path}${pattern}$`),
    version,
    deprecation,
    operations,
  });
  return [
    route('', '', collection),
    route('/{id}', '/([1-9][0-9]{0,15})', item),
    ...(imports ? [route(`/${IMPORTS}`, `/${IMPORTS}`, imports)] : []),
  ];
}

/** The routes of a resource whose records clients create, read, change and delete. */
export function resourceRoutes<Fields>(
  resource: ResourceDefinition<Fields>,
  service: RecordService<Fields>,
  policy: ResourcePolicy,
  imports: ImportTools,
): Route[] {
  const operations = new ResourceOperations(resource, service, policy);
  return routesOf(
    resource,
    { GET: operations.list(), POST: operations.create() },
    {
      GET: operations.read(),
      PUT: operations.replace(),
      PATCH: operations.patch(),
      DELETE: operations.remove((ctx, precondition) => service.remove(idOf(ctx), precondition)),
    },
    { POST: operations.importMany(imports) },
  );
}

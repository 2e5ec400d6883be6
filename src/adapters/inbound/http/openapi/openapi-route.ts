import type { Context } from '../context.js';
import { noParameter } from '../query/query.js';
import { TaggedDocument } from '../response/static-document.js';
import type { Route } from '../route.js';
import { OPENAPI_DESCRIPTION } from './page-descriptions.js';

/** @param build called once, at the first request, because the service learns its URL when it starts */
export function openApiRoute(build: () => object): Route {
  let document: TaggedDocument | undefined;
  return {
    template: '/openapi.json',
    path: /^\/openapi\.json$/,
    access: 'public',
    operations: {
      GET: {
        describe: () => OPENAPI_DESCRIPTION,
        parameter: noParameter,
        varyBy: ['Accept-Encoding'],
        handle: async (ctx: Context) => {
          // Not cached without revalidation, because a restart can change the document.
          document ??= new TaggedDocument('application/json', JSON.stringify(build()), 'no-cache');
          document.send(ctx);
        },
      },
    },
  };
}

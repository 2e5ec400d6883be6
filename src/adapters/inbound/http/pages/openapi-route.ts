import type { Context } from '../core/context.js';
import { JSON_TYPE } from '../core/media-types.js';
import { noParameter } from '../core/parameter.js';
import type { Route } from '../core/route.js';
import { TaggedDocument } from '../response/static-document.js';

/** @param build called once, at the first request, because the service learns its URL when it starts */
export function openApiRoute(build: () => object): Route {
  let document: TaggedDocument | undefined;
  return {
    template: '/openapi.json',
    path: /^\/openapi\.json$/,
    access: 'public',
    operations: {
      GET: {
        parameter: noParameter,
        varyBy: ['Accept-Encoding'],
        handle: async (ctx: Context) => {
          // Not cached without revalidation, because a restart can change the document.
          document ??= new TaggedDocument(JSON_TYPE, JSON.stringify(build()), 'no-cache');
          document.send(ctx);
        },
      },
    },
  };
}

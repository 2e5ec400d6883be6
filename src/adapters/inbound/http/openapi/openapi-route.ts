import type { Context } from '../context.js';
import { noParameter } from '../query/query.js';
import { TaggedDocument } from '../response/static-document.js';
import type { Route } from '../route.js';
import { OPENAPI_DESCRIPTION } from './docs.js';

/** @param make called once, at the first request, when the service knows its address */
export function openApiRoute(make: () => object): Route {
  let made: TaggedDocument | undefined;
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
          // A restart can change the document at any time.
          made ??= new TaggedDocument('application/json', JSON.stringify(make()), 'no-cache');
          made.send(ctx);
        },
      },
    },
  };
}

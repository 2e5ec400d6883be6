import type { Context } from '../context.js';
import { noParameter } from '../query/query.js';
import { TaggedDocument } from '../response/static-document.js';
import type { Route } from '../route.js';
import { describedDocument } from './description.js';

const OPENAPI_DESCRIPTION = describedDocument(
  {
    id: 'getOpenApi',
    summary: 'Read this document',
    text: 'In OpenAPI 3.1, made from the rules by which requests are checked. `/docs` shows it as a web page.',
  },
  'The OpenAPI document.',
  { 'application/json': { schema: { type: 'object' } } },
);

/** @param make called once, at the first request, when the service knows its address */
export function openApiEndpoint(make: () => object): Route {
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

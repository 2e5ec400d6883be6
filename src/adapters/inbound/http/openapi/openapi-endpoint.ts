import type { Context } from '../context.js';
import type { Endpoint } from '../endpoint.js';
import { weakTag } from '../entity-tag.js';
import { noParameter } from '../query.js';
import { answerDocument, type TaggedDocument } from '../tagged-document.js';
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

/** @param make is asked once, with the first request: by then the service knows its address */
export function openApiEndpoint(make: () => object): Endpoint {
  let made: TaggedDocument | undefined;
  return {
    route: '/openapi.json',
    path: /^\/openapi\.json$/,
    operations: {
      GET: {
        describe: () => OPENAPI_DESCRIPTION,
        parameter: noParameter,
        varies: ['Accept-Encoding'],
        handle: async (ctx: Context) => {
          made ??= written(make());
          answerDocument(ctx, made);
        },
      },
    },
  };
}

function written(document: object): TaggedDocument {
  // Bytes are shared by all answers, where a text would be written anew into each.
  const content = Buffer.from(JSON.stringify(document));
  // Another version of the service may stand behind the address at any time.
  return { type: 'application/json', content, tag: weakTag(content), cacheControl: 'no-cache' };
}

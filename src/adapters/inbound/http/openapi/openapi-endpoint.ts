import type { Context } from '../context.js';
import type { Endpoint } from '../endpoint.js';
import { isKnown, weakTag } from '../entity-tag.js';
import { noParameter } from '../query.js';
import { notModified, type OperationDescription } from './description.js';

const OPENAPI_DESCRIPTION: OperationDescription = {
  id: 'getOpenApi',
  tag: 'Documents',
  summary: 'Read this document',
  text: 'In OpenAPI 3.1, made from the rules by which requests are checked. `/docs` shows it as a web page.',
  headers: ['KnownTags', 'AcceptEncoding'],
  answers: [
    {
      status: 200,
      description: 'The OpenAPI document.',
      headers: ['ETag', 'Content-Encoding'],
      content: {
        'application/json': { schema: { type: 'object' } },
      },
    },
    notModified(),
  ],
};

/** @param make is asked once, with the first request: by then the service knows its address */
export function openApiEndpoint(make: () => object): Endpoint {
  let made: { readonly bytes: Buffer; readonly tag: string } | undefined;
  return {
    route: '/openapi.json',
    path: /^\/openapi\.json$/,
    operations: {
      GET: {
        description: OPENAPI_DESCRIPTION,
        parameter: noParameter,
        varies: ['Accept-Encoding'],
        handle: async (ctx: Context) => {
          made ??= written(make());
          const isUnchanged = isKnown(ctx, made.tag);
          // Another version of the service may stand behind the address at any time.
          ctx.set('Cache-Control', 'no-cache');
          ctx.set('ETag', made.tag);
          ctx.set('Content-Type', 'application/json');
          if (isUnchanged) ctx.status = 304;
          else ctx.body = made.bytes;
        },
      },
    },
  };
}

function written(document: object) {
  // Bytes are shared by all answers, where a text would be written anew into each.
  const bytes = Buffer.from(JSON.stringify(document));
  return { bytes, tag: weakTag(bytes) };
}

import type { Endpoint } from './endpoint.js';
import type { OperationDescription } from './openapi/description.js';
import { noParameter } from './query.js';

/** A JSON document for everyone, which is no record. */
export interface JsonDocument {
  readonly description: OperationDescription;
  readonly cacheControl: string;
  make(): Promise<object>;
}

/** @param route the address as it is told, where {@link path} knows it in other forms too */
export function jsonDocument(
  route: string,
  path: RegExp,
  { description, cacheControl, make }: JsonDocument,
): Endpoint {
  return {
    route,
    path,
    operations: {
      GET: {
        describe: () => description,
        parameter: noParameter,
        varies: ['Accept-Encoding'],
        handle: async (ctx) => {
          const body = JSON.stringify(await make());
          ctx.set('Content-Type', 'application/json');
          ctx.set('Cache-Control', cacheControl);
          ctx.body = body;
        },
      },
    },
  };
}

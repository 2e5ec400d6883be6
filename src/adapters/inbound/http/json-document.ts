import type { OperationDescription } from './openapi/description.js';
import { noParameter } from './query.js';
import type { Route } from './route.js';

/** A JSON document for everyone, which is no record. */
export interface JsonDocument {
  readonly description: OperationDescription;
  readonly cacheControl: string;
  make(): Promise<object>;
}

/** @param path matches the template, and perhaps other forms of it */
export function jsonDocument(
  template: string,
  path: RegExp,
  { description, cacheControl, make }: JsonDocument,
): Route {
  return {
    template,
    path,
    access: 'public',
    operations: {
      GET: {
        describe: () => description,
        parameter: noParameter,
        varyBy: ['Accept-Encoding'],
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

import type { Context } from '../context.js';
import { CODECS, type CodedDocument, type Coding } from '../middleware/compression-codecs.js';
import type { OperationDescription } from '../openapi/description.js';
import { noParameter } from '../query/query.js';
import type { Route } from '../route.js';
import { isKnown, weakTag } from './etag.js';

/** A document that is not a record. All responses share its bytes, and each coding is made once. */
export class TaggedDocument implements CodedDocument {
  private readonly content: Buffer;
  private readonly tag: string;
  private readonly codings = new Map<Coding, Promise<Buffer>>();

  /** @param type the media type, with its charset if it has one */
  constructor(
    private readonly type: string,
    text: string,
    private readonly cacheControl: string,
  ) {
    this.content = Buffer.from(text);
    this.tag = weakTag(this.content);
  }

  /** Sets the headers even if nothing has changed, because a cache takes over those of a 304. */
  send(ctx: Context): void {
    ctx.set({ 'Content-Type': this.type, 'Cache-Control': this.cacheControl, ETag: this.tag });
    if (isKnown(ctx, this.tag)) {
      ctx.status = 304;
      return;
    }
    ctx.body = this.content;
    ctx.state.document = this;
  }

  coded(coding: Coding): Promise<Buffer> {
    const made = this.codings.get(coding) ?? CODECS[coding].compress(this.content);
    this.codings.set(coding, made);
    made.catch(() => this.codings.delete(coding));
    return made;
  }
}

/** A public JSON document that is not a record. */
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

import { CODECS, type Coding, type CompressedDocument } from '../core/compression-codecs.js';
import type { Context } from '../core/context.js';
import { JSON_TYPE } from '../core/media-types.js';
import { noParameter } from '../core/parameter.js';
import type { Route } from '../core/route.js';
import { matchesIfNoneMatch, weakTag } from './etag.js';

/** A document with an ETag. All responses share its bytes, and it is compressed once for each coding. */
export class TaggedDocument implements CompressedDocument {
  private readonly content: Buffer;
  private readonly tag: string;
  private readonly compressed = new Map<Coding, Promise<Buffer>>();

  /** @param type the media type, with its charset if it has one */
  constructor(
    private readonly type: string,
    text: string,
    private readonly cacheControl: string,
  ) {
    this.content = Buffer.from(text);
    this.tag = weakTag(this.content);
  }

  /** Responds with the document, or with 304. A 304 has the same headers, because caches store them. */
  send(ctx: Context): void {
    ctx.set({ 'Content-Type': this.type, 'Cache-Control': this.cacheControl, ETag: this.tag });
    if (matchesIfNoneMatch(ctx, this.tag)) {
      ctx.status = 304;
      return;
    }
    ctx.body = this.content;
    ctx.state.document = this;
  }

  compressedBy(coding: Coding): Promise<Buffer> {
    const bytes = this.compressed.get(coding) ?? CODECS[coding].compressKept(this.content);
    this.compressed.set(coding, bytes);
    bytes.catch(() => this.compressed.delete(coding));
    return bytes;
  }
}

/** A public JSON document that is built for each request. */
export interface JsonDocument {
  readonly cacheControl: string;
  build(): Promise<object>;
}

/** @param path the pattern of all paths of the document */
export function jsonDocument(template: string, path: RegExp, { cacheControl, build }: JsonDocument): Route {
  return {
    template,
    path,
    access: 'public',
    operations: {
      GET: {
        parameter: noParameter,
        varyBy: ['Accept-Encoding'],
        handle: async (ctx) => {
          const body = JSON.stringify(await build());
          ctx.set('Content-Type', JSON_TYPE);
          ctx.set('Cache-Control', cacheControl);
          ctx.body = body;
        },
      },
    },
  };
}

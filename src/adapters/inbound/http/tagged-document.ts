import type { Coding } from './accept-encoding.js';
import { CODECS, type CodedDocument } from './codecs.js';
import type { Context } from './context.js';
import { isKnown, weakTag } from './entity-tag.js';

/** A document that is no record. All its responses share its bytes; each coding of them is made once. */
export class TaggedDocument implements CodedDocument {
  private readonly content: Buffer;
  private readonly tag: string;
  private readonly codings = new Map<Coding, Promise<Buffer>>();

  /** @param type with its charset, where it has one */
  constructor(
    private readonly type: string,
    text: string,
    private readonly cacheControl: string,
  ) {
    this.content = Buffer.from(text);
    this.tag = weakTag(this.content);
  }

  /** Headers come also when nothing has changed: a cache takes over those of that response. */
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
    const made = this.codings.get(coding) ?? CODECS[coding].whole(this.content);
    this.codings.set(coding, made);
    made.catch(() => this.codings.delete(coding));
    return made;
  }
}

import type { Context } from './context.js';
import { isKnown } from './entity-tag.js';

/** A document that is no record: kept, and asked for again each time. */
export interface TaggedDocument {
  /** With its charset, where it has one. */
  readonly type: string;
  readonly content: string | Buffer;
  readonly tag: string;
  readonly cacheControl: string;
}

/** Headers come also when nothing has changed: a cache takes over those of that answer. */
export function answerDocument(ctx: Context, { type, content, tag, cacheControl }: TaggedDocument): void {
  ctx.set({ 'Content-Type': type, 'Cache-Control': cacheControl, ETag: tag });
  if (isKnown(ctx, tag)) ctx.status = 304;
  else ctx.body = content;
}

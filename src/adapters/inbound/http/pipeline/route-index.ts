import type { MaybePromise } from '../../../../shared/maybe-promise.js';
import type { Middleware } from '../core/context.js';

interface Entry {
  /** The path for people. Its first segment behind the version is no variable. */
  readonly template: string;
  readonly path: RegExp;
  /** Calls `next` if the request is for a later entry. */
  readonly handle: Middleware;
}

/**
 * Runs the first entry whose pattern matches the path, with its captures in `ctx.captures`. By hand, because a router
 * tries every pattern and composes a chain of functions for each request.
 */
export function routeIndex(entries: readonly Entry[]): Middleware {
  const bySegment = new Map<string, Entry[]>();
  for (const entry of entries) {
    const segment = firstSegment(entry.template);
    bySegment.set(segment, [...(bySegment.get(segment) ?? []), entry]);
  }
  return (ctx, next) => {
    const { path } = ctx;
    const candidates = bySegment.get(firstSegment(path)) ?? [];
    const runFrom = (start: number): MaybePromise<void> => {
      for (let at = start; at < candidates.length; at++) {
        const { path: pattern, handle } = candidates[at] as Entry;
        const match = pattern.exec(path);
        if (!match) continue;
        ctx['captures'] = match.slice(1);
        return handle(ctx, () => runFrom(at + 1));
      }
      return next();
    };
    return runFrom(0);
  };
}

const FIRST_SEGMENT = /^\/(?:v\d+\/)?([^/]*)/;

/** The first segment of a path behind the version, if it has one. */
function firstSegment(path: string): string {
  return FIRST_SEGMENT.exec(path)?.[1] ?? '';
}

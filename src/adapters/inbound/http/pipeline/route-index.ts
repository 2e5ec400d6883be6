import Router from '@koa/router';
import type { MaybePromise } from '../../../../shared/maybe-promise.js';
import type { Middleware, RequestState } from '../core/context.js';

type Layer = Router<RequestState>['stack'][number];

interface Entry {
  /** The path for people. Its first segment behind the version is no variable. */
  readonly template: string;
  readonly path: RegExp;
  /** Calls `next` if the request is for a later entry. */
  readonly handle: Middleware;
}

/**
 * Runs the first entry whose pattern matches the path, with its captures in `ctx.captures`. By hand, because the
 * router's own middleware tries every pattern and composes a chain of functions for each request.
 */
export function routeIndex(entries: readonly Entry[]): Middleware {
  const router = new Router<RequestState>({ sensitive: true, strict: true });
  const bySegment = new Map<string, { layer: Layer; handle: Middleware }[]>();
  for (const { template, path, handle } of entries) {
    router.all(path, handle);
    const layer = router.stack.at(-1) as Layer;
    const segment = firstSegment(template);
    bySegment.set(segment, [...(bySegment.get(segment) ?? []), { layer, handle }]);
  }
  return (ctx, next) => {
    const { path } = ctx;
    const candidates = bySegment.get(firstSegment(path)) ?? [];
    const runFrom = (start: number): MaybePromise<void> => {
      for (let at = start; at < candidates.length; at++) {
        const candidate = candidates[at];
        if (!candidate?.layer.match(path)) continue;
        ctx['captures'] = candidate.layer.captures(path);
        return candidate.handle(ctx, () => runFrom(at + 1));
      }
      return next();
    };
    return runFrom(0);
  };
}

/** The first segment of a path behind the version, if it has one. */
function firstSegment(path: string): string {
  const [, first = '', second = ''] = path.split('/', 3);
  return /^v\d+$/.test(first) ? second : first;
}

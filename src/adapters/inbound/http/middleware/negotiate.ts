import { CatalogueError } from '../../../../domain/errors.js';
import type { Context } from '../context.js';
import { parameterFault } from '../faults.js';

/** Whoever asks for this charset gets it; offered without it, `Accept: application/json; charset=utf-8` would fit nothing. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Judges what the headers ask for before anything is done.
 * @param types what the answer can be beside JSON
 * @throws CatalogueError `unsupported_version`, `not_acceptable`, `expectation_failed`
 */
export function negotiate(ctx: Context, types: readonly string[] = []): void {
  const version = ctx.get('API-Version');
  if (!isVersioned(ctx.path)) ctx.vary('API-Version');
  if (version !== '' && version !== '1') {
    const message = 'This service speaks API-Version 1 only.';
    throw new CatalogueError('unsupported_version', message, [
      parameterFault('header', 'API-Version', 'out_of_range', message),
    ]);
  }
  ctx.vary('Accept');
  if (!ctx.accepts(JSON_TYPE, 'application/problem+json', ...types)) {
    const known = [JSON_TYPE, ...types].map((type) => type.replace(/;.*/, ''));
    throw new CatalogueError(
      'not_acceptable',
      `Answers come as ${known.join(' or ')}; Accept fits nothing of that.`,
    );
  }
  const expectation = ctx.get('Expect');
  if (expectation !== '' && expectation.toLowerCase() !== '100-continue') {
    throw new CatalogueError('expectation_failed', 'The one expectation that is met is 100-continue.');
  }
}

function isVersioned(path: string): boolean {
  return path.startsWith('/v1/');
}

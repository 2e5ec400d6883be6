import type { OpenApi, Schema } from '../docs/openapi.js';
import { remember, remembered } from '../docs/tab-storage.js';
import { forgetPlaces } from './places.js';
import type { Permissions, Resource } from './types.js';

/** A credential and what it allows. The tab keeps both, so that a reload needs no requests to find out again. */
export interface Session {
  readonly key: string;
  readonly permissions: Permissions;
}

const SESSION = 'console-session';
/** How to undo the last change, with the old values of its records. */
export const UNDO = 'console-undo';

/** The characters that a header may contain. */
export const SENDABLE = /^[\x21-\x7e]+$/;

/** The key, without the parts of the header that people copy too. */
export function keyIn(text: string): string {
  return text.trim().replace(/^(Authorization:\s*)?Bearer\s+/i, '');
}

export function storedSession(): Session | undefined {
  const text = remembered(SESSION);
  if (text === undefined) return undefined;
  const { key, mayRead, mayWrite, scopes } = JSON.parse(text);
  return { key, permissions: { mayRead: new Set(mayRead), mayWrite: new Set(mayWrite), scopes } };
}

export function storeSession(session: Session | undefined): void {
  if (!session) {
    forgetPlaces();
    remember(UNDO, undefined);
  }
  const { mayRead, mayWrite, scopes } = session?.permissions ?? {};
  const text = { key: session?.key, mayRead: [...(mayRead ?? [])], mayWrite: [...(mayWrite ?? [])], scopes };
  remember(SESSION, session && JSON.stringify(text));
}

/** Whether a credential allows a method of a path, and the scope that it lacks if the response names it. */
export interface Probe {
  readonly isAllowed: boolean;
  readonly scope?: string | undefined;
}

/**
 * Finds what a credential allows. The API has no request for that, but decides access before it looks at the rest of a
 * request: a list shows whether reading is allowed, and an import of no records whether writing is. A resource without
 * imports has one scope for both.
 * @param probe sends such a request
 * @throws the error of the first request: a wrong key costs one failed authentication and no more
 */
export async function permissionsOf(
  probe: (method: 'get' | 'post', path: string) => Promise<Probe>,
  resources: readonly Resource[],
  allScopes: readonly string[],
): Promise<Permissions> {
  const [first, ...others] = resources.map(({ path }) => path);
  const reads = first === undefined ? [] : [await probe('get', first)];
  reads.push(...(await Promise.all(others.map((path) => probe('get', path)))));
  const writes = await Promise.all(
    resources.map(({ path, canImport }, at) => (canImport ? probe('post', `${path}/imports`) : reads[at])),
  );
  const missing = [...reads, ...writes].map((one) => one?.scope);
  const allowed = (probes: readonly (Probe | undefined)[]) =>
    new Set(resources.filter((_, at) => probes[at]?.isAllowed).map(({ name }) => name));
  return {
    mayRead: allowed(reads),
    mayWrite: allowed(writes),
    scopes: allScopes.filter((scope) => !missing.includes(scope)),
  };
}

/** The scopes that the document lists. */
export function scopesIn({ components }: OpenApi): string[] {
  const { enum: values = [] } = (components?.schemas?.['Scope'] ?? {}) as Schema;
  return values.map(String);
}

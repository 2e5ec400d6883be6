import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject } from '../../shared/json.js';

/**
 * Returns a document with a merge patch (RFC 7396) applied: null removes, objects merge, other values replace.
 * By hand: the library json-merge-patch changes its target. No name is `__proto__`.
 */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch;
  const merged: Record<string, unknown> = isJsonObject(target) ? { ...target } : {};
  for (const name of Object.keys(patch)) {
    const value = patch[name];
    if (value === null) delete merged[name];
    else merged[name] = applyMergePatch(merged[name], value);
  }
  return merged;
}

/** Whether a merge patch leaves a document as it is. */
export function isMerged(target: JsonObject, patch: JsonObject): boolean {
  return Object.entries(patch).every(([name, value]) => {
    const has = Object.hasOwn(target, name);
    if (value === null || !has) return value === null && !has;
    const own = target[name];
    if (isJsonObject(value)) return isJsonObject(own) && isMerged(own, value);
    return own === value || isDeepStrictEqual(own, value);
  });
}

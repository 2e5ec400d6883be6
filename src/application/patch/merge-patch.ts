import { isDeepStrictEqual } from 'node:util';

export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Returns a document with a merge patch (RFC 7396) applied: null removes, objects merge, other values replace.
 * By hand: the library json-merge-patch changes its target.
 */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch;
  const merged = new Map(isJsonObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, applyMergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged);
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

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

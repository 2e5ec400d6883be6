export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json;
}

/** Whether two values are equal as JSON; the order of members does not count. */
export function isSame(one: Json | undefined, other: Json | undefined): boolean {
  if (!isContainer(one) || !isContainer(other)) return one === other;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [names, otherNames] = [Object.keys(one), Object.keys(other)];
  return (
    names.length === otherNames.length &&
    names.every((name) => Object.hasOwn(other, name) && isSame(member(one, name), member(other, name)))
  );
}

export function isObject(value: Json | undefined): value is JsonObject {
  return isContainer(value) && !Array.isArray(value);
}

/** The own member of a value; undefined if it has none, also for names such as `constructor`. */
export function member(value: Json | undefined, name: string): Json | undefined {
  return isContainer(value) && Object.hasOwn(value, name) ? (value as JsonObject)[name] : undefined;
}

/**
 * The merge patch that turns `from` into `to` (RFC 7396), with the changes only. Neither may contain a null: a merge
 * patch cannot set one.
 */
export function mergePatch(from: JsonObject, to: JsonObject): JsonObject {
  const removed = Object.keys(from).filter((name) => !Object.hasOwn(to, name));
  const changed = Object.entries(to).filter(([name, value]) => !isSame(member(from, name), value));
  return Object.fromEntries([
    ...removed.map((name) => [name, null] as const),
    ...changed.map(([name, value]) => {
      const before = member(from, name);
      return [name, isObject(before) && isObject(value) ? mergePatch(before, value) : value] as const;
    }),
  ]);
}

/** What a merge patch makes of a value (RFC 7396 section 2). */
export function patched(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const result = new Map(Object.entries(isObject(target) ? target : {}));
  for (const [name, value] of Object.entries(patch))
    if (value === null) result.delete(name);
    else result.set(name, patched(result.get(name), value));
  return Object.fromEntries(result);
}

/** A JSON Pointer (RFC 6901). */
export function pointerTo(...path: readonly (string | number)[]): string {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** The steps of a JSON Pointer. */
export function stepsOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The value of a text; of one that is no JSON the text. */
export function jsonIn(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function isContainer(value: Json | undefined): value is JsonObject | readonly Json[] {
  return typeof value === 'object' && value !== null;
}

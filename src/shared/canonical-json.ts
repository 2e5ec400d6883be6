/** Returns JSON with the members of every object in one order, so that equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, sorted);
}

function sorted(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Whether a JSON document has more than `count` values, objects and arrays included. Stops counting there. */
export function hasMoreValues(document: unknown, count: number): boolean {
  let left = count;
  const look = (part: unknown): boolean => {
    if (--left < 0) return true;
    return typeof part === 'object' && part !== null && Object.values(part).some(look);
  };
  return look(document);
}

/** The targets in a field Link, by their relation. */
export function linksOf(header: unknown): Record<string, string> {
  return Object.fromEntries(
    [...String(header ?? '').matchAll(/<([^>]*)>; rel="([a-z-]+)"/g)].map(([, target, rel]) => [rel, target]),
  );
}

/** The cursor in the target of a link. */
export function cursorIn(target: string | undefined): string {
  return new URLSearchParams(target?.split('?')[1]).get('cursor') ?? '';
}

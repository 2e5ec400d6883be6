/** Returns the targets of a `Link` header by their relation. */
export function linksOf(header: unknown): Record<string, string> {
  return Object.fromEntries(
    [...String(header ?? '').matchAll(/<([^>]*)>; rel="([a-z-]+)"/g)].map(([, target, rel]) => [rel, target]),
  );
}

/** Returns the cursor in the target of a link. */
export function cursorIn(target: string | undefined): string {
  return new URLSearchParams(target?.split('?')[1]).get('cursor') ?? '';
}

import type { HttpClient } from './http-client.js';

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

/** Reads a list from a page on, and yields its records. @throws Error if a response is not 200 */
// biome-ignore lint/suspicious/noExplicitAny: the records are JSON of any resource.
export async function* recordsOf(client: HttpClient, first: string): AsyncGenerator<any> {
  for (let path = first; path; ) {
    const { status, json, headers, text } = await client.get(path);
    if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
    yield* json;
    path = linksOf(headers['link'])['next'] ?? '';
  }
}

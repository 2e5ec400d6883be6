const LINK = /<([^>]*)>((?:\s*;\s*[\w*-]+\s*=\s*(?:"[^"]*"|[^\s",;]+))*)/g;
const RELATIONS = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s",;]+))/i;

/** The targets of a header Link (RFC 8288) by their relations, unchanged. */
export function linksIn(field: string | null): ReadonlyMap<string, string> {
  const links = new Map<string, string>();
  for (const [, target = '', parameters = ''] of (field ?? '').matchAll(LINK)) {
    const [, quoted, plain] = RELATIONS.exec(parameters) ?? [];
    for (const relation of (quoted ?? plain ?? '').toLowerCase().split(/\s+/))
      if (!links.has(relation)) links.set(relation, target);
  }
  return links;
}

/** The path of the service's URL, without a slash at the end. */
export function prefixOf({ pathname }: URL): string {
  return pathname.replace(/\/+$/, '');
}

/**
 * The URL of a reference in a response. A service whose `PUBLIC_URL` has no path does not know the prefix that a proxy
 * removes, so it is added to a reference that lacks it.
 * @throws Error if it leads to another host, which must not see the token
 */
export function resolveUrl(base: URL, reference: string): URL {
  const url = new URL(reference, base);
  if (url.origin !== base.origin) throw new Error(`${reference} leads away from ${base.origin}`);
  const prefix = prefixOf(base);
  if (!url.pathname.startsWith(`${prefix}/`)) url.pathname = prefix + url.pathname;
  return url;
}

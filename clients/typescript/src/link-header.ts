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

/**
 * The URL of a path, or of a reference in a response. The service does not know a path prefix that a proxy removes, so
 * the prefix of `base` is added.
 * @throws Error if it leads to another host, which must not see the token
 */
export function resolveUrl(base: URL, reference: string): URL {
  const url = new URL(reference, base);
  if (url.origin !== base.origin) throw new Error(`${reference} leads away from ${base.origin}`);
  const prefix = base.pathname.replace(/\/+$/, '');
  if (!url.pathname.startsWith(`${prefix}/`)) url.pathname = prefix + url.pathname;
  return url;
}

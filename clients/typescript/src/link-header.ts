const LINK = /<([^>]*)>((?:\s*;\s*[\w*-]+\s*=\s*(?:"[^"]*"|[^\s",;]+))*)/g;
const RELATIONS = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s",;]+))/i;

/** The target of `rel="next"` in a field Link (RFC 8288), as it stands there. */
export function nextIn(field: string | null): string | undefined {
  for (const [, target, parameters = ''] of (field ?? '').matchAll(LINK)) {
    const [, quoted, plain] = RELATIONS.exec(parameters) ?? [];
    if ((quoted ?? plain ?? '').toLowerCase().split(/\s+/).includes('next')) return target;
  }
  return undefined;
}

/**
 * The address of a reference that the service gave, or of a path. The service does not know of a path before its own, which a
 * proxy takes away.
 * @throws where it leads to another host, which shall not see the token
 */
export function addressOf(base: URL, reference: string): URL {
  const address = new URL(reference, base);
  if (address.origin !== base.origin) throw new Error(`${reference} leads away from ${base.origin}`);
  const prefix = base.pathname.replace(/\/+$/, '');
  if (!address.pathname.startsWith(`${prefix}/`)) address.pathname = prefix + address.pathname;
  return address;
}

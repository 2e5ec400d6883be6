/** What the fragment of the page's URL names. Reloading and going back show the same. */
export type Route =
  | { readonly page: 'home' }
  | { readonly page: 'list'; readonly resource: string; readonly query: URLSearchParams }
  | { readonly page: 'record'; readonly resource: string; readonly id: number }
  /** `from`: the record of which the new one starts as a copy. */
  | { readonly page: 'new'; readonly resource: string; readonly from?: number | undefined }
  | { readonly page: 'import'; readonly resource: string }
  | { readonly page: 'tree'; readonly resource: string; readonly field: string };

/** `#/keys` is shorter than the path of the collection. */
const ALIASES: Readonly<Record<string, string>> = { keys: 'api-keys' };

/**
 * @param hash such as `#/products?q=lamp`, `#/products/17`, `#/products/new?from=17`, `#/import/products`, `#/tree/products/tags` or
 *   `#/keys`
 */
export function routeOf(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split(/\?(.*)/s);
  const [first = '', second, third, ...rest] = path.split('/').map(decoded);
  if (first === 'tree' && second && third && rest.length === 0) return { page: 'tree', resource: second, field: third };
  if (first === '' || third !== undefined) return { page: 'home' };
  if (first === 'import' && second) return { page: 'import', resource: second };
  const resource = Object.hasOwn(ALIASES, first) ? String(ALIASES[first]) : first;
  if (second === undefined || second === '') return { page: 'list', resource, query: new URLSearchParams(query) };
  const from = idIn(new URLSearchParams(query).get('from'));
  if (second === 'new') return { page: 'new', resource, ...(from && { from }) };
  const id = idIn(second);
  return id ? { page: 'record', resource, id } : { page: 'home' };
}

/** The fragment of a route, for links. */
export function hashOf(route: Route): string {
  if (route.page === 'home') return '#/';
  const resource = encodeURIComponent(shortName(route.resource));
  if (route.page === 'import') return `#/import/${resource}`;
  if (route.page === 'tree') return `#/tree/${resource}/${encodeURIComponent(route.field)}`;
  if (route.page === 'new') return `#/${resource}/new${route.from === undefined ? '' : `?from=${route.from}`}`;
  if (route.page === 'record') return `#/${resource}/${route.id}`;
  const query = route.query.toString();
  return `#/${resource}${query === '' ? '' : `?${query}`}`;
}

/** The fragment of a list, whole if there is no query. */
export function hashOfList(resource: string, query: Readonly<Record<string, string>> | URLSearchParams = {}): string {
  return hashOf({ page: 'list', resource, query: new URLSearchParams(query) });
}

/**
 * The fragment of another page of a list.
 * @param reference a link of the service
 * @param start the place of its first record in the list, if that is known
 */
export function hashOfPage(list: string, reference: string, start?: number): string {
  const [path, query] = list.split('?');
  const parameters = new URLSearchParams(query);
  const cursor = new URL(reference, 'https://host').searchParams.get('cursor');
  for (const [name, value] of Object.entries({ cursor, start: start && `${start}` }))
    if (value) parameters.set(name, value);
    else parameters.delete(name);
  return [path, parameters.toString()].filter(Boolean).join('?');
}

function idIn(text: string | null): number | undefined {
  return text !== null && /^[1-9]\d{0,15}$/.test(text) ? Number(text) : undefined;
}

function shortName(resource: string): string {
  const [alias] = Object.entries(ALIASES).find(([, name]) => name === resource) ?? [];
  return alias ?? resource;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

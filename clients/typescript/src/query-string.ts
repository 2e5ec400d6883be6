/**
 * A query as the service reads it: a list is one parameter with commas, an object stands for its members. An empty list is
 * sent, for the service to refuse: without it a filter would be none, and everything be found.
 */
export function queryString(query: object): string {
  return Object.entries(query)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) =>
      isMembers(value) ? queryString(value) : `${encodeURIComponent(name)}=${text(value)}`,
    )
    .filter((parameter) => parameter !== '')
    .join('&');
}

function isMembers(value: unknown): value is object {
  return typeof value === 'object' && !Array.isArray(value);
}

function text(value: unknown): string {
  return Array.isArray(value) ? value.map(text).join(',') : encodeURIComponent(String(value));
}

/**
 * A query string in the form that the service reads: a list is one parameter with commas, and the members of an object
 * are parameters in brackets behind its name. An empty list is sent, so that the service rejects it: without the filter,
 * everything would match.
 */
export function queryString(query: object): string {
  return Object.entries(query)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) =>
      isMembers(value) ? queryString(inBrackets(name, value)) : `${encodeURIComponent(name)}=${text(value)}`,
    )
    .filter((parameter) => parameter !== '')
    .join('&');
}

/** The style `deepObject` of OpenAPI. */
function inBrackets(name: string, members: object): object {
  return Object.fromEntries(Object.entries(members).map(([key, value]) => [`${name}[${key}]`, value]));
}

function isMembers(value: unknown): value is object {
  return typeof value === 'object' && !Array.isArray(value);
}

function text(value: unknown): string {
  return Array.isArray(value) ? value.map(text).join(',') : encodeURIComponent(String(value));
}

import type { Parameter } from './openapi.js';
import type { Operation } from './operations.js';

/** The value that a person entered for a parameter. */
export interface Entry {
  readonly parameter: Parameter;
  readonly text: string;
  readonly kind: 'plain' | 'list' | 'members';
}

export interface Typed {
  readonly entries: readonly Entry[];
  /** The media type of the response. */
  readonly accept: string;
  readonly body?: { readonly type: string; readonly text: string };
}

/** A request to send, without the key. */
export interface Attempt {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: string;
  /** Whether the key is sent with it. */
  readonly takesKey: boolean;
}

/**
 * Builds a request from the entered values.
 * @param base the URL that the paths of the document are relative to, with a slash at its end
 */
export function attemptOf(operation: Operation, { entries, accept, body }: Typed, base: string): Attempt {
  const filled = entries.filter(({ text }) => text !== '');
  const of = (location: Parameter['in']) => filled.filter(({ parameter }) => parameter.in === location);
  const query = of('query').flatMap(pairsOf).join('&');
  const path = of('path').reduce(
    (template, { parameter, text }) => template.replace(`{${parameter.name}}`, encodeURIComponent(text)),
    operation.path.replace(/^\//, ''),
  );
  return {
    method: operation.method,
    url: `${base}${path}${query === '' ? '' : `?${query}`}`,
    headers: [
      ['Accept', accept],
      ...of('header').map(({ parameter, text }) => [parameter.name, text] as const),
      ...(body === undefined ? [] : [['Content-Type', body.type] as const]),
    ],
    ...(body && { body: body.text }),
    takesKey: operation.access.takesKey,
  };
}

function pairsOf({ parameter, text, kind }: Entry): string[] {
  if (kind === 'members') return text.split('\n').flatMap(memberOf);
  const name = encodedName(parameter.name);
  if (kind === 'plain') return [`${name}=${encodeURIComponent(text)}`];
  const values = text.split(',').map(encodeURIComponent);
  return parameter.explode === false
    ? [`${name}=${values.join(',')}`]
    : values.map((value) => `${name}=${value}`);
}

function memberOf(line: string): string[] {
  if (line.trim() === '') return [];
  const [name = '', ...rest] = line.split('=');
  return [`${encodedName(name.trim())}=${encodeURIComponent(rest.join('='))}`];
}

/** Keeps colons, which are allowed in a query (RFC 3986 section 3.4) and easier to read. */
function encodedName(name: string): string {
  return encodeURIComponent(name).replaceAll('%3A', ':');
}

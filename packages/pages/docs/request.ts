import type { Parameter } from './openapi.js';
import type { Operation } from './operations.js';

/** The value that a person entered for a parameter. */
export interface ParameterValue {
  readonly parameter: Pick<Parameter, 'name' | 'in' | 'explode'>;
  readonly text: string;
  /** Whether commas separate several values. */
  readonly isList: boolean;
}

export interface FormValues {
  readonly parameters: readonly ParameterValue[];
  /** The media type of the response, if the person chose one. */
  readonly accept?: string | undefined;
  readonly body?: { readonly type: string; readonly text: string } | undefined;
}

/** A request to send, without the key. */
export interface ApiRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: string;
  /** Whether the key is sent with it. */
  readonly takesKey: boolean;
}

export const FORM_TYPE = 'application/x-www-form-urlencoded';

/** Half of a surrogate pair. UTF-8 cannot represent it, so browsers send U+FFFD instead. */
const LONE_SURROGATE = /\p{Surrogate}/gu;

/**
 * Builds a request from the values in the form.
 * @param base the URL that the paths of the document are relative to, with a slash at its end
 */
export function buildRequest(operation: Operation, { parameters, accept, body }: FormValues, base: string): ApiRequest {
  const filled = parameters
    .map((value) => ({ ...value, text: wellFormed(value.text) }))
    .filter(({ text }) => text !== '');
  const of = (location: Parameter['in']) => filled.filter(({ parameter }) => parameter.in === location);
  const query = of('query').map(queryPart).join('&');
  const path = of('path').reduce(
    (template, { parameter, text }) => template.replace(`{${parameter.name}}`, () => encodeURIComponent(text)),
    operation.path.replace(/^\//, ''),
  );
  return {
    method: operation.method,
    url: `${base}${path}${query === '' ? '' : `?${query}`}`,
    headers: [
      ...(accept === undefined ? [] : [['Accept', accept] as const]),
      ...of('header').map(({ parameter, text }) => [parameter.name, text] as const),
      ...(body === undefined ? [] : [['Content-Type', body.type] as const]),
    ],
    ...(body && { body: wellFormed(body.text) }),
    takesKey: operation.access.takesKey,
  };
}

function queryPart({ parameter, text, isList }: ParameterValue): string {
  const name = encodedName(wellFormed(parameter.name));
  if (!isList) return `${name}=${encodeURIComponent(text)}`;
  const values = text.split(',').map(encodeURIComponent);
  return parameter.explode === false
    ? `${name}=${values.join(',')}`
    : values.map((value) => `${name}=${value}`).join('&');
}

/** Keeps colons, which are allowed in a query (RFC 3986 section 3.4) and easier to read. */
function encodedName(name: string): string {
  return encodeURIComponent(name).replaceAll('%3A', ':');
}

function wellFormed(text: string): string {
  return text.replaceAll(LONE_SURROGATE, '\ufffd');
}

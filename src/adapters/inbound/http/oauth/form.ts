import { isUtf8 } from 'node:buffer';
import { AppError, type Issue, jsonPointer } from '../../../../domain/errors.js';
import { readBody } from '../body/json-body.js';
import type { Middleware } from '../core/context.js';

/** The parameters of a form that have a value. One without a value counts as not sent (RFC 6749 section 3.2). */
export type Form = ReadonlyMap<string, string>;

/** A client id, its secret, its scopes and the grant take less than 1 KiB. */
const MAX_FORM_BYTES = 16 * 1_024;
/** More than any grant has. */
const MAX_PARAMETERS = 100;

/**
 * Parses a form of at most 16 KiB into `ctx.request.body`, as a {@link Form}.
 * @param limitBytes the limit of any body; applies if it is less than 16 KiB
 * @throws HttpError `payload_too_large`
 * @throws AppError `validation_failed`
 */
export function readForm(limitBytes: number): Middleware {
  return readBody(Math.min(limitBytes, MAX_FORM_BYTES), parseForm);
}

/** @returns undefined if the text is not percent-encoded UTF-8 */
export function decodeFormText(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

export function formIssue(code: Issue['code'], name: string, message: string): Issue {
  return { code, message, in: 'body', pointer: jsonPointer([name]) };
}

export function invalidForm(issues: readonly Issue[]): AppError {
  return new AppError('validation_failed', issues.map(({ message }) => message).join(' '), issues);
}

function parseForm(bytes: Buffer): Form {
  if (!isUtf8(bytes)) throw unreadable('is not UTF-8');
  const pairs = bytes.toString('utf8').split('&', MAX_PARAMETERS + 1);
  if (pairs.length > MAX_PARAMETERS) throw unreadable(`has more than ${MAX_PARAMETERS} parameters`);
  const form = new Map<string, string>();
  const repeated = new Set<string>();
  for (const pair of pairs) {
    const [name, value] = decodePair(pair);
    if (form.has(name)) repeated.add(name);
    if (value !== '') form.set(name, value);
  }
  if (repeated.size > 0) throw invalidForm([...repeated].map(repeatedParameter));
  return form;
}

function decodePair(pair: string): [name: string, value: string] {
  const [rawName = '', ...rest] = pair.split('=');
  const [name, value] = [decodeFormText(rawName), decodeFormText(rest.join('='))];
  if (name === undefined || value === undefined) throw unreadable('is not percent-encoded UTF-8');
  return [name, value];
}

function repeatedParameter(name: string): Issue {
  return formIssue('duplicate_value', name, 'A parameter is given more than once.');
}

/** The error of a body that is not a form. It quotes nothing, because the body can contain a secret. */
function unreadable(why: string): AppError {
  return invalidForm([{ code: 'invalid_format', message: `The body ${why}.`, in: 'body', pointer: '' }]);
}

import type { ErrorCode, Fault } from '../../../../domain/errors.js';
import { ERRORS } from '../error-catalogue.js';

const query = (name: string, code: Fault['code'], message: string): Fault => ({
  code,
  message,
  in: 'query',
  name,
});
const header = (name: string, code: Fault['code'], message: string): Fault => ({
  code,
  message,
  in: 'header',
  name,
});
const body = (pointer: string, code: Fault['code'], message: string): Fault => ({
  code,
  message,
  in: 'body',
  pointer,
});

/** Of the codes that tell where the fault is. */
const DETAILS: Partial<Record<ErrorCode, readonly Fault[]>> = {
  validation_failed: [
    body('/name', 'too_short', 'name is too short.'),
    body('/price/currency', 'required', 'price.currency is required.'),
  ],
  unknown_parameter: [query('colour', 'unknown_parameter', 'There is no parameter "colour" here.')],
  invalid_parameter: [
    query('limit', 'out_of_range', 'The parameter limit takes a whole number from 1 to 1000.'),
  ],
  invalid_cursor: [query('cursor', 'invalid_format', 'The parameter cursor is not one that this list gave.')],
  cursor_mismatch: [
    query('cursor', 'invalid_format', 'The parameter cursor belongs to another sort or filter.'),
  ],
  invalid_patch: [body('/0/path', 'invalid_format', '0.path holds what may not stand here.')],
  invalid_idempotency_key: [
    header(
      'Idempotency-Key',
      'invalid_format',
      'Idempotency-Key is to be 1 to 255 printable ASCII characters.',
    ),
  ],
  unsupported_version: [header('API-Version', 'out_of_range', 'This service speaks API-Version 1 only.')],
  duplicate_value: [body('/sku', 'duplicate_value', 'Another record has this sku.')],
  patch_test_failed: [body('/0', 'patch_test_failed', '0 is not what is there.')],
};

/** An error as it is answered. The message is one of several that the code can have. */
export function errorExample(code: ErrorCode): { readonly summary: string; readonly value: object } {
  const { cause, remedy } = ERRORS[code];
  const details = DETAILS[code] ?? [];
  const message = details.map((fault) => fault.message).join(' ') || firstSentence(cause);
  return { summary: `${cause} ${remedy}`, value: { code, message, details } };
}

function firstSentence(text: string): string {
  return /^.*?[.:;](?=\s|$)/.exec(text)?.[0].replace(/[:;]$/, '.') ?? text;
}

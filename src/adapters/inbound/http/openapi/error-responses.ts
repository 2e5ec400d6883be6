import { exampleOf } from '../core/error-codes.js';
import { arrayOf, type JsonSchema, open, schemaRef, text, whole } from '../core/json-schema.js';
import { JSON_TYPE } from '../core/media-types.js';
import { OAUTH_ERRORS } from '../oauth/oauth-errors.js';
import type { Components } from './components.js';
import { responseHeaders } from './headers.js';

/** Defines the response that all errors share. @returns the responses of an operation that has these errors too */
export function errorResponses(components: Components, own: readonly string[]): Record<string, object> {
  components.schemas({ Error: ERROR, ErrorDetail: ERROR_DETAIL });
  const response = components.share('responses', 'Failed', {
    description: 'An error that every request can get.',
    headers: responseHeaders(['WWW-Authenticate', 'CurrentETag', 'Accept-Patch', 'Retry-After'], components),
    content: {
      [JSON_TYPE]: {
        schema: schemaRef('Error'),
        example: exampleOf('rate_limited'),
      },
    },
  });
  return { '4XX': { ...response, description: `${codeList(own)}.` }, default: response };
}

export function codeList(codes: readonly string[]): string {
  return codes.map((code) => `\`${code}\``).join(', ');
}

const FOR_PEOPLE = text('For people to read. Programs should use `code`.');

const ERROR_DETAIL: JsonSchema = {
  ...open(
    {
      code: text('What is wrong, for programs: `required`, `too_long` and others.'),
      message: FOR_PEOPLE,
      in: text('The part of the request.', { enum: ['body', 'query', 'header', 'path'] }),
      pointer: text('In the body: a JSON Pointer (RFC 6901) to the value.'),
      name: text('Elsewhere: the name of the parameter or header.'),
      id: whole('Of `duplicate_value`: the id of the record that has the value, if the credential may read it.'),
    },
    ['code', 'message', 'in'],
  ),
  description: 'One thing that is wrong, and where it is.',
};

const ERROR: JsonSchema = {
  ...open(
    {
      code: text('What went wrong, for programs. Each operation lists its codes; there may be more in future.'),
      message: FOR_PEOPLE,
      details: arrayOf(
        schemaRef('ErrorDetail'),
        1_000,
        'Everything that is wrong with the request; empty for other errors.',
      ),
      error: text(`From \`/oauth/token\` only (RFC 6749 section 5.2): ${codeList(Object.keys(OAUTH_ERRORS))}.`),
      error_description: text('From `/oauth/token` only: the message in ASCII.'),
    },
    ['code', 'message', 'details'],
  ),
  description: 'Every error has these members.',
};

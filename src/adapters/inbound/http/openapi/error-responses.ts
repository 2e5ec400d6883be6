import { MAX_ID } from '../../../../domain/record.js';
import { exampleOf } from '../core/error-codes.js';
import { integerSchema, type JsonSchema, open, schemaRef, TEXT } from '../core/json-schema.js';
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

const FOR_PEOPLE: JsonSchema = {
  type: 'string',
  description: 'For people to read. Programs should use `code`.',
};

const ERROR_DETAIL: JsonSchema = {
  ...open(
    {
      code: {
        type: 'string',
        description: 'What is wrong, for programs: `required`, `too_long` and others.',
      },
      message: FOR_PEOPLE,
      in: {
        type: 'string',
        enum: ['body', 'query', 'header', 'path'],
        description: 'The part of the request.',
      },
      pointer: {
        type: 'string',
        description: 'In the body: a JSON Pointer (RFC 6901) to the value.',
      },
      name: { type: 'string', description: 'Elsewhere: the name of the parameter or header.' },
      id: {
        ...integerSchema(1, MAX_ID),
        description:
          'Of `duplicate_value`: the id of the record that has the value, if the credential may read it.',
      },
    },
    ['code', 'message', 'in'],
  ),
  description: 'One thing that is wrong, and where it is.',
};

const ERROR: JsonSchema = {
  ...open(
    {
      code: {
        type: 'string',
        description:
          'What went wrong, for programs. Each operation lists its codes; there may be more in future.',
      },
      message: FOR_PEOPLE,
      details: {
        type: 'array',
        maxItems: 1_000,
        items: schemaRef('ErrorDetail'),
        description: 'Everything that is wrong with the request; empty for other errors.',
      },
      error: {
        type: 'string',
        description: `From \`/oauth/token\` only (RFC 6749 section 5.2): ${Object.keys(OAUTH_ERRORS)
          .map((code) => `\`${code}\``)
          .join(', ')}.`,
      },
      error_description: { ...TEXT, description: 'From `/oauth/token` only: the message in ASCII.' },
    },
    ['code', 'message', 'details'],
  ),
  description: 'Every error has these members.',
};

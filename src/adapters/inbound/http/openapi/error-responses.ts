import { STATUS_CODES } from 'node:http';
import { MAX_ID } from '../../../../domain/record.js';
import { ERRORS, type ResponseErrorCode } from '../core/error-codes.js';
import { integerSchema, type JsonSchema, open, schemaRef, TEXT } from '../core/json-schema.js';
import { JSON_TYPE } from '../core/media-types.js';
import { OAUTH_ERRORS } from '../oauth/oauth-errors.js';
import { ERROR_EXAMPLES } from '../response/error-examples.js';
import type { Components, Reference } from './components.js';
import { type ResponseHeader, responseHeaders } from './header-objects.js';

/** The headers of errors, by status. */
const HEADERS_BY_STATUS: Readonly<Record<string, readonly ResponseHeader[]>> = {
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  412: ['CurrentETag'],
  415: ['Accept-Patch'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

/** The statuses of common errors to which clients react. The others have one response, `default`. */
const LISTED: readonly number[] = [400, 429, 503];

/** The responses of errors: one for each status, which all operations share. */
export class ErrorResponses {
  private readonly used = new Map<string, Set<ResponseErrorCode>>();

  constructor(private readonly components: Components) {
    components.schemas({ Error: ERROR, ErrorDetail: ERROR_DETAIL });
  }

  /**
   * The responses of an operation, by status.
   * @param own the errors that not every operation has
   * @param common the errors that every operation has
   */
  references(
    own: readonly ResponseErrorCode[],
    common: readonly ResponseErrorCode[],
  ): Record<string, Reference> {
    const statuses = new Set([...own.map(statusOf), ...LISTED]);
    const all = [...own, ...common].map((code): [string, ResponseErrorCode] => [
      statuses.has(statusOf(code)) ? String(statusOf(code)) : 'default',
      code,
    ]);
    return Object.fromEntries(
      all.map(([status, code]) => {
        this.used.set(status, (this.used.get(status) ?? new Set()).add(code));
        return [status, { $ref: `#/components/responses/${nameOf(status)}` }];
      }),
    );
  }

  /** Adds the responses. */
  define(): void {
    for (const [status, used] of this.used) {
      const codes = [...used].sort();
      const [first] = codes as [ResponseErrorCode];
      this.components.share('responses', nameOf(status), {
        description: `${STATUS_CODES[status] ?? 'Any other error'}: ${codeList(codes)}.`,
        headers: responseHeaders(HEADERS_BY_STATUS[status] ?? [], this.components),
        content: {
          [JSON_TYPE]: {
            schema: schemaRef('Error'),
            example: { code: first, ...ERROR_EXAMPLES[first] },
          },
        },
      });
    }
  }
}

function statusOf(code: ResponseErrorCode): number {
  return ERRORS[code].status;
}

export function codeList(codes: readonly string[]): string {
  return codes.map((code) => `\`${code}\``).join(', ');
}

/** The name of a response, such as `NotFound`. */
function nameOf(status: string): string {
  return STATUS_CODES[status]?.replaceAll(/[^A-Za-z]/g, '') ?? 'OtherError';
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

import { STATUS_CODES } from 'node:http';
import { OAUTH_ERRORS } from '../oauth/oauth-errors.js';
import { ERRORS, type ResponseErrorCode } from '../response/error-codes.js';
import { ERROR_EXAMPLES } from '../response/error-examples.js';
import { ISSUES } from '../response/issue-codes.js';
import type { Components } from './components.js';
import type { HeaderObjects, ResponseHeader } from './header-objects.js';
import type { JsonSchema } from './json-schema.js';

export interface ErrorsDescription {
  /** The verb of the operation. Operations with the same verb often have the same errors. */
  readonly verb: string;
  readonly codes: readonly ResponseErrorCode[];
  /** The headers of all errors of the operation. */
  readonly headers: readonly ResponseHeader[];
  /** The name of an additional schema of the errors. */
  readonly shape?: string | undefined;
  /** False for HEAD. */
  readonly hasBody: boolean;
}

/** The additional headers of an error, by its status. */
const HEADERS_BY_STATUS: Readonly<Record<number, readonly ResponseHeader[]>> = {
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  412: ['ETag'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

/** The additional headers of an error. A 415 to a PATCH names the accepted types (RFC 5789 section 2.2). */
function headersOf(status: number, verb: string): readonly ResponseHeader[] {
  if (status === 415) return verb === 'patch' ? ['Accept-Patch'] : [];
  return HEADERS_BY_STATUS[status] ?? [];
}

/** The Response Objects of these errors, one for each status. Equal responses are shared. */
export function errorResponses(
  { verb, codes, headers, shape, hasBody }: ErrorsDescription,
  components: Components,
  headerObjects: HeaderObjects,
): Record<string, object> {
  components.schemas(ERROR_SCHEMAS);
  const statuses = [...new Set(codes.map((code) => ERRORS[code].status))].sort();
  const responses = statuses.map((status) => {
    const ownCodes = [...new Set(codes.filter((code) => ERRORS[code].status === status))].sort();
    const response = {
      description: ownCodes.map((code) => `\`${code}\``).join(', '),
      headers: headerObjects.response([...headers, ...headersOf(status, verb)]),
      ...(hasBody && { content: content(ownCodes, shape, components) }),
    };
    return [status, shareOrInline(response, namesFor(status, verb), components)];
  });
  return Object.fromEntries(responses);
}

/** A reference to the response under the first free name; the response itself if every name is taken. */
function shareOrInline(response: object, names: readonly string[], components: Components): object {
  for (const name of names) {
    const reference = components.shareIfEqual('responses', name, response);
    if (reference) return reference;
  }
  return response;
}

/** The possible names of a response, such as `Conflict` and `ConflictOfPatch`. */
function namesFor(status: number, verb: string): string[] {
  const name = STATUS_CODES[status]?.replaceAll(/[^A-Za-z]/g, '') ?? String(status);
  return [name, `${name}Of${verb.charAt(0).toUpperCase()}${verb.slice(1)}`];
}

function content(
  codes: readonly ResponseErrorCode[],
  shape: string | undefined,
  components: Components,
): object {
  const examples = codes.map((code) => [code, components.share('examples', code, example(code))]);
  return {
    'application/json': {
      schema: withCodes(['Error', shape], codes),
      examples: Object.fromEntries(examples),
    },
    'application/problem+json': {
      schema: withCodes(['Problem', shape?.replace('Error', 'Problem')], codes),
    },
  };
}

function example(code: ResponseErrorCode): object {
  const { cause, remedy } = ERRORS[code];
  return { summary: code, description: `${cause} ${remedy}`, value: { code, ...ERROR_EXAMPLES[code] } };
}

/** The schema of errors with one of these shapes and one of these codes. */
function withCodes(names: readonly (string | undefined)[], codes: readonly ResponseErrorCode[]): JsonSchema {
  const shapes = names
    .filter((name) => name !== undefined)
    .map((name) => ({ $ref: `#/components/schemas/${name}` }));
  return {
    allOf: [
      shapes.length === 1 ? shapes[0] : { anyOf: shapes },
      { type: 'object', properties: { code: { enum: codes } } },
    ],
  };
}

const TEXT: JsonSchema = { type: 'string' };
const FOR_PEOPLE: JsonSchema = {
  type: 'string',
  description: 'For people to read. Programs should use `code`.',
};

function closed(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

const ISSUE_CODE: JsonSchema = { type: 'string', enum: Object.keys(ISSUES) };

const ISSUE: JsonSchema = {
  description: 'One thing that is wrong, and where it is.',
  oneOf: [
    closed({
      code: ISSUE_CODE,
      message: FOR_PEOPLE,
      in: { type: 'string', enum: ['body'] },
      pointer: { type: 'string', description: 'A JSON Pointer (RFC 6901) into the body.' },
    }),
    closed({
      code: ISSUE_CODE,
      message: FOR_PEOPLE,
      in: { type: 'string', enum: ['query', 'header', 'path'] },
      name: { type: 'string', description: 'The name of the parameter or header.' },
    }),
  ],
};

const ERROR_MEMBERS = {
  code: { type: 'string', enum: Object.keys(ERRORS) },
  message: FOR_PEOPLE,
  details: { type: 'array', items: { $ref: '#/components/schemas/Fault' } },
} satisfies Record<string, JsonSchema>;

/** The members of a problem (RFC 9457 section 3.1), with those of every error. */
const PROBLEM_MEMBERS = {
  type: { type: 'string', enum: ['about:blank'] },
  title: TEXT,
  status: { type: 'integer', minimum: 400, maximum: 599 },
  detail: FOR_PEOPLE,
  ...ERROR_MEMBERS,
} satisfies Record<string, JsonSchema>;

/** The members that OAuth adds (RFC 6749 section 5.2). */
const OAUTH_MEMBERS = {
  error: { type: 'string', enum: Object.keys(OAUTH_ERRORS) },
  error_description: FOR_PEOPLE,
} satisfies Record<string, JsonSchema>;

/** The schemas of errors, as `application/json` and as `application/problem+json`. */
const ERROR_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  Fault: ISSUE,
  Error: closed(ERROR_MEMBERS),
  Problem: closed(PROBLEM_MEMBERS),
};

export const OAUTH_ERROR_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  OAuthError: closed({ ...OAUTH_MEMBERS, ...ERROR_MEMBERS }),
  OAuthProblem: closed({ ...OAUTH_MEMBERS, ...PROBLEM_MEMBERS }),
};

import { STATUS_CODES } from 'node:http';
import { OAUTH_ERRORS } from '../oauth/oauth-errors.js';
import { ERRORS, type ResponseErrorCode } from '../response/error-codes.js';
import { ERROR_EXAMPLES } from '../response/error-examples.js';
import { ISSUES } from '../response/issue-codes.js';
import type { Components } from './components.js';
import type { DescribedHeaders, ResponseHeader } from './header-objects.js';
import type { JsonSchema } from './json-schema.js';

export interface ErrorsDescription {
  /** The verb of the operation. Operations with the same verb often have the same errors. */
  readonly verb: string;
  readonly codes: readonly ResponseErrorCode[];
  /** The headers of all errors of the operation. */
  readonly headers: readonly ResponseHeader[];
  /** The name of a schema that errors also have. */
  readonly shape?: string | undefined;
  /** False for HEAD. */
  readonly hasBody: boolean;
}

/** The headers of an error, by its status. */
const OWN_HEADERS: Readonly<Record<number, readonly ResponseHeader[]>> = {
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  412: ['ETag'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

/** RFC 5789 section 2.2: a 415 to a PATCH names the accepted types. */
function ownHeaders(status: number, verb: string): readonly ResponseHeader[] {
  if (status === 415) return verb === 'patch' ? ['Accept-Patch'] : [];
  return OWN_HEADERS[status] ?? [];
}

/** One response for each status of the codes. Equal responses are shared. */
export function describedErrors(
  { verb, codes, headers, shape, hasBody }: ErrorsDescription,
  components: Components,
  describedHeaders: DescribedHeaders,
): Record<string, object> {
  components.schemas(ERROR_SCHEMAS);
  const statuses = [...new Set(codes.map((code) => ERRORS[code].status))].sort();
  const responses = statuses.map((status) => {
    const its = [...new Set(codes.filter((code) => ERRORS[code].status === status))].sort();
    const response = {
      description: its.map((code) => `\`${code}\``).join(', '),
      headers: describedHeaders.responded([...headers, ...ownHeaders(status, verb)]),
      ...(hasBody && { content: content(its, shape, components) }),
    };
    return [status, shared(response, namesFor(status, verb), components)];
  });
  return Object.fromEntries(responses);
}

/** The first name that no other response has. */
function shared(response: object, names: readonly string[], components: Components): object {
  for (const name of names) {
    const reference = components.shareIfAlike('responses', name, response);
    if (reference) return reference;
  }
  return response;
}

/** `Conflict`, `ConflictOfPatch`. */
function namesFor(status: number, verb: string): string[] {
  const docs = STATUS_CODES[status]?.replaceAll(/[^A-Za-z]/g, '') ?? String(status);
  return [docs, `${docs}Of${verb.charAt(0).toUpperCase()}${verb.slice(1)}`];
}

function content(
  codes: readonly ResponseErrorCode[],
  shape: string | undefined,
  components: Components,
): object {
  const examples = codes.map((code) => [code, components.share('examples', code, example(code))]);
  return {
    'application/json': {
      schema: narrowed(['Error', shape], codes),
      examples: Object.fromEntries(examples),
    },
    'application/problem+json': {
      schema: narrowed(['Problem', shape?.replace('Error', 'Problem')], codes),
    },
  };
}

function example(code: ResponseErrorCode): object {
  const { cause, remedy } = ERRORS[code];
  return { summary: code, description: `${cause} ${remedy}`, value: { code, ...ERROR_EXAMPLES[code] } };
}

/** One of these shapes, with one of these codes. */
function narrowed(names: readonly (string | undefined)[], codes: readonly ResponseErrorCode[]): JsonSchema {
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

const OWN = {
  code: { type: 'string', enum: Object.keys(ERRORS) },
  message: FOR_PEOPLE,
  details: { type: 'array', items: { $ref: '#/components/schemas/Fault' } },
} satisfies Record<string, JsonSchema>;

/** RFC 9457 section 3.1, with the members of every error. */
const PROBLEM = {
  type: { type: 'string', enum: ['about:blank'] },
  title: TEXT,
  status: { type: 'integer', minimum: 400, maximum: 599 },
  detail: FOR_PEOPLE,
  ...OWN,
} satisfies Record<string, JsonSchema>;

/** RFC 6749 section 5.2, beside the members of every error. */
const OAUTH = {
  error: { type: 'string', enum: Object.keys(OAUTH_ERRORS) },
  error_description: FOR_PEOPLE,
} satisfies Record<string, JsonSchema>;

/** An error as `application/json` and as `application/problem+json`. */
export const ERROR_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  Fault: ISSUE,
  Error: closed(OWN),
  Problem: closed(PROBLEM),
};

export const OAUTH_ERROR_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  OAuthError: closed({ ...OAUTH, ...OWN }),
  OAuthProblem: closed({ ...OAUTH, ...PROBLEM }),
};

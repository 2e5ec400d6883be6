import { OAUTH_ERRORS } from '../oauth/oauth-error-codes.js';
import { ERRORS } from '../response/error-codes.js';
import { FAULTS } from '../response/issue-codes.js';
import type { JsonSchema } from './json-schema.js';

const TEXT: JsonSchema = { type: 'string' };
const FOR_PEOPLE: JsonSchema = {
  type: 'string',
  description: 'For people to read. Programs should use `code`.',
};

function closed(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

const FAULT_CODE: JsonSchema = { type: 'string', enum: Object.keys(FAULTS) };

const FAULT: JsonSchema = {
  description: 'One thing that is wrong, and where it is.',
  oneOf: [
    closed({
      code: FAULT_CODE,
      message: FOR_PEOPLE,
      in: { type: 'string', enum: ['body'] },
      pointer: { type: 'string', description: 'A JSON Pointer (RFC 6901) into the body.' },
    }),
    closed({
      code: FAULT_CODE,
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

/** How an error looks as JSON, and as `application/problem+json`. */
export const ERROR_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  Fault: FAULT,
  Error: closed(OWN),
  Problem: closed(PROBLEM),
};

export const OAUTH_ERROR_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  OAuthError: closed({ ...OAUTH, ...OWN }),
  OAuthProblem: closed({ ...OAUTH, ...PROBLEM }),
};

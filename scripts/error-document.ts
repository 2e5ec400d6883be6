import { STATUS_CODES } from 'node:http';
import { OAUTH_ERRORS } from '#src/adapters/inbound/http/oauth/oauth-errors.js';
import { ERRORS, type ResponseErrorCode } from '#src/adapters/inbound/http/response/error-codes.js';
import { ERROR_EXAMPLES } from '#src/adapters/inbound/http/response/error-examples.js';
import { FAULTS } from '#src/adapters/inbound/http/response/issue-codes.js';

/** Where it lies, from the root of the project. */
export const ERROR_DOCUMENT = 'docs/errors.md';

const CODES = Object.keys(ERRORS) as ResponseErrorCode[];
const STATUSES = [...new Set(CODES.map((code) => ERRORS[code].status))].sort((a, b) => a - b);

/** What people read of errors, made of what the service answers them by. */
export function errorDocument(): string {
  return [
    INTRODUCTION,
    index(),
    ...STATUSES.flatMap((status) => [`## ${status} ${STATUS_CODES[status]}`, ...codesOf(status).map(entry)]),
    OF_DETAILS,
    ...Object.entries(FAULTS).map(([code, { cause, remedy }]) =>
      section(`\`${code}\` in details`, cause, remedy),
    ),
    OF_TOKENS,
    ...Object.entries(OAUTH_ERRORS).map(([error, { codes, cause, remedy }]) =>
      section(`\`${error}\``, `${cause} Its \`code\`: ${codes.map(link).join(', ')}.`, remedy),
    ),
  ]
    .join('\n\n')
    .concat('\n');
}

const INTRODUCTION = `# Errors

Every code that the service answers with, what causes it, and what to do. How an interface of such errors is used is in
[docs/api.md](api.md#errors). This page is made by \`npm run docs:errors\` from the tables that the service itself answers
by (\`error-codes.ts\`, \`issue-codes.ts\`, \`oauth-errors.ts\`); change it there.

An error has three members: \`code\`, for programs; \`message\`, for people, whose wording may change; and \`details\`, a list,
often empty, of what is wrong with single values. Its header \`X-Request-Id\` names the request in the service's log.`;

const OF_DETAILS = `## Details

Each entry of \`details\` has a \`code\` of its own, a \`message\`, and the place: \`in\` is \`body\`, with a JSON Pointer (RFC 6901) in
\`pointer\`; or \`query\` or \`header\`, with the \`name\` of the parameter or header.`;

const OF_TOKENS = `## The token endpoint

Errors of \`POST /oauth/token\` have two members more, in the words of OAuth 2.0 (RFC 6749 section 5.2): \`error\`, and
\`error_description\`, which says what \`message\` says. Status and \`code\` are as above.`;

function index(): string {
  const rows = STATUSES.map((status) => `| ${status} | ${codesOf(status).map(link).join(', ')} |`);
  return ['| status | codes |', '|---|---|', ...rows].join('\n');
}

function codesOf(status: number): ResponseErrorCode[] {
  return CODES.filter((code) => ERRORS[code].status === status);
}

/** The anchor is the one that common renderers make of the heading. */
function link(code: ResponseErrorCode): string {
  return `[\`${code}\`](#${code})`;
}

function entry(code: ResponseErrorCode): string {
  const { cause, remedy } = ERRORS[code];
  const body = JSON.stringify({ code, ...ERROR_EXAMPLES[code] }, undefined, 2);
  return `${section(`\`${code}\``, cause, remedy)}\n\n\`\`\`json\n${body}\n\`\`\``;
}

function section(heading: string, cause: string, remedy: string): string {
  return `### ${heading}\n\n${cause}\n\n**What to do:** ${remedy}`;
}

import { STATUS_CODES } from 'node:http';
import { ERRORS, ISSUES, type ResponseErrorCode } from '#src/adapters/inbound/http/core/error-codes.js';
import { OAUTH_ERRORS } from '#src/adapters/inbound/http/oauth/oauth-errors.js';

/** The path of the document, from the root of the project. */
export const ERROR_DOCUMENT = 'docs/reference/errors.md';

const CODES = Object.keys(ERRORS) as ResponseErrorCode[];
const STATUSES = [...new Set(CODES.map((code) => ERRORS[code].status))].sort((a, b) => a - b);

/** The Markdown page of all errors, generated from the tables that the service uses. */
export function errorDocument(): string {
  return [
    INTRODUCTION,
    index(),
    ...STATUSES.flatMap((status) => [`## ${status} ${STATUS_CODES[status]}`, ...codesOf(status).map(entry)]),
    OF_DETAILS,
    ...Object.entries(ISSUES).map(([code, { cause, remedy }]) => section(`\`${code}\` in details`, cause, remedy)),
    OF_TOKENS,
    ...Object.entries(OAUTH_ERRORS).map(([error, { codes, cause, remedy }]) =>
      section(`\`${error}\``, `${cause} Its \`code\`: ${codes.map(link).join(', ')}.`, remedy),
    ),
  ]
    .join('\n\n')
    .concat('\n');
}

const INTRODUCTION = `# Errors

Every error code by its status, its cause, and what to do; \`/docs\` shows a response of each. [The API](api.md#errors)
says how to use errors. \`npm run docs\` generates this page from \`error-codes.ts\` and \`oauth-errors.ts\`; edit the texts
there.`;

const OF_DETAILS = `## Details

Each entry of \`details\` has its own \`code\`, a \`message\`, and a location: \`in\` is \`body\`, with a JSON Pointer (RFC 6901)
in \`pointer\`; or \`query\` or \`header\`, with the \`name\` of the parameter or header. The pointer ends before a name of more
than 256 UTF-16 units; the message shows its beginning.`;

const OF_TOKENS = `## The token endpoint

Errors of \`POST /oauth/token\` have two more members, as in OAuth 2.0 (RFC 6749 section 5.2): \`error\`, and
\`error_description\`, which equals \`message\`. Status and \`code\` are as above.`;

function index(): string {
  const rows = STATUSES.map((status) => `| ${status} | ${codesOf(status).map(link).join(', ')} |`);
  return ['| status | codes |', '|---|---|', ...rows].join('\n');
}

function codesOf(status: number): ResponseErrorCode[] {
  return CODES.filter((code) => ERRORS[code].status === status);
}

/** A link to the heading of a code, with the anchor that GitHub generates. */
function link(code: ResponseErrorCode): string {
  return `[\`${code}\`](#${code})`;
}

function entry(code: ResponseErrorCode): string {
  const { cause, remedy } = ERRORS[code];
  return section(`\`${code}\``, cause, remedy);
}

function section(heading: string, cause: string, remedy: string): string {
  return `### ${heading}\n\n${wrapped(cause)}\n\n${wrapped(`**What to do:** ${remedy}`)}`;
}

const MAX_COLUMNS = 120;

/** The text with line breaks instead of some spaces, so that no line is longer than {@link MAX_COLUMNS}. */
function wrapped(text: string): string {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && line.length <= MAX_COLUMNS) lines[lines.length - 1] = line;
    else lines.push(word);
  }
  return lines.join('\n');
}

import { STATUS_CODES } from 'node:http';

/** A request as a document shows it, and the answer that it promises. */
export interface Example {
  /** Of the document, where the request begins. */
  readonly line: number;
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: string | undefined;
  /** So often the request is sent; the answer is that to the last one. */
  readonly times: number;
  readonly response: { readonly status: number; readonly headers: Headers; readonly body: string };
}

/** A field that is shown on several lines has their values joined by commas (RFC 9110 section 5.3). */
type Headers = Readonly<Record<string, string>>;

interface Block {
  readonly line: number;
  readonly info: string;
  readonly text: string;
}

interface Message {
  readonly start: RegExpExecArray;
  readonly headers: Headers;
  readonly body: string | undefined;
}

const REQUEST = /^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) (\/\S*) HTTP\/1\.1$/;
const RESPONSE = /^HTTP\/1\.1 (\d{3}) (.+)$/;
const INFO = /^http(?: ([1-9]\d*) times)?$/;
const FIELD = /^([A-Za-z-]+): (\S.*)$/;

/**
 * The examples of a document in Markdown: every fenced block in it is `http`, and they come in pairs, a request and its answer.
 * @throws Error naming the line, where a block is anything else
 */
export function examplesIn(markdown: string): Example[] {
  const blocks = blocksOf(markdown);
  const requests = blocks.filter((_, at) => at % 2 === 0);
  return requests.map((request, at) => exampleOf(request, blocks[2 * at + 1]));
}

function exampleOf(requested: Block, responded: Block | undefined): Example {
  if (!responded) throw wrong(requested, 'a request without an answer');
  const [, times = '1'] = INFO.exec(requested.info) ?? [];
  const request = messageOf(requested, REQUEST);
  const response = messageOf(responded, RESPONSE);
  const [, status = '', reason] = response.start;
  if (responded.info !== 'http' || STATUS_CODES[Number(status)] !== reason)
    throw wrong(responded, 'no such answer');
  if (request.body !== undefined && !request.headers['Content-Type'])
    throw wrong(requested, 'a body of no type');
  const [, method = '', path = ''] = request.start;
  return {
    line: requested.line,
    method,
    path,
    headers: request.headers,
    body: request.body,
    times: Number(times),
    response: { status: Number(status), headers: response.headers, body: response.body ?? '' },
  };
}

function messageOf(block: Block, first: RegExp): Message {
  const [head = '', ...rest] = block.text.split('\n\n');
  const [startLine = '', ...fields] = head.split('\n');
  const start = first.exec(startLine);
  if (!INFO.test(block.info) || !start) throw wrong(block, `"${startLine}" does not match ${first}`);
  const headers: Record<string, string> = {};
  for (const line of fields) {
    const [, name, value] = FIELD.exec(line) ?? [];
    if (name === undefined || value === undefined) throw wrong(block, `"${line}" is no header`);
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  }
  return { start, headers, body: rest.length === 0 ? undefined : rest.join('\n\n') };
}

function blocksOf(markdown: string): Block[] {
  const lines = markdown.split('\n');
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; at++) {
    const [, fence, info = ''] = /^\s*(`{3,}|~{3,})(.*)$/.exec(lines[at] ?? '') ?? [];
    if (fence === undefined && /^( {4}|\t)/.test(lines[at] ?? ''))
      throw wrong({ line: at + 1 }, 'an example that is not fenced');
    if (fence === undefined) continue;
    const end = lines.findIndex((line, other) => other > at && line === fence);
    const block = { line: at + 1, info, text: lines.slice(at + 1, end).join('\n') };
    if (end < 0) throw wrong(block, 'no end');
    blocks.push(block);
    at = end;
  }
  return blocks;
}

function wrong({ line }: Pick<Block, 'line'>, what: string): Error {
  return new Error(`line ${line}: ${what}`);
}

import { STATUS_CODES } from 'node:http';

/** A request in a document and its expected response. */
export interface Example {
  /** The line of the document at which the request starts. */
  readonly line: number;
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: string | undefined;
  /** How often the request is sent. The response is that to the last one. */
  readonly times: number;
  readonly response: { readonly status: number; readonly headers: Headers; readonly body: string };
}

/** The header fields by name. The values of several lines are joined by commas (RFC 9110 section 5.3). */
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

const REQUEST = /^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) ([/$]\S*) HTTP\/1\.1$/;
const RESPONSE = /^HTTP\/1\.1 (\d{3}) (.+)$/;
const INFO = /^http(?: ([1-9]\d*) times)?$/;
const FIELD = /^([A-Za-z-]+): (\S.*)$/;

/**
 * Returns the examples of a Markdown document. Every fenced block must be `http`, and the blocks must alternate between
 * requests and responses.
 * @throws Error with the line if a block is anything else
 */
export function examplesIn(markdown: string): Example[] {
  const blocks = blocksOf(markdown);
  const requests = blocks.filter((_, index) => index % 2 === 0);
  return requests.map((request, index) => exampleOf(request, blocks[2 * index + 1]));
}

function exampleOf(requestBlock: Block, responseBlock: Block | undefined): Example {
  if (!responseBlock) throw errorAt(requestBlock, 'a request without a response');
  const [, times = '1'] = INFO.exec(requestBlock.info) ?? [];
  const request = messageOf(requestBlock, REQUEST);
  const response = messageOf(responseBlock, RESPONSE);
  const [, status = '', reason] = response.start;
  if (responseBlock.info !== 'http' || STATUS_CODES[Number(status)] !== reason)
    throw errorAt(responseBlock, 'not a valid response');
  if (request.body !== undefined && !request.headers['Content-Type'])
    throw errorAt(requestBlock, 'a body without Content-Type');
  const [, method = '', path = ''] = request.start;
  return {
    line: requestBlock.line,
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
  if (!INFO.test(block.info) || !start) throw errorAt(block, `"${startLine}" does not match ${first}`);
  const headers: Record<string, string> = {};
  for (const line of fields) {
    const [, name, value] = FIELD.exec(line) ?? [];
    if (name === undefined || value === undefined) throw errorAt(block, `"${line}" is not a header`);
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  }
  return { start, headers, body: rest.length === 0 ? undefined : rest.join('\n\n') };
}

function blocksOf(markdown: string): Block[] {
  const lines = markdown.split('\n');
  const blocks: Block[] = [];
  for (let index = 0; index < lines.length; index++) {
    const [, fence, info = ''] = /^\s*(`{3,}|~{3,})(.*)$/.exec(lines[index] ?? '') ?? [];
    if (fence === undefined && /^( {4}|\t)/.test(lines[index] ?? ''))
      throw errorAt({ line: index + 1 }, 'an example without a fence');
    if (fence === undefined) continue;
    const end = lines.findIndex((line, other) => other > index && line === fence);
    const block = { line: index + 1, info, text: lines.slice(index + 1, end).join('\n') };
    if (end < 0) throw errorAt(block, 'a fence without an end');
    blocks.push(block);
    index = end;
  }
  return blocks;
}

function errorAt({ line }: Pick<Block, 'line'>, problem: string): Error {
  return new Error(`line ${line}: ${problem}`);
}

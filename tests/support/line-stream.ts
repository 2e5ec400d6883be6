import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';

// biome-ignore lint/suspicious/noExplicitAny: tests check the results
export type ResultLine = any;

/**
 * The values of a text with a line of JSON each, such as NDJSON.
 * @throws Error if the last line has no end
 */
// biome-ignore lint/suspicious/noExplicitAny: tests check the values
export function jsonLines(text: string): any[] {
  const lines = text.split('\n');
  const rest = lines.pop();
  if (rest !== '') throw new Error(`The text ends in the middle of a line: ${rest}`);
  return lines.map((line) => JSON.parse(line));
}

/** The values of a log that grows, without a line of which only a part is there. */
// biome-ignore lint/suspicious/noExplicitAny: tests check the values
export function logLines(log: string): any[] {
  return jsonLines(log.slice(0, log.lastIndexOf('\n') + 1));
}

/** A running import: the caller sends lines and reads results at its own pace. */
export class LineStream {
  readonly response: Promise<IncomingMessage>;
  private lines: AsyncIterator<string> | undefined;

  constructor(readonly request: ClientRequest) {
    this.response = once(request, 'response').then(([response]) => response as IncomingMessage);
    // A rejection before `response` is awaited is not an unhandled one.
    this.response.catch(() => {});
    request.flushHeaders();
  }

  /** Sends text. If the connection is full, waits until the service reads. */
  async send(text: string | Buffer): Promise<void> {
    if (!this.request.write(text)) await once(this.request, 'drain');
  }

  end(): void {
    this.request.end();
  }

  /** Returns the next result, or undefined at the end. */
  async next(): Promise<ResultLine | undefined> {
    const { value, done } = await (await this.resultLines()).next();
    return done ? undefined : JSON.parse(value);
  }

  async rest(): Promise<ResultLine[]> {
    const results: ResultLine[] = [];
    for (let result = await this.next(); result !== undefined; result = await this.next()) results.push(result);
    return results;
  }

  private async resultLines(): Promise<AsyncIterator<string>> {
    this.lines ??= linesOf(await this.response);
    return this.lines;
  }
}

/** @throws Error if the response is aborted */
async function* linesOf(response: IncomingMessage): AsyncGenerator<string, void, void> {
  let rest = '';
  for await (const text of response.setEncoding('utf8')) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') throw new Error(`The response ends in the middle of a line: ${rest}`);
}

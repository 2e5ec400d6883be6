import {
  type IncomingMessage,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
  ServerResponse,
  validateHeaderValue,
} from 'node:http';

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];

/**
 * A response that keeps its headers in one list, which Node takes as it is. Node's own `setHeader` validates and copies
 * each header twice. A value is validated when it is set, a name only when the head is written.
 */
export class HeaderListResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  /** Names and values in turn, the format of `writeHead`. */
  private readonly list: OutgoingHttpHeader[] = [];

  override setHeader(name: string, value: number | string | readonly string[]): this {
    // Node's own throws.
    if (this.headersSent) return super.setHeader(name, value);
    validateHeaderValue(name, value as string);
    const { list } = this;
    const at = this.indexOf(name);
    const text = typeof value === 'object' ? [...value] : value;
    if (at < 0) list.push(name, text);
    else list[at + 1] = text;
    return this;
  }

  override appendHeader(name: string, value: string | readonly string[]): this {
    const existing = this.getHeader(name);
    return this.setHeader(name, existing === undefined ? value : [existing, value].flat().map(String));
  }

  override getHeader(name: string): OutgoingHttpHeader | undefined {
    const at = this.indexOf(name);
    return at < 0 ? undefined : this.list[at + 1];
  }

  override hasHeader(name: string): boolean {
    return this.indexOf(name) >= 0;
  }

  override removeHeader(name: string): void {
    if (this.headersSent) super.removeHeader(name);
    const at = this.indexOf(name);
    if (at >= 0) this.list.splice(at, 2);
  }

  override getHeaderNames(): string[] {
    return this.list.filter((_, at) => at % 2 === 0).map((name) => String(name).toLowerCase());
  }

  override getHeaders(): OutgoingHttpHeaders {
    return Object.fromEntries(this.getHeaderNames().map((name) => [name, this.getHeader(name)]));
  }

  /** Node calls it with the status alone when the body begins. */
  override writeHead(status: number, reason?: string | Headers, headers?: Headers): this {
    if (typeof reason === 'string') this.statusMessage = reason;
    const given = typeof reason === 'object' ? reason : headers;
    if (given) for (const [name, value] of entriesOf(given)) this.setHeader(name, value);
    return super.writeHead(status, this.list);
  }

  private indexOf(name: string): number {
    const { list } = this;
    for (let at = 0; at < list.length; at += 2) {
      const other = list[at] as string;
      if (other === name) return at;
      if (other.length === name.length && other.toLowerCase() === name.toLowerCase()) return at;
    }
    return -1;
  }
}

/** The headers that `writeHead` accepts: an object, or names and values in turn. */
function entriesOf(headers: Headers): [name: string, value: OutgoingHttpHeader][] {
  if (!Array.isArray(headers))
    return Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  return headers.flatMap((name, at) => (at % 2 === 0 ? [[String(name), headers[at + 1] ?? '']] : []));
}

import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer, request, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';

/** A request of a client, and what the service responded. */
export interface Exchange {
  readonly method: string;
  /** What the proxy removed from the beginning of the path. */
  readonly prefix: string;
  readonly path: string;
  readonly sent: IncomingHttpHeaders;
  status?: number;
  received?: IncomingHttpHeaders;
}

/**
 * What becomes of a response: it reaches the client, is lost, or is cut off after its first line; or the proxy refuses
 * the request with 503 and a date in `Retry-After` (RFC 9110 section 10.2.3).
 */
export type Delivery = 'forward' | 'lose' | 'cut' | 'refuse';

interface Target {
  readonly port: number;
  /** The certificate and the key of the service, and its CA, in PEM. */
  readonly cert: string;
  readonly key: string;
  readonly ca: Buffer;
}

/** A prefix that the proxy removes. The service does not know the first one, and puts the other before its links. */
const PREFIX = /^\/(?:shop|known)(?=\/)/;
export const KNOWN_PREFIX = '/known';

/**
 * An HTTPS proxy with the certificate of the service. It records the requests, and closes each connection after one, so
 * that no client repeats a request by itself because a connection that it kept has ended.
 */
export class RecordingProxy {
  readonly exchanges: Exchange[] = [];
  private readonly server: Server;

  /** @param intervene runs before a request is forwarded, and says what becomes of its response */
  constructor(
    private readonly target: Target,
    private readonly intervene: (exchange: Exchange) => Promise<Delivery>,
  ) {
    this.server = createServer(target, (incoming, outgoing) => {
      this.forward(incoming, outgoing).catch((error: Error) => outgoing.destroy(error));
    });
  }

  /** Starts to listen. @returns the port */
  async listen(): Promise<number> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return (this.server.address() as AddressInfo).port;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private async forward(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = incoming;
    const [prefix = ''] = PREFIX.exec(url) ?? [];
    const path = url.slice(prefix.length);
    const exchange: Exchange = { method, prefix, path, sent: headers };
    this.exchanges.push(exchange);
    const delivery = await this.intervene(exchange);
    if (delivery === 'refuse') {
      exchange.status = 503;
      outgoing.writeHead(503, {
        'Retry-After': new Date().toUTCString(),
        'Access-Control-Allow-Origin': '*',
      });
      incoming.resume();
      outgoing.end('busy');
      return;
    }
    const { port, ca } = this.target;
    const forwarded = request({ host: 'localhost', port, ca, agent: false, method, path, headers });
    incoming.pipe(forwarded);
    const [response] = (await once(forwarded, 'response')) as [IncomingMessage];
    exchange.status = response.statusCode ?? 0;
    exchange.received = response.headers;
    if (delivery === 'lose') {
      await once(response.resume(), 'end');
      outgoing.destroy();
      return;
    }
    outgoing.writeHead(exchange.status, [
      ...response.rawHeaders
        .filter((_, index, all) => !isConnection(all[index - (index % 2)]))
        .map((text) => (prefix === KNOWN_PREFIX ? text.replace(/^<\//, `<${prefix}/`) : text)),
      'Connection',
      'close',
    ]);
    if (delivery === 'cut') {
      const body = Buffer.concat(await response.toArray());
      outgoing.write(body.subarray(0, body.indexOf('\n') + 1), () => outgoing.destroy());
      return;
    }
    response.pipe(outgoing);
  }
}

function isConnection(name: string | undefined): boolean {
  return /^(connection|keep-alive|transfer-encoding)$/i.test(name ?? '');
}

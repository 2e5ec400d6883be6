import { createServer, request, type Server } from 'node:http';
import { listen } from '#src/process/listen.js';
import { endServer } from './end-server.js';

/**
 * A proxy in plain HTTP, for the tests of one `describe`, that removes the path prefix of each request as nginx, Caddy
 * and HAProxy do, changes nothing else, and responds 404 to other paths: they belong to a neighbour.
 * @param service the port of a service with `TLS=proxy`, read at each request
 */
export function prefixProxy(prefix: string, service: { readonly port: number }): { readonly port: number } {
  const proxy: Server = createServer((incoming, outgoing) => {
    const { method, url = '', headers } = incoming;
    if (!url.startsWith(`${prefix}/`)) return outgoing.writeHead(404).end();
    const forwarded = request(
      {
        port: service.port,
        host: '127.0.0.1',
        method,
        path: url.slice(prefix.length),
        headers: { ...headers, 'x-forwarded-proto': 'https' },
      },
      (response) => {
        outgoing.writeHead(response.statusCode ?? 0, response.headers);
        response.pipe(outgoing);
      },
    );
    return incoming.pipe(forwarded);
  });
  const served = { port: 0 };
  before(async () => (served.port = await listen(proxy, '127.0.0.1', 0)));
  after(() => endServer(proxy));
  return served;
}

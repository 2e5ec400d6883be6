import type { Socket } from 'node:net';
import type { Middleware } from '../context.js';
import { HttpError } from '../response/http-error.js';
import { networkOf, parseAddress, type TrustedProxies } from '../server/ip-address.js';

const known = new WeakMap<Socket, string>();

/** For clients that connect directly. X-Forwarded-For is ignored. */
export const directClientIp: Middleware = (ctx, next) => {
  ctx.state.address = peerNetwork(ctx.req.socket);
  return next();
};

/**
 * For requests that come through proxies that end TLS. Any other request, and one that reached the proxy in plain
 * HTTP, is refused and not redirected, because its token has been on the wire already. Probes may come either way.
 * @throws HttpError `https_required`
 */
export function proxiedClientIp(proxies: TrustedProxies): Middleware {
  return (ctx, next) => {
    const peer = parseAddress(ctx.req.socket.remoteAddress);
    const isTrusted = peer !== undefined && proxies.includes(peer);
    if (!(isTrusted && isHttps(ctx.get('X-Forwarded-Proto'))) && !isProbe(ctx.path)) {
      throw new HttpError('https_required', 'This service is served over HTTPS alone, by its proxy.');
    }
    ctx.state.address = networkOf(isTrusted ? proxies.clientOf(peer, ctx.get('X-Forwarded-For')) : peer);
    return next();
  };
}

/** One word. Several are not believed, because two proxies may disagree. */
function isHttps(forwardedProto: string): boolean {
  return forwardedProto.toLowerCase() === 'https';
}

function isProbe(path: string): boolean {
  return path.startsWith('/health/');
}

function peerNetwork(socket: Socket): string {
  let network = known.get(socket);
  if (network === undefined) {
    network = networkOf(parseAddress(socket.remoteAddress));
    known.set(socket, network);
  }
  return network;
}

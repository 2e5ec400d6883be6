import type { Middleware } from '../core/context.js';
import { HttpError } from '../core/http-error.js';
import { isProbe } from '../core/route.js';
import { connectionOf } from '../server/connection.js';
import { networkOf, parseAddress, type TrustedProxies } from '../server/ip-address.js';

/** Reads the IP address of a client that connects directly. `X-Forwarded-For` is ignored. */
export const directClientIp: Middleware = (ctx, next) => {
  ctx.state.address = connectionOf(ctx.req.socket).peer.network;
  return next();
};

/**
 * Reads the IP address of a client behind a proxy that terminates TLS. A request that bypassed the proxy or reached it
 * over plain HTTP is rejected. It is not redirected, because its token has already been sent in the clear. Probes may
 * bypass the proxy.
 * @throws HttpError `https_required`
 */
export function proxiedClientIp(proxies: TrustedProxies): Middleware {
  return (ctx, next) => {
    const peer = parseAddress(ctx.req.socket.remoteAddress);
    const isTrusted = peer !== undefined && proxies.includes(peer);
    if (!(isTrusted && isHttps(ctx.get('X-Forwarded-Proto'))) && !isProbe(ctx.req)) {
      throw new HttpError('https_required', 'This service is available only over HTTPS, through its proxy.');
    }
    ctx.state.address = networkOf(isTrusted ? proxies.clientOf(peer, ctx.get('X-Forwarded-For')) : peer);
    return next();
  };
}

/** Of several proxies each must say https: the request has passed all of them. */
function isHttps(forwardedProto: string): boolean {
  return forwardedProto.split(',').every((protocol) => protocol.trim().toLowerCase() === 'https');
}

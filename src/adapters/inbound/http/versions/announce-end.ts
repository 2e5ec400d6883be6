import type { Middleware } from '../context.js';
import { pathIn } from './asked-version.js';

/**
 * Every answer of a deprecated version says so, errors too (RFC 9745, RFC 8594), and where the same is found in the next
 * (RFC 5829 section 3.4), beside whatever else it links to.
 */
export const announceEnd: Middleware = async (ctx, next) => {
  await next();
  const end = ctx.state.version?.end;
  if (!end) return;
  const links = ctx.response.get('Link');
  const successor = `<${pathIn(end.successor, ctx.path)}>; rel="successor-version"`;
  ctx.set({ ...end.headers, Link: links ? `${links}, ${successor}` : successor });
};

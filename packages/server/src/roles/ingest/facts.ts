import { ID_COOKIE, readCookie } from './cookies.ts';
import type { Exchange } from './exchange.ts';
import type { RequestFacts } from './record.ts';

const MAX_USER_AGENT = 2_048;

/**
 * What the request itself tells about its events. On browser-facing paths, and for requests with an Origin, the connection
 * is the visitor's; a server's own address and user agent say nothing about anybody.
 */
export function factsOf(exchange: Exchange, digest: string | undefined): RequestFacts {
  const { req, route, ctx, origin } = exchange;
  const rules = exchange.rules!;
  const browserRequest = !rules.server && (origin !== undefined || route.kind === 'pixel');
  const visitor = !rules.server && (origin !== undefined || route.browser);
  return {
    rules,
    receivedAt: exchange.receivedAt,
    source: visitor ? 'browser' : 'server',
    browserRequest,
    cookieId: readCookie(req.headers.cookie, ID_COOKIE),
    ip: visitor ? ctx.proxies.address(req) : undefined,
    userAgent: visitor ? req.headers['user-agent']?.slice(0, MAX_USER_AGENT) : undefined,
    gpc: visitor && req.headers['sec-gpc'] === '1',
    digest,
  };
}

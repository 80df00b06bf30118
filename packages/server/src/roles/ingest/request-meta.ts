import { envelopeFields } from '@firsthand/core/event/envelope.ts';
import type { RequestMeta } from '../../intake/ingest-record.ts';
import type { Sender } from './admission.ts';
import { ID_COOKIE, readCookie, vendorCookies } from './cookies.ts';
import type { Exchange } from './exchange.ts';

const MAX_USER_AGENT = 2_048;

/**
 * What the request says about all its events. On browser-facing paths, and for requests with an Origin, the connection is the
 * visitor's. Otherwise it is a server's, whose address and user agent describe no visitor.
 */
export function requestMeta({ req, route, ctx, origin, receivedAt }: Exchange, { rules, digest }: Sender): RequestMeta {
  const fromVisitor = !rules.server && (origin !== undefined || route.browser);
  return {
    rules,
    digest,
    browserRequest: !rules.server && (origin !== undefined || route.kind === 'pixel'),
    cookieId: readCookie(req.headers.cookie, ID_COOKIE),
    context: undefined,
    envelope: envelopeFields({
      received_at: receivedAt,
      source: fromVisitor ? 'browser' : 'server',
      ip: fromVisitor ? ctx.proxies.address(req) : undefined,
      user_agent: fromVisitor ? req.headers['user-agent']?.slice(0, MAX_USER_AGENT) : undefined,
      cookies: fromVisitor ? vendorCookies(req.headers.cookie) : undefined,
      gpc: fromVisitor && req.headers['sec-gpc'] === '1' ? true : undefined,
    }),
    gpc: fromVisitor && req.headers['sec-gpc'] === '1',
    receivedAt,
  };
}

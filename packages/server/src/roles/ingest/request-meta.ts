import { envelopeField, envelopeFields } from '@firsthand/core/event/envelope.ts';
import { truncateIp } from '@firsthand/core/privacy/ip.ts';
import type { RequestMeta } from '../../intake/ingest-record.ts';
import type { IngestRules } from '../../snapshot/ingest-rules.ts';
import type { Sender } from './admission.ts';
import { readIdCookie, vendorCookies } from './cookies.ts';
import type { Exchange } from './exchange.ts';
import type { RequestFields } from './rejected-letter.ts';

const MAX_USER_AGENT = 2_048;

/**
 * What the request says about the visitor. On browser-facing paths, and for requests with an Origin, the connection is the
 * visitor's. Otherwise it is a server's, whose address and user agent describe no visitor. `Sec-GPC` counts on every path: a server
 * that passes it on speaks for the visitor.
 */
export function requestFields(exchange: Exchange, rules: IngestRules): RequestFields {
  const { headers, route, ctx, origin } = exchange;
  const isVisitor = !rules.server && (origin !== undefined || route.browser);
  const fields: RequestFields = { source: isVisitor ? 'browser' : 'server' };
  if (isVisitor) {
    const ip = underPolicy(headers['x-ip-policy'], ctx.proxies.address(exchange));
    const userAgent = headers['user-agent'];
    const cookies = vendorCookies(headers.cookie);
    if (ip !== undefined) fields.ip = ip;
    if (userAgent !== undefined) fields.user_agent = userAgent.slice(0, MAX_USER_AGENT);
    if (cookies !== undefined) fields.cookies = cookies;
  }
  if (headers['sec-gpc'] === '1') fields.gpc = true;
  return fields;
}

/** Jitsu's clients say here how much of the visitor's address may be used (`privacy.ipPolicy`). They send nothing for `keep`. */
function underPolicy(policy: string | undefined, address: string | undefined): string | undefined {
  switch (policy?.toLowerCase()) {
    case 'remove':
      return undefined;
    case 'striplastoctet':
      return address && truncateIp(address);
    default:
      return address;
  }
}

/** What all events of the request share. */
export function requestMeta(exchange: Exchange, { rules, digest }: Sender): RequestMeta {
  const { headers, route, origin, receivedAt } = exchange;
  const fields = requestFields(exchange, rules);
  return {
    rules,
    digest,
    receivedAt,
    browserRequest: !rules.server && (origin !== undefined || route.kind === 'pixel'),
    cookieId: readIdCookie(headers.cookie),
    gpc: fields.gpc === true,
    context: undefined,
    envelope: envelopeField('received_at', receivedAt) + envelopeFields(fields),
  };
}

/** Who sends, and whether they may: key, origin, address, rate, signature. Each function sends the rejection itself. */
import { isObject, own } from '@firsthand/core/json.ts';
import type { Rejection } from '../../http/collection-reply.ts';
import type { IngestRules } from '../../snapshot/ingest-rules.ts';
import { type Exchange, OVERLOADED } from './exchange.ts';
import { findPipeline } from './pipeline-key.ts';
import { checkSignature } from './request-signature.ts';

/** A sender that passed every check. */
export interface Sender {
  rules: IngestRules;
  /** Of a signed request: what the ids of its events are derived from. */
  digest: string | undefined;
}

/** Everything that needs no body. Undefined after the rejection. */
export function admit(exchange: Exchange, key: string): IngestRules | undefined {
  const rules = findSender(exchange, key);
  if (rules === undefined) return undefined;
  if (exchange.ctx.fairAdmission.refuses(rules.orgId)) {
    exchange.reject(OVERLOADED);
    return undefined;
  }
  const wait = exchange.ctx.limiter.take(rules.pipelineId, rules.rate);
  if (wait === 0) return rules;
  exchange.reject({ code: 'rate_limited', retryAfterS: Math.max(1, Math.ceil(wait / 1_000)) });
  return undefined;
}

/** The pipeline of the key, where this client may use it now. Undefined after the rejection. */
export function findSender(exchange: Exchange, key: string): IngestRules | undefined {
  const rules = findPipeline(exchange.ctx.snapshots.current(), key)?.ingest;
  exchange.rules = rules;
  const rejection = rules === undefined ? UNKNOWN_KEY : rejectionOf(exchange, rules);
  if (rejection === undefined) return rules;
  exchange.reject(rejection);
  return undefined;
}
const UNKNOWN_KEY: Rejection = { code: 'invalid_pipeline_key' };

function rejectionOf({ ctx, req, origin }: Exchange, rules: IngestRules): Rejection | undefined {
  if (!rules.enabled) return { code: 'pipeline_disabled' };
  if (origin !== undefined && !rules.allowsOrigin(origin)) return { code: 'origin_not_allowed' };
  if (rules.allowsAddress !== undefined && !rules.allowsAddress(ctx.proxies.address(req) ?? '')) return { code: 'ip_not_allowed' };
  return undefined;
}

/**
 * The signature over the body. `wire` is the body as it came, `bytes` the same unpacked: a client may have signed either.
 * Undefined after the rejection.
 */
export function verifySignature(exchange: Exchange, rules: IngestRules, wire: Buffer, bytes: Buffer): Sender | undefined {
  if (!rules.server) return { rules, digest: undefined };
  const bodies = wire === bytes ? [wire] : [wire, bytes];
  const check = checkSignature(exchange.req.headers, rules, bodies, exchange.receivedAt);
  if (check.kind === 'accepted') return { rules, digest: check.digest };
  exchange.reject({ code: 'invalid_signature', message: check.message });
  return undefined;
}

/** The key of a request that names it in its body only. */
export function bodyKey(body: unknown): string {
  const key = isObject(body) ? own(body, 'writeKey') : undefined;
  return typeof key === 'string' ? key : '';
}

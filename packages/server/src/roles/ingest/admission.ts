/** Who sends, and whether they may: key, origin, address, rate, signature. Each function sends the rejection itself. */
import { isObject, own } from '@firsthand/core/json.ts';
import type { Rejection } from '../../http/collection-reply.ts';
import type { IngestRules } from '../../snapshot/ingest-rules.ts';
import { type Exchange, OVERLOADED } from './exchange.ts';
import { findPipeline } from './pipeline-key.ts';
import { type ReadBody, refuseSender } from './refused-senders.ts';
import { checkSignature } from './request-signature.ts';

/** A sender that passed every check. */
export interface Sender {
  rules: IngestRules;
  /** Of a signed request: what the ids of its events are derived from. */
  digest: string | undefined;
}

/** Everything that needs no body. Undefined after the rejection. `body`: where it was read already. */
export function admit(exchange: Exchange, key: string, body?: () => ReadBody): IngestRules | undefined {
  const rules = pipelineOf(exchange, key);
  if (rules === undefined) return undefined;
  const refusal = rejectionOf(exchange, rules);
  if (refusal !== undefined) {
    refuseSender(exchange, rules, refusal, body);
    return undefined;
  }
  if (exchange.ctx.fairAdmission.refuses(rules.orgId)) {
    exchange.reject(OVERLOADED);
    return undefined;
  }
  const wait = exchange.ctx.limiter.take(rules.pipelineId, rules.rate);
  if (wait === 0) return rules;
  exchange.reject({ code: 'rate_limited', retryAfterS: Math.max(1, Math.ceil(wait / 1_000)) });
  return undefined;
}

/** The pipeline of the key, where this client may use it now. For requests that bring no event. Undefined after the rejection. */
export function findSender(exchange: Exchange, key: string): IngestRules | undefined {
  const rules = pipelineOf(exchange, key);
  const refusal = rules && rejectionOf(exchange, rules);
  if (refusal === undefined) return rules;
  exchange.reject(refusal);
  return undefined;
}

function pipelineOf(exchange: Exchange, key: string): IngestRules | undefined {
  const rules = findPipeline(exchange.ctx.snapshots.current(), key)?.ingest;
  exchange.rules = rules;
  if (rules === undefined) exchange.reject(UNKNOWN_KEY);
  return rules;
}
const UNKNOWN_KEY: Rejection = { code: 'invalid_pipeline_key' };

function rejectionOf(exchange: Exchange, rules: IngestRules): Rejection | undefined {
  const { ctx, origin } = exchange;
  if (!rules.enabled) return { code: 'pipeline_disabled' };
  if (origin !== undefined && !rules.allowsOrigin(origin)) return { code: 'origin_not_allowed' };
  if (rules.allowsAddress !== undefined && !rules.allowsAddress(ctx.proxies.address(exchange) ?? '')) return { code: 'ip_not_allowed' };
  return undefined;
}

/**
 * The signature over the body. `wire` is the body as it came, `unpacked` the same unpacked: a client may have signed either. `event`: the
 * event, where it is not the body. Undefined after the rejection.
 */
export function verifySignature(
  exchange: Exchange,
  rules: IngestRules,
  wire: Buffer,
  unpacked: Buffer,
  event?: () => Buffer,
): Sender | undefined {
  if (!rules.server) return { rules, digest: undefined };
  const signed = wire === unpacked ? [wire] : [wire, unpacked];
  const check = checkSignature(exchange.headers, rules, signed, exchange.receivedAt);
  if (check.kind === 'accepted') return { rules, digest: check.digest };
  const body = () => ({ signed, bytes: event?.() ?? unpacked });
  refuseSender(exchange, rules, { code: 'invalid_signature', message: check.message }, body);
  return undefined;
}

/** The key of a request that names it in its body only. */
export function bodyKey(body: unknown): string {
  const key = isObject(body) ? own(body, 'writeKey') : undefined;
  return typeof key === 'string' ? key : '';
}

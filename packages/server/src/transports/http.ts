import type { CompiledVendor, VendorItem, VendorReply, Verdict } from '@firsthand/core/vendor/compiled.ts';
import { retryAfterMs } from '@firsthand/core/vendor/retry-after.ts';
import type { GuardedClient } from '../outbound/guarded-client.ts';
import type { TokenCache } from '../outbound/tokens.ts';
import type { Clock } from '../runtime/clock.ts';
import { errorText } from '../runtime/error-text.ts';
import type { Sent } from './port.ts';

/** Items of one lane that share a request. */
export interface RequestPlan {
  vendor: CompiledVendor;
  items: VendorItem[];
  /** 1 on the first attempt. */
  attempt: number;
}
export interface HttpDeps {
  client: GuardedClient;
  tokens: TokenCache;
  clock: Clock;
}

/**
 * One attempt at one request. When the vendor rejects the access token, a fresh one is fetched and the request sent once
 * more; that still counts as the same attempt.
 */
export async function sendBatch(plan: RequestPlan, requestId: string, deps: HttpDeps): Promise<Sent> {
  const { vendor, items, attempt } = plan;
  const at = deps.clock.now();
  const began = deps.clock.monotonic();
  const tried = (verdict: Verdict, reply?: VendorReply): Sent => ({
    verdict,
    status: reply?.status ?? null,
    at,
    duration_ms: Math.round(deps.clock.monotonic() - began),
    ...(reply ? { reply } : {}),
  });
  const token = vendor.token?.(items);
  for (let fresh = false; ; fresh = true) {
    let access_token: string | undefined;
    if (token) {
      const got = await deps.tokens.get(token);
      if (got.kind !== 'token') return tried(got);
      access_token = got.token;
    }
    let request: ReturnType<typeof vendor.request>;
    try {
      const context = { now: deps.clock.now(), attempt, request_id: requestId };
      request = vendor.request(items, access_token === undefined ? context : { ...context, access_token });
    } catch (error) {
      return { ...tried({ kind: 'refused', reason: `the request cannot be built: ${errorText(error)}` }), unbuildable: true };
    }
    const sent = await deps.client.send(request, vendor.timeout_ms);
    if (sent.kind === 'failed')
      return tried(sent.permanent ? { kind: 'refused', reason: sent.error } : { kind: 'unavailable', reason: sent.error });
    const verdict = readReply(plan, sent.reply, deps.clock.now());
    if (!fresh && token && access_token !== undefined && wantsToken(verdict)) {
      deps.tokens.reject(token, access_token);
      continue;
    }
    return tried(verdict, sent.reply);
  }
}

function readReply({ vendor, items }: RequestPlan, reply: VendorReply, now: number): Verdict {
  try {
    return withRetryAfter(vendor.read(reply, items, { now }), reply, now);
  } catch (error) {
    return { kind: 'unavailable', reason: `the response cannot be read: ${errorText(error)}` };
  }
}
/** `Retry-After` counts even where the vendor's answer rules do not mention it. */
function withRetryAfter(verdict: Verdict, reply: VendorReply, now: number): Verdict {
  const header = reply.headers['retry-after'];
  if (header === undefined || verdict.kind !== 'unavailable' || verdict.retry_after_ms !== undefined) return verdict;
  const retry_after_ms = retryAfterMs(header, now);
  return retry_after_ms === undefined ? verdict : { ...verdict, retry_after_ms };
}
function wantsToken(verdict: Verdict): boolean {
  return verdict.kind === 'unavailable' && verdict.refresh_token === true;
}

import type {
  CompiledVendor,
  RequestContext,
  TokenPlan,
  VendorItem,
  VendorReply,
  VendorRequest,
  Verdict,
} from '@firsthand/core/vendor/compiled.ts';
import { retryAfterMs } from '@firsthand/core/vendor/retry-after.ts';
import { errorText } from '../runtime/error-text.ts';
import type { HttpDeps, Sent } from './port.ts';

/** Items of one lane that share a request. */
export interface RequestPlan {
  vendor: CompiledVendor;
  items: VendorItem[];
  /** 1 on the first attempt. */
  attempt: number;
}
/** One request and how to read its response. */
export interface OutboundCall {
  token: TokenPlan | undefined;
  timeout_ms: number;
  context: Pick<RequestContext, 'attempt' | 'request_id' | 'job'>;
  request(context: RequestContext): VendorRequest;
  read(reply: VendorReply, context: { now: number }): Verdict;
}

export function sendBatch({ vendor, items, attempt }: RequestPlan, request_id: string, deps: HttpDeps): Promise<Sent> {
  return attemptCall(
    {
      token: vendor.token?.(items),
      timeout_ms: vendor.timeout_ms,
      context: { attempt, request_id },
      request: (context) => vendor.request(items, context),
      read: (reply, context) => vendor.read(reply, items, context),
    },
    deps,
  );
}

/**
 * One attempt at one request. When the vendor rejects the access token, a fresh one is fetched and the request sent once
 * more; that still counts as the same attempt.
 */
export async function attemptCall({ token, timeout_ms, context, request, read }: OutboundCall, deps: HttpDeps): Promise<Sent> {
  const { clock } = deps;
  const at = clock.now();
  const began = clock.monotonic();
  const done = (verdict: Verdict, reply?: VendorReply): Sent => {
    return { verdict, status: reply?.status ?? null, at, duration_ms: Math.round(clock.monotonic() - began), reply };
  };
  for (let fresh = false; ; fresh = true) {
    let access_token: string | undefined;
    if (token) {
      const got = await deps.tokens.get(token);
      if (got.kind !== 'token') return done(got);
      access_token = got.token;
    }
    let built: VendorRequest;
    try {
      const { attempt, request_id, job } = context;
      built = request({ now: clock.now(), attempt, request_id, access_token, job });
    } catch (error) {
      return { ...done({ kind: 'refused', reason: `the request cannot be built: ${errorText(error)}` }), unbuildable: true };
    }
    const sent = await deps.client.send(built, timeout_ms);
    if (sent.kind === 'failed')
      return done(sent.permanent ? { kind: 'refused', reason: sent.error } : { kind: 'unavailable', reason: sent.error });
    const verdict = readReply(read, sent.reply, clock.now());
    if (!fresh && token && access_token !== undefined && wantsToken(verdict)) {
      deps.tokens.reject(token, access_token);
      continue;
    }
    return done(verdict, sent.reply);
  }
}

function readReply(read: OutboundCall['read'], reply: VendorReply, now: number): Verdict {
  try {
    return withRetryAfter(read(reply, { now }), reply, now);
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

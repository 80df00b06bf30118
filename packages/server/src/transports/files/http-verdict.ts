/** Object stores over HTTP: one request, and its response or failure. */
import type { VendorReply, VendorRequest } from '@firsthand/core/vendor/compiled.ts';
import { retryAfterMs } from '@firsthand/core/vendor/retry-after.ts';
import type { HttpDeps } from '../port.ts';
import type { PutVerdict } from './store.ts';

export type Reply = { reply: VendorReply } | { failed: PutVerdict };

export async function request({ client }: HttpDeps, built: VendorRequest, timeout_ms: number): Promise<Reply> {
  const sent = await client.send(built, timeout_ms);
  if (sent.kind === 'reply') return { reply: sent.reply };
  return { failed: { kind: sent.permanent ? 'refused' : 'unavailable', reason: sent.error } };
}

/** `refused` only for faults of the request itself. What a person can correct at the store is worth a retry. */
export function failure(reply: VendorReply, code: string | undefined, now: number, hint = ''): PutVerdict {
  const { status } = reply;
  const reason = `http_${status}${code === undefined ? '' : `: ${code}`}${hint}`;
  const correctable = status === 401 || status === 403 || status === 404 || status === 408 || status === 409 || status === 429;
  if (status < 500 && !correctable) return { kind: 'refused', reason };
  const retry_after_ms = retryAfterMs(reply.headers['retry-after'], now);
  return { kind: 'unavailable', reason, ...(retry_after_ms === undefined ? {} : { retry_after_ms }) };
}

/** The text of the first element of that name. */
export function xmlText(body: string, element: string): string | undefined {
  return new RegExp(`<${element}>([^<]{1,200})</${element}>`).exec(body)?.[1];
}

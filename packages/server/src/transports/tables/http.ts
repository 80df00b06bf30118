/** Requests of stores that speak HTTP. */
import type { Cell } from '@firsthand/core/tables/columns.ts';
import type { TokenPlan, VendorReply, VendorRequest } from '@firsthand/core/vendor/compiled.ts';
import { retryAfterMs } from '@firsthand/core/vendor/retry-after.ts';
import { errorText } from '../../runtime/error-text.ts';
import { turns, VERY_LARGE_BYTES } from '../../runtime/turns.ts';
import type { HttpDeps } from '../port.ts';
import type { Load, StoreFailure } from './store.ts';

/** A table with many long names has a long description. */
const MAX_REPLY_BYTES = 1_000_000;

/** Nothing came back. `permanent`: nothing was sent either, and a retry fails the same way. */
export class NoReply extends Error {
  readonly permanent: boolean;
  constructor(message: string, permanent: boolean) {
    super(message);
    this.permanent = permanent;
  }
}
/** The destination answered with an error. */
export class BadReply extends Error {
  readonly reply: VendorReply;
  /** The destination's own code, where it has one. */
  readonly code: string;
  constructor(reply: VendorReply, code: string, message: string) {
    super(message.slice(0, 300));
    this.reply = reply;
    this.code = code;
  }
}

/** Any reply; throws `NoReply`. */
export async function fetchReply(http: HttpDeps, request: VendorRequest, deadline: number): Promise<VendorReply> {
  const left = Math.floor(deadline - performance.now());
  if (left <= 0) throw new NoReply('timeout', false);
  const sent = await http.client.send({ max_reply_bytes: MAX_REPLY_BYTES, ...request }, left);
  if (sent.kind === 'failed') throw new NoReply(sent.error, sent.permanent);
  return sent.reply;
}

/** With an access token in `Authorization`; one that the destination rejects is replaced once. */
export async function fetchWithToken(http: HttpDeps, plan: TokenPlan, request: VendorRequest, deadline: number): Promise<VendorReply> {
  for (let fresh = false; ; fresh = true) {
    const got = await http.tokens.get(plan);
    // A token endpoint refuses until a person corrects the credentials: the events wait for their retries.
    if (got.kind !== 'token') throw new NoReply(got.reason, false);
    const reply = await fetchReply(http, { ...request, headers: { ...request.headers, Authorization: `Bearer ${got.token}` } }, deadline);
    if (reply.status !== 401 || fresh) return reply;
    http.tokens.reject(plan, got.token);
  }
}

export function parsed(reply: VendorReply): unknown {
  try {
    return JSON.parse(reply.body);
  } catch {
    return undefined; // the status decides
  } finally {
    if (reply.body.length > VERY_LARGE_BYTES) turns.tookLong();
  }
}
export function succeeded({ status }: VendorReply): boolean {
  return status >= 200 && status < 300;
}

/**
 * The failure of a reply by its status. Credentials and rights (401, 403) can be corrected, so events are tried again. 400, 413 and 422
 * are about the rows.
 */
export function httpFailure(name: string, error: unknown, now: number): StoreFailure {
  if (error instanceof NoReply) return { kind: error.permanent ? 'never' : 'later', reason: error.message };
  if (!(error instanceof BadReply)) return { kind: 'later', reason: errorText(error) };
  const { status, headers } = error.reply;
  const reason = `${name} http_${status}${error.code === '' ? '' : ` ${error.code}`}: ${error.message}`.slice(0, 300);
  if (status === 404) return { kind: 'schema', reason };
  if (status === 400 || status === 413 || status === 422) return { kind: 'row', reason };
  const retry_after_ms = retryAfterMs(headers['retry-after'], now);
  return { kind: 'later', reason, ...(retry_after_ms === undefined ? {} : { retry_after_ms }) };
}

/** A row as a JSON object without its nulls. `raw`: JSON columns as the value itself instead of its text. */
export function rowJson({ columns }: Load, row: readonly (Cell | undefined)[], raw: boolean): string {
  const pairs: string[] = [];
  for (const [index, { name, type }] of columns.entries()) {
    const cell = row[index];
    if (cell === undefined || cell === null) continue;
    pairs.push(`${JSON.stringify(name)}:${raw && type === 'json' && typeof cell === 'string' ? cell : JSON.stringify(cell)}`);
  }
  return `{${pairs.join(',')}}`;
}

/** Runs `work` for each of the loads, a few at a time. Throws the first error, after all running work has ended. */
export async function forEachLoad<T>(loads: readonly Load[], atOnce: number, work: (load: Load) => Promise<T>): Promise<T[]> {
  const waiting = [...loads.entries()];
  const results: T[] = [];
  let failed: { error: unknown } | undefined;
  const worker = async () => {
    for (let next = waiting.shift(); next && !failed; next = waiting.shift()) {
      const [index, load] = next;
      try {
        results[index] = await work(load);
      } catch (error) {
        failed ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, loads.length) }, worker));
  if (failed) throw failed.error;
  return results;
}

const POLL_MS = [50, 100, 200, 500];
/** Before the next poll for a result, `polls` after the first. The first ones come sooner: most work is short. Ends at the deadline. */
export function untilNextPoll(polls: number, deadline: number): Promise<void> {
  const ms = Math.min(POLL_MS[polls] ?? 1_000, Math.max(0, deadline - performance.now()));
  return new Promise((resolve) => setTimeout(resolve, ms));
}

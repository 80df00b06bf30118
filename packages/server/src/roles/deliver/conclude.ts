/** From the answer to one request to what happens to each of its events. Pure, except that it marks verdicts on the jobs. */

import { retryDelayMs } from '@firsthand/core/delivery/retry.ts';
import { isoTime } from '@firsthand/core/iso-time.ts';
import type { Attempt } from '@firsthand/core/outcome/outcome.ts';
import type { CompiledPoll } from '@firsthand/core/vendor/async-result.ts';
import { MAX_REASON } from '../../stores/observe/stored-text.ts';
import type { Sent } from '../../transports/port.ts';
import type { Batch } from './batcher.ts';
import { addVerdict, batchId, type ItemVerdict, type Job, type Part } from './job.ts';
import type { PendingJob } from './retry-state.ts';
import type { Settlement } from './settlement.ts';

export interface Conclusion {
  /** Jobs whose last open item got its verdict. */
  settled: { job: Job; settlement: Settlement }[];
  /** One item spoiled the whole request: each is sent again alone. */
  sendAlone: readonly Batch[];
  /** The last failure of the request; undefined where every item was delivered. */
  error: string | undefined;
}
export interface ConcludeRules {
  integrationId: string;
  retryBaseMs: number;
  /** In [0, 1). One draw per request, so that items that failed together come due together. */
  random: number;
  /** Whether the vendor's answer is kept where it is a success. */
  keepAnswer: boolean;
}

const MAX_ANSWER = 300;

const NONE: readonly Batch[] = [];
const DELIVERED: ItemVerdict = { kind: 'delivered' };
const NO_VERDICT: ItemVerdict = { kind: 'unavailable', reason: 'the response has no result for this item' };

export function conclude(batch: Batch, sent: Sent, rules: ConcludeRules): Conclusion {
  const { parts, vendor } = batch;
  const { verdict } = sent;
  const spoiled = sent.unbuildable === true || (verdict.kind === 'unavailable' && verdict.isolate === true);
  if (spoiled && parts.length > 1) {
    const sendAlone = parts.map((part) => ({ ...batch, parts: [part], bytes: part.item.size }));
    return { settled: [], sendAlone, error: undefined };
  }
  const poll = vendor.poll?.(parts.map(({ item }) => item));
  const verdicts: ItemVerdict[] = [];
  for (const { job } of parts) {
    const own = withinReason(verdict.kind === 'partial' ? (verdict.items[verdicts.length] ?? NO_VERDICT) : verdict);
    verdicts.push(job.pending ? pollVerdict(own, job.pending, poll, sent.at) : own.kind === 'accepted' && !poll ? DELIVERED : own);
  }
  if (vendor.batch !== null && verdict.kind !== 'delivered') placeRetries(rules.integrationId, parts, verdicts);
  const delivered = attemptOf(sent, null);
  const answer = rules.keepAnswer ? answerOf(sent, vendor) : undefined;
  if (answer !== undefined) delivered.answer = answer;
  const settled: Conclusion['settled'] = [];
  let error: string | undefined;
  let index = 0;
  for (const part of parts) {
    const own = verdicts[index++] ?? NO_VERDICT;
    if (sent.progress) part.job.progress = sent.progress;
    const failed = own.kind === 'refused' || own.kind === 'unavailable' ? own.reason : undefined;
    if (failed !== undefined) error = failed;
    const delay =
      own.kind === 'unavailable'
        ? retryDelayMs(batch.attempt, { max_retries: vendor.max_retries, base_ms: rules.retryBaseMs }, rules.random, own.retry_after_ms)
        : own.kind === 'accepted'
          ? part.job.pending
            ? poll?.every_ms
            : poll?.first_ms
          : undefined;
    const note = failed ?? (own.kind === 'delivered' ? own.note : undefined);
    const settlement = addVerdict(part, own, note === undefined ? delivered : attemptOf(sent, note), delay);
    if (settlement) settled.push({ job: part.job, settlement });
  }
  return { settled, sendAlone: NONE, error };
}

/** As much as traces store: a driver may quote a name from the event in it, and the log must take it with every attempt. */
function withinReason(verdict: ItemVerdict): ItemVerdict {
  if ((verdict.kind !== 'refused' && verdict.kind !== 'unavailable') || verdict.reason.length <= MAX_REASON) return verdict;
  return { ...verdict, reason: verdict.reason.slice(0, MAX_REASON) };
}

function attemptOf({ at, status, duration_ms }: Sent, error: string | null): Attempt {
  return { at: isoTime(at), status, error, duration_ms };
}

function answerOf({ reply }: Sent, { scrub }: Batch['vendor']): string | undefined {
  const text = reply?.body.trim() ?? '';
  // Cut after the secrets are gone: half a secret is not recognised.
  return text === '' ? undefined : scrub(text.slice(0, 4 * MAX_ANSWER)).slice(0, MAX_ANSWER);
}

/** A poll that fails is repeated like one whose job still runs, until the time is up. */
function pollVerdict(own: ItemVerdict, pending: PendingJob, poll: CompiledPoll | undefined, now: number): ItemVerdict {
  if (own.kind === 'delivered' || own.kind === 'refused') return own;
  if (poll === undefined || now - pending.since >= poll.within_ms)
    return { kind: 'refused', reason: `the vendor accepted the event and reported no result for job ${pending.id} in time` };
  return { kind: 'accepted', job: pending.id };
}

/** Items that are sent again form a batch of their own, the same one at every further attempt. */
function placeRetries(integrationId: string, parts: Part[], verdicts: ItemVerdict[]): void {
  const again = parts.filter((part, i) => {
    const kind = verdicts[i]?.kind;
    return (kind === 'unavailable' || kind === 'accepted') && part.job.items.length === 1;
  });
  if (again.length === 0) return;
  const id = batchId(integrationId, again);
  for (const [index, part] of again.entries()) part.job.batch = { id, index, size: again.length };
}

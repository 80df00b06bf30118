import { createHash } from 'node:crypto';
import type { Attempt } from '@firsthand/core/outcome/outcome.ts';
import type { VendorItem, Verdict } from '@firsthand/core/vendor/compiled.ts';
import type { DecodedEventRecord } from '../../event-record.ts';
import type { CompiledIntegration } from '../../snapshot/types.ts';
import type { Delivery } from '../../stores/event-log/port.ts';

export type ItemVerdict = Exclude<Verdict, { kind: 'partial' }>;

/** What travels with a record from one try to the next. */
export interface RetryState {
  v: 1;
  attempts: Attempt[];
  /** The revision that `done` speaks of. */
  revision: number;
  /** Indexes of the items that the vendor already has, where one event makes several requests. */
  done?: number[];
  /** The items that failed together and go out together again, under the same id. */
  batch?: BatchPlace;
}
export interface BatchPlace {
  id: string;
  index: number;
  size: number;
}

/** One event on its way to one integration: alive from the log's hand-out to its settlement. */
export interface Job {
  delivery: Delivery;
  decoded: DecodedEventRecord;
  compiled: CompiledIntegration;
  replay: boolean;
  bytes: number;
  /** Tries before this one. */
  attempts: Attempt[];
  items: VendorItem[];
  done: number[];
  batch: BatchPlace | undefined;
  /** Items of this try without a verdict. */
  open: number;
  /** The worst verdict of this try: refused, then unavailable, then delivered. */
  verdict: ItemVerdict;
  attempt: Attempt | undefined;
  delay_ms: number | undefined;
}

export interface Part {
  job: Job;
  index: number;
  item: VendorItem;
}

const DELIVERED: ItemVerdict = { kind: 'delivered' };
const WEIGHT = { delivered: 0, unavailable: 1, refused: 2 } as const;

export function newJob(
  delivery: Delivery,
  decoded: DecodedEventRecord,
  compiled: CompiledIntegration,
  replay: boolean,
  items: VendorItem[],
): Job {
  const state = retryStateOf(delivery.state);
  const done = state?.revision === compiled.integration.revision_number ? (state.done ?? []) : [];
  return {
    delivery,
    decoded,
    compiled,
    replay,
    bytes: delivery.record.data.length,
    attempts: state?.attempts ?? [],
    items,
    done,
    batch: state?.batch,
    open: 0,
    verdict: DELIVERED,
    attempt: undefined,
    delay_ms: undefined,
  };
}

export function retryStateOf(state: unknown): RetryState | undefined {
  return typeof state === 'object' && state !== null && 'v' in state && state.v === 1 ? (state as RetryState) : undefined;
}

/** Notes an item's verdict. True when it was the last of this try: the job can be settled. */
export function noteVerdict(part: Part, verdict: ItemVerdict, attempt: Attempt, delay_ms: number | undefined): boolean {
  const { job } = part;
  if (verdict.kind === 'delivered') {
    if (job.items.length > 1) job.done = [...job.done, part.index];
    job.attempt ??= attempt;
  } else {
    if (WEIGHT[verdict.kind] > WEIGHT[job.verdict.kind]) {
      job.verdict = verdict;
      job.attempt = attempt;
    }
    if (delay_ms !== undefined) job.delay_ms = Math.max(job.delay_ms ?? 0, delay_ms);
  }
  job.open--;
  return job.open === 0;
}

export type Settlement =
  | { kind: 'delivered' }
  | { kind: 'retry'; delay_ms: number; reason: string }
  | { kind: 'dead_letter'; reason: string };

/** What becomes of a job whose items all have a verdict. */
export function settlementOf(job: Job): Settlement {
  switch (job.verdict.kind) {
    case 'delivered':
      return { kind: 'delivered' };
    case 'refused':
      return { kind: 'dead_letter', reason: job.verdict.reason };
    case 'unavailable':
      return job.delay_ms === undefined
        ? { kind: 'dead_letter', reason: job.verdict.reason }
        : { kind: 'retry', delay_ms: job.delay_ms, reason: job.verdict.reason };
  }
}

/** The same events in the same order are the same batch: a receiver that remembers ids sees a retry as one. */
export function batchId(integrationId: string, parts: readonly Part[]): string {
  const hash = createHash('sha256').update(integrationId);
  for (const { job, index } of parts) hash.update(`\n${job.delivery.record.id}\t${index}`);
  return `bat_${hash.digest('hex').slice(0, 32)}`;
}

import { hash } from 'node:crypto';
import type { Attempt } from '@firsthand/core/outcome/outcome.ts';
import type { ChainProgress } from '@firsthand/core/vendor/chain.ts';
import type { CompiledVendor, VendorItem, Verdict } from '@firsthand/core/vendor/compiled.ts';
import { type BatchPlace, type PendingJob, type RetryState, readRetryState } from './retry-state.ts';
import type { HeldEvent, Settlement } from './settlement.ts';

export type ItemVerdict = Exclude<Verdict, { kind: 'partial' }>;

/** A held event that makes one or more items for the vendor. Settled when each item of this attempt has its verdict. */
export interface Job extends HeldEvent {
  vendor: CompiledVendor;
  /** Attempts before this one. */
  attempts: Attempt[];
  items: VendorItem[];
  done: number[];
  batch: BatchPlace | undefined;
  /** Events with the same key are sent one after the other. */
  order_key: string | undefined;
  /** Items of this attempt without a verdict. */
  open: number;
  /** Chains: the steps that are done. */
  progress: ChainProgress | undefined;
  /** Set where this attempt asks for the result of a job instead of sending. */
  pending: PendingJob | undefined;
  /** The worst verdict of this attempt: refused, then unavailable, then accepted, then delivered. */
  verdict: ItemVerdict;
  attempt: Attempt | undefined;
  delay_ms: number | undefined;
}

/** One item of a job. */
export interface Part {
  job: Job;
  index: number;
  item: VendorItem;
}

const DELIVERED: ItemVerdict = { kind: 'delivered' };
/** Shared, because most events arrive at the first attempt. Both are replaced and never changed. */
const NO_ATTEMPTS: Attempt[] = [];
const NONE_DONE: number[] = [];
const WEIGHT = { delivered: 0, accepted: 1, unavailable: 2, refused: 3 } as const;

export function newJob(held: HeldEvent, vendor: CompiledVendor, items: VendorItem[]): Job {
  const state = readRetryState(held.delivery.state);
  const same = state?.revision === held.compiled.integration.revision_number ? state : undefined;
  return {
    delivery: held.delivery,
    decoded: held.decoded,
    compiled: held.compiled,
    replay: held.replay,
    vendor,
    attempts: state?.attempts ?? NO_ATTEMPTS,
    items,
    done: same?.done ?? NONE_DONE,
    batch: state?.batch,
    order_key: undefined,
    progress: same?.progress,
    pending: state?.pending,
    open: 0,
    verdict: DELIVERED,
    attempt: undefined,
    delay_ms: undefined,
  };
}

/** The items that this attempt sends. */
export function openParts(job: Job): Part[] {
  const [only] = job.items;
  // Nearly every job has one item.
  if (only !== undefined && job.items.length === 1) {
    job.open = 1;
    return [{ job, index: 0, item: only }];
  }
  const parts: Part[] = [];
  job.items.forEach((item, index) => {
    if (!job.done.includes(index)) parts.push({ job, index, item });
  });
  // Every item is done when the process died between the last verdict and its settlement: ask for that verdict again.
  if (parts.length === 0) for (const [index, item] of job.items.slice(0, 1).entries()) parts.push({ job, index, item });
  job.open = parts.length;
  return parts;
}

/** Adds an item's verdict. Returns the settlement when it was the last open one of this attempt. */
export function addVerdict(part: Part, verdict: ItemVerdict, attempt: Attempt, delay_ms: number | undefined): Settlement | undefined {
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
  return job.open === 0 ? settlementOf(job, job.attempt ?? attempt) : undefined;
}

/** The next attempt of a job that kept its place in memory. */
export function nextAttempt(job: Job, state: RetryState): Job {
  const { attempts, batch, progress } = state;
  return { ...job, attempts, done: state.done ?? [], batch, progress, verdict: DELIVERED, attempt: undefined, delay_ms: undefined };
}

function settlementOf(job: Job, attempt: Attempt): Settlement {
  const { verdict, delay_ms } = job;
  if (verdict.kind === 'delivered') return { kind: 'delivered', attempt };
  const attempts = [...job.attempts, attempt];
  const state: RetryState = { v: 1, attempts, revision: job.compiled.integration.revision_number };
  if (job.batch) state.batch = job.batch;
  if (verdict.kind === 'accepted') {
    const first = job.pending === undefined;
    // A poll is no attempt at delivery.
    if (!first) state.attempts = job.attempts;
    state.pending = job.pending ?? { id: verdict.job, since: Date.parse(attempt.at) };
    return { kind: 'accepted', attempt, delay_ms: delay_ms ?? 0, state, first };
  }
  if (verdict.kind === 'refused' || delay_ms === undefined)
    return { kind: 'dead_letter', stage: 'delivery', reason: verdict.reason, attempts };
  if (job.done.length > 0) state.done = job.done;
  if (job.progress) state.progress = job.progress;
  return { kind: 'retry', attempt, delay_ms, reason: verdict.reason, state };
}

/** The same events in the same order have the same batch id, so a receiver that remembers ids recognises a retry. */
export function batchId(integrationId: string, parts: readonly Part[]): string {
  let members = integrationId;
  for (const { job, index } of parts) members += `\n${job.delivery.record.id}\t${index}`;
  return `bat_${hash('sha256', members, 'hex').slice(0, 32)}`;
}

/**
 * Builds what is not sent yet with the newest configuration. Jobs and batches that waited for their turn, a retry or a limit were built with an
 * earlier one, whose credentials may be revoked by now. Pure.
 */

import { endLongTurn } from '../../runtime/turns.ts';
import type { Batch } from './batcher.ts';
import { type Decision, decide, isVeryLarge } from './decide.ts';
import type { Job } from './job.ts';
import type { Mode, Plan } from './plan.ts';
import type { HeldEvent } from './settlement.ts';

export function isOutdated(job: Job, { compiled }: Plan, mode: Mode): boolean {
  const pinned = job.replay && job.decoded.shared.revision_number !== undefined;
  return mode.kind === 'drop' || (job.compiled !== compiled && !pinned && compiled.vendor !== undefined);
}

/** A promise where it takes more than one step. The plan may have changed since. */
export function renew(job: Job, plan: Plan, mode: Mode, now: number, id: string): Decision | Promise<Decision> {
  // An event that is dropped is not built.
  if (mode.kind !== 'drop' && isVeryLarge(job)) return renewLarge(job, plan, mode, now, id);
  const decision = decide(heldBy(job, plan), plan, mode, now, id);
  return decision instanceof Promise ? decision.then((later) => renewed(job, later)) : renewed(job, decision);
}
async function renewLarge(job: Job, plan: Plan, mode: Mode, now: number, id: string): Promise<Decision> {
  await endLongTurn();
  return renewed(job, await decide(heldBy(job, plan), plan, mode, now, id));
}
function heldBy({ delivery, decoded, replay }: Job, { compiled }: Plan): HeldEvent {
  return { delivery, decoded, compiled, replay };
}
function renewed(job: Job, decision: Decision): Decision {
  if (decision.kind === 'settle') return decision;
  const { attempts, batch, order_key } = job;
  return { kind: 'send', job: { ...decision.job, ...sameProgress(job, decision.job), attempts, batch, order_key } };
}

/** Items of another revision may be others, so what was done counts only for the same one. */
function sameProgress(job: Job, renewed: Job): Partial<Job> {
  const same = job.compiled.integration.revision_number === renewed.compiled.integration.revision_number;
  return same ? { done: job.done, progress: job.progress } : {};
}

/** The rows of a sealed batch stay as they were built; address and credentials are those of the newest configuration. */
export function withNewestVendor(batch: Batch, { compiled: { vendor } }: Plan): Batch {
  return vendor?.transport?.sealed ? { ...batch, vendor } : batch;
}

/** Divides unsent batches into jobs that can be built again and batches that stay as they are. */
export function divideUnsent(batches: readonly Batch[]): { jobs: Iterable<Job>; kept: Batch[] } {
  const unsent = new Map<Job, number>();
  for (const { vendor, parts } of batches)
    for (const { job } of vendor.transport?.sealed ? [] : parts) unsent.set(job, (unsent.get(job) ?? 0) + 1);
  // A job with another item at the vendor, or with a verdict, stays as it is until its next attempt.
  for (const [job, parts] of unsent) if (parts !== job.open || job.attempt !== undefined) unsent.delete(job);
  const kept: Batch[] = [];
  for (const batch of batches) {
    const parts = batch.parts.filter(({ job }) => !unsent.has(job));
    const bytes = parts.reduce((sum, { item }) => sum + item.size, 0);
    if (parts.length > 0) kept.push({ ...batch, parts, bytes });
  }
  return { jobs: unsent.keys(), kept };
}

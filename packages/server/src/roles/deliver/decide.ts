/** The first stage: what to do with one event, before anything is sent. Pure. */

import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import { finish, type Steps } from '@firsthand/core/steps.ts';
import type { BuildContext, Built, CompiledVendor, VendorItem } from '@firsthand/core/vendor/compiled.ts';
import { errorText } from '../../runtime/error-text.ts';
import { atStep } from '../../runtime/stall-watch.ts';
import { finishInLongTurns, VERY_LARGE_BYTES } from '../../runtime/turns.ts';
import { MAX_REASON } from '../../stores/observe/stored-text.ts';
import { type Job, newJob } from './job.ts';
import { isDisabledByEvent, type Mode, type Plan, settleUnsent } from './plan.ts';
import { readRetryState } from './retry-state.ts';
import type { HeldEvent, Settlement } from './settlement.ts';

export type Decision = { kind: 'send'; job: Job } | { kind: 'settle'; settlement: Settlement };

/** A promise where the event takes more than one step: then it is mapped and encoded in turns of the loop. `id` is the integration's. */
export function decide(held: HeldEvent, plan: Plan, mode: Mode, now: number, id: string): Decision | Promise<Decision> {
  if (isVeryLarge(held)) return decideInTurns(held, plan, mode, now, id);
  try {
    const before = decideBefore(held, plan, mode, now);
    if (before.kind !== 'build') return before;
    const { vendor, event, context } = before;
    const built = vendor.buildAtOnce(event, context);
    return built === undefined ? decideInTurns(held, plan, mode, now, id) : decideBuilt(held, vendor, built);
  } catch (error) {
    return mappingFailed(held, error);
  }
}
/** Whatever its size: for an event that later ones of its visitor must not overtake meanwhile. */
export function decideUndivided(held: HeldEvent, plan: Plan, mode: Mode, now: number): Decision {
  return finish(decideInSteps(held, plan, mode, now));
}

/** Mapping and encoding it take tens of milliseconds each. */
export function isVeryLarge({ delivery }: HeldEvent): boolean {
  return delivery.record.data.length > VERY_LARGE_BYTES;
}

function decideInTurns(held: HeldEvent, plan: Plan, mode: Mode, now: number, id: string): Promise<Decision> {
  return finishInLongTurns(decideInSteps(held, plan, mode, now), () => atStep('map', id));
}
function* decideInSteps(held: HeldEvent, plan: Plan, mode: Mode, now: number): Steps<Decision> {
  try {
    const before = decideBefore(held, plan, mode, now);
    if (before.kind !== 'build') return before;
    const { vendor, event, context } = before;
    // The event was parsed until here, which takes long by itself.
    yield;
    return decideBuilt(held, vendor, yield* vendor.buildInSteps(event, context));
  } catch (error) {
    return mappingFailed(held, error);
  }
}

interface ToBuild {
  kind: 'build';
  vendor: CompiledVendor;
  event: CanonicalEvent;
  context: BuildContext;
}
/** The decision, where nothing has to be mapped for it. */
function decideBefore(held: HeldEvent, plan: Plan, mode: Mode, now: number): Decision | ToBuild {
  if (mode.kind === 'drop') return settle(settleUnsent(held, mode.reason));
  const { vendor, faults } = plan.compiled;
  // The pinned configuration waits until it compiles; only a replay through another revision gets here without a vendor.
  if (vendor === undefined) {
    const problems = faults.map(({ field, message }) => `${field}: ${message}`).join('; ');
    return fail(held, `revision ${plan.compiled.integration.revision_number} cannot be used: ${problems}`);
  }
  const pending = readRetryState(held.delivery.state)?.pending;
  if (pending) return decidePoll(held, vendor, now);
  // Reading `decoded.event` parses it; without a filter a verbatim vendor never needs that.
  if (isDisabledByEvent(held.decoded.shared, plan.compiled)) return settle({ kind: 'dropped', reason: 'disabled_by_event' });
  const reason = plan.dropReason?.(held.decoded.event);
  if (reason !== undefined) return settle({ kind: 'dropped', reason });
  const item = vendor.verbatim?.(held.decoded);
  if (item) return { kind: 'send', job: newJob(held, vendor, [item]) };
  const { event, received_at } = held.decoded;
  return { kind: 'build', vendor, event, context: { now, received_at, bytes: held.delivery.record.data.length } };
}

function decideBuilt(held: HeldEvent, vendor: CompiledVendor, built: Built): Decision {
  if (built.kind === 'dropped') return settle({ kind: 'dropped', reason: built.reason });
  if (built.kind === 'failed') return fail(held, built.reason);
  if (built.items.length === 0) return settle({ kind: 'dropped', reason: 'mapping_default' });
  return { kind: 'send', job: newJob(held, vendor, built.items) };
}
function mappingFailed(held: HeldEvent, error: unknown): Decision {
  return fail(held, `the mapping failed: ${errorText(error)}`);
}

/** The vendor has the event already, so neither filter nor mapping can drop it any more. */
function decidePoll(held: HeldEvent, vendor: CompiledVendor, now: number): Decision {
  let items: VendorItem[] = [];
  try {
    const built = vendor.build(held.decoded.event, { now });
    if (built.kind === 'items') items = built.items;
  } catch {
    // Another revision cannot build it: then nobody can ask for the job.
  }
  if (items.length > 0 && vendor.poll?.(items)) return { kind: 'send', job: newJob(held, vendor, items) };
  const attempt = readRetryState(held.delivery.state)?.attempts.at(-1);
  return attempt ? settle({ kind: 'delivered', attempt }) : fail(held, 'the result of the vendor cannot be polled any more');
}

function settle(settlement: Settlement): Decision {
  return { kind: 'settle', settlement };
}
function fail({ delivery }: HeldEvent, reason: string): Decision {
  const attempts = readRetryState(delivery.state)?.attempts ?? [];
  return settle({ kind: 'dead_letter', stage: 'mapping', reason: reason.slice(0, MAX_REASON), attempts });
}

import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import type { VendorItem } from '@firsthand/core/vendor/compiled.ts';
import { scrubber } from '@firsthand/core/vendor/secrets.ts';
import type { Clock } from '../runtime/clock.ts';
import { atStep } from '../runtime/stall-watch.ts';
import { endLongTurn, finishInLongTurns } from '../runtime/turns.ts';
import type { CompiledIntegration } from '../snapshot/types.ts';
import type { Sent } from '../transports/port.ts';
import type { Sender } from '../transports/sender.ts';

export interface TrialDelivery {
  /** Null if there was no response or nothing was sent. */
  status: number | null;
  duration_ms: number;
  /** The beginning of the response, or why there is none. */
  response_excerpt: string;
}
/** An integration, or what one would be made of. */
export type Trial = Pick<CompiledIntegration, 'vendor' | 'faults' | 'secrets'> & {
  integration: Pick<CompiledIntegration['integration'], 'delivery_mode'>;
};
const EXCERPT = 1_000;

/**
 * Actually sends one event, with the same code as a delivery: no filter, no consent check, no retry, nothing recorded. If a vendor needs
 * several requests, reports the first failure, otherwise the last response.
 */
export async function trialDelivery(
  deps: { sender: Sender; clock: Clock },
  { vendor, faults, integration, secrets }: Trial,
  event: CanonicalEvent,
): Promise<TrialDelivery> {
  if (integration.delivery_mode === 'client_side') return nothingSent('dropped: client_side');
  if (!vendor) return nothingSent(`misconfigured: ${faults.map(({ field, message }) => `${field}: ${message}`).join('; ')}`);
  let items: VendorItem[];
  try {
    // Checking a large event took long, and building its request may too.
    await endLongTurn();
    const built = await finishInLongTurns(vendor.buildInSteps(event, { now: deps.clock.now() }), () => atStep('test delivery'));
    if (built.kind !== 'items') return nothingSent(`${built.kind}: ${built.reason}`);
    items = built.items;
  } catch (error) {
    return nothingSent(`failed: ${error instanceof Error ? error.message : String(error)}`);
  }
  await endLongTurn();
  let duration_ms = 0;
  let tried: Sent | undefined;
  for (const item of items) {
    tried = await deps.sender.send({ vendor, items: [item], attempt: 1 }, event.event_id);
    duration_ms += tried.duration_ms;
    if (tried.verdict.kind !== 'delivered') break;
  }
  if (!tried) return nothingSent('dropped: mapping_default');
  const { verdict, reply, status } = tried;
  const text = reply?.body ?? ('reason' in verdict ? verdict.reason : '');
  // A vendor may echo the request, including credentials.
  return { status, duration_ms, response_excerpt: scrubber(secrets)(text).slice(0, EXCERPT) };
}

function nothingSent(reason: string): TrialDelivery {
  return { status: null, duration_ms: 0, response_excerpt: `nothing was sent; ${reason}`.slice(0, EXCERPT) };
}

/** What a tracking plan says of events, computed by the code that processes events on the server. */
import { type CanonicalEvent, eventKey } from '@firsthand/core/event/canonical.ts';
import type { Decision } from '@firsthand/core/outcome/outcome.ts';
import { applyTrackingPlan, type CompiledTrackingPlan, compileTrackingPlan } from '@firsthand/core/tracking-plan/tracking-plan.ts';

export interface EventEffect {
  /** As the plan names it. */
  name: string;
  planned: boolean;
  count: number;
  violating: number;
  /** The newest that violates the plan. */
  example?: { event_id: string; message: string };
}
export interface PlanEffect {
  violating: number;
  /** Those that violate the plan first, then by how many there are. */
  events: EventEffect[];
}

/** `newest` first. What happens to an event that violates the plan makes no difference here. */
export function planEffect(schemas: unknown, newest: readonly CanonicalEvent[]): PlanEffect {
  // `drop` leaves the event as it is; `flag` would write to it.
  const { plan } = compileTrackingPlan({ events: schemas, on_violation: 'drop' });
  const found = new Map<string, EventEffect>();
  for (const event of newest) {
    const name = nameIn(plan, event);
    const effect = found.get(name) ?? { name, planned: plan.events.has(name), count: 0, violating: 0 };
    found.set(name, effect);
    effect.count++;
    const decisions: Decision[] = [];
    if (applyTrackingPlan(event, plan, decisions) === undefined) continue;
    effect.violating++;
    effect.example ??= { event_id: event.event_id, message: decisions[0]?.detail ?? '' };
  }
  const events = [...found.values()].sort((a, b) => b.violating - a.violating || b.count - a.count);
  return { violating: events.reduce((sum, { violating }) => sum + violating, 0), events };
}
const nameIn = ({ events }: CompiledTrackingPlan, event: CanonicalEvent): string => {
  const own = `@${event.original_type}`;
  return events.has(own) ? own : eventKey(event);
};

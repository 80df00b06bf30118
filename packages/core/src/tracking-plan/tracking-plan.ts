/** What events of a pipeline must look like: a JSON Schema of `properties` for each named event. */
import type { TrackingPlan } from '../config/resources.ts';
import { type CanonicalEvent, eventKey } from '../event/canonical.ts';
import { isObject } from '../json.ts';
import type { Decision, DropReason } from '../outcome/outcome.ts';
import type { ConfigFault } from '../vendor/compiled.ts';
import { compileSchema, type Validate, type Violation } from './schema.ts';

export interface CompiledTrackingPlan {
  on_violation: 'allow' | 'flag' | 'drop';
  events: ReadonlyMap<string, Validate>;
}
/** What one event may report: enough to fix it, too little to swell it. */
const MAX_VIOLATIONS = 20;
const MAX_EVENTS = 5_000;

/** An event whose schema does not compile is not checked; its faults say why. */
export function compileTrackingPlan(plan: TrackingPlan): { plan: CompiledTrackingPlan; faults: ConfigFault[] } {
  const faults: ConfigFault[] = [];
  const events = new Map<string, Validate>();
  const onViolation = plan.on_violation ?? 'allow';
  if (!['allow', 'flag', 'drop'].includes(onViolation)) faults.push({ field: 'on_violation', message: 'must be one of allow, flag, drop' });
  const schemas = plan.events ?? {};
  if (!isObject(schemas)) faults.push({ field: 'events', message: 'must be an object of event names and JSON Schemas' });
  else {
    const entries = Object.entries(schemas);
    if (entries.length > MAX_EVENTS) faults.push({ field: 'events', message: `must have at most ${MAX_EVENTS} entries` });
    for (const [name, schema] of entries.slice(0, MAX_EVENTS)) {
      const compiled = compileSchema(schema, `events.${name}`);
      if (compiled.ok) events.set(name, compiled.validate);
      else faults.push(...compiled.faults);
    }
  }
  return { plan: { on_violation: faults.some(({ field }) => field === 'on_violation') ? 'allow' : onViolation, events }, faults };
}

export function validateTrackingPlan(plan: unknown): ConfigFault[] {
  if (!isObject(plan)) return [{ field: '', message: 'must be an object' }];
  const unknown = Object.keys(plan)
    .filter((key) => key !== 'events' && key !== 'on_violation')
    .map((key) => ({ field: key, message: 'is unknown' }));
  return [...unknown, ...compileTrackingPlan(plan as unknown as TrackingPlan).faults];
}

/** An identify or group event (`@identify`, `@group`) is checked on its traits, every other on its properties. */
export function applyTrackingPlan(event: CanonicalEvent, plan: CompiledTrackingPlan, decisions: Decision[]): DropReason | undefined {
  const validate = plan.events.get(eventKey(event));
  if (validate === undefined) return undefined;
  const onTraits = event.type === 'identify' || event.type === 'group';
  const violations: Violation[] = [];
  validate((onTraits ? event.traits : event.properties) ?? {}, onTraits ? 'traits' : 'properties', violations);
  if (violations.length === 0) return undefined;
  const shown = violations.slice(0, MAX_VIOLATIONS);
  const detail = `${shown[0]!.path} ${shown[0]!.message}`;
  if (plan.on_violation === 'drop') {
    decisions.push({ step: 'tracking_plan', result: 'dropped', detail });
    return 'tracking_plan';
  }
  if (plan.on_violation === 'flag') {
    event.context.violations = shown.map(({ path, message }) => ({ path, message }));
    decisions.push({ step: 'tracking_plan', result: 'flagged', changed: ['context.violations'], detail });
  } else decisions.push({ step: 'tracking_plan', result: 'allowed', detail });
  return undefined;
}

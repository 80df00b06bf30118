/** The required shape of a pipeline's events: a JSON Schema of `properties` for each named event. */
import type { TrackingPlan } from '../config/resources.ts';
import { type CanonicalEvent, findByEventKey } from '../event/canonical.ts';
import { isObject } from '../json.ts';
import { type Decision, type DropReason, decisionText } from '../outcome/outcome.ts';
import { finish, type Steps } from '../steps.ts';
import type { ConfigFault } from '../vendor/compiled.ts';
import { compileSchemaInSteps, type Validate, type Violation } from './schema.ts';

export interface CompiledTrackingPlan {
  on_violation: 'allow' | 'flag' | 'drop';
  events: ReadonlyMap<string, Validate>;
}
const ON_VIOLATION = ['allow', 'flag', 'drop'] as const satisfies TrackingPlan['on_violation'][];
/** A plan as stored or sent: compiling checks it. */
type UncheckedPlan = { [Key in keyof TrackingPlan]?: unknown };
/** Maximum violations reported per event: enough to fix it without bloating it. */
const MAX_VIOLATIONS = 20;
const MAX_EVENTS = 5_000;

export interface TrackingPlanResult {
  plan: CompiledTrackingPlan;
  faults: ConfigFault[];
}

/** An event whose schema does not compile is not checked. The faults give the reason. */
export function compileTrackingPlan(plan: UncheckedPlan): TrackingPlanResult {
  return finish(compileTrackingPlanInSteps(plan));
}

/** Yields after each event and within large ones, because a plan may have thousands of schemas, or properties. */
export function* compileTrackingPlanInSteps(plan: UncheckedPlan): Steps<TrackingPlanResult> {
  const faults: ConfigFault[] = [];
  const events = new Map<string, Validate>();
  const onViolation = ON_VIOLATION.find((action) => action === (plan.on_violation ?? 'allow'));
  if (onViolation === undefined) faults.push({ field: 'on_violation', message: 'must be one of allow, flag, drop' });
  const schemas = plan.events ?? {};
  if (!isObject(schemas)) faults.push({ field: 'events', message: 'must be an object of event names and JSON Schemas' });
  else {
    const entries = Object.entries(schemas);
    if (entries.length > MAX_EVENTS) faults.push({ field: 'events', message: `must have at most ${MAX_EVENTS} entries` });
    for (const [name, schema] of entries.slice(0, MAX_EVENTS)) {
      const compiled = yield* compileSchemaInSteps(schema, `events.${name}`);
      if (compiled.ok) events.set(name, compiled.validate);
      else faults.push(...compiled.faults);
      yield undefined;
    }
  }
  return { plan: { on_violation: onViolation ?? 'allow', events }, faults };
}

export function* validateTrackingPlanInSteps(plan: unknown): Steps<ConfigFault[]> {
  if (!isObject(plan)) return [{ field: '', message: 'must be an object' }];
  const unknown = Object.keys(plan)
    .filter((key) => key !== 'events' && key !== 'on_violation')
    .map((key) => ({ field: key, message: 'is unknown' }));
  return [...unknown, ...(yield* compileTrackingPlanInSteps(plan)).faults];
}

/** Identify, alias and group events are checked by their traits, all others by their properties. */
export function applyTrackingPlan(event: CanonicalEvent, plan: CompiledTrackingPlan, decisions: Decision[]): DropReason | undefined {
  const validate = findByEventKey(plan.events, event);
  if (validate === undefined) return undefined;
  const onTraits = event.type === 'identify' || event.type === 'group';
  const violations: Violation[] = [];
  validate((onTraits ? event.traits : event.properties) ?? {}, onTraits ? 'traits' : 'properties', violations);
  if (violations.length === 0) return undefined;
  const shown = violations
    .slice(0, MAX_VIOLATIONS)
    .map(({ path, message }) => ({ path: decisionText(path), message: decisionText(message) }));
  const [first] = shown;
  const detail = first === undefined ? '' : `${first.path} ${first.message}`;
  if (plan.on_violation === 'drop') {
    decisions.push({ step: 'tracking_plan', result: 'dropped', detail });
    return 'tracking_plan';
  }
  if (plan.on_violation === 'flag') {
    event.context.violations = shown;
    decisions.push({ step: 'tracking_plan', result: 'flagged', changed: ['context.violations'], detail });
  } else decisions.push({ step: 'tracking_plan', result: 'allowed', detail });
  return undefined;
}

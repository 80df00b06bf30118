/** Event → vendor payload: the mapping, then the definition's rules on names, limits and identifiers. */
import type { CanonicalEvent } from '../event/canonical.ts';
import { isObject, type JsonObject } from '../json.ts';
import { compileMappingInSteps, type Mapped, type RunContext } from '../mapping/mapping.ts';
import type { DropReason } from '../outcome/outcome.ts';
import { compilePath, compileSetter } from '../path/path.ts';
import type { Steps } from '../steps.ts';
import type { ConfigFault } from './compiled.ts';
import type { EventNameDefinition, VendorDefinition } from './definition.ts';
import { compileCompact, compileJsonText, compileLimits, compileTogether, fitEventName } from './limits.ts';
import { compileText } from './text.ts';

export type Made = { kind: 'payload'; payload: unknown } | { kind: 'dropped'; reason: DropReason } | { kind: 'failed'; reason: string };
export interface MakePayload {
  make(event: CanonicalEvent, context: RunContext): Made;
  /** Gives up with `PAYLOAD_TOO_LARGE` after the work of one step. */
  makeAtOnce(event: CanonicalEvent, context: RunContext): Made;
  makeInSteps(event: CanonicalEvent, context: RunContext): Steps<Made>;
  /** The payload is always the event itself, for events of any age. */
  passes_all: boolean;
}

export function* compilePayload(
  definition: VendorDefinition,
  config: JsonObject,
  parameters: Record<string, unknown>,
  faults: ConfigFault[],
): Steps<MakePayload> {
  const mapping = yield* compileMappingInSteps(config, { default_action: definition.default_action, parameters });
  if (!mapping.ok) {
    faults.push(...mapping.faults);
    return { make: () => INVALID, makeAtOnce: () => INVALID, makeInSteps: invalidInSteps, passes_all: false };
  }
  const name = definition.event_name ? nameWriter(definition.event_name, parameters) : undefined;
  const limit = definition.limits ? compileLimits(definition.limits) : undefined;
  const compact = definition.compact ? compileCompact(definition.compact) : undefined;
  const together = definition.together ? compileTogether(definition.together) : undefined;
  const jsonText = definition.json_text ? compileJsonText(definition.json_text) : undefined;
  const required = requireOneOf(definition.require_one_of ?? []);
  const oldest = maxAgeMs(definition, parameters);
  const isTooOld = (event: CanonicalEvent, now: number) => oldest !== undefined && now - Date.parse(event.timestamp) > oldest;
  const finishPayload = (result: Mapped, event: CanonicalEvent): Made => {
    if (result.kind === 'pass_through') return { kind: 'payload', payload: result.event };
    if (result.kind !== 'payload') return result;
    const { payload } = result;
    if (isObject(payload)) {
      if (name && !name(payload, result.vendor_event_name, event)) return { kind: 'dropped', reason: 'mapping_default' };
      limit?.(payload);
      // Before lists are compacted, because a path may name a place in a list.
      together?.(payload);
      compact?.(payload);
      const lacking = required(payload);
      if (lacking) return { kind: 'dropped', reason: `missing_required:${lacking}` };
      jsonText?.(payload);
    }
    return { kind: 'payload', payload };
  };
  return {
    make: (event, context) => (isTooOld(event, context.now) ? TOO_OLD : finishPayload(mapping.run(event, context), event)),
    makeAtOnce: (event, context) => (isTooOld(event, context.now) ? TOO_OLD : finishPayload(mapping.runAtOnce(event, context), event)),
    *makeInSteps(event, context) {
      if (isTooOld(event, context.now)) return TOO_OLD;
      const result = yield* mapping.runInSteps(event, context);
      yield;
      return finishPayload(result, event);
    },
    passes_all: mapping.passes_all === true && oldest === undefined,
  };
}
const INVALID: Made = Object.freeze({ kind: 'failed', reason: 'mapping_invalid' });
// biome-ignore lint/correctness/useYield: there is nothing to divide.
function* invalidInSteps(): Steps<Made> {
  return INVALID;
}

const TOO_OLD: Made = Object.freeze({ kind: 'dropped', reason: 'event_too_old' });

/** The config's own limit replaces the vendor's; 0 means none. */
function maxAgeMs(definition: VendorDefinition, parameters: Record<string, unknown>): number | undefined {
  const chosen = parameters.max_event_age_hours;
  const hours = typeof chosen === 'number' ? chosen : definition.max_event_age_hours;
  return hours === undefined || hours === 0 ? undefined : hours * 3_600_000;
}

type WriteName = (payload: Record<string, unknown>, vendorName: string | undefined, event: CanonicalEvent) => boolean;

/** Returns false if the vendor does not accept the name. A name that the mapping wrote itself stays. */
function nameWriter(rule: EventNameDefinition, parameters: Record<string, unknown>): WriteName {
  const getter = compilePath(rule.target);
  const condition = rule.only_with === undefined ? undefined : compilePath(rule.only_with);
  const setter = compileSetter(rule.target);
  if (!getter.ok || !setter.ok || condition?.ok === false) throw new Error(`event name target ${rule.target} is not a path`);
  const fallback = rule.default === undefined ? undefined : (compileText(rule.default, parameters).constant ?? '');
  return (payload, vendorName, event) => {
    if (condition && condition.get(payload) === undefined) return true;
    const present = getter.get(payload);
    const name = typeof present === 'string' && present !== '' ? present : (vendorName ?? fallback ?? ownName(event));
    const fitted = fitEventName(name, rule);
    if (fitted === undefined) return false;
    if (fitted !== present) setter.set(payload, fitted);
    return true;
  };
}

function ownName(event: CanonicalEvent): string {
  return event.type === 'track' ? (event.event ?? '') : event.type;
}

function requireOneOf(groups: readonly string[][]): (payload: unknown) => string | undefined {
  const compiled = groups.map((paths) => ({
    first: paths[0] as string,
    getters: paths.map((path) => {
      const getter = compilePath(path);
      if (!getter.ok) throw new Error(`required path ${path}: ${getter.message}`);
      return getter.get;
    }),
  }));
  return (payload) => compiled.find(({ getters }) => !getters.some((get) => isPresent(get(payload))))?.first;
}

/** A list counts if one of its elements does: `ids[*].email` finds a list with a hole for each element without one. */
function isPresent(value: unknown): boolean {
  return Array.isArray(value) ? value.some(isPresent) : value !== undefined && value !== null && value !== '';
}

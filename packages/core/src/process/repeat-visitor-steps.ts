import { setOwn } from '../context/objects.ts';
import type { CanonicalEvent } from '../event/canonical.ts';
import { isObject, type Json, type JsonObject, own } from '../json.ts';
import type { Decision, ProcessingStep } from '../outcome/outcome.ts';
import type { Rerun } from './process-event.ts';

const OF_VISITOR: ReadonlySet<ProcessingStep> = new Set(['session', 'identity', 'memory']);

/**
 * Session, identity and memory depend on what was known of the visitor at the time. A rerun takes what they decided from the first run, and
 * the values that they added from its result.
 */
export function repeatVisitorSteps(
  event: CanonicalEvent,
  first: Pick<Rerun, 'decisions' | 'event'>,
  decided: (decision: Decision) => void,
) {
  for (const decision of first.decisions) {
    if (!OF_VISITOR.has(decision.step)) continue;
    for (const path of decision.changed ?? []) copy(first.event, event, path.split('.'));
    decided(decision);
  }
}

function copy(from: unknown, to: object, [key = '', ...rest]: readonly string[]): void {
  const value = isObject(from) ? own(from, key) : undefined;
  if (value === undefined) return;
  const inner = own(to as JsonObject, key);
  if (rest.length === 0) setOwn(to as JsonObject, key, copyOf(value as Json));
  else if (isObject(inner)) copy(value, inner, rest);
  else if (inner === undefined) {
    const made: JsonObject = {};
    copy(value, made, rest);
    setOwn(to as JsonObject, key, made);
  }
}
/** Later steps change the event in place. */
function copyOf(value: Json): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}

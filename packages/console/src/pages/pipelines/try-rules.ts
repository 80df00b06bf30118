/** What a transformation of rules makes of an event, computed by the code that processes events on the server. */

import type { EventFilter } from '@firsthand/core/config/resources.ts';
import type { Rule } from '@firsthand/core/config/rules.ts';
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import { compileTransformation } from '@firsthand/core/process/transformation.ts';
import { parseExactly } from '../../exact-json.ts';

export interface Tried {
  /** As it was tried, indented. */
  before: string;
  /** Null where it was dropped or the transformation failed. */
  event: object | null;
  logs: readonly string[];
  error: string | null;
  duration_ms: number;
  /** The transformation is not for this event, which goes on as it is. */
  skipped?: boolean;
}
export interface RulesTrial {
  rules: readonly unknown[];
  event_filter: EventFilter | null;
  parameters: Record<string, string>;
}

export function tryRules(trial: RulesTrial, text: string): Tried {
  const started = performance.now();
  const result = apply(trial, text);
  return { ...result, duration_ms: performance.now() - started };
}
function apply({ rules, event_filter, parameters }: RulesTrial, text: string): Omit<Tried, 'duration_ms'> {
  let sample: unknown;
  try {
    sample = parseExactly(text);
  } catch (error) {
    return {
      before: text,
      event: null,
      logs: [],
      error: `The sample event cannot be read: ${error instanceof Error ? error.message : error}`,
    };
  }
  if (typeof sample !== 'object' || sample === null || Array.isArray(sample))
    return { before: text, event: null, logs: [], error: 'The sample event must be a JSON object.' };
  // Every canonical event has a context; one that was typed may lack it.
  const event = ('context' in sample ? sample : { ...sample, context: {} }) as CanonicalEvent;
  const before = JSON.stringify(sample, null, 2);
  const compiled = compileTransformation({ id: 'test', kind: 'rules', rules: rules as Rule[], code: '', event_filter }, parameters);
  if (!compiled.ok)
    return { before, event: null, logs: [], error: compiled.faults.map(({ field, message }) => `${field}: ${message}`).join('; ') };
  const { transformation, warnings: logs } = compiled;
  if (transformation.kind !== 'rules') throw new Error('rules compile to rules');
  if (!transformation.applies(event)) return { before, event, logs, error: null, skipped: true };
  const result = transformation.apply(event);
  if (result.kind === 'failed') return { before, event: null, logs, error: result.reason };
  return { before, event: result.kind === 'event' ? result.event : null, logs, error: null };
}

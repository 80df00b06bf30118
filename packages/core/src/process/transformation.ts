/** A pipeline's transformation: an event filter, then compiled rules or code for the sandbox. */
import type { EventFilter, Transformation } from '../config/resources.ts';
import { type CanonicalEvent, isNamedIn } from '../event/canonical.ts';
import { parseTimestamp } from '../event/timestamp.ts';
import { isoTime } from '../iso-time.ts';
import { isObject } from '../json.ts';
import { substitute } from '../mapping/parameters/substitute.ts';
import { compileRules } from '../rules/rules.ts';
import type { ConfigFault } from '../vendor/compiled.ts';
import type { CompiledCode } from './code.ts';

export type Transformed =
  | { kind: 'event'; event: CanonicalEvent; changed: string[] }
  | { kind: 'dropped' }
  | { kind: 'failed'; reason: string };
interface Common {
  id: string;
  applies(event: CanonicalEvent): boolean;
}
export type CompiledTransformation =
  | (Common & { kind: 'rules'; apply(event: CanonicalEvent): Transformed })
  | (Common & { kind: 'code'; code: CompiledCode });

export type TransformationResult =
  | { ok: true; transformation: CompiledTransformation; warnings: string[] }
  | { ok: false; faults: ConfigFault[] };

const MAX_CODE = 100_000;
type Source = Pick<Transformation, 'id' | 'kind' | 'rules' | 'code' | 'event_filter'>;

/** Parameter placeholders are substituted in rules. Code receives the parameters themselves. */
export function compileTransformation(source: Source, parameters: Record<string, string>): TransformationResult {
  const applies = compileEventFilter(source.event_filter);
  if (source.kind === 'code') {
    const faults = codeFaults(source.code);
    if (faults.length > 0) return { ok: false, faults };
    return {
      ok: true,
      warnings: [],
      transformation: { kind: 'code', id: source.id, applies, code: { owner: source.id, code: source.code } },
    };
  }
  const { config, missing, excess } = substitute({ rules: source.rules as never }, parameters);
  if (excess !== undefined) return { ok: false, faults: [{ field: 'rules', message: excess }] };
  const compiled = compileRules((config as { rules: unknown }).rules);
  if (!compiled.ok) return { ok: false, faults: compiled.faults };
  const warnings = missing.map(
    (name) => `Transformation ${source.id}: the pipeline has no parameter ${name}; {{pipeline_param.${name}}} is left as written.`,
  );
  return {
    ok: true,
    warnings,
    transformation: { kind: 'rules', id: source.id, applies, apply: (event) => checked(compiled.apply(event), event) },
  };
}

/**
 * Rules may write anything anywhere, so the result is checked to be an event. As in collection, null and an empty id or name count as absent,
 * and numeric ids become texts. Writes only to the copy that the rules made. What a test event lacked before the rules it may lack after them.
 */
function checked(result: Transformed, before: CanonicalEvent): Transformed {
  if (result.kind !== 'event' || result.changed.length === 0) return result;
  const { event } = result;
  if (!isObject(event.context)) return failed('context is no object');
  for (const key of ['properties', 'traits', 'integrations'] as const) {
    const value: unknown = event[key];
    if (value === null && key !== 'integrations') delete event[key];
    else if (value !== undefined && !isObject(value)) return failed(`${key} is no object`);
  }
  for (const key of TEXTS) {
    const value: unknown = event[key];
    if (value === null || value === '') delete event[key];
    else if (typeof value === 'number') event[key] = String(value);
    else if (value !== undefined && typeof value !== 'string') return failed(`${key} is no text`);
  }
  const original: unknown = event.original_type;
  if (original !== undefined && original !== 'screen' && original !== 'alias') return failed('original_type is neither screen nor alias');
  if (event.type === 'track' && event.event === undefined && before.event !== undefined) return failed('a track event has no name');
  if (event.timestamp !== before.timestamp) {
    const at = typeof event.timestamp === 'string' ? parseTimestamp(event.timestamp) : undefined;
    if (at === undefined) return failed('timestamp is no ISO 8601 time');
    event.timestamp = isoTime(at);
  }
  return result;
}
const TEXTS = ['event', 'name', 'user_id', 'anonymous_id', 'group_id'] as const;

function failed(what: string): Transformed {
  return { kind: 'failed', reason: `after the rules ${what}` };
}

/** Returns all faults of a transformation as the API receives it, except syntax errors in code, which only the sandbox can detect. */
export function validateTransformation(transformation: Partial<Transformation>): ConfigFault[] {
  const faults: ConfigFault[] = [];
  const { kind, event_filter: filter } = transformation;
  if (kind === 'rules') {
    const compiled = compileRules(transformation.rules ?? []);
    if (!compiled.ok) faults.push(...compiled.faults);
  } else if (kind === 'code') faults.push(...codeFaults(transformation.code));
  else faults.push({ field: 'kind', message: 'must be rules or code' });
  if (filter !== undefined && filter !== null) faults.push(...filterFaults(filter));
  return faults;
}

function compileEventFilter(filter: EventFilter | null | undefined): (event: CanonicalEvent) => boolean {
  const names = filter?.event_names;
  if (!Array.isArray(names) || names.length === 0) return () => true;
  const wanted = new Set(names);
  return (event) => isNamedIn(wanted, event);
}

function filterFaults(filter: unknown): ConfigFault[] {
  if (!isObject(filter)) return [{ field: 'event_filter', message: 'must be an object' }];
  const faults: ConfigFault[] = [];
  for (const key of Object.keys(filter)) if (key !== 'event_names') faults.push({ field: `event_filter.${key}`, message: 'is unknown' });
  const names = filter.event_names;
  if (names !== undefined && !(Array.isArray(names) && names.every((name) => typeof name === 'string' && name !== '')))
    faults.push({ field: 'event_filter.event_names', message: 'must be a list of event names' });
  return faults;
}

function codeFaults(code: unknown): ConfigFault[] {
  if (typeof code !== 'string' || code.trim() === '') return [{ field: 'code', message: 'is required' }];
  if (code.length > MAX_CODE) return [{ field: 'code', message: `must be at most ${MAX_CODE} characters long` }];
  return [];
}

/** A pipeline's transformation: an event filter, then compiled rules or code for the sandbox. */
import type { EventFilter, Transformation } from '../config/resources.ts';
import { type CanonicalEvent, isNamedIn } from '../event/canonical.ts';
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
    transformation: { kind: 'rules', id: source.id, applies, apply: (event) => checked(compiled.apply(event)) },
  };
}

/** Rules may write anything anywhere, so the result is checked to be an event. Numeric ids become texts. */
function checked(result: Transformed): Transformed {
  if (result.kind !== 'event') return result;
  const { event } = result;
  if (!isObject(event.context)) return { kind: 'failed', reason: 'the rules left a context that is no object' };
  for (const key of ['properties', 'traits', 'integrations'] as const)
    if (event[key] !== undefined && !isObject(event[key])) return { kind: 'failed', reason: `the rules left ${key} that are no object` };
  for (const key of ['event', 'name', 'user_id', 'anonymous_id', 'group_id', 'timestamp'] as const) {
    const value: unknown = event[key];
    if (value === undefined || typeof value === 'string') continue;
    if (typeof value !== 'number') return { kind: 'failed', reason: `the rules left a ${key} that is no text` };
    event[key] = String(value);
  }
  return result;
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

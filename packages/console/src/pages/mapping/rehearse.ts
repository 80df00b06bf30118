/** What a config would send for an event, computed in the browser by the delivery code itself. Nothing is sent. */
import { loadVendor } from '@firsthand/catalog/index.ts';
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import { substitute } from '@firsthand/core/mapping/parameters/substitute.ts';
import { compileVendor } from '@firsthand/core/vendor/compile.ts';
import type { CompiledVendor } from '@firsthand/core/vendor/compiled.ts';
import type { VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import { jsonTemplateFields } from '@firsthand/core/vendor/template-body.ts';
import type { Config } from './draft.ts';

export interface Fault {
  field: string;
  message: string;
}
export interface PreviewRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: unknown;
}
export type Rehearsal =
  | { kind: 'requests'; requests: PreviewRequest[]; warnings: string[] }
  | { kind: 'dropped'; reason: string }
  | { kind: 'failed'; reason: string };
export type Compiled = { ok: true; vendor: CompiledVendor } | { ok: false; faults: Fault[] };

/** Where the page cannot compress or sign with a private key, the body is shown as it is before that. */
const OPTIONS = { mode: 'development', allow_private: true, gzip: (data: Uint8Array) => data } as const;

/** Null if the catalog has no such vendor: a query must not answer undefined. */
export const loadDefinition = async (key: string): Promise<VendorDefinition | null> => (await loadVendor(key)) ?? null;

export function compileDraft(definition: VendorDefinition, config: Config, parameters: Record<string, string>): Compiled {
  const substituted = substitute(config as JsonObject, parameters, jsonTemplateFields(definition));
  if (substituted.excess !== undefined) return { ok: false, faults: [{ field: '', message: substituted.excess }] };
  const result = compileVendor(definition, substituted.config, OPTIONS);
  // A credential that is not filled in yet says nothing about the mapping.
  return result.ok ? { ok: true, vendor: result.vendor } : { ok: false, faults: [...result.invalid, ...result.missing] };
}

export function rehearse(vendor: CompiledVendor, event: CanonicalEvent, now: number, attempt = 1): Rehearsal {
  const built = vendor.build(event, { now });
  if (built.kind !== 'items') return { kind: built.kind, reason: built.reason };
  const context = { now, attempt, request_id: event.event_id, ...(vendor.token ? { access_token: '••••' } : {}) };
  const requests = built.items.map((item) => {
    const { method, url, headers, body } = vendor.request([item], context);
    return { method, url, headers, body: readable(body) };
  });
  return { kind: 'requests', requests, warnings: built.warnings ?? [] };
}
function readable(body: string | Uint8Array | undefined): unknown {
  if (body === undefined) return null;
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text; // not JSON: forms, XML, templates
  }
}

export type Effect = 'unchanged' | 'changed' | 'newly dropped' | 'no longer dropped';
export interface Example {
  effect: Effect;
  event: CanonicalEvent;
  before: Rehearsal;
  after: Rehearsal;
}
export interface TrialResult {
  counts: Record<Effect, number>;
  /** The first few of each effect. */
  examples: Example[];
}
const MOST_EXAMPLES = 10;

/** Both configs over the same events. Yields to the page between slices, so that typing stays smooth. */
export async function compareOn(events: readonly CanonicalEvent[], before: CompiledVendor, after: CompiledVendor): Promise<TrialResult> {
  const counts: TrialResult['counts'] = { unchanged: 0, changed: 0, 'newly dropped': 0, 'no longer dropped': 0 };
  const examples: Example[] = [];
  const now = Date.now();
  for (const [at, event] of events.entries()) {
    const [old, next] = [rehearse(before, event, now), rehearse(after, event, now)];
    const effect = effectOf(old, next);
    if (counts[effect]++ < MOST_EXAMPLES) examples.push({ effect, event, before: old, after: next });
    if (at % 20 === 19) await new Promise((resolve) => setTimeout(resolve));
  }
  return { counts, examples };
}
function effectOf(old: Rehearsal, next: Rehearsal): Effect {
  if (JSON.stringify(old) === JSON.stringify(next)) return 'unchanged';
  if ((old.kind === 'requests') === (next.kind === 'requests')) return 'changed';
  return next.kind === 'requests' ? 'no longer dropped' : 'newly dropped';
}

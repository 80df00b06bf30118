/** What this folder needs of the mapping engine: an event in, a payload or a reason out. */
import type { CanonicalEvent } from '../event/canonical.ts';
import type { JsonObject } from '../json.ts';
import type { DropReason } from '../outcome/outcome.ts';
import type { ConfigFault } from './compiled.ts';

export type Mapped =
  | { kind: 'payload'; payload: unknown; vendor_event_name?: string }
  | { kind: 'dropped'; reason: DropReason }
  | { kind: 'pass_through'; event: CanonicalEvent }
  | { kind: 'failed'; reason: string };
export type CompiledMapping =
  | { ok: true; run(event: CanonicalEvent, context: { now: number }): Mapped }
  | { ok: false; faults: ConfigFault[] };

export function compileMapping(config: JsonObject): CompiledMapping {
  const defaults = config.defaults as JsonObject;
  const mapped = ['global', 'events', 'steps'].find((key) => config[key] !== undefined);
  if (mapped) return { ok: false, faults: [{ field: mapped, message: 'mappings are not understood yet' }] };
  if (defaults.action === 'drop') return { ok: true, run: () => ({ kind: 'dropped', reason: 'mapping_default' }) };
  return { ok: true, run: (event) => ({ kind: 'pass_through', event }) };
}

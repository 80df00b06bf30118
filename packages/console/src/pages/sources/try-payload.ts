/** The event that a source would make of a payload, by the code that maps webhooks on the server. */
import { findSource } from '@firsthand/catalog/sources/index.ts';
import { withExactIntegers } from '@firsthand/core/inbound/exact-integers.ts';
import { compileMapping } from '@firsthand/core/inbound/map-webhook.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import { parseExactly } from '../../exact-json.ts';
import type { Source } from './sources.ts';

type Tried = ReturnType<ReturnType<typeof compileMapping>['map']> | { ok: false; reason: string };

/** `reading`: the fields of the source that decide how it is read, as JSON, over the stored ones. */
export function tryPayload(source: Source, reading: string, payload: string, headers: Record<string, string>, now: number): Tried {
  try {
    const tried = { ...source, ...(parseExactly(reading) as JsonObject) };
    const { map } = compileMapping(findSource(source.provider), tried as Parameters<typeof compileMapping>[1]);
    // For the message, where it is no JSON.
    JSON.parse(payload);
    const exact = withExactIntegers(new TextEncoder().encode(payload));
    if (!exact.ok) return { ok: false, reason: 'The body contains a number that cannot be stored exactly.' };
    return map({ body: exact.value, headers, query: {} }, now);
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error) };
  }
}

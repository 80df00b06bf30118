/** `event_table`: a config table that maps events to the vendor's own ids, applied to the mapping before it is compiled. */
import { isObject, type Json, type JsonObject } from '../json.ts';
import type { VendorDefinition } from './definition.ts';

/** A row enables its event and sets its `vendor_event_name`. An event without an entry gets one with the global mappings only. */
export function withEventTable({ event_table: table }: VendorDefinition, config: JsonObject, values: Record<string, unknown>): JsonObject {
  const rows = table ? values[table.field] : undefined;
  if (!table || !Array.isArray(rows) || rows.length === 0) return config;
  const events: JsonObject = isObject(config.events) ? { ...config.events } : {};
  for (const row of rows) {
    const name = isObject(row) ? row[table.event] : undefined;
    const theirs = isObject(row) ? row[table.vendor_event_name] : undefined;
    if (typeof name !== 'string' || typeof theirs !== 'string' || name === '__proto__') continue;
    const entry = Object.hasOwn(events, name) ? events[name] : undefined;
    events[name] = Array.isArray(entry) ? entry.map((one) => renamed(one, theirs)) : renamed(entry, theirs);
  }
  return { ...config, events };
}

function renamed(entry: Json | undefined, vendor_event_name: string): JsonObject {
  return { ...(isObject(entry) ? (entry as JsonObject) : {}), vendor_event_name, enabled: true };
}

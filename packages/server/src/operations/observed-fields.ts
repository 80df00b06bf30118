/**
 * The fields that a pipeline's events actually contain, for completion in the mapping builder. Read on demand from retained events, so
 * ingest and processing pay nothing. The events passed the privacy rules of their time; the current ones are applied to what is shown.
 */
import { type CanonicalEvent, eventKey } from '@firsthand/core/event/canonical.ts';
import { isObject } from '@firsthand/core/json.ts';
import { formatPath, type Segment } from '@firsthand/core/path/path.ts';
import { PiiPass } from '@firsthand/core/privacy/pii.ts';
import { decodeEventRecord, eventsTopic } from '../event-record.ts';
import type { Clock } from '../runtime/clock.ts';
import { turns, VERY_LARGE_BYTES } from '../runtime/turns.ts';
import { hideSecrets } from '../snapshot/hide-secrets.ts';
import type { SnapshotSource } from '../snapshot/types.ts';
import type { EventLog } from '../stores/event-log/port.ts';

const HOUR = 3_600_000;
/** Samples the newest events and some before each of these ages: an event that is rare today may have occurred yesterday. */
const SAMPLES = [
  { age_ms: 0, events: 1_000 },
  { age_ms: HOUR, events: 250 },
  { age_ms: 6 * HOUR, events: 250 },
  { age_ms: 24 * HOUR, events: 250 },
  { age_ms: 72 * HOUR, events: 250 },
  { age_ms: 144 * HOUR, events: 250 },
] as const;
const MAX_FIELDS = 1_000;
/** Values of one event that are looked at: an event may have 50,000. */
const MAX_VALUES = 2 * MAX_FIELDS;
const MAX_DEPTH = 12;
const MAX_ITEMS = 20;
const MAX_EVENT_NAMES = 50;
const MAX_EXAMPLE = 200;

export type FieldType = 'string' | 'number' | 'boolean' | 'null' | 'object' | 'array';
export interface ObservedField {
  path: string;
  types: FieldType[];
  example: string | number | boolean | null;
  events: string[];
  last_seen_at: string;
}
export interface ObservedFields {
  fields: ObservedField[];
  /** Number of events read. */
  sampled: number;
  /** Whether fields were left out of the list. */
  truncated: boolean;
}

export async function observedFields(
  deps: { log: EventLog; clock: Clock; snapshots: Pick<SnapshotSource, 'current'> },
  pipelineId: string,
): Promise<ObservedFields> {
  const collector = new FieldCollector();
  const seen = new Set<string>();
  for (const { age_ms, events } of SAMPLES) {
    const before = age_ms === 0 ? {} : { to: new Date(deps.clock.now() - age_ms) };
    for await (const record of deps.log.read(eventsTopic(pipelineId), { ...before, limit: events, reverse: true })) {
      if (seen.has(record.position)) continue;
      seen.add(record.position);
      const { meta, event } = decodeEventRecord(record.data);
      if (record.data.length > VERY_LARGE_BYTES) turns.tookLong();
      const organisation = deps.snapshots.current().organisations.get(meta.org_id);
      // Without the rules nothing may be shown.
      if (organisation === undefined) continue;
      const rules = new PiiPass(event, organisation.pii, []);
      while (rules.step()) await turns.bulk();
      collector.add(hideSecrets(deps.snapshots.current(), pipelineId, event), meta.received_at);
      const turn = turns.bulk();
      if (turn !== undefined) await turn;
    }
  }
  return { ...collector.result(), sampled: seen.size };
}

interface Seen {
  types: Set<FieldType>;
  example: ObservedField['example'];
  events: Set<string>;
  last: number;
}

/** Events arrive newest first, so the first example of a field is its newest. */
export class FieldCollector {
  readonly #fields = new Map<string, Seen>();
  #truncated = false;
  #valuesLeft = 0;

  add(event: CanonicalEvent, receivedAt: number): void {
    this.#valuesLeft = MAX_VALUES;
    this.#walk(event, [], event.type === 'track' ? (event.event ?? '') : eventKey(event), receivedAt);
  }

  result(): Omit<ObservedFields, 'sampled'> {
    const fields = [...this.#fields].map(([path, { types, example, events, last }]) => ({
      path,
      types: [...types].sort(),
      example,
      events: [...events].sort(),
      last_seen_at: new Date(last).toISOString(),
    }));
    return { fields: fields.sort((a, b) => (a.path < b.path ? -1 : 1)), truncated: this.#truncated };
  }

  #walk(value: unknown, path: readonly Segment[], event: string, at: number): void {
    if (path.length > MAX_DEPTH) return;
    if (this.#valuesLeft === 0) {
      this.#truncated = true;
      return;
    }
    if (Array.isArray(value) && value.length > 0)
      for (const item of value.slice(0, MAX_ITEMS)) this.#walk(item, [...path, { kind: 'each' }], event, at);
    else if (isObject(value) && Object.keys(value).length > 0)
      for (const [key, inner] of Object.entries(value)) this.#walk(inner, [...path, { kind: 'key', key }], event, at);
    else {
      this.#valuesLeft -= 1;
      this.#note(formatPath(path), value, event, at);
    }
  }

  #note(path: string, value: unknown, event: string, at: number): void {
    let seen = this.#fields.get(path);
    if (seen === undefined) {
      if (this.#fields.size >= MAX_FIELDS) {
        this.#truncated = true;
        return;
      }
      this.#fields.set(path, (seen = { types: new Set(), example: null, events: new Set(), last: at }));
    }
    seen.types.add(typeOf(value));
    seen.example ??= exampleOf(value);
    if (seen.events.size < MAX_EVENT_NAMES) seen.events.add(event);
    seen.last = Math.max(seen.last, at);
  }
}

function typeOf(value: unknown): FieldType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value as FieldType;
}
function exampleOf(value: unknown): ObservedField['example'] {
  if (typeof value === 'string') return value.slice(0, MAX_EXAMPLE).toWellFormed();
  return typeof value === 'number' || typeof value === 'boolean' ? value : null;
}

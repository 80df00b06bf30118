/** The fields that events actually contain, for completion in the mapping builder. */
import { isObject, type JsonObject } from '../json.ts';
import { formatPath, type Segment } from '../path/path.ts';
import { type CanonicalEvent, eventKey } from './canonical.ts';

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

interface Seen {
  types: Set<FieldType>;
  example: ObservedField['example'];
  events: Set<string>;
  last: number;
}
/** A place in an event, such as `properties.items[].sku`. Events share most places, so each path is built once and not for every value. */
interface Place {
  path: readonly Segment[];
  keys: Map<string, Place>;
  each: Place | undefined;
  seen: Seen | undefined;
}
const MAX_PLACES = MAX_DEPTH * MAX_FIELDS;

/** Events arrive newest first, so the first example of a field is its newest. */
export class FieldCollector {
  readonly #root: Place = { path: [], keys: new Map(), each: undefined, seen: undefined };
  readonly #fields: { place: Place; seen: Seen }[] = [];
  #places = 0;
  #truncated = false;
  #valuesLeft = 0;

  add(event: CanonicalEvent, receivedAt: number): void {
    this.#valuesLeft = MAX_VALUES;
    this.#walk(event, this.#root, event.type === 'track' ? (event.event ?? '') : eventKey(event), receivedAt);
  }

  result(): Omit<ObservedFields, 'sampled'> {
    const fields = this.#fields.map(({ place, seen: { types, example, events, last } }) => ({
      path: formatPath(place.path),
      types: [...types].sort(),
      example,
      events: [...events].sort(),
      last_seen_at: new Date(last).toISOString(),
    }));
    return { fields: fields.sort((a, b) => (a.path < b.path ? -1 : 1)), truncated: this.#truncated };
  }

  /** `place`: undefined where there is no room for another. */
  #walk(value: unknown, place: Place | undefined, event: string, at: number): void {
    if (place === undefined || this.#valuesLeft === 0) {
      this.#truncated = true;
      return;
    }
    if (place.path.length > MAX_DEPTH) return;
    if (Array.isArray(value) && value.length > 0) {
      place.each ??= this.#newPlace(place, { kind: 'each' });
      for (const item of value.slice(0, MAX_ITEMS)) this.#walk(item, place.each, event, at);
      return;
    }
    const keys = isObject(value) ? Object.keys(value) : [];
    for (const key of keys) this.#walk((value as JsonObject)[key], place.keys.get(key) ?? this.#newKey(place, key), event, at);
    if (keys.length > 0) return;
    this.#valuesLeft -= 1;
    this.#note(place, value, event, at);
  }

  #newKey(parent: Place, key: string): Place | undefined {
    const place = this.#newPlace(parent, { kind: 'key', key });
    if (place !== undefined) parent.keys.set(key, place);
    return place;
  }
  #newPlace({ path }: Place, segment: Segment): Place | undefined {
    if (this.#fields.length >= MAX_FIELDS || this.#places >= MAX_PLACES) return undefined;
    this.#places++;
    return { path: [...path, segment], keys: new Map(), each: undefined, seen: undefined };
  }

  #note(place: Place, value: unknown, event: string, at: number): void {
    let { seen } = place;
    if (seen === undefined) {
      if (this.#fields.length >= MAX_FIELDS) {
        this.#truncated = true;
        return;
      }
      place.seen = seen = { types: new Set(), example: null, events: new Set(), last: at };
      this.#fields.push({ place, seen });
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

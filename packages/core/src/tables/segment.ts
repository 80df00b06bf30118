/**
 * Segment's warehouse tables. Properties and traits are columns without a prefix, the context's have `context_`. Unlike there nothing
 * is discarded: a property with the name of one of the event's own columns gets an underscore in front.
 */
import { isObject, type JsonObject, own } from '../json.ts';
import type { TransportRecord } from '../vendor/transport.ts';
import type { AddedType } from './columns.ts';
import { snakeCase } from './names.ts';
import { type Field, flatten, type TableKind, type TableRow, timeField } from './rows.ts';

const ROW: Readonly<Record<string, AddedType>> = {
  id: 'text',
  received_at: 'timestamp',
  sent_at: 'timestamp',
  timestamp: 'timestamp',
  original_timestamp: 'timestamp',
  uuid_ts: 'timestamp',
  anonymous_id: 'text',
  user_id: 'text',
};
const kindOf = (more: Readonly<Record<string, AddedType>>): TableKind => ({
  key: 'id',
  latest: false,
  time: 'received_at',
  base: { ...ROW, ...more },
});
const TRACKS = kindOf({ event: 'text', event_text: 'text' });
const PAGES = kindOf({ name: 'text' });
const IDENTIFIES = kindOf({});
const ALIASES = kindOf({ previous_id: 'text' });
const GROUPS = kindOf({ group_id: 'text' });
const LATEST: TableKind = {
  key: 'id',
  latest: true,
  time: 'received_at',
  base: { id: 'text', received_at: 'timestamp', uuid_ts: 'timestamp' },
};
const FIXED_TABLES: ReadonlySet<string> = new Set(['tracks', 'pages', 'screens', 'identifies', 'users', 'aliases', 'groups', 'accounts']);
/** Keys of an event that have a place of their own; a mapping may add others. */
const EVENT_KEYS: ReadonlySet<string> = new Set([
  'event_id',
  'type',
  'original_type',
  'event',
  'name',
  'group_id',
  'anonymous_id',
  'user_id',
  'timestamp',
  'context',
  'properties',
  'traits',
]);

/** The table of a track event's properties. */
function eventTable(name: string): string {
  const slug = snakeCase(name);
  return FIXED_TABLES.has(slug) ? `_${slug}` : slug;
}

export function segmentRows({ event_id: id, event, values, received_at }: TransportRecord): TableRow[] {
  const row = (table: string, kind: TableKind, own: Record<string, string | undefined>, under?: 'properties' | 'traits'): TableRow => {
    const fields = [timeField('received_at', received_at), timeField('uuid_ts', received_at)];
    const ids = { timestamp: textAt(values, 'timestamp') ?? event.timestamp, anonymous_id: textAt(values, 'anonymous_id') };
    for (const [name, value] of Object.entries({ ...ids, user_id: textAt(values, 'user_id'), ...own }))
      if (value !== undefined) fields.push({ name, source: name, value });
    flatten(fields, objectAt(values, 'context'), 'context_', 'context.', { lists: 'text', plain: true });
    if (under !== undefined) custom(fields, kind, values, under);
    return { table, id, kind, fields };
  };
  const latest = (table: string, key: string | undefined): TableRow[] => {
    if (key === undefined) return [];
    const fields = [timeField('received_at', received_at), timeField('uuid_ts', received_at)];
    custom(fields, LATEST, { traits: objectAt(values, 'traits') }, 'traits');
    return [{ table, id: key, kind: LATEST, fields }];
  };
  switch (textAt(values, 'type') ?? event.type) {
    case 'page': {
      const table = event.original_type === 'screen' ? 'screens' : 'pages';
      return [row(table, PAGES, { name: textAt(values, 'name') }, 'properties')];
    }
    case 'identify': {
      if (event.original_type !== 'alias')
        return [row('identifies', IDENTIFIES, {}, 'traits'), ...latest('users', textAt(values, 'user_id'))];
      const previous_id = textAt(objectAt(values, 'context'), 'previous_id') ?? textAt(values, 'anonymous_id');
      return [row('aliases', ALIASES, { previous_id }, 'traits')];
    }
    case 'group': {
      const group_id = textAt(values, 'group_id');
      return [row('groups', GROUPS, { group_id }, 'traits'), ...latest('accounts', group_id)];
    }
    default: {
      const text = textAt(values, 'event') ?? event.event ?? '';
      const names = { event: snakeCase(text), event_text: text };
      return [row('tracks', TRACKS, names), row(eventTable(text), TRACKS, names, 'properties')];
    }
  }
}

/** Properties or traits, and the keys that a mapping added to the payload. */
function custom(fields: Field[], kind: TableKind, values: JsonObject, under: 'properties' | 'traits'): void {
  const from = fields.length;
  flatten(fields, objectAt(values, under), '', `${under}.`, { lists: 'text' });
  for (const [key, value] of Object.entries(values)) {
    if (!EVENT_KEYS.has(key)) flatten(fields, { [key]: value }, '', '', { lists: 'text' });
  }
  const kept = fields.splice(from);
  for (const field of kept) {
    if (!Object.hasOwn(kind.base, field.name)) fields.push(field);
    // Segment's clients repeat a page's name among its properties.
    else if (!fields.some(({ name, value }) => name === field.name && value === field.value))
      fields.push({ ...field, name: `_${field.name}` });
  }
}

function textAt(values: JsonObject, key: string): string | undefined {
  const value = own(values, key);
  return typeof value === 'string' ? value : undefined;
}
function objectAt(values: JsonObject, key: string): JsonObject {
  const value = own(values, key);
  // An own value of JSON that is an object is a JsonObject.
  return isObject(value) ? (value as JsonObject) : {};
}

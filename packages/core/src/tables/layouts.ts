/**
 * From an event to rows. Three layouts:
 * - `payload`: one table; a column per field of the payload, objects as JSON;
 * - `events`: one table; nested fields become columns (`properties_total`, `context_page_url`);
 * - `segment`: Segment's tables (`tracks`, `pages`, `identifies`, `users`, one per event …), for existing dbt models.
 *
 * A mapping's payload counts, not the event: only the id, the type, the name and the time are taken from the event where the
 * payload has none.
 */
import type { Json } from '../json.ts';
import { own } from '../json.ts';
import type { TransportRecord } from '../vendor/transport.ts';
import { type Field, flatten, type TableKind, type TableRow, timeField } from './rows.ts';
import { segmentRows } from './segment.ts';

export const LAYOUTS = ['payload', 'events', 'segment'] as const;
export type Layout = (typeof LAYOUTS)[number];

const NAMES = {
  type: 'text',
  original_type: 'text',
  event: 'text',
  name: 'text',
  user_id: 'text',
  anonymous_id: 'text',
  group_id: 'text',
} as const;
const PAYLOAD: TableKind = {
  key: 'event_id',
  latest: false,
  base: { event_id: 'text', ...NAMES, timestamp: 'timestamp', context: 'json', properties: 'json', traits: 'json' },
};
const EVENTS: TableKind = {
  key: 'event_id',
  latest: false,
  time: 'received_at',
  base: { event_id: 'text', received_at: 'timestamp', timestamp: 'timestamp', ...NAMES },
};

/** `table`: for the layouts with one table. */
export function rowsOf(record: TransportRecord, layout: Layout, table: string): TableRow[] {
  if (layout === 'segment') return segmentRows(record);
  return [layout === 'payload' ? payloadRow(record, table) : eventsRow(record, table)];
}

function payloadRow(record: TransportRecord, table: string): TableRow {
  const fields: Field[] = [];
  for (const [name, value] of record.shallow?.() ?? Object.entries(record.values)) {
    if (value !== null && name !== PAYLOAD.key) fields.push({ name, source: name, value });
  }
  return { table, id: record.event_id, kind: PAYLOAD, fields };
}

function eventsRow({ event_id, event, values, received_at }: TransportRecord, table: string): TableRow {
  const fields: Field[] = [timeField('received_at', received_at)];
  const missing = { type: event.type, event: event.event, timestamp: event.timestamp };
  for (const [name, value] of Object.entries({ ...missing, ...values })) {
    if (value === undefined || value === null || name === EVENTS.key || name === 'received_at') continue;
    if (Object.hasOwn(EVENTS.base, name)) fields.push({ name, source: name, value });
    else flatten(fields, { [name]: value }, '', '', { lists: 'json', plain: name === 'context' });
  }
  const received: Json | undefined = own(values, 'received_at') as Json | undefined;
  if (received !== undefined && received !== null) fields.push({ name: '_received_at', source: 'received_at', value: received });
  return { table, id: event_id, kind: EVENTS, fields };
}

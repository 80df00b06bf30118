/** What all destinations with tables have in common: the fields that choose the layout, and how they reach the driver. */
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import type { ConfigField, Variant, VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import { type VendorCases, vendorCases } from './cases.ts';
import { orderCompleted, pageViewed } from './sample-events.ts';

/** `layout`: the default. `table`: the example of a table's name. */
export function tableFields(options: { layout: 'payload' | 'segment'; table: Partial<ConfigField> }): ConfigField[] {
  return [
    {
      key: 'layout',
      label: 'Layout',
      type: 'select',
      required: false,
      placeholder: options.layout,
      help_text:
        'segment: tracks, pages, identifies, users, groups and a table per event, as dbt models expect. events: one table, nested fields as columns. payload: one table, a column per field, objects as JSON.',
      options: ['segment', 'events', 'payload'],
      default: options.layout,
    },
    {
      key: 'table',
      label: 'Table',
      type: 'string',
      required: false,
      placeholder: 'events',
      help_text: 'The table of the layouts events and payload.',
      default: 'events',
      pattern: '^[^.\\s]{1,63}$',
      pattern_hint: 'the name of a table',
      ...options.table,
    },
    {
      key: 'create_table',
      label: 'Create tables',
      type: 'boolean',
      required: false,
      placeholder: 'true',
      help_text: 'Creates a table when the first row for it arrives.',
      default: true,
    },
    {
      key: 'evolve',
      label: 'Add columns',
      type: 'boolean',
      required: false,
      placeholder: 'true',
      help_text:
        'Adds a column for a new field. Off: what has no column goes to the column _overflow, and without it the event is refused.',
      default: true,
    },
    {
      key: 'max_columns',
      label: 'Most columns',
      type: 'number',
      required: false,
      placeholder: '500',
      help_text: 'Further fields of a table go to its JSON column _overflow.',
      default: 500,
      min: 30,
      max: 10_000,
      integer: true,
    },
    {
      key: 'max_tables',
      label: 'Most tables',
      type: 'number',
      required: false,
      placeholder: '1000',
      help_text: 'Layout segment: a further event gets no table of its own; its properties go to the column _overflow of tracks.',
      default: 1_000,
      min: 1,
      max: 100_000,
      integer: true,
    },
  ];
}

/** For `transport.connection`. */
export const TABLE_SETTINGS: Record<string, string> = {
  layout: '{{parameters.layout}}',
  create_table: '{{parameters.create_table}}',
  evolve: '{{parameters.evolve}}',
  max_columns: '{{parameters.max_columns}}',
  max_tables: '{{parameters.max_tables}}',
};

export const TABLE_NOTES: string[] = [
  'No event is refused for its shape: a value that does not fit its column goes to <name>_text, see the reference on data stores.',
  'sent_at and original_timestamp of the layout segment stay empty: timestamp is already corrected by the clock of the client.',
];

export const EVERY_ROW: Variant[] = [
  { key: 'default', name: 'Default', description: 'Every event, in the tables of the chosen layout.', default_config: {} },
];

/** A PEM key among the fields. */
export const PRIVATE_KEY = {
  multiline: true,
  pattern: '^\\s*(?:•|-----BEGIN (?:RSA )?PRIVATE KEY-----)',
  pattern_hint: 'a private key in PEM form (-----BEGIN PRIVATE KEY-----)',
} as const;
export const PEM_EXAMPLE = '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----';

/** The event reaches the driver whole; core/tables makes its rows. */
export function tableCases(vendor: VendorDefinition): VendorCases {
  const recordOf = (event: CanonicalEvent, target = 'events') => ({ event_id: event.event_id, target, values: { ...event } });
  const order = orderCompleted();
  const page = pageViewed();
  return vendorCases(vendor, [
    { name: 'an event is a row', event: order, records: [recordOf(order)] },
    { name: 'another table', config: { layout: 'events', table: 'raw' }, event: page, records: [recordOf(page, 'raw')] },
  ]);
}

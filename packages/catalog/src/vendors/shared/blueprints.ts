/** A vendor's variants, from its names for the standard events and its mapping of each kind of event. */
import type { JsonObject } from '@firsthand/core/json.ts';
import type { Variant } from '@firsthand/core/vendor/definition.ts';
import { event } from './mapping.ts';
import {
  CRM_EVENTS,
  type EventKind,
  MEDIA_EVENTS,
  RETAIL_EVENTS,
  SAAS_EVENTS,
  STANDARD_EVENTS,
  type StandardEvent,
  TRAVEL_EVENTS,
} from './standard-events.ts';

const VERTICALS = {
  retail: { name: 'Retail', description: 'The full e-commerce event set.', events: RETAIL_EVENTS },
  travel: { name: 'Travel', description: 'Searches, offers and bookings.', events: TRAVEL_EVENTS },
  media: { name: 'Media', description: 'Articles, video, audio and subscriptions.', events: MEDIA_EVENTS },
  saas: { name: 'SaaS', description: 'Sign-ups, trials, invites, features and plans.', events: SAAS_EVENTS },
} as const;
export type Vertical = keyof typeof VERTICALS;

export interface VendorEvents {
  /**
   * The vendor's name of each event. Events without one are disabled in the variants, so that a customer can see and enable them.
   * `keep`: the vendor accepts free names, and every event keeps its own.
   */
  names: Partial<Record<StandardEvent, string>> | 'keep';
  /** Mapping lines by kind of event. A kind without lines sends the global lines only. */
  lines: Partial<Record<EventKind, JsonObject[]>>;
  /** Lines of single events, after those of their kind. */
  extra?: Partial<Record<StandardEvent, JsonObject[]>>;
  /** Lines of single events, in the place of those of their kind. */
  instead?: Partial<Record<StandardEvent, JsonObject[]>>;
  /** Finished entries of single events, in the place of lines: for events with several alternatives. */
  entries?: Partial<Record<StandardEvent, JsonObject[]>>;
  /** Lines of every event: who, when, where. */
  global: JsonObject[];
  /** Entries of `@page`, `@screen`, `@identify`, `@group`, `@alias`, and of further events. */
  others?: Record<string, JsonObject>;
  /** What happens to other events. Default: dropped, or kept under their own name for vendors with free names. */
  defaults?: JsonObject;
  /** Changes to every finished payload. */
  transforms?: JsonObject[];
  /** Config fields that the variants set. */
  config?: JsonObject;
}

/** `default` contains the events of all verticals, so it is a superset of every other variant. */
export function blueprints(vendor: VendorEvents, verticals: readonly Vertical[] = ['retail', 'travel', 'media', 'saas']): Variant[] {
  const all: Variant = {
    key: 'default',
    name: 'Default',
    description: 'Every standard event that the vendor accepts.',
    default_config: configOf(vendor, STANDARD_EVENTS),
  };
  return [
    all,
    ...verticals.map((key): Variant => {
      const { name, description, events } = VERTICALS[key];
      return { key, name, description, default_config: configOf(vendor, events) };
    }),
  ];
}

function configOf(vendor: VendorEvents, events: Readonly<Record<string, EventKind>>): JsonObject {
  const entries = Object.entries(events).map(([name, kind]) => {
    const own = vendor.entries?.[name as StandardEvent];
    return [name, own ?? entryOf(vendor, name as StandardEvent, kind)] as const;
  });
  const free = vendor.names === 'keep' ? { action: 'map' } : { action: 'drop' };
  return {
    version: 2,
    ...vendor.config,
    global: { mappings: vendor.global, ...(vendor.transforms ? { transforms: vendor.transforms } : {}) },
    events: { ...vendor.others, ...Object.fromEntries(entries) },
    defaults: vendor.defaults ?? free,
  };
}

function entryOf({ names, lines, extra, instead }: VendorEvents, name: StandardEvent, kind: EventKind): JsonObject {
  const theirs = names === 'keep' ? name : names[name];
  const mappings = instead?.[name] ?? [...(lines[kind] ?? []), ...(extra?.[name] ?? [])];
  return theirs === undefined ? event(undefined, mappings, { enabled: false }) : event(theirs, mappings);
}

/** For vendors without fields for trips: a trip is a product, a booking an order, a video content. */
export function likeRetail(lines: VendorEvents['lines']): VendorEvents['lines'] {
  const { search = [], product = [], order = [], purchase = [], content = [] } = lines;
  return { trip_search: search, trip_offer: product, trip_order: order, booking: purchase, video: content, ...lines };
}

/** One variant with the events of `CRM_EVENTS`, each with the same lines; other events are dropped. */
export function crmVariants(vendor: { global: JsonObject[]; lines: JsonObject[]; others: Record<string, JsonObject> }): Variant[] {
  const events = CRM_EVENTS.map((name) => [name, event(name, vendor.lines)] as const);
  return [
    {
      key: 'default',
      name: 'Default',
      description: 'Identify and group calls, and the events that matter to sales and support. Add others as you need them.',
      default_config: {
        version: 2,
        global: { mappings: vendor.global },
        events: { ...vendor.others, ...Object.fromEntries(events) },
        defaults: { action: 'drop' },
      },
    },
  ];
}

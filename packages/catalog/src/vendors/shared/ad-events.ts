/** What advertising vendors count, and the standard events of every vertical that mean the same. */
import { event } from './mapping.ts';
import { STANDARD_EVENTS, type StandardEvent } from './standard-events.ts';

const EVENTS = {
  search: ['Products Searched', 'Trip Searched', 'Hotel Searched', 'Flight Searched', 'Results Viewed', 'Content Searched'],
  list: ['Product List Viewed', 'Product List Filtered'],
  view: ['Product Viewed', 'Offer Viewed', 'Hotel Viewed', 'Flight Viewed', 'Article Viewed', 'Video Content Started'],
  /** Replaces `view` for videos. */
  video: ['Video Content Started'],
  cart: ['Product Added', 'Wishlist Product Added to Cart', 'Offer Selected'],
  remove: ['Product Removed'],
  view_cart: ['Cart Viewed'],
  wishlist: ['Product Added to Wishlist', 'Offer Saved'],
  checkout: ['Checkout Started', 'Booking Started'],
  payment: ['Payment Info Entered'],
  purchase: ['Order Completed', 'Booking Completed'],
  refund: ['Order Refunded'],
  registration: ['Signed Up'],
  login: ['Signed In'],
  lead: ['Lead Generated', 'Demo Requested', 'Newsletter Subscribed'],
  /** Replaces `lead` for demos. */
  demo: ['Demo Requested'],
  trial: ['Trial Started'],
  subscribe: ['Subscription Started'],
  share: ['Product Shared', 'Cart Shared', 'Content Shared'],
  review: ['Product Reviewed'],
  invite: ['Invite Sent'],
  onboarding: ['Onboarding Completed'],
} as const satisfies Record<string, readonly StandardEvent[]>;

/** The vendor's name of each. Events without a name are disabled. */
export type AdNames = Partial<Record<keyof typeof EVENTS, string>>;

export function adEvents(names: AdNames): Partial<Record<StandardEvent, string>> {
  const pairs = Object.entries(EVENTS).flatMap(([key, events]) => {
    const name = names[key as keyof typeof EVENTS];
    return name === undefined ? [] : events.map((event) => [event, name] as const);
  });
  return Object.fromEntries(pairs);
}

/** Names that Branch and Snap share. */
export const UPPER_CASE_NAMES = {
  purchase: 'PURCHASE',
  login: 'LOGIN',
  wishlist: 'ADD_TO_WISHLIST',
  trial: 'START_TRIAL',
  subscribe: 'SUBSCRIBE',
  share: 'SHARE',
  review: 'RATE',
  invite: 'INVITE',
  onboarding: 'COMPLETE_TUTORIAL',
} as const satisfies AdNames;

const OFF = event(undefined, [], { enabled: false });
/** Calls that say who somebody is are no events. For vendors that accept any name. */
export const NO_IDENTITY_CALLS = { '@identify': OFF, '@group': OFF };
/** Vendors of apps count screens, not pages. */
export const APP_CALLS_ONLY = { ...NO_IDENTITY_CALLS, '@page': OFF };

/** For vendors that accept any name: the other standard events keep their own. */
export function orOwnName(names: Partial<Record<StandardEvent, string>>): Record<StandardEvent, string> {
  const own = Object.fromEntries(Object.keys(STANDARD_EVENTS).map((name) => [name, name])) as Record<StandardEvent, string>;
  return { ...own, ...names };
}

/**
 * The standard events, and what kind of event each is. A vendor describes how it maps each kind (`lines`) and what it calls each event
 * (`names`); `blueprints.ts` makes its variants from that.
 */

/** What an event is about, and so which of its properties a vendor maps. */
export const EVENT_KINDS = [
  'search',
  'list',
  'promotion',
  'product',
  'products',
  'cart',
  'step',
  'order',
  'purchase',
  'refund',
  'coupon',
  'registration',
  'login',
  'lead',
  'trip_search',
  'trip_offer',
  'trip_order',
  'booking',
  'content',
  'video',
  'subscription',
  'trial',
  'feature',
] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

const ACCOUNT = { 'Signed Up': 'registration', 'Signed In': 'login', 'Lead Generated': 'lead' } as const;

/** E-commerce: Segment's specification, and the few further events that shops send. */
export const RETAIL_EVENTS = {
  'Products Searched': 'search',
  'Product List Viewed': 'list',
  'Product List Filtered': 'list',
  'Promotion Viewed': 'promotion',
  'Promotion Clicked': 'promotion',
  'Product Clicked': 'product',
  'Product Viewed': 'product',
  'Product Added': 'product',
  'Product Removed': 'product',
  'Cart Viewed': 'cart',
  'Checkout Started': 'order',
  'Checkout Step Viewed': 'step',
  'Checkout Step Completed': 'step',
  'Payment Info Entered': 'order',
  'Order Completed': 'purchase',
  'Order Updated': 'order',
  'Order Refunded': 'refund',
  'Order Cancelled': 'order',
  'Coupon Entered': 'coupon',
  'Coupon Applied': 'coupon',
  'Coupon Denied': 'coupon',
  'Coupon Removed': 'coupon',
  'Product Added to Wishlist': 'product',
  'Product Removed from Wishlist': 'product',
  'Wishlist Product Added to Cart': 'product',
  'Product Shared': 'product',
  'Cart Shared': 'products',
  'Product Reviewed': 'product',
  ...ACCOUNT,
} as const satisfies Record<string, EventKind>;

export const TRAVEL_EVENTS = {
  'Trip Searched': 'trip_search',
  'Hotel Searched': 'trip_search',
  'Flight Searched': 'trip_search',
  'Results Viewed': 'trip_search',
  'Offer Viewed': 'trip_offer',
  'Hotel Viewed': 'trip_offer',
  'Flight Viewed': 'trip_offer',
  'Offer Selected': 'trip_offer',
  'Offer Saved': 'trip_offer',
  'Booking Started': 'trip_order',
  'Payment Info Entered': 'order',
  'Booking Completed': 'booking',
  'Booking Changed': 'trip_order',
  'Booking Cancelled': 'trip_order',
  ...ACCOUNT,
} as const satisfies Record<string, EventKind>;

export const MEDIA_EVENTS = {
  'Article Viewed': 'content',
  'Article Completed': 'content',
  'Content Searched': 'search',
  'Content Shared': 'content',
  'Video Playback Started': 'video',
  'Video Playback Paused': 'video',
  'Video Playback Resumed': 'video',
  'Video Playback Completed': 'video',
  'Video Content Started': 'video',
  'Video Content Playing': 'video',
  'Video Content Completed': 'video',
  'Video Ad Started': 'video',
  'Video Ad Completed': 'video',
  'Audio Playback Started': 'video',
  'Audio Playback Completed': 'video',
  'Newsletter Subscribed': 'content',
  'Trial Started': 'trial',
  'Subscription Started': 'subscription',
  'Subscription Renewed': 'subscription',
  'Subscription Cancelled': 'subscription',
  ...ACCOUNT,
} as const satisfies Record<string, EventKind>;

export const SAAS_EVENTS = {
  'Trial Started': 'trial',
  'Trial Ended': 'trial',
  'Invite Sent': 'feature',
  'Feature Used': 'feature',
  'Onboarding Completed': 'feature',
  'Demo Requested': 'lead',
  'Plan Changed': 'subscription',
  'Subscription Started': 'subscription',
  'Subscription Renewed': 'subscription',
  'Subscription Cancelled': 'subscription',
  ...ACCOUNT,
} as const satisfies Record<string, EventKind>;

export const STANDARD_EVENTS = { ...SAAS_EVENTS, ...MEDIA_EVENTS, ...TRAVEL_EVENTS, ...RETAIL_EVENTS };
export type StandardEvent = keyof typeof STANDARD_EVENTS;
/** Every event under its own name, for vendors that accept free names but have conventions for some. */
export const OWN_NAMES = Object.fromEntries(Object.keys(STANDARD_EVENTS).map((name) => [name, name])) as Record<StandardEvent, string>;

export type CommerceEvent = keyof typeof RETAIL_EVENTS;
export const COMMERCE_EVENTS = Object.keys(RETAIL_EVENTS) as CommerceEvent[];

/** The few events that say something in a CRM or a support tool, where page views and clicks would only be noise. */
export const CRM_EVENTS = [
  'Signed Up',
  'Lead Generated',
  'Demo Requested',
  'Trial Started',
  'Trial Ended',
  'Onboarding Completed',
  'Subscription Started',
  'Subscription Renewed',
  'Subscription Cancelled',
  'Plan Changed',
  'Order Completed',
  'Order Refunded',
  'Order Cancelled',
  'Booking Completed',
  'Booking Cancelled',
] as const satisfies StandardEvent[];

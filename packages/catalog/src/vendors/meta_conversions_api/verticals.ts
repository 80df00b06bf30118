/** Travel as Meta's travel catalogues read it (content type hotel, flight or destination, with dates and guests), and media. */
import type { JsonObject } from '@firsthand/core/json.ts';
import { event, set } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { tripLines } from '../shared/trip.ts';
import { data, ORDER, ORDER_ID, REGISTRATION, SEARCH, SINGLE_PRODUCT, VALUE, VALUE_REQUIRED } from './mappings.ts';

const TRIP = [
  ...tripLines('custom_data'),
  data(['properties.check_out', 'properties.checkout_date'], 'checkout_date', ['to_string']),
  data('properties.travel_class', 'travel_class'),
];
/** Later lines win: a hotel is a hotel even where the event names no content type. */
const as = (type: string, lines: JsonObject[]): JsonObject[] => [...lines, set('custom_data.content_type', type)];

export const TRAVEL: Record<string, JsonObject> = {
  'Trip Searched': event('Search', as('destination', [...SEARCH, ...TRIP])),
  'Hotel Searched': event('Search', as('hotel', [...SEARCH, ...TRIP])),
  'Flight Searched': event('Search', as('flight', [...SEARCH, ...TRIP])),
  'Results Viewed': event('Search', [...SEARCH, ...ORDER, ...TRIP]),
  'Offer Viewed': event('ViewContent', [...SINGLE_PRODUCT, ...TRIP]),
  'Hotel Viewed': event('ViewContent', as('hotel', [...SINGLE_PRODUCT, ...TRIP])),
  'Flight Viewed': event('ViewContent', as('flight', [...SINGLE_PRODUCT, ...TRIP])),
  'Offer Selected': event('AddToCart', [...SINGLE_PRODUCT, ...TRIP]),
  'Offer Saved': event('AddToWishlist', [...SINGLE_PRODUCT, ...TRIP]),
  'Booking Started': event('InitiateCheckout', [...ORDER, ...VALUE, ...TRIP]),
  'Payment Info Entered': event('AddPaymentInfo', [...ORDER, ...VALUE]),
  'Booking Completed': event('Purchase', [...ORDER, ...VALUE_REQUIRED, ...TRIP]),
  'Booking Cancelled': event('BookingCancelled', [...ORDER, ...VALUE]),
  'Signed Up': event('CompleteRegistration', REGISTRATION),
  'Lead Generated': event('Lead', VALUE),
};

const CONTENT = [
  data(source.CONTENT_ID, 'content_ids[0]', ['to_string']),
  data(source.CONTENT_NAME, 'content_name', ['to_string']),
  data(['properties.section', 'properties.category', 'properties.genre'], 'content_category', ['to_string']),
];
const VIDEO = [
  ...CONTENT,
  data(['properties.total_length', 'properties.duration'], 'video_length', ['to_number']),
  data('properties.position', 'video_position', ['to_number']),
];

export const MEDIA: Record<string, JsonObject> = {
  'Article Viewed': event('ViewContent', as('article', CONTENT)),
  'Article Completed': event('ArticleCompleted', CONTENT),
  'Content Searched': event('Search', SEARCH),
  'Content Shared': event('ContentShared', CONTENT),
  'Video Playback Started': event('VideoStarted', VIDEO),
  'Video Content Started': event('ViewContent', as('video', VIDEO)),
  'Video Content Completed': event('VideoContentCompleted', VIDEO),
  'Video Playback Completed': event('VideoCompleted', VIDEO),
  'Newsletter Subscribed': event('Lead', CONTENT),
  'Trial Started': event('StartTrial', VALUE),
  'Subscription Started': event('Subscribe', [...ORDER_ID, ...VALUE]),
  'Signed Up': event('CompleteRegistration', REGISTRATION),
};

export const SAAS: Record<string, JsonObject> = {
  'Trial Started': event('StartTrial', VALUE),
  'Trial Ended': event('TrialEnded', VALUE),
  'Invite Sent': event('InviteSent', []),
  'Feature Used': event('FeatureUsed', [data('properties.name', 'content_name', ['to_string'])]),
  'Onboarding Completed': event('OnboardingCompleted', []),
  'Demo Requested': event('Schedule', VALUE),
  'Plan Changed': event('PlanChanged', VALUE),
  'Subscription Started': event('Subscribe', [...ORDER_ID, ...VALUE]),
  'Subscription Renewed': event('SubscriptionRenewed', [...ORDER_ID, ...VALUE]),
  'Subscription Cancelled': event('SubscriptionCancelled', VALUE),
  'Signed Up': event('CompleteRegistration', REGISTRATION),
  'Lead Generated': event('Lead', VALUE),
};

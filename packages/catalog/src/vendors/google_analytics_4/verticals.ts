/** Travel, media and SaaS: names that booking sites, publishers and software services send, Segment's video specification among them. */
import type { JsonObject } from '@firsthand/core/json.ts';
import { event } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { METHOD, PRODUCT_LIST, param, REFUND, RENEWAL, SINGLE_PRODUCT, SUBSCRIPTION, TRANSACTION, VALUE } from './mappings.ts';

const TRIP = [
  param('properties.destination', 'destination'),
  param('properties.origin', 'origin'),
  param(['properties.check_in', 'properties.start_date', 'properties.departure_date'], 'start_date', 'to_string'),
  param(['properties.check_out', 'properties.end_date', 'properties.return_date'], 'end_date', 'to_string'),
  param('properties.travel_class', 'travel_class'),
  param(['properties.passengers', 'properties.guests'], 'number_of_passengers', 'to_integer'),
  param(['properties.nights', 'properties.number_of_nights'], 'number_of_nights', 'to_integer'),
];
const TRIP_SEARCH = [param(['properties.query', 'properties.destination'], 'search_term', 'to_string'), ...TRIP];
const BOOKING = [...TRANSACTION, ...TRIP];

export const TRAVEL: Record<string, JsonObject> = {
  'Trip Searched': event('search', TRIP_SEARCH),
  'Hotel Searched': event('search', TRIP_SEARCH),
  'Flight Searched': event('search', TRIP_SEARCH),
  'Results Viewed': event('view_search_results', [...TRIP_SEARCH, ...PRODUCT_LIST]),
  'Offer Viewed': event('view_item', [...SINGLE_PRODUCT, ...TRIP]),
  'Hotel Viewed': event('view_item', [...SINGLE_PRODUCT, ...TRIP]),
  'Flight Viewed': event('view_item', [...SINGLE_PRODUCT, ...TRIP]),
  'Offer Selected': event('add_to_cart', [...SINGLE_PRODUCT, ...TRIP]),
  'Offer Saved': event('add_to_wishlist', [...SINGLE_PRODUCT, ...TRIP]),
  'Booking Started': event('begin_checkout', [...VALUE, ...PRODUCT_LIST, ...TRIP]),
  'Payment Info Entered': event('add_payment_info', [
    param('properties.payment_method', 'payment_type', 'to_string'),
    ...VALUE,
    ...PRODUCT_LIST,
  ]),
  'Booking Completed': event('purchase', BOOKING),
  'Booking Cancelled': event('refund', [...REFUND, ...TRIP]),
  'Signed Up': event('sign_up', METHOD),
  'Signed In': event('login', METHOD),
  'Lead Generated': event('generate_lead', VALUE),
};

const VIDEO = [
  param(['properties.title', 'properties.video_title', 'properties.name'], 'video_title', 'to_string'),
  param(['properties.asset_id', 'properties.content_asset_id', 'properties.content_asset_ids[0]'], 'video_id', 'to_string'),
  param(['properties.total_length', 'properties.duration'], 'video_duration', 'to_number'),
  param('properties.position', 'video_current_time', 'to_number'),
  param(['properties.progress', 'properties.percent'], 'video_percent', 'to_number'),
  param(['properties.video_player', 'properties.provider'], 'video_provider', 'to_string'),
];
const CONTENT = [
  param(source.CONTENT_ID, 'content_id', 'to_string'),
  param('properties.content_type', 'content_type'),
  param(source.productName, 'content_name', 'to_string'),
  param(['properties.section', 'properties.category'], 'content_group', 'to_string'),
  param('properties.author', 'author'),
];

export const MEDIA: Record<string, JsonObject> = {
  'Article Viewed': event('view_article', CONTENT),
  'Article Completed': event('article_complete', CONTENT),
  'Content Searched': event('search', [param('properties.query', 'search_term', 'to_string')]),
  'Content Shared': event('share', [param('properties.share_via', 'method', 'to_string'), ...CONTENT]),
  'Video Playback Started': event('video_start', VIDEO),
  'Video Content Started': event('video_content_start', VIDEO),
  'Video Content Playing': event('video_progress', VIDEO),
  'Video Playback Paused': event('video_pause', VIDEO),
  'Video Playback Resumed': event('video_resume', VIDEO),
  'Video Content Completed': event('video_content_complete', VIDEO),
  'Video Playback Completed': event('video_complete', VIDEO),
  'Video Ad Started': event('video_ad_start', VIDEO),
  'Video Ad Completed': event('video_ad_complete', VIDEO),
  'Newsletter Subscribed': event('newsletter_subscribe', METHOD),
  'Subscription Started': event('purchase', SUBSCRIPTION),
  'Subscription Renewed': event('purchase', RENEWAL),
  'Subscription Cancelled': event('subscription_cancel', VALUE),
  'Signed Up': event('sign_up', METHOD),
  'Signed In': event('login', METHOD),
};

const PLAN = [param(['properties.plan', 'properties.plan_name'], 'plan', 'to_string'), ...VALUE];
const FEATURE = [param(['properties.name', 'properties.feature', 'properties.feature_name'], 'feature_name', 'to_string')];

/** `tutorial_complete` and `generate_lead` are Google's recommended names; the others are custom events. */
export const SAAS: Record<string, JsonObject> = {
  'Trial Started': event('trial_start', PLAN),
  'Trial Ended': event('trial_end', PLAN),
  'Invite Sent': event('invite_send', [param(['properties.invitee_role', 'properties.role'], 'invitee_role', 'to_string')]),
  'Feature Used': event('feature_use', FEATURE),
  'Onboarding Completed': event('tutorial_complete', []),
  'Demo Requested': event('generate_lead', VALUE),
  'Plan Changed': event('plan_change', PLAN),
  'Subscription Started': event('purchase', SUBSCRIPTION),
  'Subscription Renewed': event('purchase', RENEWAL),
  'Subscription Cancelled': event('subscription_cancel', VALUE),
  'Signed Up': event('sign_up', METHOD),
  'Signed In': event('login', METHOD),
  'Lead Generated': event('generate_lead', VALUE),
};

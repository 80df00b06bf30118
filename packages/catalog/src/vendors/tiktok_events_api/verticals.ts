/** Travel, media and SaaS with TikTok's standard names. Events without one are disabled. */
import { adEvents } from '../shared/ad-events.ts';
import { blueprints } from '../shared/blueprints.ts';
import * as source from '../shared/sources.ts';
import { ORDER, prop, SEARCH, SINGLE_PRODUCT, searchFor, VALUE, VALUE_REQUIRED } from './mappings.ts';

const TRIP_SEARCH = searchFor('properties.query', 'properties.destination', 'properties.city');
const CONTENT = [prop(source.CONTENT_ID, 'contents[0].content_id', ['to_string']), prop(source.CONTENT_NAME, 'description', ['to_string'])];

/** The events of each vertical; the vendor adds the lines of every event. */
export const [ALL, ...VERTICALS] = blueprints(
  {
    names: adEvents({
      search: 'Search',
      view: 'ViewContent',
      cart: 'AddToCart',
      wishlist: 'AddToWishlist',
      checkout: 'InitiateCheckout',
      payment: 'AddPaymentInfo',
      purchase: 'Purchase',
      registration: 'CompleteRegistration',
      lead: 'Lead',
      demo: 'Schedule',
      trial: 'StartTrial',
      subscribe: 'Subscribe',
    }),
    global: [],
    lines: {
      search: SEARCH,
      order: [...ORDER, ...VALUE],
      registration: VALUE,
      lead: VALUE,
      trip_search: TRIP_SEARCH,
      trip_offer: SINGLE_PRODUCT,
      trip_order: [...ORDER, ...VALUE],
      booking: [...ORDER, ...VALUE_REQUIRED],
      content: CONTENT,
      video: CONTENT,
      subscription: VALUE,
      trial: VALUE,
    },
  },
  ['travel', 'media', 'saas'],
);

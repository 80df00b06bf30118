/** Paths in a canonical event. In a list of paths the first that is present counts. */

/** A trait under several names, from the event's traits, its properties, then field by field from `context.traits`. */
const trait = (...names: string[]): string[] => [
  ...names.map((name) => `traits.${name}`),
  ...names.filter((name) => !name.includes('.')).map((name) => `properties.${name}`),
  ...names.map((name) => `context.traits.${name}`),
];
/** A part of the address. `properties.city` and the like may belong to a trip, so properties do not count. */
const address = (...names: string[]): string[] => {
  const inside = names.map((name) => `address.${name}`);
  return ['traits', 'context.traits'].flatMap((root) => [...inside, ...names].map((name) => `${root}.${name}`));
};

export const EMAIL = trait('email');
export const PHONE = trait('phone');
export const FIRST_NAME = trait('first_name', 'firstName');
export const LAST_NAME = trait('last_name', 'lastName');
export const GENDER = trait('gender');
export const BIRTHDAY = trait('birthday', 'date_of_birth', 'dob');
export const CITY = address('city');
export const STATE = address('state', 'region');
export const POSTAL_CODE = address('postal_code', 'postalCode', 'zip');
export const COUNTRY = address('country');
export const STREET = address('street');

/** Its traits are those of the group, not of the user. */
export const IS_GROUP = { field: 'type', op: 'eq', value: 'group' };

/** The page. A product's own URL (`properties.url` of a track event) is not a page. */
export const PAGE_URL = ['context.page.url'];
/** Of page events, whose properties describe the page. */
export const OWN_PAGE_URL = ['context.page.url', 'properties.url'];
export const REFERRER = ['context.page.referrer', 'properties.referrer'];
/** Of page events. The title in another event's properties is that of a video, an article or a product. */
export const PAGE_TITLE = ['context.page.title', 'properties.title'];

export const VALUE = ['properties.value', 'properties.total', 'properties.revenue'];
/** For vendors that count revenue without tax and shipping. */
export const REVENUE = ['properties.revenue', 'properties.value', 'properties.total'];
export const ORDER_ID = ['properties.order_id', 'properties.checkout_id', 'properties.booking_id'];
/** An article, video or other content. */
export const CONTENT_ID = ['content_id', 'article_id', 'asset_id', 'content_asset_id', 'id'].map((name) => `properties.${name}`);
export const CONTENT_NAME = ['properties.title', 'properties.name'];
export const CATEGORY = ['properties.category', 'properties.product_category'];

/** A product list, and the single product in an event's own properties. */
export const PRODUCTS = 'properties.products[*]';
export const product = (...names: string[]) => names.map((name) => `${PRODUCTS}.${name}`);
export const productIds = product('product_id', 'sku');
export const productId = ['properties.product_id', 'properties.sku'];
export const productName = ['properties.name', 'properties.product_name', 'properties.title'];
/** A product without an id matches nothing in a catalogue. */
export const HAS_PRODUCT = {
  any: [
    { field: 'properties.product_id', op: 'exists' },
    { field: 'properties.sku', op: 'exists' },
  ],
};

/** Remembered click ids are part of `context.click_ids`; some vendors also keep theirs in a cookie. */
export const clickId = (name: string, ...cookies: string[]): string[] => [
  `context.click_ids.${name}`,
  ...cookies.map((cookie) => `context.vendor_ids.${cookie}`),
];
/** When a click id was seen, ISO 8601; the event's own time for a click that is not remembered. */
export const clickTime = (name: string): string[] => [`context.click_id_times.${name}`, 'timestamp'];

/** For vendors that take no IPv6 addresses. */
export const IS_IPV4 = { field: 'context.ip', op: 'matches', value: '^\\d{1,3}(\\.\\d{1,3}){3}$' };
/** An id that the vendor gave to a visitor or device: kept by the collector, or a trait. */
export const vendorId = (name: string) => [`context.vendor_ids.${name}`, `traits.${name}`, `context.traits.${name}`];
/** Events of apps: sent by a mobile SDK, or a `screen` call. */
export const IS_APP = {
  any: [
    { field: 'original_type', op: 'eq', value: 'screen' },
    { field: 'context.app.namespace', op: 'exists' },
    { field: 'context.device.advertising_id', op: 'exists' },
    { field: 'context.device.advertisingId', op: 'exists' },
  ],
};
export const HAS_PAGE = { field: 'context.page.url', op: 'exists' };
/** An event with a page that is not an app's. */
export const IS_WEBSITE = { all: [HAS_PAGE, { not: IS_APP }] };
export const ADVERTISING_ID = ['context.device.advertising_id', 'context.device.advertisingId'];
/** Apple and Google return zeros where the user does not allow an id (ASIdentifierManager, AdvertisingIdClient). */
export const HAS_ADVERTISING_ID = { any: ADVERTISING_ID.map((field) => ({ field, op: 'matches', value: '[^0-]' })) };
export const IS_APPLE = { field: 'context.os.name', op: 'in', value: ['iOS', 'iPadOS', 'ios', 'ipados', 'iPhone OS', 'tvOS'] };
export const IS_ANDROID = { field: 'context.os.name', op: 'in', value: ['Android', 'android'] };

/** Consent to advertising: `advertising` falls back to `marketing`. */
export const AD_CONSENT = ['context.consent.canonical.advertising', 'context.consent.canonical.marketing'];
/** Consent is denied; unknown consent is not. */
export const AD_DENIED = {
  any: [
    { field: 'context.consent.canonical.advertising', op: 'eq', value: false },
    {
      all: [
        { field: 'context.consent.canonical.advertising', op: 'not_exists' },
        { field: 'context.consent.canonical.marketing', op: 'eq', value: false },
      ],
    },
  ],
};

/** A regular expression. */
export const UUID = '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$';
/** For vendors that accept only UUIDs as the id of an event, or of a device. */
export const EVENT_ID_IS_UUID = { field: 'event_id', op: 'matches', value: UUID };
export const ADVERTISING_ID_IS_UUID = {
  all: [HAS_ADVERTISING_ID, { any: ADVERTISING_ID.map((field) => ({ field, op: 'matches', value: UUID })) }],
};

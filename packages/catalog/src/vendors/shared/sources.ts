/** Where things stand in a canonical event. Lists are alternatives: the first that is there counts. */

export const EMAIL = ['traits.email', 'properties.email', 'context.traits.email'];
export const PHONE = ['traits.phone', 'properties.phone', 'context.traits.phone'];
export const FIRST_NAME = ['traits.first_name', 'traits.firstName', 'properties.first_name'];
export const LAST_NAME = ['traits.last_name', 'traits.lastName', 'properties.last_name'];
export const GENDER = ['traits.gender', 'properties.gender'];
export const BIRTHDAY = ['traits.birthday', 'traits.date_of_birth', 'traits.dob'];
export const CITY = ['traits.address.city', 'traits.city'];
export const STATE = ['traits.address.state', 'traits.state', 'traits.address.region'];
export const POSTAL_CODE = [
  'traits.address.postal_code',
  'traits.address.postalCode',
  'traits.address.zip',
  'traits.postal_code',
  'traits.zip',
];
export const COUNTRY = ['traits.address.country', 'traits.country'];
export const STREET = ['traits.address.street', 'traits.street'];

export const PAGE_URL = ['context.page.url', 'properties.url'];
export const REFERRER = ['context.page.referrer', 'properties.referrer'];
/** Of a page event; the title in another event's properties is that of a video, an article or a product. */
export const PAGE_TITLE = ['context.page.title', 'properties.title'];

export const VALUE = ['properties.value', 'properties.total', 'properties.revenue'];
export const ORDER_ID = ['properties.order_id', 'properties.checkout_id', 'properties.booking_id'];
export const CATEGORY = ['properties.category', 'properties.product_category'];

/** Of a list of products, and of the one product that stands in the properties themselves. */
export const PRODUCTS = 'properties.products[*]';
export const product = (...names: string[]) => names.map((name) => `${PRODUCTS}.${name}`);
export const productIds = product('product_id', 'sku');
export const productId = ['properties.product_id', 'properties.sku'];
export const productName = ['properties.name', 'properties.product_name', 'properties.title'];
/** A product without an id cannot be matched to a catalogue; half of one is worse than none. */
export const HAS_PRODUCT = {
  any: [
    { field: 'properties.product_id', op: 'exists' },
    { field: 'properties.sku', op: 'exists' },
  ],
};

const has = (sources: readonly string[]) => ({ any: sources.map((field) => ({ field, op: 'exists' })) });
/** Google matches an address only as a whole. */
export const HAS_ADDRESS = { all: [FIRST_NAME, LAST_NAME, POSTAL_CODE, COUNTRY].map(has) };

/** https://developer.clevertap.com/docs/upload-events-api and /docs/upload-user-profiles-api */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { orderTotal, productList } from '../shared/commerce.ts';
import { secret, text } from '../shared/fields.ts';
import { event, from, set, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { OWN_NAMES } from '../shared/standard-events.ts';
import { fullName, PLAIN_EMAIL, PLAIN_PHONE } from '../shared/user-data.ts';

const IS_EVENT = { field: 'type', op: 'in', value: ['track', 'page'] };
const OWN_FIELDS = ['email', 'phone', 'first_name', 'firstName', 'last_name', 'lastName', 'name', 'gender', 'birthday', 'address'];
/** `$D_` and seconds: the form of dates in a profile. */
const DATE = [
  'normalize_date',
  use('replace', '^(\\d{4})(\\d\\d)(\\d\\d)$', '$1-$2-$3T00:00:00Z'),
  'to_unix_seconds',
  use('prefix', '$D_'),
];
const GENDER = { f: 'F', m: 'M' };

export default defineVendor({
  key: 'clevertap',
  name: 'CleverTap',
  description: 'Events, purchases and user profiles into CleverTap.',
  category: 'other',
  group: 'engagement',
  status: 'ga',
  website: 'https://developer.clevertap.com/docs/upload-events-api',
  api_version: { version: '1/upload', checked: '2026-11-16' },
  default_consent_category: 'marketing',
  setup_steps: [
    'In CleverTap open Settings, Project, and copy the project ID and the passcode.',
    'Choose the region: the start of the dashboard address. With another region every request is rejected.',
  ],
  see_it: 'Open Analytics, Events, or the user under Segments, Find people: the event shows in the activity.',
  notes: [
    'An order is the event Charged, with its items and the Charged ID, by which CleverTap knows a purchase again.',
    'Visitors are identified by their user id, or by their anonymous id.',
    'Nested properties are left out, except the items of an order. Names of properties and traits are cut to 120 characters, texts to 512.',
    'CleverTap names the record that it rejects, not its position: all events of that user in the request count as rejected.',
    'Events that trigger live campaigns must be at most two hours old.',
  ],
  config_fields: [
    text('account_id', 'Project ID', 'W9R-486-4W5Z', 'Settings, Project, Project ID.', {
      pattern: '^\\S+$',
      pattern_hint: 'without spaces',
    }),
    secret('passcode', 'Passcode', '6b4-2c0', 'Settings, Passcode.', { pattern: '^\\S+$', pattern_hint: 'without spaces' }),
    {
      key: 'region',
      label: 'Region',
      type: 'select',
      required: false,
      placeholder: 'api.clevertap.com',
      help_text: 'The start of the dashboard address: in1, sg1, us1, aps3 or mec1; api.clevertap.com for Europe (eu1).',
      options: ['api', 'in1.api', 'sg1.api', 'us1.api', 'aps3.api', 'mec1.api'].map((host) => `${host}.clevertap.com`),
      default: 'api.clevertap.com',
    },
  ],
  request: {
    method: 'POST',
    url: 'https://{{parameters.region}}/1/upload',
    headers: { 'X-CleverTap-Account-Id': '{{parameters.account_id}}', 'X-CleverTap-Passcode': '{{parameters.passcode}}' },
    item_keys: ['identity'],
    body: { kind: 'json_list', under: 'd' },
    batch: { max_items: 1_000, max_bytes: 1_000_000, interval_ms: 1_000 },
    answers: [
      {
        status: [200],
        when: { field: 'body.status', op: 'in', value: ['partial', 'fail'] },
        verdict: 'partial',
        partial: { errors: 'body.unprocessed', key: 'record.identity', reason: 'error', failed: 'refused', others: 'delivered' },
      },
      { status: [200], when: { field: 'body.status', op: 'eq', value: 'fail' }, verdict: 'refused', reason: 'body.error' },
      { status: [413], verdict: 'refused', isolate: true },
      RETRY_TIMEOUT,
    ],
  },
  event_name: { target: 'evtName', only_with: 'evtData' },
  limits: [
    { path: 'evtData', max_keys: 100, max_key_length: 120, max_string_length: 512, scalars_only: true, keep: ['Items'] },
    { path: 'profileData', max_keys: 256, max_key_length: 120, max_string_length: 512 },
  ],
  require_one_of: [['identity'], ['profileData', 'evtData']],
  default_action: 'drop',
  rate: { rps: 20 },
  concurrency: 10,
  variants: blueprints({
    names: { ...OWN_NAMES, 'Order Completed': 'Charged' },
    global: [
      from(['user_id', 'anonymous_id'], 'identity'),
      from('timestamp', 'ts', ['to_unix_seconds']),
      set('type', 'event', { when: IS_EVENT }),
      set('evtData', {}, { when: IS_EVENT }),
      from('properties', 'evtData', [], { when: IS_EVENT }),
    ],
    lines: {
      purchase: [
        ...orderTotal('evtData.Amount', { required: true }),
        from(source.ORDER_ID, 'evtData["Charged ID"]', ['to_string'], { required: true }),
        ...productList('evtData.Items', { id: 'Product ID', name: 'Name', category: 'Category', price: 'Price', quantity: 'Quantity' }),
      ],
    },
    others: {
      '@page': event('Page Viewed', [from('name', 'evtData.page_name'), from(source.OWN_PAGE_URL, 'evtData.page_url')]),
      '@screen': event('Screen Viewed', [from('name', 'evtData.screen_name')]),
      '@identify': event(undefined, [
        set('type', 'profile'),
        from('traits', 'profileData', [use('omit', ...OWN_FIELDS)]),
        ...fullName('profileData.Name'),
        from(source.EMAIL, 'profileData.Email', [PLAIN_EMAIL]),
        from(source.PHONE, 'profileData.Phone', [PLAIN_PHONE]),
        from(source.BIRTHDAY, 'profileData.DOB', DATE),
        from(source.GENDER, 'profileData.Gender', ['normalize_gender'], { value_map: GENDER }),
      ]),
      '@group': event(undefined, [
        set('type', 'profile'),
        from('group_id', 'profileData.group_id'),
        from('traits.name', 'profileData.group_name'),
      ]),
    },
    defaults: { action: 'map' },
  }),
});

/** https://plausible.io/docs/events-api; limits: plausible/analytics, lib/plausible/ingestion/request.ex. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { orderValue } from '../shared/commerce.ts';
import { text } from '../shared/fields.ts';
import { DISABLED, event, from, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { OWN_NAMES } from '../shared/standard-events.ts';

const REVENUE = orderValue('revenue', {}, { value: 'amount', currency: 'currency' });

export default defineVendor({
  key: 'plausible',
  name: 'Plausible Analytics',
  description: 'Page views, custom events and revenue into Plausible (cloud or your own).',
  category: 'analytics',
  group: 'analytics',
  status: 'ga',
  website: 'https://plausible.io/docs/events-api',
  api_version: { version: '/api/event', checked: '2026-11-16' },
  default_consent_category: 'analytics',
  setup_steps: [
    'In Plausible add the site, and note its domain as Site settings, General, shows it.',
    'Add a goal for every custom event that you want to see (Site settings, Goals), with revenue for Purchase.',
    'For your own installation set the field Endpoint to its URL.',
  ],
  see_it: 'Open the site’s dashboard: the goal shows at once under Goal conversions.',
  notes: [
    'Plausible counts an event when it arrives: events that are older than an hour are dropped.',
    'Visitors are told apart by address and browser; an event without both is dropped.',
    'Plausible answers 202 also for events of bots and of unknown domains, which it drops.',
    'There is no deduplication: a retry after a timeout can count an event twice.',
  ],
  config_fields: [
    text('domain', 'Domain', 'shop.example', 'Site settings, General, Domain.', {
      pattern: '^(?!https?:)[^\\s/]+(/[^\\s]*)?$',
      pattern_hint: 'the domain as in Plausible, without https://',
    }),
  ],
  request: {
    method: 'POST',
    url: 'https://plausible.io/api/event',
    // Plausible identifies the visitor by these two.
    headers: { 'User-Agent': '{{lane.user_agent}}', 'X-Forwarded-For': '{{lane.ip}}' },
    lane: ['user_agent', 'ip'],
    body: { kind: 'json' },
    answers: [RETRY_TIMEOUT],
  },
  event_name: { target: 'name', max_length: 120, reserved: ['engagement'] },
  // Plausible allows 300 and 2,000 bytes, and rejects the event otherwise. A character has up to three.
  limits: [{ path: 'props', max_keys: 30, max_key_length: 100, max_string_length: 666, scalars_only: true }],
  require_one_of: [['user_agent'], ['ip']],
  max_event_age_hours: 1,
  default_action: 'drop',
  rate: { rps: 100 },
  variants: blueprints({
    names: { ...OWN_NAMES, 'Order Completed': 'Purchase' },
    global: [
      from('context.user_agent', 'user_agent'),
      from('context.ip', 'ip'),
      from('parameters.domain', 'domain'),
      from(source.OWN_PAGE_URL, 'url', [use('truncate', 2_000)], { required: true }),
      from(source.REFERRER, 'referrer'),
      from('properties', 'props'),
    ],
    lines: { purchase: REVENUE, booking: REVENUE, subscription: REVENUE },
    others: { '@page': event('pageview', []), '@identify': DISABLED, '@group': DISABLED },
    defaults: { action: 'map' },
  }),
});

import { vendorCases } from '../shared/cases.ts';
import { bare, grouped, identified, pageViewed, track } from '../shared/sample-events.ts';
import attio from './vendor.ts';

const people = 'https://api.attio.com/v2/objects/people/records?matching_attribute=email_addresses';
const headers = { Authorization: 'Bearer 0123456789abcdef0123456789abcdef0123456789abcdef' };
const found = { status: 200, body: { data: { id: { record_id: 'rec-1' } } } };

export default vendorCases(attio, [
  {
    name: 'an event is a note on the person',
    event: track('Trial Started', { plan: 'pro' }),
    replies: [found, { status: 200 }],
    requests: [
      { method: 'PUT', url: people, headers, body: { data: { values: { email_addresses: ['anna.berg@example.com'] } } } },
      {
        method: 'POST',
        url: 'https://api.attio.com/v2/notes',
        headers,
        body: {
          data: {
            parent_object: 'people',
            parent_record_id: 'rec-1',
            title: 'Trial Started',
            format: 'plaintext',
            content: '{"plan":"pro"}',
          },
        },
      },
    ],
  },
  {
    name: 'identify',
    event: identified(),
    replies: [found],
    requests: [
      {
        method: 'PUT',
        url: people,
        headers,
        body: {
          data: {
            values: {
              email_addresses: ['anna.berg@example.com'],
              name: [{ first_name: 'Anna', last_name: 'Berg', full_name: 'Anna Berg' }],
              phone_numbers: ['+4915123456789'],
            },
          },
        },
      },
    ],
  },
  {
    name: 'a first name only: all three parts of the name are set',
    event: identified({ traits: { email: 'anna.berg@example.com', firstName: 'Anna' } }),
    replies: [found],
    requests: [
      {
        method: 'PUT',
        url: people,
        body: {
          data: {
            values: { email_addresses: ['anna.berg@example.com'], name: [{ first_name: 'Anna', last_name: '', full_name: 'Anna' }] },
          },
        },
      },
    ],
  },
  {
    name: 'a name that was left blank keeps the name',
    event: identified({ traits: { email: 'anna.berg@example.com', first_name: '', last_name: ' ' } }),
    replies: [found],
    requests: [{ url: people, body: { data: { values: { email_addresses: ['anna.berg@example.com'] } } } }],
  },
  {
    name: 'no name keeps the name',
    event: identified({ traits: { email: 'anna.berg@example.com' } }),
    replies: [found],
    requests: [{ url: people, body: { data: { values: { email_addresses: ['anna.berg@example.com'] } } } }],
  },
  {
    name: 'throttled: the wait is a date',
    event: identified(),
    now: '2026-01-02T03:05:00.000Z',
    replies: [
      {
        status: 429,
        headers: { 'retry-after': 'Fri, 02 Jan 2026 03:05:01 GMT' },
        body: { status_code: 429, type: 'rate_limit_error', code: 'rate_limit_exceeded', message: 'Rate limit exceeded' },
      },
    ],
    requests: [{ url: people }],
    verdict: { kind: 'unavailable', reason: 'http_429: Rate limit exceeded', retry_after_ms: 1_000 },
  },
  {
    name: 'a group is a company',
    event: grouped({ traits: { name: 'Acme', website: 'https://acme.example/about' } }),
    replies: [found],
    requests: [
      {
        method: 'PUT',
        url: 'https://api.attio.com/v2/objects/companies/records?matching_attribute=domains',
        body: { data: { values: { domains: ['acme.example'], name: 'Acme' } } },
      },
    ],
  },
  {
    name: 'a record that is not valid ends the event',
    event: track('Trial Started'),
    replies: [{ status: 400, body: { status_code: 400, code: 'validation_type', message: 'Invalid email' } }],
    requests: [{ url: people }],
  },
  { name: 'no address', event: bare('Trial Started'), dropped: 'missing_required:person.email_addresses[0]' },
  { name: 'a company without a domain', event: grouped(), dropped: 'missing_required:person.email_addresses' },
  { name: 'pages are dropped', event: pageViewed(), dropped: 'mapping_default' },
]);

import { vendorCases } from '../shared/cases.ts';
import { grouped, identified, orderCompleted, track } from '../shared/sample-events.ts';
import sendgrid from './vendor.ts';

const url = 'https://api.sendgrid.com/v3/marketing/contacts';
const headers = { Authorization: 'Bearer SG.0123456789abcdefghijkl.0123456789abcdefghijklmnopqrstuvwxyz0123456' };
const anna = {
  email: 'anna.berg@example.com',
  first_name: 'Anna',
  last_name: 'Berg',
  city: 'New York',
  state_province_region: 'New York',
  postal_code: '10001-1234',
  country: 'US',
};
const ben = identified({ event_id: 'evt-7', traits: { email: 'Ben@Example.com' } });
const list_id = '0c5b3d6e-7a2f-4c39-9a55-2f6f6d6a1c11';

const JOB_STATUS = [
  ['still runs', { status: 'pending' }, { kind: 'accepted' }],
  ['is done', { status: 'completed', results: { requested_count: 1 } }, { kind: 'delivered' }],
  [
    'failed',
    { status: 'failed', results: { errors_url: 'https://x.example/errors' } },
    { kind: 'refused', reason: 'http_200: https://x.example/errors' },
  ],
  [
    'has errors that SendGrid does not name',
    { status: 'errored', results: { errored_count: 1 } },
    { kind: 'delivered', note: 'http_200: {"errored_count":1}' },
  ],
] as const;
const jobs = JOB_STATUS.map(([name, body, verdict]) => ({
  name: `the job ${name}`,
  poll: true as const,
  events: [ben],
  reply: { status: 200, body },
  verdict,
}));

export default vendorCases(
  sendgrid,
  [
    { name: 'identify upserts a contact', event: identified(), requests: [{ method: 'PUT', url, headers, body: { contacts: [anna] } }] },
    { name: 'into a list', config: { list_id }, event: identified(), requests: [{ body: { list_ids: [list_id], contacts: [anna] } }] },
    {
      name: 'a batch, one entry for each contact, in the EU',
      config: { region: 'api.eu.sendgrid.com' },
      event: identified(),
      batched: [ben, identified({ event_id: 'evt-8', traits: { email: 'ben@example.com', first_name: 'Ben' } })],
      requests: [
        {
          url: 'https://api.eu.sendgrid.com/v3/marketing/contacts',
          body: { contacts: [anna, { email: 'ben@example.com', first_name: 'Ben' }] },
        },
      ],
    },
    {
      name: 'a sign-up',
      event: track('Signed Up', {}, { traits: { email: 'ben@example.com' } }),
      requests: [{ body: { contacts: [{ email: 'ben@example.com' }] } }],
    },
    {
      name: 'a newsletter subscription with the address in its properties',
      event: track('Newsletter Subscribed', { email: 'ben@example.com' }, { traits: {} }),
      requests: [{ body: { contacts: [{ email: 'ben@example.com' }] } }],
    },
    { name: 'no address', event: identified({ traits: {} }), dropped: 'missing_required:email' },
    { name: 'other events are dropped', event: orderCompleted(), dropped: 'mapping_default' },
    { name: 'groups are dropped', event: grouped(), dropped: 'mapping_default' },
  ],
  [
    {
      name: 'queued as a job',
      events: [identified()],
      reply: { status: 202, body: { job_id: 'job-1' } },
      verdict: { kind: 'accepted', job: 'job-1' },
    },
    {
      name: 'one of several is not valid',
      events: [identified(), ben],
      reply: { status: 400, body: { errors: [{ message: 'email is invalid', field: 'contacts[1].email' }] } },
      verdict: { kind: 'unavailable', isolate: true } as never,
    },
    {
      name: 'rejected',
      events: [ben],
      reply: { status: 400, body: { errors: [{ message: 'email is invalid' }] } },
      verdict: { kind: 'refused', reason: 'http_400: email is invalid' },
    },
    {
      name: 'a key without Marketing',
      events: [ben],
      reply: { status: 403, body: { errors: [{ message: 'access forbidden' }] } },
      verdict: { kind: 'refused', reason: 'http_403: access forbidden' },
    },
    ...jobs,
    { name: 'throttled', events: [ben], reply: { status: 429 }, verdict: { kind: 'unavailable' } },
  ],
);

import { vendorCases } from '../shared/cases.ts';
import { grouped, identified, orderCompleted, track } from '../shared/sample-events.ts';
import zohoCrm from './vendor.ts';

const url = 'https://www.zohoapis.com/crm/v8/Leads/upsert';
const headers = { Authorization: 'Zoho-oauthtoken access-token' };
const anna = { Email: 'anna.berg@example.com', First_Name: 'Anna', Last_Name: 'Berg', Phone: '+49 151 234-56789', Company: 'Unknown' };
const ben = identified({ event_id: 'evt-7', traits: { email: 'Ben@Example.com', company: 'Acme' } });
const sentBen = { Email: 'ben@example.com', Last_Name: 'ben@example.com', Company: 'Acme' };
const says = (...data: object[]) => [{ method: 'POST', url, headers, body: { duplicate_check_fields: ['Email'], data } }];

export default vendorCases(
  zohoCrm,
  [
    { name: 'identify is a lead', event: identified(), requests: says(anna) },
    { name: 'a batch', event: identified(), batched: [ben], requests: says(anna, sentBen) },
    {
      name: 'a demo request',
      event: track('Demo Requested', { email: 'ben@example.com' }, { traits: {} }),
      requests: says({ ...sentBen, Company: 'Unknown' }),
    },
    {
      name: 'contacts, in the EU',
      config: { module: 'Contacts', data_center: 'eu' },
      event: ben,
      requests: [
        {
          url: 'https://www.zohoapis.eu/crm/v8/Contacts/upsert',
          body: { duplicate_check_fields: ['Email'], data: [{ Email: 'ben@example.com', Last_Name: 'ben@example.com' }] },
        },
      ],
    },
    {
      name: 'in Canada',
      config: { data_center: 'ca' },
      event: ben,
      requests: [{ url: 'https://www.zohoapis.ca/crm/v8/Leads/upsert', headers }],
    },
    {
      name: 'a name and a company that were left blank',
      event: identified({ traits: { email: 'ben@example.com', name: '', company: ' ' } }),
      requests: says({ ...sentBen, Company: 'Unknown' }),
    },
    { name: 'no address', event: identified({ traits: {} }), dropped: 'missing_required:Email' },
    { name: 'other events are dropped', event: orderCompleted(), dropped: 'mapping_default' },
    { name: 'groups are dropped', event: grouped(), dropped: 'mapping_default' },
  ],
  [
    {
      name: 'written',
      events: [identified()],
      reply: { status: 200, body: { data: [{ code: 'SUCCESS', status: 'success', action: 'insert', details: { id: '1' } }] } },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'one record was rejected',
      events: [identified(), ben],
      reply: {
        status: 207,
        body: {
          data: [
            { code: 'SUCCESS', status: 'success' },
            { code: 'INVALID_DATA', status: 'error', message: 'invalid data', details: { api_name: 'Email' } },
          ],
        },
      },
      verdict: { kind: 'partial', items: [{ kind: 'delivered' }, { kind: 'refused', reason: 'http_207: invalid data' }] },
    },
    {
      name: 'the request is not valid',
      events: [identified(), ben],
      reply: { status: 400, body: { code: 'INVALID_MODULE', message: 'the module name given seems to be invalid', status: 'error' } },
      verdict: { kind: 'unavailable', isolate: true } as never,
    },
    {
      name: 'the token has expired',
      events: [ben],
      reply: { status: 401, body: { code: 'INVALID_TOKEN', message: 'invalid oauth token', status: 'error' } },
      verdict: { kind: 'unavailable', reason: 'http_401: invalid oauth token', refresh_token: true },
    },
    {
      name: 'throttled',
      events: [ben],
      reply: { status: 429, body: { code: 'TOO_MANY_REQUESTS', message: 'too many requests', status: 'error' } },
      verdict: { kind: 'unavailable', reason: 'http_429: too many requests' },
    },
  ],
);

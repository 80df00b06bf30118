import { vendorCases } from '../shared/cases.ts';
import { identified, orderCompleted } from '../shared/sample-events.ts';
import hubspot from './vendor.ts';

const CONTACTS = 'https://api.hubapi.com/crm/objects/2026-03/contacts';
const FIND = `${CONTACTS}/anna.berg%40example.com?idProperty=email`;
const body = {
  properties: {
    email: 'anna.berg@example.com',
    firstname: 'Anna',
    lastname: 'Berg',
    phone: '+49 151 234-56789',
    city: 'New York',
    state: 'New York',
    zip: '10001-1234',
    country: 'US',
  },
};
const headers = { Authorization: 'Bearer pat-eu1-0123abcd-4567-89ef-0123-456789abcdef' };

export default vendorCases(hubspot, [
  {
    name: 'an unknown visitor is created',
    event: identified(),
    replies: [{ status: 404 }, { status: 201, body: { id: '7' } }],
    requests: [
      { method: 'GET', url: FIND, headers },
      { method: 'POST', url: CONTACTS, headers, body },
    ],
  },
  {
    name: 'a known contact is updated by its id',
    event: identified(),
    replies: [{ status: 200, body: { id: '7' } }, { status: 200 }],
    requests: [
      { method: 'GET', url: FIND, headers },
      { method: 'PATCH', url: `${CONTACTS}/7`, headers, body },
    ],
  },
  {
    name: 'a company without a name is no text, and an empty trait does not empty a property',
    event: identified({
      traits: {
        ...{ email: 'anna.berg@example.com', first_name: ' ', title: 'CTO', website: 'https://berg.example' },
        ...{ company: { id: 'c-1' }, address: { street: 'Main St. 1', postal_code: 10115 } },
      },
      context: {},
    }),
    replies: [{ status: 200, body: { id: '7' } }, { status: 200 }],
    requests: [
      { url: FIND },
      {
        body: {
          properties: {
            ...{ email: 'anna.berg@example.com', jobtitle: 'CTO', website: 'https://berg.example' },
            ...{ address: 'Main St. 1', zip: '10115' },
          },
        },
      },
    ],
  },
  {
    name: 'a contact that was created in between is updated',
    event: identified(),
    replies: [{ status: 404 }, { status: 409, body: { message: 'Contact already exists.' } }, { status: 200 }],
    requests: [
      { method: 'GET', url: FIND },
      { method: 'POST', url: CONTACTS },
      { method: 'PATCH', url: FIND, body },
    ],
  },
  {
    name: 'traits in the spelling of Segment’s specification',
    event: identified({
      traits: { email: 'anna@example.com', firstName: 'Anna', lastName: 'Berg', company: { id: '7', name: 'Berg AG' } },
    }),
    replies: [{ status: 200, body: { id: '7' } }, { status: 200 }],
    requests: [
      { method: 'GET' },
      { method: 'PATCH', body: { properties: { email: 'anna@example.com', firstname: 'Anna', lastname: 'Berg', company: 'Berg AG' } } },
    ],
  },
  {
    name: 'a locked contact is tried again after two seconds',
    event: identified(),
    replies: [
      { status: 200, body: { id: '7' } },
      { status: 423, body: { status: 'error', message: 'Resource is locked' } },
    ],
    requests: [{ method: 'GET', url: FIND }, { method: 'PATCH' }],
    verdict: { kind: 'unavailable', reason: 'http_423: Resource is locked', retry_after_ms: 2_000 },
  },
  {
    name: 'an account that moves to another data centre is tried again',
    event: identified(),
    replies: [{ status: 477, headers: { 'retry-after': '1800' } }],
    requests: [{ method: 'GET', url: FIND }],
    verdict: { kind: 'unavailable', reason: 'http_477', retry_after_ms: 1_800_000 },
  },
  {
    name: 'without an address there is no contact',
    event: identified({ traits: { plan: 'pro' } }),
    dropped: 'missing_required:properties.email',
  },
  { name: 'other events are dropped', event: orderCompleted(), dropped: 'mapping_default' },
]);

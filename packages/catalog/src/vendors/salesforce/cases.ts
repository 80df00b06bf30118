import { vendorCases } from '../shared/cases.ts';
import { bare, grouped, identified, orderCompleted, TRAITS, track } from '../shared/sample-events.ts';
import salesforce from './vendor.ts';

const DATA = 'https://acme.my.salesforce.com/services/data/v67.0';
const find = (object: string, email: string) =>
  `${DATA}/query?q=${encodeURIComponent(`SELECT Id FROM ${object} WHERE Email = '${email}' ORDER BY CreatedDate LIMIT 1`)}`;
const FIND = find('Contact', 'anna.berg@example.com');
const contact = {
  Email: 'anna.berg@example.com',
  FirstName: 'Anna',
  LastName: 'Berg',
  Phone: '+49 151 234-56789',
  MailingCity: 'New York',
  MailingState: 'New York',
  MailingPostalCode: '10001-1234',
  MailingCountry: 'US',
};
const known = { status: 200, body: { totalSize: 1, done: true, records: [{ Id: '003000000000001' }] } };
const unknown = { status: 200, body: { totalSize: 0, done: true, records: [] } };

export default vendorCases(salesforce, [
  {
    name: 'a known person is updated',
    event: identified(),
    replies: [known],
    requests: [
      { method: 'GET', url: FIND, headers: { Authorization: 'Bearer access-token' }, body: undefined },
      {
        method: 'PATCH',
        url: `${DATA}/sobjects/Contact/003000000000001`,
        headers: { Authorization: 'Bearer access-token' },
        body: contact,
      },
    ],
  },
  {
    name: 'a new person is created',
    event: identified(),
    replies: [unknown, { status: 201, body: { id: '003000000000002', success: true, errors: [] } }],
    requests: [{ url: FIND }, { method: 'POST', url: `${DATA}/sobjects/Contact`, body: contact }],
  },
  {
    name: 'a stand-in for the last name is written only where a record is created',
    event: identified({ traits: { email: 'anna.berg@example.com' } }),
    replies: [unknown],
    requests: [{ url: FIND }, { method: 'POST', body: { Email: 'anna.berg@example.com', LastName: 'n/a' } }],
  },
  {
    name: 'an update without a name keeps the name',
    event: identified({ traits: { email: 'anna.berg@example.com' } }),
    replies: [known],
    requests: [{ url: FIND }, { method: 'PATCH', body: { Email: 'anna.berg@example.com' } }],
  },
  {
    name: 'a quote in an address cannot leave its SOQL text',
    event: identified({ traits: { email: "o'hara\\@example.com" } }),
    replies: [known],
    requests: [{ url: find('Contact', "o\\'hara\\\\@example.com") }, { method: 'PATCH' }],
  },
  {
    name: 'a lead with its company',
    variant: 'leads',
    event: track(
      'Lead Generated',
      {},
      { traits: { email: 'anna.berg@example.com', last_name: 'Berg', company: 'Acme', address: TRAITS.address ?? null } },
    ),
    replies: [unknown],
    requests: [
      { url: find('Lead', 'anna.berg@example.com') },
      {
        url: `${DATA}/sobjects/Lead`,
        body: {
          Email: 'anna.berg@example.com',
          LastName: 'Berg',
          Company: 'Acme',
          City: 'New York',
          State: 'New York',
          PostalCode: '10001-1234',
          Country: 'US',
        },
      },
    ],
  },
  {
    name: 'a lead without a company',
    variant: 'leads',
    event: identified({ traits: { email: 'anna.berg@example.com', last_name: 'Berg' } }),
    replies: [unknown],
    requests: [{}, { body: { Email: 'anna.berg@example.com', LastName: 'Berg', Company: 'n/a' } }],
  },
  {
    name: 'a company that was left blank',
    variant: 'leads',
    event: identified({ traits: { email: 'anna.berg@example.com', last_name: 'Berg', company: '', address: { postal_code: ' ' } } }),
    replies: [unknown],
    requests: [{}, { body: { Email: 'anna.berg@example.com', LastName: 'Berg', Company: 'n/a' } }],
  },
  {
    name: 'with an external ID field one request does it',
    config: { external_id_field: 'Firsthand_ID__c' },
    event: identified(),
    replies: [{ status: 201, body: { id: '003000000000002', success: true, created: true, errors: [] } }],
    requests: [{ method: 'PATCH', url: `${DATA}/sobjects/Contact/Firsthand_ID__c/user-1`, body: contact }],
  },
  {
    name: 'a lookup that is throttled ends the attempt before anything is created',
    event: identified(),
    replies: [{ status: 403, body: [{ errorCode: 'REQUEST_LIMIT_EXCEEDED', message: 'TotalRequests Limit exceeded.' }] }],
    verdict: { kind: 'unavailable', reason: 'http_403: TotalRequests Limit exceeded.' },
    requests: [{ url: FIND }],
  },
  {
    name: 'an expired session gets a new token',
    event: identified(),
    replies: [{ status: 401, body: [{ errorCode: 'INVALID_SESSION_ID', message: 'Session expired or invalid' }] }],
    requests: [{ url: FIND }],
    verdict: { kind: 'unavailable', reason: 'http_401: Session expired or invalid', refresh_token: true },
  },
  {
    name: 'a record that Salesforce rejects',
    event: identified(),
    replies: [unknown, { status: 400, body: [{ errorCode: 'DUPLICATES_DETECTED', message: 'Use one of these records?' }] }],
    requests: [{ url: FIND }, { method: 'POST' }],
    verdict: { kind: 'refused', reason: 'http_400: Use one of these records?' },
  },
  {
    name: 'a record that a trigger found locked',
    event: identified(),
    replies: [
      unknown,
      {
        status: 400,
        body: [{ errorCode: 'CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY', message: 'ContactTrigger: System.DmlException: UNABLE_TO_LOCK_ROW' }],
      },
    ],
    requests: [{ url: FIND }, { method: 'POST' }],
    verdict: { kind: 'unavailable', reason: 'http_400: ContactTrigger: System.DmlException: UNABLE_TO_LOCK_ROW' },
  },
  {
    name: 'a record that a trigger rejects',
    event: identified(),
    replies: [unknown, { status: 400, body: [{ errorCode: 'CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY', message: 'ContactTrigger: no' }] }],
    requests: [{ url: FIND }, { method: 'POST' }],
    verdict: { kind: 'refused', reason: 'http_400: ContactTrigger: no' },
  },
  { name: 'without an address nobody can be found', event: identified({ traits: { name: 'Anna' } }), dropped: 'missing_required:find' },
  { name: 'orders stay in the shop', event: orderCompleted(), dropped: 'mapping_default' },
  { name: 'groups are not people', event: grouped(), dropped: 'mapping_default' },
  { name: 'nobody', event: bare('Signed Up'), dropped: 'missing_required:find' },
]);

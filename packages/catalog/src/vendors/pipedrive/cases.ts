import { vendorCases } from '../shared/cases.ts';
import { bare, camelNamed, grouped, identified, pageViewed, track } from '../shared/sample-events.ts';
import pipedrive from './vendor.ts';

const api = 'https://acme.pipedrive.com';
const headers = { 'x-api-token': '0123456789abcdef0123456789abcdef01234567' };
const search = `${api}/api/v2/persons/search?term=anna.berg%40example.com&fields=email&exact_match=true`;
const found = { status: 200, body: { success: true, data: { items: [{ item: { id: 7 } }] } } };
const none = { status: 200, body: { success: true, data: { items: [] } } };
const person = { name: 'Anna Berg', emails: [{ value: 'anna.berg@example.com', primary: true, label: 'work' }] };
const known = { ...person, phones: [{ value: '+49 151 234-56789', label: 'work' }] };
const trial = track('Trial Started', { plan: 'pro' });

export default vendorCases(pipedrive, [
  {
    name: 'an event is a note on a known person',
    event: trial,
    replies: [found, { status: 201 }],
    requests: [
      { method: 'GET', url: search, headers },
      { method: 'POST', url: `${api}/v1/notes`, headers, body: { content: 'Trial Started {"plan":"pro"}', person_id: 7 } },
    ],
  },
  {
    name: 'the content of a note is HTML',
    event: track('Trial Started', { plan: '<b>pro</b> & more' }),
    replies: [found, { status: 201 }],
    requests: [
      { url: search },
      {
        method: 'POST',
        url: `${api}/v1/notes`,
        body: { content: 'Trial Started {"plan":"&lt;b&gt;pro&lt;/b&gt; &amp; more"}', person_id: 7 },
      },
    ],
  },
  {
    name: 'a new person is created first',
    event: trial,
    replies: [none, { status: 201, body: { data: { id: 8 } } }, { status: 201 }],
    requests: [
      { url: search },
      { method: 'POST', url: `${api}/api/v2/persons`, headers, body: person },
      { method: 'POST', url: `${api}/v1/notes`, body: { content: 'Trial Started {"plan":"pro"}', person_id: 8 } },
    ],
  },
  {
    name: 'identify updates the person',
    event: identified(),
    replies: [found, { status: 200 }],
    requests: [
      { url: search },
      { method: 'PATCH', url: `${api}/api/v2/persons/7`, headers, body: { name: 'Anna Berg', phones: known.phones } },
    ],
  },
  {
    name: "a name in camel case, as Segment's specification has it",
    event: camelNamed(),
    replies: [found, { status: 200 }],
    requests: [{ url: search }, { body: { name: 'Anna Berg' } }],
  },
  {
    name: 'identify without a name keeps the name of the person',
    event: identified({ traits: { email: 'anna.berg@example.com' }, context: {} }),
    replies: [found],
    requests: [{ url: search }],
  },
  {
    name: 'identify creates the person',
    event: identified(),
    replies: [none, { status: 201, body: { data: { id: 8 } } }],
    requests: [{ url: search }, { method: 'POST', url: `${api}/api/v2/persons`, body: known }],
  },
  {
    name: 'a wrong token ends the event',
    event: trial,
    replies: [{ status: 401, body: { success: false, error: 'unauthorized access' } }],
    requests: [{ url: search }],
  },
  {
    name: 'over the limit of two seconds',
    event: trial,
    replies: [{ status: 429, headers: { 'x-ratelimit-reset': '2' }, body: { success: false, error: 'request over limit' } }],
    requests: [{ url: search }],
    verdict: { kind: 'unavailable', reason: 'http_429: request over limit', retry_after_ms: 2_000 },
  },
  { name: 'no address', event: bare('Trial Started'), dropped: 'missing_required:email' },
  { name: 'pages are dropped', event: pageViewed(), dropped: 'mapping_default' },
  { name: 'groups are dropped', event: grouped(), dropped: 'mapping_default' },
]);

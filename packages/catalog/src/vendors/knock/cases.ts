import { vendorCases } from '../shared/cases.ts';
import { bare, camelNamed, grouped, identified, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import knock from './vendor.ts';

const auth = { Authorization: 'Bearer sk_test_0123456789abcdefghijklmnopqrstuvwxyz' };
const workflows = {
  workflows: [
    { event: 'Order Completed', workflow_key: 'order-completed' },
    { event: 'Quiz Taken', workflow_key: 'quiz' },
  ],
};
const order = orderCompleted();

export default vendorCases(
  knock,
  [
    {
      name: 'an order triggers its workflow',
      config: workflows,
      event: order,
      requests: [
        {
          method: 'POST',
          url: 'https://api.knock.app/v1/workflows/order-completed/trigger',
          headers: { ...auth, 'Idempotency-Key': 'evt-1' },
          body: { recipients: [{ id: 'user-1', email: 'anna.berg@example.com' }], data: order.properties },
        },
      ],
    },
    {
      name: 'an event of no standard, for a tenant',
      config: workflows,
      event: track('Quiz Taken', { score: 3 }, { traits: {}, context: { group_id: 'acme' } }),
      requests: [
        {
          url: 'https://api.knock.app/v1/workflows/quiz/trigger',
          body: { recipients: [{ id: 'user-1' }], data: { score: 3 }, tenant: 'acme' },
        },
      ],
    },
    {
      name: 'identify',
      event: identified(),
      requests: [
        {
          method: 'PUT',
          url: 'https://api.knock.app/v1/users/user-1',
          headers: auth,
          body: { email: 'anna.berg@example.com', phone_number: '+4915123456789', name: 'Anna Berg', locale: 'de-DE' },
        },
      ],
    },
    {
      name: "a name in camel case, as Segment's specification has it",
      event: camelNamed(),
      requests: [{ contains: { name: 'Anna Berg' } }],
    },
    {
      name: 'a group is a tenant',
      event: grouped(),
      requests: [{ method: 'PUT', url: 'https://api.knock.app/v1/tenants/acme', headers: auth, body: { name: 'Acme' } }],
    },
    { name: 'a group without a name keeps the name of the tenant', event: grouped({ traits: {} }), requests: [{ body: {} }] },
    { name: 'an event without a workflow', variant: 'retail', event: order, dropped: 'mapping_filter' },
    { name: 'identify without a user id', event: identified({ user_id: undefined as never }), dropped: 'missing_required:user_id' },
    { name: 'a page', config: workflows, event: pageViewed(), dropped: 'mapping_default' },
    { name: 'nobody', config: workflows, event: bare('Quiz Taken'), dropped: 'missing_required:trigger.recipients[0].id' },
  ],
  [
    {
      name: 'triggered',
      config: workflows,
      events: [order],
      reply: { status: 200, body: { workflow_run_id: 'r-1' } },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'no such workflow',
      config: workflows,
      events: [order],
      reply: { status: 404, body: { code: 'resource_missing', message: 'The workflow was not found' } },
      verdict: { kind: 'refused', reason: 'http_404: The workflow was not found' },
    },
    {
      name: 'rejected',
      config: workflows,
      events: [order],
      reply: { status: 422, body: { message: 'recipients is invalid' } },
      verdict: { kind: 'refused', reason: 'http_422: recipients is invalid' },
    },
    {
      name: 'a wrong key',
      config: workflows,
      events: [order],
      reply: { status: 401, body: { message: 'Invalid key' } },
      verdict: { kind: 'refused' },
    },
    { name: 'throttled', config: workflows, events: [order], reply: { status: 429 }, verdict: { kind: 'unavailable' } },
    { name: 'a failure of theirs', config: workflows, events: [order], reply: { status: 500 }, verdict: { kind: 'unavailable' } },
  ],
);

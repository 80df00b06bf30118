import { vendorCases } from '../shared/cases.ts';
import { bare, identified, orderCompleted, pageViewed } from '../shared/sample-events.ts';
import courier from './vendor.ts';

const auth = { Authorization: 'Bearer pk_prod_0123456789ABCDEFGHIJKLMNOPQR' };
const templates = { templates: [{ event: 'Order Completed', template_id: 'ORDER' }] };
const order = orderCompleted();

export default vendorCases(
  courier,
  [
    {
      name: 'an order sends its template',
      config: templates,
      event: order,
      requests: [
        {
          method: 'POST',
          url: 'https://api.courier.com/send',
          headers: { ...auth, 'Idempotency-Key': 'evt-1' },
          body: {
            message: {
              to: { user_id: 'user-1', email: 'anna.berg@example.com', phone_number: '+4915123456789' },
              template: 'ORDER',
              data: order.properties,
            },
          },
        },
      ],
    },
    {
      name: 'identify merges the profile',
      event: identified(),
      requests: [
        {
          method: 'POST',
          url: 'https://api.courier.com/profiles/user-1',
          headers: auth,
          body: {
            profile: {
              email: 'anna.berg@example.com',
              phone_number: '+4915123456789',
              given_name: 'Anna',
              family_name: 'Berg',
              locale: 'de-DE',
            },
          },
        },
      ],
    },
    { name: 'an event without a template', variant: 'retail', event: order, dropped: 'mapping_filter' },
    { name: 'identify without a user id', event: identified({ user_id: undefined as never }), dropped: 'missing_required:user_id' },
    { name: 'a page', config: templates, event: pageViewed(), dropped: 'mapping_default' },
    { name: 'nobody', config: templates, event: bare('Order Completed'), dropped: 'missing_required:message.to.user_id' },
  ],
  [
    {
      name: 'accepted',
      config: templates,
      events: [order],
      reply: { status: 202, body: { requestId: '1-abc' } },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'rejected',
      config: templates,
      events: [order],
      reply: { status: 400, body: { message: 'The template does not exist', type: 'invalid_request_error' } },
      verdict: { kind: 'refused', reason: 'http_400: The template does not exist' },
    },
    {
      name: 'a wrong key',
      config: templates,
      events: [order],
      reply: { status: 401, body: { message: 'Unauthorized' } },
      verdict: { kind: 'refused' },
    },
    { name: 'throttled', config: templates, events: [order], reply: { status: 429 }, verdict: { kind: 'unavailable' } },
    { name: 'a failure of theirs', config: templates, events: [order], reply: { status: 503 }, verdict: { kind: 'unavailable' } },
  ],
);

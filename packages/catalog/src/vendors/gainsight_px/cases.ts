import { vendorCases } from '../shared/cases.ts';
import { bare, grouped, identified, orderCompleted, pageViewed } from '../shared/sample-events.ts';
import gainsightPx from './vendor.ts';

const api = 'https://api.aptrinsic.com/v1';
const headers = { 'X-APTRINSIC-API-KEY': '0c5b3d6e-7a2f-4c39-9a55-2f6f6d6a1c11' };
const order = orderCompleted();
const numbers = (count: number) => Array.from({ length: count }, (_, index): [string, number] => [`p${index}`, index]);
const user = { identifyId: 'user-1', type: 'USER', propertyKeys: ['AP-XABC0123456-2'] };
const anna = { ...user, email: 'anna.berg@example.com', firstName: 'Anna', lastName: 'Berg' };

export default vendorCases(gainsightPx, [
  {
    name: 'an order',
    event: order,
    requests: [
      {
        method: 'POST',
        url: `${api}/events/custom`,
        headers,
        body: {
          eventName: 'Order Completed',
          identifyId: 'user-1',
          propertyKey: 'AP-XABC0123456-2',
          userType: 'USER',
          date: 1767323045678,
          attributes: order.properties,
          url: 'https://shop.example/checkout?x=1',
          referrer: 'https://www.example.org/',
        },
      },
    ],
  },
  {
    name: 'at most 50 properties',
    event: { ...order, event: 'Quiz Taken', properties: Object.fromEntries(numbers(60)), context: {} },
    requests: [
      {
        body: {
          eventName: 'Quiz Taken',
          identifyId: 'user-1',
          propertyKey: 'AP-XABC0123456-2',
          userType: 'USER',
          date: 1767323045678,
          attributes: Object.fromEntries(numbers(50)),
        },
      },
    ],
  },
  {
    name: 'in the EU, with the account',
    variant: 'saas',
    config: { region: 'api-eu.aptrinsic.com' },
    event: { ...order, event: 'Feature Used', properties: {}, context: { group_id: 'acme' } },
    requests: [
      {
        url: 'https://api-eu.aptrinsic.com/v1/events/custom',
        body: {
          eventName: 'Feature Used',
          identifyId: 'user-1',
          propertyKey: 'AP-XABC0123456-2',
          userType: 'USER',
          accountId: 'acme',
          date: 1767323045678,
          attributes: {},
        },
      },
    ],
  },
  {
    name: 'identify updates the user',
    event: identified(),
    requests: [{ method: 'PUT', url: `${api}/users/user-1`, headers, body: anna }],
  },
  {
    name: 'identify creates the user',
    event: identified(),
    replies: [{ status: 404, body: { externalapierror: { status: 'NOT_FOUND' } } }, { status: 201 }],
    requests: [
      { method: 'PUT', url: `${api}/users/user-1` },
      { method: 'POST', url: `${api}/users`, headers, body: anna },
    ],
  },
  {
    name: 'a group is an account, and the user belongs to it',
    event: grouped(),
    replies: [{ status: 404 }, { status: 201 }, { status: 200 }],
    requests: [
      { method: 'PUT', url: `${api}/accounts/acme`, body: { name: 'Acme' } },
      { method: 'POST', url: `${api}/accounts`, body: { id: 'acme', name: 'Acme' } },
      { method: 'PUT', url: `${api}/users/user-1`, body: { ...user, accountId: 'acme' } },
    ],
  },
  {
    name: 'a group without a name only links the user',
    event: grouped({ traits: {} }),
    requests: [{ method: 'PUT', url: `${api}/users/user-1`, body: { ...user, accountId: 'acme' } }],
  },
  {
    name: 'a group call without a user',
    event: grouped({ user_id: undefined as never }),
    requests: [{ method: 'PUT', url: `${api}/accounts/acme` }],
  },
  {
    name: 'a user who is not valid ends the event',
    event: identified(),
    replies: [{ status: 400 }],
    requests: [{ url: `${api}/users/user-1` }],
  },
  { name: 'an anonymous visitor', event: { ...bare('Quiz Taken'), anonymous_id: 'anon-1' }, dropped: 'missing_required:event.identifyId' },
  { name: 'pages are not sent', event: pageViewed(), dropped: 'mapping_filter' },
]);

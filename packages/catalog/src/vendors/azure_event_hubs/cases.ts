import { ISOLATED, temporaryAnswers, vendorCases } from '../shared/cases.ts';
import { orderCompleted, pageViewed, VISITOR_SHA256 } from '../shared/sample-events.ts';
import azureEventHubs from './vendor.ts';

const order = orderCompleted();
const page = pageViewed();
const eventOf = (event: { event_id: string }) => ({ Body: JSON.stringify(event), UserProperties: { event_id: event.event_id } });

export default vendorCases(
  azureEventHubs,
  [
    {
      name: 'a batch, signed for the hub',
      event: order,
      batched: [page],
      requests: [
        {
          method: 'POST',
          url: 'https://acme-events.servicebus.windows.net/firsthand/messages?api-version=2014-01&timeout=60',
          headers: { 'Content-Type': 'application/vnd.microsoft.servicebus.json' },
          body: [eventOf(order), eventOf(page)],
        },
      ],
    },
    {
      name: 'partitioned by visitor',
      config: { partition_by: 'visitor' },
      event: order,
      requests: [
        {
          method: 'POST',
          url: 'https://acme-events.servicebus.windows.net/firsthand/messages?api-version=2014-01&timeout=60',
          headers: {
            'Content-Type': 'application/atom+xml;type=entry;charset=utf-8',
            BrokerProperties: `{"PartitionKey":"${VISITOR_SHA256}"}`,
          },
          body: order,
        },
      ],
    },
    { name: 'dropped', config: { defaults: { action: 'drop' } }, event: page, dropped: 'mapping_default' },
  ],
  [
    { name: 'stored', events: [order], reply: { status: 201 }, verdict: { kind: 'delivered' } },
    {
      name: 'a wrong key waits for the right one',
      events: [order],
      reply: { status: 401, body: '<Error/>' },
      verdict: { kind: 'unavailable' },
    },
    { name: 'a missing hub', events: [order], reply: { status: 404 }, verdict: { kind: 'unavailable' } },
    { name: 'too large', events: [order], reply: { status: 413 }, verdict: { kind: 'refused' } },
    { name: 'too large among several', events: [order, page], reply: { status: 413 }, verdict: ISOLATED },
    ...temporaryAnswers(order),
  ],
);

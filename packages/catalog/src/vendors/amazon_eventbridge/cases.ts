import { awsAnswers } from '../shared/aws-cases.ts';
import { vendorCases } from '../shared/cases.ts';
import { orderCompleted, pageViewed } from '../shared/sample-events.ts';
import amazonEventbridge from './vendor.ts';

const order = orderCompleted();
const page = pageViewed();

export default vendorCases(
  amazonEventbridge,
  [
    {
      name: 'the event name is the detail type',
      event: order,
      requests: [
        {
          method: 'POST',
          url: 'https://events.eu-central-1.amazonaws.com/',
          headers: { 'Content-Type': 'application/x-amz-json-1.1', 'X-Amz-Target': 'AWSEvents.PutEvents' },
          body: {
            Entries: [{ Source: 'firsthand', DetailType: 'Order Completed', Detail: JSON.stringify(order), EventBusName: 'default' }],
          },
        },
      ],
    },
    {
      name: 'an event without a name has its type',
      config: { event_bus: 'firsthand', source: 'com.acme' },
      event: page,
      requests: [
        { body: { Entries: [{ Source: 'com.acme', DetailType: 'page', Detail: JSON.stringify(page), EventBusName: 'firsthand' }] } },
      ],
    },
    { name: 'dropped', config: { defaults: { action: 'drop' } }, event: page, dropped: 'mapping_default' },
  ],
  [
    {
      name: 'all taken',
      events: [order],
      reply: { status: 200, body: { FailedEntryCount: 0, Entries: [{ EventId: 'x' }] } },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'one throttled, one malformed',
      events: [order, orderCompleted({}, { event_id: 'evt-3' })],
      reply: {
        status: 200,
        body: {
          FailedEntryCount: 2,
          Entries: [{ ErrorCode: 'ThrottlingException' }, { ErrorCode: 'MalformedDetail', ErrorMessage: 'bad' }],
        },
      },
      verdict: {
        kind: 'partial',
        items: [
          { kind: 'unavailable', reason: 'http_200: ThrottlingException' },
          { kind: 'refused', reason: 'http_200: MalformedDetail' },
        ],
      },
    },
    {
      name: 'a source that the bus does not accept waits for the permission',
      events: [order],
      reply: {
        status: 200,
        body: { FailedEntryCount: 1, Entries: [{ ErrorCode: 'NotAuthorizedForSourceException', ErrorMessage: 'Not authorized' }] },
      },
      verdict: { kind: 'partial', items: [{ kind: 'unavailable', reason: 'http_200: NotAuthorizedForSourceException' }] },
    },
    ...awsAnswers(order, orderCompleted({}, { event_id: 'evt-3' })),
  ],
);

import { vendorCases } from '../shared/cases.ts';
import { ORDER_ID_SHA256, orderCompleted, pageViewed, VISITOR_SHA256 } from '../shared/sample-events.ts';
import amazonSns from './vendor.ts';

const order = orderCompleted();
const page = pageViewed();
const TOPIC = 'arn:aws:sns:eu-central-1:123456789012:firsthand-events';
const form = (topic: string, more: Record<string, string> = {}) =>
  new URLSearchParams({
    Action: 'Publish',
    Version: '2010-03-31',
    TopicArn: topic,
    Message: JSON.stringify(order),
    'MessageAttributes.entry.1.Name': 'type',
    'MessageAttributes.entry.1.Value.DataType': 'String',
    'MessageAttributes.entry.1.Value.StringValue': 'track',
    'MessageAttributes.entry.2.Name': 'event_id',
    'MessageAttributes.entry.2.Value.DataType': 'String',
    'MessageAttributes.entry.2.Value.StringValue': 'evt-1',
    ...more,
  }).toString();
const error = (code: string) => `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>x</Message></Error></ErrorResponse>`;

export default vendorCases(
  amazonSns,
  [
    {
      name: 'a standard topic',
      event: order,
      requests: [
        {
          method: 'POST',
          url: 'https://sns.eu-central-1.amazonaws.com/',
          headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
          body: form(TOPIC),
        },
      ],
    },
    {
      name: 'a FIFO topic: grouped by visitor, deduplicated by event id',
      config: { topic_arn: `${TOPIC}.fifo` },
      event: order,
      requests: [{ body: form(`${TOPIC}.fifo`, { MessageGroupId: VISITOR_SHA256, MessageDeduplicationId: ORDER_ID_SHA256 }) }],
    },
    { name: 'dropped', config: { defaults: { action: 'drop' } }, event: page, dropped: 'mapping_default' },
  ],
  [
    { name: 'published', events: [order], reply: { status: 200, body: '<PublishResponse/>' }, verdict: { kind: 'delivered' } },
    { name: 'throttled', events: [order], reply: { status: 400, body: error('Throttled') }, verdict: { kind: 'unavailable' } },
    {
      name: 'throttled by the key service',
      events: [order],
      reply: { status: 400, body: error('KMSThrottling') },
      verdict: { kind: 'unavailable' },
    },
    {
      name: 'a missing permission',
      events: [order],
      reply: { status: 403, body: error('AuthorizationError') },
      verdict: { kind: 'unavailable' },
    },
    { name: 'a missing topic', events: [order], reply: { status: 404, body: error('NotFound') }, verdict: { kind: 'unavailable' } },
    { name: 'too long', events: [order], reply: { status: 400, body: error('InvalidParameter') }, verdict: { kind: 'refused' } },
    { name: 'down', events: [order], reply: { status: 500, body: error('InternalError') }, verdict: { kind: 'unavailable' } },
  ],
);

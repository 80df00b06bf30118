import { awsAnswers } from '../shared/aws-cases.ts';
import { vendorCases } from '../shared/cases.ts';
import { ORDER_ID_SHA256, orderCompleted, PAGE_ID_SHA256, pageViewed, VISITOR_SHA256 } from '../shared/sample-events.ts';
import amazonSqs from './vendor.ts';

const order = orderCompleted();
const page = pageViewed();
const entryOf = (Id: string, event: { event_id: string }) => ({
  Id,
  MessageBody: JSON.stringify(event),
  MessageAttributes: { event_id: { DataType: 'String', StringValue: event.event_id } },
});

export default vendorCases(
  amazonSqs,
  [
    {
      name: 'a FIFO queue: grouped by visitor, deduplicated by event id',
      event: order,
      batched: [page],
      requests: [
        {
          method: 'POST',
          url: 'https://sqs.eu-central-1.amazonaws.com/',
          headers: { 'Content-Type': 'application/x-amz-json-1.0', 'X-Amz-Target': 'AmazonSQS.SendMessageBatch' },
          body: {
            QueueUrl: 'https://sqs.eu-central-1.amazonaws.com/123456789012/firsthand-events.fifo',
            Entries: [
              { ...entryOf('0', order), MessageGroupId: VISITOR_SHA256, MessageDeduplicationId: ORDER_ID_SHA256 },
              { ...entryOf('1', page), MessageGroupId: VISITOR_SHA256, MessageDeduplicationId: PAGE_ID_SHA256 },
            ],
          },
        },
      ],
    },
    {
      name: 'a standard queue',
      config: { queue_url: 'https://sqs.eu-central-1.amazonaws.com/123456789012/firsthand-events' },
      event: order,
      requests: [
        { body: { QueueUrl: 'https://sqs.eu-central-1.amazonaws.com/123456789012/firsthand-events', Entries: [entryOf('0', order)] } },
      ],
    },
    { name: 'dropped', config: { defaults: { action: 'drop' } }, event: page, dropped: 'mapping_default' },
  ],
  [
    {
      name: 'all sent',
      events: [order, page],
      reply: {
        status: 200,
        body: {
          Successful: [
            { Id: '0', MessageId: 'a' },
            { Id: '1', MessageId: 'b' },
          ],
        },
      },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'one refused, one to be sent again',
      events: [order, page],
      reply: {
        status: 200,
        body: {
          Failed: [
            { Id: '1', SenderFault: false, Code: 'InternalError', Message: 'try again' },
            { Id: '0', SenderFault: true, Code: 'InvalidMessageContents', Message: 'bad characters' },
          ],
        },
      },
      verdict: {
        kind: 'partial',
        items: [
          { kind: 'refused', reason: 'http_200: InvalidMessageContents' },
          { kind: 'unavailable', reason: 'http_200: InternalError' },
        ],
      },
    },
    {
      name: 'throttling counts as a fault of the sender, and passes',
      events: [order],
      reply: { status: 200, body: { Failed: [{ Id: '0', SenderFault: true, Code: 'RequestThrottled', Message: 'slow down' }] } },
      verdict: { kind: 'partial', items: [{ kind: 'unavailable', reason: 'http_200: RequestThrottled' }] },
    },
    ...awsAnswers(order, page),
  ],
);

import { awsAnswers } from '../shared/aws-cases.ts';
import { vendorCases } from '../shared/cases.ts';
import { orderCompleted, pageViewed } from '../shared/sample-events.ts';
import amazonFirehose from './vendor.ts';

const order = orderCompleted();
const page = pageViewed();
const recordOf = (event: object) => ({ Data: btoa(`${JSON.stringify(event)}\n`) });

export default vendorCases(
  amazonFirehose,
  [
    {
      name: 'events as lines',
      event: order,
      batched: [page],
      requests: [
        {
          method: 'POST',
          url: 'https://firehose.eu-central-1.amazonaws.com/',
          headers: { 'Content-Type': 'application/x-amz-json-1.1', 'X-Amz-Target': 'Firehose_20150804.PutRecordBatch' },
          body: { DeliveryStreamName: 'firsthand-events', Records: [recordOf(order), recordOf(page)] },
        },
      ],
    },
    { name: 'dropped', config: { defaults: { action: 'drop' } }, event: page, dropped: 'mapping_default' },
  ],
  [
    {
      name: 'all stored',
      events: [order],
      reply: { status: 200, body: { FailedPutCount: 0, RequestResponses: [{ RecordId: 'r' }] } },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'one throttled',
      events: [order, page],
      reply: {
        status: 200,
        body: {
          FailedPutCount: 1,
          RequestResponses: [{ ErrorCode: 'ServiceUnavailableException', ErrorMessage: 'Slow down.' }, { RecordId: 'r' }],
        },
      },
      verdict: {
        kind: 'partial',
        items: [{ kind: 'unavailable', reason: 'http_200: ServiceUnavailableException' }, { kind: 'delivered' }],
      },
    },
    ...awsAnswers(order, page),
  ],
);

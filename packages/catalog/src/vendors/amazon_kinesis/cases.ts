import { awsAnswers } from '../shared/aws-cases.ts';
import { vendorCases } from '../shared/cases.ts';
import { orderCompleted, pageViewed, VISITOR_SHA256 } from '../shared/sample-events.ts';
import amazonKinesis from './vendor.ts';

const order = orderCompleted();
const page = pageViewed();
const recordOf = (event: object) => ({ Data: btoa(JSON.stringify(event)), PartitionKey: VISITOR_SHA256 });

export default vendorCases(
  amazonKinesis,
  [
    {
      name: 'events as records of one visitor',
      event: order,
      batched: [page],
      requests: [
        {
          method: 'POST',
          url: 'https://kinesis.eu-central-1.amazonaws.com/',
          headers: {
            'Content-Type': 'application/x-amz-json-1.1',
            'X-Amz-Target': 'Kinesis_20131202.PutRecords',
            'x-amz-date': '20260102T030500Z',
          },
          body: { StreamName: 'firsthand-events', Records: [recordOf(order), recordOf(page)] },
        },
      ],
    },
    { name: 'dropped', config: { defaults: { action: 'drop' } }, event: page, dropped: 'mapping_default' },
  ],
  [
    {
      name: 'all stored',
      events: [order, page],
      reply: {
        status: 200,
        body: {
          FailedRecordCount: 0,
          Records: [
            { SequenceNumber: '1', ShardId: 's' },
            { SequenceNumber: '2', ShardId: 's' },
          ],
        },
      },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'one over the limit of its shard',
      events: [order, page],
      reply: {
        status: 200,
        body: {
          FailedRecordCount: 1,
          Records: [
            { SequenceNumber: '1', ShardId: 's' },
            { ErrorCode: 'ProvisionedThroughputExceededException', ErrorMessage: 'Rate exceeded' },
          ],
        },
      },
      verdict: {
        kind: 'partial',
        items: [{ kind: 'delivered' }, { kind: 'unavailable', reason: 'http_200: ProvisionedThroughputExceededException' }],
      },
    },
    ...awsAnswers(order, page),
  ],
);

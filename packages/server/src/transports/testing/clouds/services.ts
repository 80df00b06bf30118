/** Cloud streams as their documentation describes them: who is let in, what is too large, and how they say that something failed. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { JsonObject } from '@firsthand/core/json.ts';
import { AWS_KEY, signatureFault } from '../../../../test/servers/aws.ts';
import { rsaKeyPair, verifiedClaims } from '../verify-jwt.ts';
import type { CloudEntry, CloudReply, CloudService } from './cloud-server.ts';

export interface CloudTarget {
  name: string;
  /** Its key in the catalog. */
  vendor: string;
  service(): CloudService;
  /** Settings of the vendor for a target of this name. */
  config(target: string): JsonObject;
  /** Settings that are derived from the service's credentials. */
  credentials(service: CloudService): JsonObject;
  /** Of the kind that the service lets in after a rotation. */
  rotated(): Record<string, string>;
  wrong: JsonObject;
  /** The destination stores an event id that comes again once. */
  once: boolean;
  /** The suffix of a target's name. */
  suffix?: string;
  /** Bytes of an event that the service refuses. */
  tooLarge: number;
  /** Events of a batch in the tests: fewer where each event is a request. */
  size: number;
}

const MIB = 1_048_576;
const REGION = 'eu-central-1';
const ACCOUNT = '123456789012';

// Amazon

const awsError = (status: number, code: string, message: string): CloudReply => ({
  status,
  body: { __type: `com.amazonaws#${code}`, message },
  headers: { 'x-amzn-errortype': code },
});
/** The query protocol answers in XML. https://docs.aws.amazon.com/sns/latest/api/CommonErrors.html */
const xmlError = (status: number, code: string, message: string): CloudReply => ({
  status,
  body: `<ErrorResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error><RequestId>1</RequestId></ErrorResponse>`,
});

interface AwsTraits<Body> {
  target: string;
  error?: typeof awsError;
  read(body: Body, text: string): CloudEntry[] | CloudReply;
  stored: CloudService['stored'];
  partly?: NonNullable<CloudService['partly']>;
  throttled: CloudReply;
}
function aws<Body>({ target, error = awsError, read, ...more }: AwsTraits<Body>): CloudService {
  const credentials = { ...AWS_KEY };
  return {
    credentials,
    rejects(req, body) {
      const fault = signatureFault(req, body, credentials);
      if (fault === undefined) return undefined;
      const code = error === xmlError && fault === 'InvalidSignatureException' ? 'SignatureDoesNotMatch' : fault;
      return error(403, code, 'The request signature we calculated does not match the signature you provided.');
    },
    read(req, body) {
      if (error === awsError && req.headers['x-amz-target'] !== target) return awsError(400, 'UnknownOperationException', '');
      const text = body.toString();
      return read((error === awsError ? JSON.parse(text) : {}) as Body, text);
    },
    ...more,
  };
}
const awsTarget = {
  credentials: ({ credentials }: CloudService) => ({ region: REGION, ...credentials }),
  rotated: () => ({ access_key_id: 'AKIANEXT', secret_access_key: 'the-next-secret-of-aws' }),
  wrong: { secret_access_key: 'wrong' },
};

interface SentEvent {
  event_id: string;
  properties?: unknown;
}
const decoded = (data: string) => JSON.parse(Buffer.from(data, 'base64').toString()) as SentEvent;
const eventOf = (target: string, text: string, more: Partial<CloudEntry> = {}): CloudEntry => {
  const event = JSON.parse(text) as SentEvent;
  return { target, event_id: event.event_id, event, ...more };
};
const bytesOf = (base64: string) => Buffer.from(base64, 'base64').length;

/** https://docs.aws.amazon.com/kinesis/latest/APIReference/API_PutRecords.html */
const kinesis = () =>
  aws({
    target: 'Kinesis_20131202.PutRecords',
    read({ StreamName, Records }: { StreamName: string; Records: { Data: string; PartitionKey: string }[] }) {
      if (Records.length > 500) return awsError(400, 'InvalidArgumentException', 'A request may have at most 500 records.');
      const large = Records.findIndex(({ Data, PartitionKey }) => bytesOf(Data) + PartitionKey.length > MIB);
      const where = `1 validation error detected: Value at 'records.${large + 1}.member.data' failed to satisfy constraint`;
      if (large >= 0) return awsError(400, 'ValidationException', `${where}: Member must have length less than or equal to 1048576`);
      return Records.map(({ Data, PartitionKey }) => ({
        target: StreamName,
        event_id: decoded(Data).event_id,
        event: decoded(Data),
        key: PartitionKey,
      }));
    },
    stored: (entries) => ({
      status: 200,
      body: { FailedRecordCount: 0, Records: entries.map((_, i) => ({ SequenceNumber: String(i), ShardId: 'shardId-000000000000' })) },
    }),
    partly: (entries, failed) => ({
      status: 200,
      body: {
        FailedRecordCount: failed.length,
        Records: entries.map((_, i) =>
          failed.includes(i)
            ? { ErrorCode: 'ProvisionedThroughputExceededException', ErrorMessage: 'Rate exceeded for shard shardId-000000000000' }
            : { SequenceNumber: String(i), ShardId: 'shardId-000000000000' },
        ),
      },
    }),
    throttled: awsError(400, 'ProvisionedThroughputExceededException', 'Rate exceeded'),
  });

/** https://docs.aws.amazon.com/firehose/latest/APIReference/API_PutRecordBatch.html */
const firehose = () =>
  aws({
    target: 'Firehose_20150804.PutRecordBatch',
    read({ DeliveryStreamName, Records }: { DeliveryStreamName: string; Records: { Data: string }[] }) {
      if (Records.length > 500) return awsError(400, 'InvalidArgumentException', 'A batch may have at most 500 records.');
      if (Records.some(({ Data }) => bytesOf(Data) > 1_024_000))
        return awsError(400, 'InvalidArgumentException', 'A record may have at most 1024000 bytes.');
      return Records.map(({ Data }) => ({ target: DeliveryStreamName, event_id: decoded(Data).event_id, event: decoded(Data) }));
    },
    stored: (entries) => ({ status: 200, body: { FailedPutCount: 0, RequestResponses: entries.map((_, i) => ({ RecordId: String(i) })) } }),
    partly: (entries, failed) => ({
      status: 200,
      body: {
        FailedPutCount: failed.length,
        RequestResponses: entries.map((_, i) =>
          failed.includes(i) ? { ErrorCode: 'ServiceUnavailableException', ErrorMessage: 'Slow down.' } : { RecordId: String(i) },
        ),
      },
    }),
    throttled: awsError(500, 'ServiceUnavailableException', 'The service is unavailable. Back off and retry the operation.'),
  });

interface SqsEntry {
  Id: string;
  MessageBody: string;
  MessageGroupId?: string;
  MessageDeduplicationId?: string;
}
/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html */
const sqs = () =>
  aws({
    target: 'AmazonSQS.SendMessageBatch',
    read({ QueueUrl, Entries }: { QueueUrl: string; Entries: SqsEntry[] }) {
      if (Entries.length > 10) return awsError(400, 'TooManyEntriesInBatchRequest', 'Maximum number of entries per request are 10.');
      if (new Set(Entries.map(({ Id }) => Id)).size < Entries.length) return awsError(400, 'BatchEntryIdsNotDistinct', 'Ids are repeated.');
      if (Entries.reduce((sum, { MessageBody }) => sum + Buffer.byteLength(MessageBody), 0) > MIB)
        return awsError(400, 'BatchRequestTooLong', 'Batch requests cannot be longer than 1048576 bytes.');
      if (QueueUrl.endsWith('.fifo') && Entries.some(({ MessageGroupId }) => MessageGroupId === undefined))
        return awsError(400, 'MissingParameter', 'The request must contain the parameter MessageGroupId.');
      return Entries.map(({ MessageBody, MessageGroupId, MessageDeduplicationId }) =>
        eventOf(QueueUrl.split('/').at(-1) ?? '', MessageBody, {
          ...(MessageGroupId === undefined ? {} : { key: MessageGroupId }),
          ...(MessageDeduplicationId === undefined ? {} : { deduplication_id: MessageDeduplicationId }),
        }),
      );
    },
    stored: (entries) => ({ status: 200, body: { Successful: entries.map((_, i) => ({ Id: String(i), MessageId: `m${i}` })) } }),
    partly: (entries, failed) => ({
      status: 200,
      body: {
        Successful: entries.flatMap((_, i) => (failed.includes(i) ? [] : [{ Id: String(i), MessageId: `m${i}` }])),
        Failed: failed.map((i) => ({ Id: String(i), SenderFault: false, Code: 'InternalError', Message: 'Try again.' })),
      },
    }),
    throttled: awsError(400, 'RequestThrottled', 'Request is throttled.'),
  });

/** https://docs.aws.amazon.com/sns/latest/api/API_Publish.html */
const sns = () =>
  aws({
    target: 'Publish',
    error: xmlError,
    read(_json, text) {
      const form = new URLSearchParams(text);
      const message = form.get('Message') ?? '';
      if (Buffer.byteLength(message) > 262_144) return xmlError(400, 'InvalidParameter', 'Invalid parameter: Message too long');
      const [group, deduplication] = [form.get('MessageGroupId'), form.get('MessageDeduplicationId')];
      return [
        eventOf(form.get('TopicArn')?.split(':').at(-1) ?? '', message, {
          ...(group === null ? {} : { key: group }),
          ...(deduplication === null ? {} : { deduplication_id: deduplication }),
        }),
      ];
    },
    stored: () => ({ status: 200, body: '<PublishResponse><PublishResult><MessageId>1</MessageId></PublishResult></PublishResponse>' }),
    throttled: xmlError(429, 'Throttled', 'Rate exceeded'),
  });

/** https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html */
const eventbridge = () =>
  aws({
    target: 'AWSEvents.PutEvents',
    read({ Entries }: { Entries: { EventBusName: string; Detail: string }[] }) {
      if (Entries.length > 10) return awsError(400, 'ValidationException', 'Entries must have length less than or equal to 10');
      if (Entries.reduce((sum, { Detail }) => sum + Buffer.byteLength(Detail), 0) >= MIB)
        return awsError(400, 'ValidationException', 'Total size of the entries in the request is over the limit.');
      return Entries.map(({ EventBusName, Detail }) => eventOf(EventBusName, Detail));
    },
    stored: (entries) => ({ status: 200, body: { FailedEntryCount: 0, Entries: entries.map((_, i) => ({ EventId: String(i) })) } }),
    partly: (entries, failed) => ({
      status: 200,
      body: {
        FailedEntryCount: failed.length,
        Entries: entries.map((_, i) =>
          failed.includes(i) ? { ErrorCode: 'ThrottlingException', ErrorMessage: 'Rate exceeded' } : { EventId: String(i) },
        ),
      },
    }),
    throttled: awsError(400, 'ThrottlingException', 'Rate exceeded'),
  });

// Google

const googleError = (code: number, status: string, message: string): CloudReply => ({
  status: code,
  body: { error: { code, message, status } },
});
const KEYS = { first: rsaKeyPair(), next: rsaKeyPair(), wrong: rsaKeyPair() };

/** https://cloud.google.com/pubsub/docs/reference/error-codes */
function pubsub(): CloudService {
  const credentials = { private_key: KEYS.first.privatePem };
  const publicPem = () => (credentials.private_key === KEYS.next.privatePem ? KEYS.next : KEYS.first).publicPem;
  return {
    credentials,
    rejects(req) {
      const token = (req.headers.authorization ?? '').replace('Bearer ', '');
      const claims = token.split('.').length === 3 ? verifiedClaims(token, publicPem()) : undefined;
      if (claims?.aud === 'https://pubsub.googleapis.com/' && claims.iss === claims.sub) return undefined;
      return googleError(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.');
    },
    read(req, body) {
      const topic = /^\/v1\/projects\/[^/]+\/topics\/([^:]+):publish$/.exec(req.url ?? '')?.[1];
      if (topic === undefined) return googleError(404, 'NOT_FOUND', 'Resource not found');
      const { messages } = JSON.parse(body.toString()) as { messages: { data: string; attributes: { event_id: string } }[] };
      const bytes = messages.reduce((sum, { data }) => sum + bytesOf(data), 0);
      if (bytes > 10_000_000)
        return googleError(400, 'INVALID_ARGUMENT', `The value for request_size is too large. You passed ${bytes} in the request.`);
      if (messages.length > 1_000) return googleError(400, 'INVALID_ARGUMENT', 'The value for message_count is too large.');
      return messages.map(({ data, attributes }) => ({ target: topic, event_id: attributes.event_id, event: decoded(data) }));
    },
    stored: (entries) => ({ status: 200, body: { messageIds: entries.map((_, i) => String(i)) } }),
    throttled: googleError(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded for quota metric Regional publisher throughput.'),
  };
}

// Microsoft

/** https://learn.microsoft.com/rest/api/eventhub/generate-sas-token and …/send-batch-events */
function eventHubs(): CloudService {
  const credentials = { key: 'a-key-of-azure' };
  const azureError = (code: number, detail: string): CloudReply => ({
    status: code,
    body: `<Error><Code>${code}</Code><Detail>${detail}</Detail></Error>`,
  });
  return {
    credentials,
    rejects(req) {
      const given = new URLSearchParams((req.headers.authorization ?? '').replace('SharedAccessSignature ', ''));
      const signed = `${encodeURIComponent(given.get('sr') ?? '')}\n${given.get('se')}`;
      const expected = Buffer.from(createHmac('sha256', credentials.key).update(signed).digest('base64'));
      const signature = Buffer.from(given.get('sig') ?? '');
      const right = signature.length === expected.length && timingSafeEqual(signature, expected);
      if (right && Number(given.get('se')) * 1_000 > Date.now() && given.get('skn') === 'send') return undefined;
      return azureError(401, '40103: Invalid authorization token signature, Resource:sb://acme-events.servicebus.windows.net/');
    },
    read(req: IncomingMessage, body: Buffer) {
      const hub = /^\/([^/]+)\/messages\?/.exec(req.url ?? '')?.[1];
      if (hub === undefined) return azureError(404, '40400: Endpoint not found.');
      if (body.length > MIB) return azureError(413, 'The received message (delivery-id:0) exceeds the limit (1048576 bytes).');
      const list = JSON.parse(body.toString()) as { Body: string }[];
      return list.map(({ Body }) => eventOf(hub, Body));
    },
    stored: () => ({ status: 201, body: '' }),
    throttled: azureError(
      503,
      '50002: The request was terminated because the entity is being throttled. Please wait 4 seconds and try again.',
    ),
  };
}

export const CLOUDS: readonly CloudTarget[] = [
  {
    name: 'Kinesis',
    vendor: 'amazon_kinesis',
    service: kinesis,
    config: (stream) => ({ stream }),
    ...awsTarget,
    once: false,
    tooLarge: 2_000_000,
    size: 500,
  },
  {
    name: 'Firehose',
    vendor: 'amazon_firehose',
    service: firehose,
    config: (stream) => ({ stream }),
    ...awsTarget,
    once: false,
    tooLarge: 2_000_000,
    size: 500,
  },
  {
    name: 'SQS',
    vendor: 'amazon_sqs',
    service: sqs,
    config: (queue) => ({ queue_url: `https://sqs.${REGION}.amazonaws.com/${ACCOUNT}/${queue}` }),
    ...awsTarget,
    once: false,
    tooLarge: 2_000_000,
    size: 50,
  },
  {
    name: 'SQS FIFO',
    vendor: 'amazon_sqs',
    service: sqs,
    config: (queue) => ({ queue_url: `https://sqs.${REGION}.amazonaws.com/${ACCOUNT}/${queue}` }),
    ...awsTarget,
    once: true,
    suffix: '.fifo',
    tooLarge: 2_000_000,
    size: 50,
  },
  {
    name: 'SNS',
    vendor: 'amazon_sns',
    service: sns,
    config: (topic) => ({ topic_arn: `arn:aws:sns:${REGION}:${ACCOUNT}:${topic}` }),
    ...awsTarget,
    once: false,
    tooLarge: 300_000,
    size: 20,
  },
  {
    name: 'SNS FIFO',
    vendor: 'amazon_sns',
    service: sns,
    config: (topic) => ({ topic_arn: `arn:aws:sns:${REGION}:${ACCOUNT}:${topic}` }),
    ...awsTarget,
    once: true,
    suffix: '.fifo',
    tooLarge: 300_000,
    size: 20,
  },
  {
    name: 'EventBridge',
    vendor: 'amazon_eventbridge',
    service: eventbridge,
    config: (event_bus) => ({ event_bus }),
    ...awsTarget,
    once: false,
    tooLarge: 2_000_000,
    size: 50,
  },
  {
    name: 'Pub/Sub',
    vendor: 'google_pubsub',
    service: pubsub,
    config: (topic) => ({ project: 'acme-analytics', topic }),
    credentials: ({ credentials }) => ({
      authentication: 'self_signed_jwt',
      client_email: 'writer@acme-analytics.iam.gserviceaccount.com',
      private_key_id: '0123456789abcdef0123456789abcdef01234567',
      ...credentials,
    }),
    rotated: () => ({ private_key: KEYS.next.privatePem }),
    wrong: { private_key: KEYS.wrong.privatePem },
    once: false,
    tooLarge: 10_100_000,
    size: 500,
  },
  {
    name: 'Event Hubs',
    vendor: 'azure_event_hubs',
    service: eventHubs,
    config: (event_hub) => ({ namespace: 'acme-events', event_hub }),
    credentials: ({ credentials }) => ({ key_name: 'send', ...credentials }),
    rotated: () => ({ key: 'the-next-key-of-azure' }),
    wrong: { key: 'wrong' },
    once: false,
    tooLarge: 2_000_000,
    size: 500,
  },
];

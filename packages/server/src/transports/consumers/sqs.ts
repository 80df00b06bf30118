/** Messages of an Amazon SQS queue. They are deleted after the events are durable; others become visible again after a minute. */
import { Agent as HttpAgent, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { scanJson, TOO_DEEP, TOO_MANY } from '@firsthand/core/event/scan-json.ts';
import { isObject, type JsonObject } from '@firsthand/core/json.ts';
import { signAws } from '@firsthand/core/vendor/sigv4.ts';
import { SocketGuard } from '../../outbound/guarded-sockets.ts';
import { errorText } from '../../runtime/error-text.ts';
import { turns, VERY_LARGE_BYTES } from '../../runtime/turns.ts';
import type { DriverOptions } from '../port.ts';
import { type ConsumerSettings, type OpenConsumer, type SourceMessage, WAIT_MS } from './port.ts';

/** The most that one request may ask for. */
const PER_REQUEST = 10;
/** Requests at once while the queue is full. */
const AT_ONCE = 8;
const VISIBLE_AGAIN_S = 60;
const TIMEOUT_MS = 30_000;
/** Ten messages of 1 MiB, as JSON, where every second character may be escaped. The client for vendors reads only the start of a reply. */
const MAX_REPLY_BYTES = 24 * 1_048_576;
/** Replies of one source that are held at once. */
const MAX_HELD_BYTES = 32 * 1_048_576;
const MAX_DEPTH = 16;
/** After a first reply above this size no others are asked for at once. */
const MANY_BELOW_BYTES = 1_048_576;

/** `queue_url`, `region`, `access_key_id`, `endpoint`. The secret is the secret access key. */
export const openSqsConsumer: OpenConsumer = async (settings, options) => {
  const { queue_url: QueueUrl = '' } = settings.connection;
  const { call, close } = caller(settings, options);
  // Wrong credentials and a wrong queue show now, not after the first wait.
  await call('GetQueueAttributes', { QueueUrl, AttributeNames: ['QueueArn'] });
  let closed = false;
  let busy = false;
  let received: { MessageId: string; ReceiptHandle: string }[] = [];

  async function ask(waitSeconds: number): Promise<JsonObject[]> {
    const { Messages } = await call('ReceiveMessage', {
      QueueUrl,
      MaxNumberOfMessages: PER_REQUEST,
      WaitTimeSeconds: waitSeconds,
      VisibilityTimeout: VISIBLE_AGAIN_S,
      MessageAttributeNames: ['All'],
      MessageSystemAttributeNames: ['All'],
    });
    return Array.isArray(Messages) ? Messages.filter((message): message is JsonObject => isObject(message)) : [];
  }
  return {
    async receive() {
      if (closed) throw new Error('closed');
      const first = await ask(busy ? 0 : Math.floor(WAIT_MS / 1_000));
      const isSmall = first.reduce((sum, { Body }) => sum + String(Body ?? '').length, 0) < MANY_BELOW_BYTES;
      const more = first.length === PER_REQUEST && isSmall ? await Promise.all(Array.from({ length: AT_ONCE - 1 }, () => ask(0))) : [];
      const messages = [first, ...more].flat();
      busy = messages.length >= PER_REQUEST;
      received = messages.map(({ MessageId, ReceiptHandle }) => ({ MessageId: String(MessageId), ReceiptHandle: String(ReceiptHandle) }));
      return messages.map(sourceMessage);
    },
    async acknowledge() {
      const groups = Array.from({ length: Math.ceil(received.length / PER_REQUEST) }, (_, i) =>
        received.slice(i * PER_REQUEST, (i + 1) * PER_REQUEST),
      );
      await Promise.all(
        groups.map(async (group) => {
          const Entries = group.map(({ ReceiptHandle }, i) => ({ Id: String(i), ReceiptHandle }));
          const { Failed } = await call('DeleteMessageBatch', { QueueUrl, Entries });
          if (Array.isArray(Failed) && Failed.length > 0)
            throw new Error(`${Failed.length} messages were not deleted: ${JSON.stringify(Failed[0])}`);
        }),
      );
    },
    async lag() {
      const names = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible', 'ApproximateNumberOfMessagesDelayed'];
      const { Attributes } = await call('GetQueueAttributes', { QueueUrl, AttributeNames: names });
      return names.reduce((sum, name) => sum + Number(isObject(Attributes) ? (Attributes[name] ?? 0) : 0), 0);
    },
    async close() {
      closed = true;
      close();
    },
  };
};

function caller({ connection, secret }: ConsumerSettings, options: DriverOptions) {
  const { region = '', access_key_id = '' } = connection;
  const url = connection.endpoint || `https://sqs.${region}.amazonaws.com/`;
  const credentials = { access_key_id, secret_access_key: secret, region, service: 'sqs' };
  const plain = url.startsWith('http:');
  const agent = plain ? new HttpAgent({ keepAlive: true, maxSockets: AT_ONCE }) : new HttpsAgent({ keepAlive: true, maxSockets: AT_ONCE });
  const guard = new SocketGuard(options);
  let held = 0;

  function post(headers: Record<string, string>, body: Buffer): Promise<{ status: number; reply: Buffer }> {
    return new Promise((resolve, reject) => {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const request = (plain ? requestHttp : requestHttps)(url, { method: 'POST', headers, agent, signal }, (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          held += chunk.length;
          if (bytes > MAX_REPLY_BYTES || held > MAX_HELD_BYTES) request.destroy(new Error('the reply is too large'));
          else chunks.push(chunk);
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, reply: Buffer.concat(chunks) }));
        response.on('error', reject);
        response.on('close', () => {
          held -= bytes;
        });
      });
      request.on('error', reject);
      request.end(body);
    });
  }
  async function call(action: string, parameters: JsonObject): Promise<JsonObject> {
    const body = Buffer.from(JSON.stringify(parameters));
    const headers: Record<string, string> = { 'Content-Type': 'application/x-amz-json-1.0', 'X-Amz-Target': `AmazonSQS.${action}` };
    Object.assign(headers, signAws({ method: 'POST', url, headers, body }, credentials, options.http.clock.now()));
    const { status, reply } = await guard
      .run(() => post(headers, body))
      .catch((error: unknown) => {
        throw new Error(guard.refused?.message ?? `sqs: ${errorText(error)}`);
      });
    const answer = await parsed(reply);
    if (status === 200 && answer.message === undefined) return answer;
    const code = String(answer.__type ?? '')
      .split('#')
      .at(-1);
    throw new Error(`sqs: ${action} ${status} ${code} ${String(answer.message ?? answer.Message ?? '')}`.trim());
  }
  return { call, close: () => agent.destroy() };
}

/** One reply at a time, and none with more values than ten messages have: the endpoint is the tenant's. */
async function parsed(reply: Buffer): Promise<JsonObject> {
  if (reply.length === 0) return {};
  await turns.bulk();
  try {
    const flags = scanJson(reply, MAX_DEPTH);
    if (flags === TOO_DEEP || flags === TOO_MANY) return { message: 'the reply has more values than ten messages have' };
    const value: unknown = JSON.parse(reply.toString());
    return isObject(value) ? (value as JsonObject) : {};
  } catch {
    return { message: reply.toString('utf8', 0, 200) };
  } finally {
    if (reply.length > VERY_LARGE_BYTES) turns.tookLong();
  }
}

function sourceMessage(message: JsonObject): SourceMessage {
  const { MessageId, Body, MessageAttributes, Attributes } = message;
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(isObject(MessageAttributes) ? MessageAttributes : {}))
    if (isObject(value) && typeof value.StringValue === 'string') headers[name.toLowerCase()] = value.StringValue;
  const query: Record<string, string> = { message_id: String(MessageId) };
  if (isObject(Attributes))
    for (const name of ['SentTimestamp', 'MessageGroupId'])
      if (typeof Attributes[name] === 'string') query[name === 'SentTimestamp' ? 'sent_at' : 'group'] = Attributes[name];
  return { id: String(MessageId), headers, query, body: Buffer.from(String(Body ?? '')) };
}

import { expect, onTestFinished, test } from 'vitest';
import { AWS_KEY, startAws } from '../../../test/servers/index.ts';
import { driverOptions } from '../testing/conformance.ts';
import { openSqsConsumer } from './sqs.ts';

async function opened(messages: () => unknown) {
  let asked = 0;
  const server = await startAws(async ({ target }) => {
    if (target !== 'AmazonSQS.ReceiveMessage') return { status: 200, body: { Attributes: { QueueArn: 'arn' } } };
    asked++;
    return { status: 200, body: { Messages: messages() } };
  });
  onTestFinished(() => server.stop());
  const connection = { queue_url: 'q', region: 'eu-central-1', access_key_id: AWS_KEY.access_key_id, endpoint: `${server.url}/` };
  const consumer = await openSqsConsumer({ id: 'whs_1', connection, secret: AWS_KEY.secret_access_key }, driverOptions());
  onTestFinished(() => consumer.close());
  return { consumer, asked: () => asked };
}
const ten = (Body: string) => () => Array.from({ length: 10 }, (_, i) => ({ MessageId: `m-${i}`, ReceiptHandle: `r-${i}`, Body }));

test('ten messages of the largest size, all quotes, are read, and no further replies with them', async () => {
  const { consumer, asked } = await opened(ten('"'.repeat(1_048_576)));
  const messages = await consumer.receive();
  expect(messages.map(({ body }) => body.length)).toEqual(Array.from({ length: 10 }, () => 1_048_576));
  expect(asked()).toBe(1);
});

test('small messages are asked for eight times at once', async () => {
  const { consumer, asked } = await opened(ten('{}'));
  expect(await consumer.receive()).toHaveLength(80);
  expect(asked()).toBe(8);
});

test('an endpoint that answers with more than ten messages can hold is an error', async () => {
  const { consumer } = await opened(() => 'x'.repeat(25 * 1_048_576));
  await expect(consumer.receive()).rejects.toThrow(/too large/);
});

test('a reply with more values than ten messages have is not parsed', async () => {
  const { consumer } = await opened(() => Array.from({ length: 200_000 }, () => ({})));
  await expect(consumer.receive()).rejects.toThrow(/ReceiveMessage 200 .*more values/);
});

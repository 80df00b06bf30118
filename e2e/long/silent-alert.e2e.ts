/** The alert that takes minutes: a sender stops, and nobody hears of it except through the alert. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Client, pipelineTo, send, signIn, until } from '../harness/client.ts';
import { type Mailbox, startMailbox } from '../harness/mailbox.ts';
import { type Receiver, startReceiver } from '../harness/receiver.ts';
import { type Service, startService } from '../harness/service.ts';

const MINUTE = 60_000;
let service: Service;
let client: Client;
let vendor: Receiver;
let inbox: Receiver;
let mailbox: Mailbox;

beforeAll(async () => {
  vendor = await startReceiver();
  inbox = await startReceiver();
  mailbox = await startMailbox();
  service = await startService({
    ALERT_INTERVAL: '300ms',
    SMTP_URL: mailbox.url,
    SMTP_FROM: 'alerts@shop.example',
  });
  client = await signIn(service);
});
afterAll(async () => {
  await service?.stop();
  await vendor?.close();
  await inbox?.close();
  await mailbox?.close();
});

test('a sender that stops fires the alert for silence by webhook and by mail, and ends it when it sends again', async () => {
  const { pipeline, key } = await pipelineTo(client, vendor.url);
  await client.post('/alerts', {
    name: 'Shop silent',
    kind: 'silent',
    pipeline_id: pipeline.id,
    threshold: 1,
    window_minutes: 1,
    channels: [
      { type: 'webhook', url: inbox.url },
      { type: 'email', to: 'operator@shop.example' },
    ],
  });
  const messages = () => inbox.requests.map(({ body }) => JSON.parse(body)) as { type: string; message: string }[];
  let sent = 0;
  const sendOne = () => send(service, key, '/v1/t', { type: 'track', event: 'Steady', messageId: `steady-${++sent}` });
  // While it sends, the alert stays calm, also at the beginning of a minute.
  const calmUntil = Date.now() + 1.25 * MINUTE;
  const sender = setInterval(() => void sendOne(), 5_000);
  await until('a whole window with events', () => Date.now() > calmUntil, 2 * MINUTE);
  clearInterval(sender);
  expect(messages()).toEqual([]);
  await until('the alert', () => messages().some(({ type }) => type === 'alert.firing'), 4 * MINUTE);
  expect(messages()).toMatchObject([{ type: 'alert.firing', message: expect.stringContaining('No event arrived in the last minute') }]);
  await until('the mail', () => mailbox.mails.some((mail) => mail.includes('Subject: Alert: Shop silent')));
  await sendOne();
  await until('the end of the alert', () => messages().some(({ type }) => type === 'alert.resolved'));
  await until('its mail', () => mailbox.mails.some((mail) => mail.includes('Subject: Resolved: Shop silent')));
});

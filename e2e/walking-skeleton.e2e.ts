import { describe, expect, test } from 'vitest';
import { pipelineTo, send, until } from './harness/client.ts';
import { startReceiver } from './harness/receiver.ts';
import { stage } from './harness/stage.ts';

const { service, client, receiver } = await stage();

describe('one event, all the way through', () => {
  test('a tracked event arrives at the webhook as the canonical event', async () => {
    const { key } = await pipelineTo(client, `${receiver.url}/hook`);
    const reply = await send(service, key, '/v1/t', {
      type: 'track',
      event: 'Order Completed',
      anonymousId: 'anon-1',
      messageId: 'order-1',
      timestamp: '2026-01-02T03:04:05.678Z',
      properties: { total: 42.5, currency: 'EUR' },
      context: {
        page: { url: 'https://shop.example/thanks', title: 'Thanks', referrer: '' },
        locale: 'de-AT',
        userAgent: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/150.0',
      },
    });
    expect([reply.status, reply.body]).toEqual([200, { success: true }]);
    const request = await until('the delivery', () => receiver.requests[0]);
    expect(request).toMatchObject({ method: 'POST', path: '/hook' });
    expect(request.headers['webhook-id']).toBe('order-1');
    expect(JSON.parse(request.body)).toMatchObject({
      event_id: 'order-1',
      type: 'track',
      event: 'Order Completed',
      anonymous_id: 'anon-1',
      timestamp: '2026-01-02T03:04:05.678Z',
      properties: { total: 42.5, currency: 'EUR' },
      context: {
        page: { url: 'https://shop.example/thanks', title: 'Thanks', referrer: '' },
        locale: 'de-AT',
        user_agent: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/150.0',
      },
    });
  });

  test('after six failed attempts the event is a dead letter that can be replayed', async () => {
    const failing = await startReceiver();
    failing.answer(() => ({ status: 503 }));
    const { key, integration } = await pipelineTo(client, failing.url);
    await send(service, key, '/v1/t', { type: 'track', event: 'Lost?', messageId: 'lost-1' });
    const letters = await until('the dead letter', async () => {
      const found = await client.get(`/dlq?integration_id=${integration.id}`);
      return found.total > 0 && found.dead_letters;
    });
    expect(letters[0]).toMatchObject({ stage: 'delivery', event_id: 'lost-1', status: 'pending', vendor: 'webhook' });
    expect(letters[0]!.attempts).toHaveLength(6);
    expect(failing.requests).toHaveLength(6);

    failing.answer(() => ({ status: 200 }));
    const replay = await client.call('POST', `/dlq/${letters[0]!.id}/replay`);
    expect([replay.status, replay.body]).toEqual([202, { replayed: 1 }]);
    await until('the redelivery', () => failing.requests.length === 7);
    await failing.close();
  });
});

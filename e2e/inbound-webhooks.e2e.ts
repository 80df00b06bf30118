import { createHmac } from 'node:crypto';
import Stripe from 'stripe';
import { describe, expect, test } from 'vitest';
import { pipelineTo, until } from './harness/client.ts';
import { stage } from './harness/stage.ts';

const { service, client, receiver } = await stage();

describe('inbound webhooks', () => {
  const post = async (url: string, body: string, headers: Record<string, string>) => {
    const reply = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });
    return { status: reply.status, body: await reply.json() };
  };

  test('a Stripe webhook is verified and deduplicated; a wrong signature is a dead letter that replays after the secret is fixed', async () => {
    const { pipeline } = await pipelineTo(client, receiver.url);
    const source = await client.post('/webhook-sources', {
      pipeline_id: pipeline.id,
      name: 'Stripe',
      source_type: 'payment_processor',
      signing_secret: 'whsec_right',
    });
    expect(source.url).toBe(`${service.url}/v1/webhook?source=${source.id}`);
    const payload = JSON.stringify({
      id: 'evt_1',
      object: 'event',
      type: 'payment_intent.succeeded',
      created: 1_790_000_000,
      data: { object: { id: 'pi_1', object: 'payment_intent', amount: 1999, currency: 'eur', customer: 'cus_1' } },
    });
    const signed = (secret: string) => ({ 'stripe-signature': Stripe.webhooks.generateTestHeaderString({ payload, secret }) });
    expect(await post(source.url, payload, signed('whsec_right'))).toEqual({ status: 200, body: { success: true } });
    expect((await post(source.url, payload, signed('whsec_right'))).status).toBe(200);
    const event = await until('the delivery', () => receiver.events().find((each) => each.event_id === 'evt_1'));
    expect(event).toMatchObject({
      type: 'track',
      context: { source: 'webhook', webhook_source: 'payment_processor', webhook_event_id: 'evt_1' },
    });

    const other = payload.replace('evt_1', 'evt_2');
    const header = Stripe.webhooks.generateTestHeaderString({ payload: other, secret: 'whsec_new' });
    expect(await post(source.url, other, { 'stripe-signature': header })).toEqual({ status: 200, body: { success: true } });
    const letter = await until(
      'the dead letter',
      async () => (await client.get(`/dlq?webhook_source_id=${source.id}&stage=webhook`)).dead_letters[0],
    );
    expect((await client.call('POST', `/dlq/${letter.id}/replay`)).status).toBe(409);
    const { totals } = await until('the count', async () => {
      const stats = await client.get(`/stats?pipeline_id=${pipeline.id}`);
      const { received, rejected, duplicates } = stats.totals;
      return received === 1 && rejected === 1 && duplicates === 1 && stats;
    });
    expect(totals).toMatchObject({ rejected_by_reason: { webhook_rejected: 1 }, dead_lettered: 0 });
    expect((await client.get(`/events?pipeline_id=${pipeline.id}`)).total).toBe(1);
    const what = { status: 'rejected', reason: 'webhook_rejected', message: letter.reason, dead_letter_id: letter.id };
    expect(await client.get(`/events/${letter.event_id}`)).toMatchObject({ ...what, raw: { body: other } });
    for (const reason of ['', '&reason=webhook_rejected'])
      expect((await client.get(`/events?status=rejected&pipeline_id=${pipeline.id}${reason}`)).events).toMatchObject([what]);
    expect((await client.get(`/events?status=rejected&pipeline_id=${pipeline.id}&reason=missing_field`)).total).toBe(0);
    await client.put(`/webhook-sources/${source.id}`, { signing_secret: 'whsec_new' });
    expect((await client.call('POST', `/dlq/${letter.id}/replay`)).status).toBe(202);
    await until('the replayed webhook', () => receiver.events().some((each) => each.event_id === 'evt_2'));
    expect(receiver.events().filter((each) => each.event_id === 'evt_1')).toHaveLength(1);
  });

  test('a custom source maps the payload by its configured paths', async () => {
    const { pipeline } = await pipelineTo(client, receiver.url);
    const source = await client.post('/webhook-sources', {
      pipeline_id: pipeline.id,
      name: 'Own',
      source_type: 'custom',
      event_type_path: '$.kind',
      event_name_map: { sale: 'Order Completed' },
      mappings: {
        userId: '$.customer.id',
        messageId: '$.id',
        'properties.items': '$.lines[*].sku',
        'properties.first': '$.lines[0].sku',
        'properties.origin': "'till'",
      },
      timestamp_path: '$.at',
      timestamp_format: 'unix_seconds',
      signature_header: 'X-Sig',
      signature_method: 'hmac_sha256',
      signing_secret: 'till-secret-123',
    });
    const body = JSON.stringify({
      id: 's-1',
      kind: 'sale',
      at: 1_790_000_000,
      customer: { id: 'c9' },
      lines: [{ sku: 'a' }, { sku: 'b' }],
    });
    await post(source.url, body, { 'x-sig': createHmac('sha256', 'till-secret-123').update(body).digest('hex') });
    expect(await until('the delivery', () => receiver.events().find((each) => each.event_id === 's-1'))).toMatchObject({
      event: 'Order Completed',
      user_id: 'c9',
      timestamp: '2026-09-21T14:13:20.000Z',
      properties: { items: ['a', 'b'], first: 'a', origin: 'till' },
    });
  });
});

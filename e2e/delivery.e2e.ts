import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Client, pipelineTo, send, signIn, until } from './harness/client.ts';
import { startReceiver } from './harness/receiver.ts';
import { type Service, startService } from './harness/service.ts';

describe('delivery', () => {
  let service: Service;
  let client: Client;
  beforeAll(async () => {
    service = await startService();
    client = await signIn(service);
  });
  afterAll(() => service.stop());
  // All of one visitor, so that their order is kept.
  const track = (key: string, id: string, properties: object = {}) =>
    send(service, key, '/v1/t', { type: 'track', event: 'Order Completed', messageId: id, anonymousId: 'visitor-1', properties });

  test('a batch is one signed JSON array, flushed by size or time', async () => {
    const receiver = await startReceiver();
    const batched = { batch_enabled: true, authentication: 'hmac', hmac_secret: 'a-shared-secret-1', hmac_header: 'X-Sig' };
    const sizes = () => receiver.requests.map((request) => (JSON.parse(request.body) as unknown[]).length);
    // Separate pipelines: the first is never flushed by time, the second never by size.
    const bySize = await pipelineTo(client, receiver.url, { config: { ...batched, batch_size: 3, batch_interval_ms: 300_000 } });
    for (const n of [1, 2, 3, 4]) await track(bySize.key, `by-size-${n}`);
    await until('the batch that is full', () => sizes().length === 1);
    expect(sizes()).toEqual([3]);
    const byTime = await pipelineTo(client, receiver.url, { config: { ...batched, batch_size: 100, batch_interval_ms: 300 } });
    await track(byTime.key, 'by-time-1');
    await until('the batch whose time is up', () => sizes().length === 2);
    expect(sizes()).toEqual([3, 1]);
    expect(receiver.events().map((event) => event.event_id)).toEqual([1, 2, 3].map((n) => `by-size-${n}`).concat('by-time-1'));
    for (const { headers, body } of receiver.requests)
      expect(headers['x-sig']).toBe(`sha256=${createHmac('sha256', 'a-shared-secret-1').update(body).digest('hex')}`);
    await receiver.close();
  });

  test('a custom template renders the body, and a body that is not JSON becomes a dead letter with that reason', async () => {
    const receiver = await startReceiver();
    const template = '{"name":"{{event}}","total":{{properties.total}},"missing":"{{properties.nothing}}","all":{{{json properties}}}}';
    const { key, integration } = await pipelineTo(client, receiver.url, {
      config: { payload_format: 'custom', payload_template: template },
    });
    await track(key, 'tpl-1', { total: 5, quote: 'say "hi"' });
    expect(JSON.parse((await until('the request', () => receiver.requests[0])).body)).toEqual({
      name: 'Order Completed',
      total: 5,
      missing: '',
      all: { total: 5, quote: 'say "hi"' },
    });
    await track(key, 'tpl-2', { total: 'no number' });
    const letters = await until('the dead letter', async () => {
      const found = await client.get(`/dlq?integration_id=${integration.id}`);
      return found.total > 0 && found.dead_letters;
    });
    expect(letters[0]).toMatchObject({ event_id: 'tpl-2', reason: expect.stringMatching(/JSON/i) });
    await receiver.close();
  });

  test('an integration whose vendor never responds delays no other', async () => {
    const dead = await startReceiver();
    dead.answer(() => 'hang');
    const alive = await startReceiver();
    const { pipeline, key } = await pipelineTo(client, alive.url);
    await client.post('/integrations', {
      source_id: pipeline.id,
      vendor: 'webhook',
      name: 'Dead',
      // No second attempt before the end of the test, however slow the machine is.
      config: { url: dead.url, timeout_ms: 300_000 },
    });
    for (let n = 0; n < 50; n++) await track(key, `iso-${n}`);
    await until('all fifty at the living one', () => alive.requests.length === 50);
    await until('a try at the dead one', () => dead.requests.length > 0);
    expect(new Set(dead.requests.map(({ headers }) => headers['x-firsthand-attempt']))).toEqual(new Set(['1']));
    await dead.close();
    await alive.close();
  });

  test('a rejection is permanent, a 429 is retried, and the secret is never shown', async () => {
    const receiver = await startReceiver();
    receiver.answer((_request, count) =>
      count === 1
        ? { status: 429, headers: { 'retry-after': '1' } }
        : count === 2
          ? { status: 200 }
          : { status: 404, body: '{"why":"gone"}' },
    );
    const { pipeline, integration, key } = await pipelineTo(client, receiver.url, {
      config: { authentication: 'bearer', auth_token: 'very-secret-token-1234' },
    });
    await track(key, 'wait-1');
    await until('the second try', () => receiver.requests.length === 2);
    expect(receiver.requests[1]!.at - receiver.requests[0]!.at).toBeGreaterThanOrEqual(990);
    expect(receiver.requests[1]!.headers).toMatchObject({
      'webhook-id': 'wait-1',
      'x-firsthand-attempt': '2',
      authorization: 'Bearer very-secret-token-1234',
    });
    await track(key, 'gone-1');
    const letter = await until('the dead letter', async () => (await client.get(`/dlq?integration_id=${integration.id}`)).dead_letters[0]);
    expect(letter.attempts).toHaveLength(1);
    expect(letter.attempts[0]).toMatchObject({ status: 404 });
    await until('the trace', async () => (await client.call('GET', '/events/gone-1')).status === 200);
    const everything = await Promise.all(
      [
        `/pipelines/${pipeline.id}/integrations`,
        `/integration-templates/${integration.template_id}`,
        '/dlq',
        '/audit-logs',
        '/events/gone-1',
      ].map((path) => client.call('GET', path)),
    );
    expect(everything.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(JSON.stringify(everything)).not.toContain('very-secret-token-1234');
    expect(service.output()).not.toContain('very-secret-token-1234');
    await receiver.close();
  });

  test('the integrations object of an event switches integrations off', async () => {
    const receiver = await startReceiver();
    const { pipeline, key, integration } = await pipelineTo(client, `${receiver.url}/first`);
    const second = await client.post('/integrations', {
      source_id: pipeline.id,
      vendor: 'webhook',
      name: 'Second',
      config: { url: `${receiver.url}/second` },
    });
    const both = ['/first', '/second'];
    const cases: [name: string, integrations: Record<string, unknown>, paths: string[]][] = [
      ['nothing', {}, both],
      ['all', { All: false }, []],
      ['vendor-key', { webhook: false }, []],
      ['catalog-name', { Webhook: false }, []],
      ['integration-id', { [second.id]: false }, ['/first']],
      ['all-but-one', { All: false, [second.id]: true }, ['/second']],
      ['options-of-another', { All: true, Amplitude: { session_id: 1 }, Intercom: false }, both],
    ];
    for (const [name, integrations] of cases)
      await send(service, key, '/v1/track', { event: name, messageId: `${pipeline.id}-${name}`, userId: 'u1', integrations });
    for (const [name, , paths] of cases) {
      const { deliveries } = await until(`the trace of ${name}`, async () => {
        const { body } = await client.call('GET', `/events/${pipeline.id}-${name}`);
        return body.deliveries?.length === 2 && body.deliveries.every((each: { status: string }) => each.status !== 'waiting') && body;
      });
      const expected = [integration, second].map(({ id }, at) => ({
        integration_id: id,
        ...(paths.includes(both[at] as string)
          ? { status: 'delivered', reason: null }
          : { status: 'dropped', reason: 'disabled_by_event', explanation: expect.stringContaining('integrations object') }),
      }));
      expect(deliveries, name).toEqual(expect.arrayContaining(expected.map((each) => expect.objectContaining(each))));
      const arrived = receiver.requests.filter(({ body }) => body.includes(`${pipeline.id}-${name}"`)).map(({ path }) => path);
      expect(arrived.sort(), name).toEqual(paths);
    }
    const { totals } = await client.get(`/stats?integration_id=${second.id}`);
    expect(totals.dropped).toEqual({ disabled_by_event: 4 });
    await receiver.close();
  });

  test('a preview sends nothing; a delivery test really sends', async () => {
    const receiver = await startReceiver();
    const { pipeline, integration } = await pipelineTo(client, receiver.url);
    const event = { type: 'track' as const, event: 'Order Completed', event_id: 'p1', properties: { total: 9 } };
    const preview = await client.post('/mapping/preview', {
      vendor: 'webhook',
      config: { url: receiver.url, authentication: 'bearer', auth_token: 'a-long-secret-token' },
      event,
    });
    expect(preview.requests[0]).toMatchObject({
      method: 'POST',
      url: receiver.url,
      body: { event: 'Order Completed', properties: { total: 9 } },
    });
    expect(JSON.stringify(preview)).not.toContain('a-long-secret-token');
    expect(receiver.requests).toHaveLength(0);
    const tested = await client.post(`/pipelines/${pipeline.id}/integrations/${integration.id}/test`, { event });
    expect(tested).toMatchObject({ status: 200, response_excerpt: '{}' });
    expect(receiver.requests).toHaveLength(1);
    await receiver.close();
  });
});

import { describe, expect, test } from 'vitest';
import { type Loose, pipelineTo, send, until } from './harness/client.ts';
import { stage } from './harness/stage.ts';

const { service, client, receiver } = await stage();

describe('processing', () => {
  const arrived = (id: string) =>
    until(`the delivery of ${id}`, () => receiver.events().find((event) => event.event_id === id) as unknown as Loose);
  const explained = (id: string, status: string) =>
    until(`the trace of ${id}`, async () => {
      const { status: code, body } = await client.call('GET', `/events/${id}`);
      return code === 200 && body.status === status && body;
    });

  test('events after an identify have both ids, also after a restart', async () => {
    const { key } = await pipelineTo(client, receiver.url);
    await send(service, key, '/v1/i', {
      type: 'identify',
      userId: 'user-7',
      anonymousId: 'visitor-7',
      messageId: 'id-1',
      traits: { plan: 'pro' },
    });
    await send(service, key, '/v1/t', { type: 'track', event: 'After', anonymousId: 'visitor-7', messageId: 'id-2' });
    expect(await arrived('id-2')).toMatchObject({ anonymous_id: 'visitor-7', user_id: 'user-7' });
    await service.kill();
    await service.start();
    await send(service, key, '/v1/p', { type: 'page', name: 'Home', anonymousId: 'visitor-7', messageId: 'id-3' });
    expect(await arrived('id-3')).toMatchObject({ type: 'page', name: 'Home', user_id: 'user-7' });
  });

  test('consent is read from the raw categories and gates integrations that require it', async () => {
    const { key } = await pipelineTo(client, receiver.url, { integration: { consent_category: 'marketing' } });
    const consent = (marketing: boolean) => ({ context: { consent: { categories: { necessary: true, statistics: false, marketing } } } });
    await send(service, key, '/v1/t', { type: 'track', event: 'Ad', messageId: 'consent-no', ...consent(false) });
    await send(service, key, '/v1/t', { type: 'track', event: 'Ad', messageId: 'consent-yes', ...consent(true) });
    expect(await arrived('consent-yes')).toMatchObject({
      context: { consent: { canonical: { essential: true, analytics: false, marketing: true } } },
    });
    expect(receiver.events().some((event) => event.event_id === 'consent-no')).toBe(false);
  });

  test('rules, code and the tracking plan run in order; an event whose transformation fails becomes a dead letter with the reason', async () => {
    const { pipeline, key } = await pipelineTo(client, receiver.url, { pipeline: { parameters: { SHOP: 'vienna' } } });
    const base = `/pipelines/${pipeline.id}` as const;
    await client.put(`${base}/tracking-plan`, {
      events: { 'Order Completed': { type: 'object', required: ['total'], properties: { total: { type: 'number' } } } },
      on_violation: 'flag',
    });
    await client.post(`${base}/transformations`, {
      name: 'Rules',
      kind: 'rules',
      rules: [
        { type: 'compute', target: 'properties.cents', expression: 'properties.total * 100' },
        { type: 'filter', condition: { field: 'properties.test', op: 'not_exists' } },
      ],
    });
    const code = await client.post(`${base}/transformations`, {
      name: 'Code',
      kind: 'code',
      code: 'function transform(event, { parameters }) { if (event.properties.boom) throw new Error("boom"); event.properties.shop = parameters.SHOP; return event }',
    });
    const order = (id: string, properties: object) =>
      send(service, key, '/v1/t', { type: 'track', event: 'Order Completed', messageId: id, properties });
    await order('order-good', { total: 12.5 });
    expect(await arrived('order-good')).toMatchObject({ properties: { total: 12.5, cents: 1250, shop: 'vienna' } });
    await order('order-odd', { total: 'twelve' });
    expect((await arrived('order-odd')).context.violations).toBeDefined();
    await order('order-test', { total: 1, test: true });
    expect(await explained('order-test', 'dropped')).toMatchObject({ reason: 'transformation' });
    await order('order-boom', { total: 1, boom: true });
    const letters = await until('the dead letter', async () => {
      const found = await client.get(`/dlq?pipeline_id=${pipeline.id}&stage=processing`);
      return found.total > 0 && found.dead_letters;
    });
    expect(letters[0]).toMatchObject({ event_id: 'order-boom', stage: 'processing', reason: expect.stringContaining('boom') });

    expect(await explained('order-boom', 'dead_lettered')).toMatchObject({
      event: { event_id: 'order-boom', properties: { boom: true } },
      received: { messageId: 'order-boom' },
      deliveries: [{ status: 'dead_lettered', explanation: expect.stringContaining('boom') }],
    });

    await client.put(`${base}/transformations/${code.id}`, {
      code: 'function transform(event) { event.properties.mended = true; return event }',
    });
    expect((await client.call('POST', `/dlq/${letters[0]!.id}/replay`)).status).toBe(202);
    expect(await arrived('order-boom')).toMatchObject({ properties: { mended: true } });
  });

  test('the data layer drops bots and truncates IP addresses if configured', async () => {
    const { key } = await pipelineTo(client, receiver.url);
    const before = await client.get('/data-layer');
    await client.put('/data-layer', { config: { bot_filtering: { action: 'drop' }, pii_rules: { ip: 'truncate', detect: ['email'] } } });
    expect((await client.call('PUT', '/data-layer', { config: {} }, { 'if-match': String(before.version) })).status).toBe(409);
    await send(service, key, '/v1/t', {
      type: 'track',
      event: 'Crawl',
      messageId: 'bot-1',
      context: { userAgent: 'Googlebot/2.1 (+http://www.google.com/bot.html)' },
    });
    expect(await explained('bot-1', 'dropped')).toMatchObject({ reason: 'bot' });
    await send(service, key, '/v1/t', {
      type: 'track',
      event: 'Human',
      messageId: 'human-1',
      properties: { note: 'write to a.b@c.example please' },
      context: {
        ip: '203.0.113.77',
        userAgent: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
      },
    });
    const human = await arrived('human-1');
    expect(human).toMatchObject({ context: { ip: '203.0.113.0', browser: { name: expect.stringContaining('Chrom') } } });
    expect(human.properties.note).not.toContain('a.b@c.example');
    await client.put('/data-layer', { config: { bot_filtering: {}, pii_rules: {} } });
  });
});

import { describe, expect, test } from 'vitest';
import { type Loose, pipelineTo, send, until } from './harness/client.ts';
import { startReceiver } from './harness/receiver.ts';
import { stage } from './harness/stage.ts';

const { service, client, receiver } = await stage();

describe('every event can explain itself', () => {
  test('an undelivered event has a reason code and a sentence for each integration', async () => {
    const { pipeline, key } = await pipelineTo(client, receiver.url);
    const gated = await client.post('/integrations', {
      source_id: pipeline.id,
      vendor: 'webhook',
      name: 'Ads',
      consent_category: 'marketing',
      config: { url: receiver.url },
    });
    const filtered = await client.post('/integrations', {
      source_id: pipeline.id,
      vendor: 'webhook',
      name: 'Orders',
      event_filter: { event_names: ['Order Completed'] },
      config: { url: receiver.url },
    });
    await send(service, key, '/v1/t', {
      type: 'track',
      event: 'Product Viewed',
      messageId: 'why-1',
      userId: 'u1',
      context: { consent: { categories: { marketing: false, statistics: true } } },
    });
    const trace = await until('the complete trace', async () => {
      const { status, body } = await client.call('GET', '/events/why-1');
      return status === 200 && body.deliveries.every((each: { status: string }) => each.status !== 'waiting') && body;
    });
    expect(trace).toMatchObject({
      event_id: 'why-1',
      pipeline_id: pipeline.id,
      status: 'processed',
      user_id: 'u1',
      event: { event: 'Product Viewed', user_id: 'u1' },
      received: { messageId: 'why-1' },
      request: { source: 'browser', bytes: expect.any(Number), cookies: [] },
    });
    const byId = Object.fromEntries(
      (trace.deliveries as unknown as { integration_id: string }[]).map((each) => [each.integration_id, each]),
    );
    expect(byId[gated.id]).toMatchObject({
      status: 'dropped',
      reason: 'consent_not_granted',
      explanation: expect.stringContaining('consent'),
    });
    expect(byId[filtered.id]).toMatchObject({ status: 'dropped', reason: 'event_filtered' });
    expect(trace.steps[0]).toMatchObject({ stage: 'received' });
    expect((await client.get(`/events?pipeline_id=${pipeline.id}&event=Product%20Viewed`)).events).toMatchObject([
      { event_id: 'why-1', event: { event_id: 'why-1' } },
    ]);
    expect((await client.call('GET', '/events/never-sent')).status).toBe(404);
  });

  test('screens and aliases are found by their own names', async () => {
    const { pipeline, key } = await pipelineTo(client, receiver.url);
    const batch = [
      { type: 'page', name: 'Home', userId: 'u1', messageId: `${pipeline.id}-page` },
      { type: 'screen', name: 'Cart', userId: 'u1', messageId: `${pipeline.id}-screen` },
      { type: 'alias', userId: 'u1', previousId: 'a1', messageId: `${pipeline.id}-alias` },
    ];
    await send(service, key, '/v1/batch', { batch });
    const found = async (event: string) => (await client.get(`/events?pipeline_id=${pipeline.id}&event=${event}`)).events;
    await until('all', async () => (await found('@page')).length === 2 && (await found('@alias')).length === 1);
    expect(await found('@screen')).toMatchObject([{ event_id: `${pipeline.id}-screen`, type: 'page', original_type: 'screen' }]);
    expect(await found('@alias')).toMatchObject([{ event_id: `${pipeline.id}-alias`, type: 'identify', original_type: 'alias' }]);
    expect(await found('@identify')).toMatchObject([{ event_id: `${pipeline.id}-alias` }]);
  });

  test('data that privacy rules removed from an event is nowhere in its trace', async () => {
    const { config } = await client.get('/data-layer');
    const { key } = await pipelineTo(client, receiver.url);
    await client.put('/data-layer', { config: { pii_rules: { ...config.pii_rules, fields: [{ path: 'traits.email', action: 'hash' }] } } });
    await send(service, key, '/v1/i', {
      type: 'identify',
      messageId: 'private-1',
      userId: 'u1',
      writeKey: key,
      traits: { email: 'ada@shop.example', plan: 'pro' },
      context: { challenge_token: 'secret-token' },
    });
    const trace = await until('the trace', async () => {
      const { status, body } = await client.call('GET', '/events/private-1');
      return status === 200 && body;
    });
    await client.put('/data-layer', { config: { pii_rules: config.pii_rules } });
    expect(trace.received).toMatchObject({ messageId: 'private-1', userId: 'u1', traits: { plan: 'pro' } });
    expect(JSON.stringify(trace)).not.toMatch(/ada@shop|secret-token|pk_/);
  });

  test('what each step changed is found by running the event again, also where two changed the same field; nothing hidden comes back', async () => {
    const { config } = await client.get('/data-layer');
    await client.put('/data-layer', { config: { pii_rules: { ...config.pii_rules, fields: [{ path: 'traits.email', action: 'hash' }] } } });
    const { pipeline, key } = await pipelineTo(client, receiver.url);
    const code = (n: number) => `function transform(event) { event.properties.n = ${n}; return event; }`;
    const path = `/pipelines/${pipeline.id}/transformations` as const;
    await client.post(path, { name: 'First', kind: 'code', code: code(1) });
    const second = await client.post(path, { name: 'Second', kind: 'code', code: code(2) });
    const event = {
      type: 'track',
      event: 'Counted',
      properties: { n: 0 },
      traits: { email: 'ada@shop.example' },
      anonymousId: 'a-visitor',
    };
    // Sent until the new rules and the transformations are in force.
    let sent = 0;
    const trace = await until('an event under the new configuration', async () => {
      const messageId = `steps-${++sent}`;
      await send(service, key, '/v1/t', { ...event, messageId });
      return await until('its trace', async () => {
        const { status, body } = await client.call('GET', `/events/${messageId}`);
        if (status !== 200 || body.event === null) return undefined;
        return { id: messageId, isReady: (body.event as Loose).properties?.n === 2, steps: body.steps };
      }).then((found) => found.isReady && found);
    });
    const changes = async () => (await client.get(`/events/${trace.id}/changes`)) as unknown as Loose;
    const { unavailable, same, steps } = await changes();
    expect([unavailable, same]).toEqual([null, true]);
    const of = (step: string) => steps.filter((each: Loose) => each.step === step).map((each: Loose) => each.changes);
    expect(of('transformation')).toEqual([
      [{ path: 'properties.n', before: 0, after: 1 }],
      [{ path: 'properties.n', before: 1, after: 2 }],
    ]);
    expect(of('session')[0].map((change: Loose) => change.path)).toContain('context.session.id');
    expect(of('pii')[0]).toContainEqual({ path: 'traits.email', hidden: true, after: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(JSON.stringify(steps)).not.toContain('ada@shop');
    expect(steps.map((each: Loose) => each.step)).toEqual(
      (trace.steps as Loose[]).filter(({ stage }) => stage === 'processing').map(({ step }) => step),
    );
    await client.put(`${path}/${second.id}`, { code: code(3) });
    await until('the change', async () => !(await changes()).same);
    await client.put('/data-layer', { config: { pii_rules: config.pii_rules } });
  });

  test('the facts of a request are shown as the privacy rules leave them', async () => {
    const { config } = await client.get('/data-layer');
    const { key } = await pipelineTo(client, receiver.url);
    const requestOf = async (id: string) => {
      await fetch(`${service.url}/v1/t`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          'user-agent': 'Shop/1.0',
          'sec-gpc': '1',
          cookie: '_fbp=fb.1.2.3; session=private',
        },
        body: JSON.stringify({ type: 'track', event: 'Facts', messageId: id }),
      });
      return await until('the trace', async () => {
        const { status, body } = await client.call('GET', `/events/${id}`);
        return status === 200 && (body.request as unknown as object);
      });
    };
    expect(await requestOf('facts-1')).toMatchObject({
      source: 'browser',
      bytes: JSON.stringify({ type: 'track', event: 'Facts', messageId: 'facts-1' }).length,
      headers: { 'user-agent': 'Shop/1.0', 'sec-gpc': '1' },
      cookies: ['_fbp'],
    });
    await client.put('/data-layer', {
      config: { pii_rules: { ...config.pii_rules, ip: 'drop', fields: [{ path: 'context.user_agent', action: 'drop' }] } },
    });
    const hidden = await requestOf('facts-2');
    await client.put('/data-layer', { config: { pii_rules: config.pii_rules } });
    expect(hidden).toMatchObject({ source: 'browser', headers: { 'sec-gpc': '1' } });
    expect(JSON.stringify(hidden)).not.toMatch(/Shop|127\.0|private/);
  });

  test('the counters of every integration add up', async () => {
    const sum = (counts: Record<string, number>) => Object.values(counts).reduce((a, b) => a + b, 0);
    const failing = await startReceiver();
    failing.answer((request) => ({ status: request.body.includes('"n":3') ? 400 : 200 }));
    const { pipeline, integration, key } = await pipelineTo(client, failing.url, {
      integration: { event_filter: { event_names: ['Yes'] } },
    });
    for (let n = 0; n < 10; n++)
      await send(service, key, '/v1/t', { type: 'track', event: n % 2 ? 'Yes' : 'No', messageId: `stat-${n}`, properties: { n } });
    await send(service, key, '/v1/t', { type: 'track', event: 'Yes', messageId: 'stat-1' });
    await send(service, key, '/v1/t', { type: 'track', messageId: 'stat-broken' });
    const stats = await until('ten settled events', async () => {
      const found = await client.get(`/stats?integration_id=${integration.id}`);
      const { received, delivered, dead_lettered, duplicates, rejected } = found.totals;
      // `waiting` drops to 0 a moment before the outcomes are recorded, so both are checked.
      const done = delivered + sum(found.totals.dropped) + dead_lettered;
      return received === 10 && done >= 10 && duplicates === 1 && rejected === 1 && found.waiting === 0 && found;
    });
    expect(stats.totals).toMatchObject({
      received: 10,
      processed: 10,
      delivered: 4,
      dropped: { event_filtered: 5 },
      dead_lettered: 1,
      duplicates: 1,
      rejected: 1,
    });
    const { received, delivered, dropped, dead_lettered } = stats.totals;
    expect(received).toBe(delivered + sum(dropped) + dead_lettered + stats.waiting);
    expect((await client.get(`/stats?pipeline_id=${pipeline.id}&interval=minute`)).series.length).toBeGreaterThan(0);
    await failing.close();
  });

  test('an event that failed in processing and is replayed was received once, and its delivery is one of a replay', async () => {
    const { pipeline, integration, key } = await pipelineTo(client, receiver.url);
    const code = "function transform(event) { if (event.event === 'Broken') throw new Error('broken'); return event; }";
    const path = `/pipelines/${pipeline.id}/transformations` as const;
    const { id } = await client.post(path, { name: 'Code', kind: 'code', code });
    for (const event of ['Broken', 'Whole', 'Broken'])
      await send(service, key, '/v1/t', { type: 'track', event, messageId: `again-${event}-${Math.random()}` });
    const totals = async () => (await client.get(`/stats?integration_id=${integration.id}`)).totals;
    await until('the failures', async () => (await totals()).dead_lettered === 2 && (await totals()).delivered === 1);
    await client.put(`${path}/${id}`, { enabled: false });
    expect((await client.post('/dlq/replay', { pipeline_id: pipeline.id })).replayed).toBe(2);
    await until('the deliveries', async () => (await totals()).replayed === 2);
    expect(await totals()).toMatchObject({ received: 3, delivered: 1, dead_lettered: 2, dead_lettered_again: 0 });
    expect((await client.get(`/events?pipeline_id=${pipeline.id}&delivery=delivered`)).total).toBe(3);
  });

  test('history replay delivers retained events to one integration only', async () => {
    const { pipeline, key } = await pipelineTo(client, receiver.url);
    const before = new Date(Date.now() - 1_000).toISOString();
    for (const n of [1, 2, 3]) await send(service, key, '/v1/t', { type: 'track', event: `E${n}`, messageId: `history-${n}` });
    await until(
      'the first deliveries',
      () => receiver.events().filter((event) => String(event.event_id).startsWith('history-')).length === 3,
    );
    const late = await startReceiver();
    const integration = await client.post('/integrations', {
      source_id: pipeline.id,
      vendor: 'webhook',
      name: 'Late',
      config: { url: late.url },
    });
    const path = `/pipelines/${pipeline.id}/integrations/${integration.id}/replay`;
    const range = { from: before, to: new Date(Date.now() + 1_000).toISOString() };
    expect(await client.call('POST', path, { ...range, dry_run: true })).toMatchObject({ status: 202, body: { replayed: 3 } });
    expect(await client.call('POST', path, { ...range, event_names: ['E1', 'E3'] })).toMatchObject({ status: 202, body: { replayed: 2 } });
    await until('two replayed events', () => late.requests.length === 2);
    expect(
      late
        .events()
        .map((event) => event.event_id)
        .sort(),
    ).toEqual(['history-1', 'history-3']);
    expect(receiver.events().filter((event) => String(event.event_id).startsWith('history-'))).toHaveLength(3);
    await late.close();
  });

  test('a history replay applies the consent gate and the event filter again', async () => {
    const gated = await startReceiver();
    const { pipeline, integration, key } = await pipelineTo(client, gated.url, {
      integration: { consent_category: 'marketing', event_filter: { event_names: ['Wanted'] } },
    });
    const granted = { consent: { categories: { marketing: true } } };
    await send(service, key, '/v1/t', { type: 'track', event: 'Wanted', messageId: 'gate-denied' });
    await send(service, key, '/v1/t', { type: 'track', event: 'Unwanted', messageId: 'gate-filtered', context: granted });
    await send(service, key, '/v1/t', { type: 'track', event: 'Wanted', messageId: 'gate-granted', context: granted });
    await until('the event with consent', () => gated.requests.length === 1);
    // Events of different visitors are processed in any order.
    const drops = async (id: string) => {
      const { status, body } = await client.call('GET', `/events/${id}?pipeline_id=${pipeline.id}`);
      return status === 200 ? body.steps.filter(({ stage }: Loose) => stage === 'dropped').length : 0;
    };
    const dropped = ['gate-denied', 'gate-filtered'];
    for (const id of dropped) await until(`${id} dropped`, async () => (await drops(id)) === 1);
    const range = { from: new Date(Date.now() - 60_000).toISOString(), to: new Date(Date.now() + 1_000).toISOString() };
    const path = `/pipelines/${pipeline.id}/integrations/${integration.id}/replay`;
    expect(await client.call('POST', path, range)).toMatchObject({ status: 202, body: { replayed: 3 } });
    await until('the replayed event', () => gated.requests.length === 2);
    for (const id of dropped) await until(`${id} dropped twice`, async () => (await drops(id)) === 2);
    expect(gated.events().map((event) => event.event_id)).toEqual(['gate-granted', 'gate-granted']);
    await gated.close();
  });
});

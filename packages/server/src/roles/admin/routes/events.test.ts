import type { DeadLetter, Outcome } from '@firsthand/core/outcome/outcome.ts';
import { expect, onTestFinished, test, vi } from 'vitest';
import { encodeEventRecord, eventRecordId, eventsTopic } from '../../../event-record.ts';
import { LogUnavailable } from '../../../stores/event-log/port.ts';
import { type About, aboutEvent, aDeadLetter, attempt, iso, LATER, newIntegration, T0 } from '../testing/outcomes.ts';
import { onStory } from '../testing/story.ts';

onStory('events', (story) => {
  test('@page finds screens too and @screen only those, as filters do; so do @identify and @alias', async () => {
    const { pipeline } = await newIntegration(story);
    const kinds: [id: string, more: Partial<About>][] = [
      ['a-page', { type: 'page' }],
      ['a-screen', { type: 'page', original_type: 'screen' }],
      ['an-identify', { type: 'identify' }],
      ['an-alias', { type: 'identify', original_type: 'alias' }],
    ];
    const processed = kinds.map(([id, more], n): Outcome => {
      const { event: _event, ...of } = aboutEvent(story, pipeline, id, more);
      return { kind: 'processed', received_at: T0 - n, decisions: [], ...of };
    });
    await story.record(...processed);
    const found = async (event: string) => (await story.got(`events?pipeline_id=${pipeline}&event=${event}`)).events;
    expect((await found('@page')).map(({ event_id }) => event_id)).toEqual(['a-page', 'a-screen']);
    expect(await found('@screen')).toMatchObject([{ event_id: 'a-screen', type: 'page', original_type: 'screen' }]);
    expect((await found('@identify')).map(({ event_id }) => event_id)).toEqual(['an-identify', 'an-alias']);
    expect(await found('@alias')).toMatchObject([{ event_id: 'an-alias', type: 'identify', original_type: 'alias' }]);
  });

  test('a page of large events ends at 2 MB, and its cursor continues after the last one', async () => {
    const { pipeline } = await newIntegration(story);
    const { log } = story.harness.operations;
    const ids = Array.from({ length: 7 }, (_, n) => `large-${n}`);
    for (const [n, event_id] of ids.entries()) {
      const event = { event_id, type: 'track', event: 'Large', timestamp: iso(T0), context: {}, properties: { text: 'x'.repeat(800_000) } };
      const meta = { received_at: T0, org_id: story.org.org_id, pipeline_id: pipeline };
      const data = encodeEventRecord(meta, event as Parameters<typeof encodeEventRecord>[1]);
      const [stored] = await log.append([{ topic: eventsTopic(pipeline), records: [{ id: eventRecordId(pipeline, event_id), data }] }]);
      const position = stored?.positions[0];
      const of = aboutEvent(story, pipeline, event_id, { event: 'Large' });
      await story.record({
        kind: 'processed',
        received_at: T0 - n,
        decisions: [],
        ...(position !== undefined && { stored: position }),
        ...of,
      });
    }
    const seen: string[] = [];
    const sizes: number[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await story.got(`events?pipeline_id=${pipeline}&limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`);
      sizes.push(page.events.length);
      for (const each of page.events) {
        expect((each.event as unknown as { properties: { text: string } }).properties.text).toHaveLength(800_000);
        seen.push(each.event_id as unknown as string);
      }
      cursor = page.next_cursor as unknown as string | null;
    }
    expect(seen).toEqual(ids);
    expect(sizes).toEqual([2, 2, 2, 1]);
  });

  test('are listed and explained from their traces while the event log cannot be read', async () => {
    const { pipeline } = await newIntegration(story);
    const { log } = story.harness.operations;
    const event = { event_id: 'away', type: 'track', event: 'Order Completed', timestamp: iso(T0), context: {}, properties: {} };
    const meta = { received_at: T0, org_id: story.org.org_id, pipeline_id: pipeline };
    const data = encodeEventRecord(meta, event as Parameters<typeof encodeEventRecord>[1]);
    const [stored] = await log.append([{ topic: eventsTopic(pipeline), records: [{ id: eventRecordId(pipeline, 'away'), data }] }]);
    await story.record({
      kind: 'processed',
      received_at: T0,
      decisions: [],
      stored: stored!.positions[0]!,
      ...aboutEvent(story, pipeline, 'away'),
    });
    expect(await story.got('events/away')).toMatchObject({ log_available: true, event: { event_id: 'away' } });
    const get = vi.spyOn(log, 'getMany').mockRejectedValue(new LogUnavailable('away'));
    onTestFinished(() => get.mockRestore());
    expect(await story.got('events/away')).toMatchObject({
      event_id: 'away',
      log_available: false,
      event: null,
      received: null,
      request: null,
      status: 'processed',
      steps: [{ stage: 'received' }, { stage: 'processed' }],
      deliveries: [{ status: 'not_routed' }],
    });
    const { events } = await story.got(`events?pipeline_id=${pipeline}`);
    expect(events).toMatchObject([{ event_id: 'away', event: null, deliveries: [{ status: 'not_routed' }] }]);
  });

  test('are listed newest first by pipeline, name and person', async () => {
    const { pipeline, integration } = await newIntegration(story);
    const of = (id: string, more: Partial<About>) => aboutEvent(story, pipeline, id, more);
    await story.record(
      { kind: 'processed', received_at: T0, decisions: [], ...of('e1', { user_id: 'u1' }) },
      { kind: 'processed', received_at: T0 + 1, decisions: [], ...of('e2', { type: 'page', event: 'Home', user_id: 'u1' }) },
      { kind: 'dropped', reason: 'bot', received_at: T0 + 2, ...of('e3', { event: 'Other', user_id: 'u2' }) },
    );
    const ids = async (query: string) => (await story.got(`events?pipeline_id=${pipeline}${query}`)).events.map(({ event_id }) => event_id);
    expect(await ids('')).toEqual(['e3', 'e2', 'e1']);
    expect(await ids('&event=Order%20Completed')).toEqual(['e1']);
    expect(await ids('&event=@page')).toEqual(['e2']);
    expect(await ids('&event=@screen')).toEqual([]);
    expect(await ids('&user_id=u1')).toEqual(['e2', 'e1']);
    expect(await ids('&user_id=u1&event=Other')).toEqual([]);
    const page = await story.got(`events?pipeline_id=${pipeline}&limit=1&offset=2`);
    expect([page.events.length, page.total, page.limit, page.offset]).toEqual([1, 3, 1, 2]);
    expect(page.events[0]).toEqual({
      event_id: 'e1',
      pipeline_id: pipeline,
      type: 'track',
      original_type: null,
      event_name: 'Order Completed',
      user_id: 'u1',
      anonymous_id: null,
      received_at: iso(T0),
      processed_at: iso(T0),
      status: 'processed',
      reason: null,
      source: null,
      webhook_source_id: null,
      event: null,
      deliveries: [{ integration_id: integration, status: 'not_routed', reason: null }],
    });
    expect((await story.got('events?limit=101')).limit).toBe(100);
    expect(await story.refusal('GET', 'events?limit=all')).toEqual([422, 'VALIDATION_ERROR', 'limit']);
    expect((await story.stranger('GET', `events?pipeline_id=${pipeline}`)).body.total).toBe(0);
    expect((await (await story.as('viewer'))('GET', 'events')).status).toBe(200);
  });

  test('are found by the endpoint or the webhook source that took them', async () => {
    const { pipeline } = await newIntegration(story);
    const processed = (event_id: string, of: Partial<Outcome>) =>
      ({ kind: 'processed', received_at: T0, decisions: [], ...aboutEvent(story, pipeline, event_id), ...of }) as Outcome;
    await story.record(
      processed('of-a-page', { source: 'browser' }),
      processed('of-a-server', { source: 'server' }),
      processed('of-shopify', { webhook_source_id: 'whs_shopify' }),
    );
    const found = async (by: string) =>
      (await story.got(`events?pipeline_id=${pipeline}&${by}`)).events.map(({ event_id, source, webhook_source_id }) => [
        event_id,
        source,
        webhook_source_id,
      ]);
    expect(await found('source=browser')).toEqual([['of-a-page', 'browser', null]]);
    expect(await found('source=server')).toEqual([['of-a-server', 'server', null]]);
    const shopify = [['of-shopify', 'webhook', 'whs_shopify']];
    expect([await found('source=webhook'), await found('webhook_source_id=whs_shopify')]).toEqual([shopify, shopify]);
    expect(await found('webhook_source_id=whs_other')).toEqual([]);
    expect(await story.refusal('GET', 'events?source=carrier-pigeon')).toEqual([422, 'VALIDATION_ERROR', 'source']);
    for (const by of ['source=browser', 'webhook_source_id=whs_1'])
      expect(await story.refusal('GET', `events?status=rejected&${by}`)).toEqual([422, 'VALIDATION_ERROR', by.split('=')[0]]);
    const { totals } = await story.got(`stats?pipeline_id=${pipeline}&from=${iso(T0)}&to=${iso(T0)}`);
    expect(totals.received_by_source).toEqual({ browser: 1, server: 1, whs_shopify: 1 });
  });

  test('are listed with their result at each integration, and found by it', async () => {
    const { pipeline, integration } = await newIntegration(story);
    const to = { integration_id: integration };
    const of = (id: string, after = 0) => aboutEvent(story, pipeline, id, { at: LATER + after });
    await story.record(
      ...['v1', 'v2', 'v3', 'v4'].map((id, n): Outcome => ({ kind: 'processed', received_at: LATER + n, decisions: [], ...of(id) })),
      { kind: 'retrying', ...to, attempt: attempt(503, 'http_503'), due_at: LATER, ...of('v1', 1) },
      { kind: 'delivered', ...to, attempt: attempt(200), received_at: LATER, duration_ms: 40, ...of('v1', 2) },
      { kind: 'retrying', ...to, attempt: attempt(503, 'http_503'), due_at: LATER, ...of('v2', 1) },
      { kind: 'dropped', reason: 'consent_not_granted', ...to, received_at: LATER, ...of('v3', 1) },
    );
    const found = async (query: string) =>
      (await story.got(`events?pipeline_id=${pipeline}&${query}`)).events.map((event) => [
        event.event_id,
        ...('deliveries' in event ? event.deliveries.map(({ status }) => status) : []),
      ]);
    const all = [
      ['v4', 'waiting'],
      ['v3', 'dropped'],
      ['v2', 'retrying'],
      ['v1', 'delivered'],
    ];
    expect(await found('')).toEqual(all);
    expect(await found('delivery=delivered'), 'the last step counts').toEqual([all[3]]);
    expect(await found('delivery=retrying')).toEqual([all[2]]);
    expect(await found('delivery=failed'), 'also where a later attempt succeeded').toEqual([all[2], all[3]]);
    expect(await found(`delivery=failed&integration_id=${integration}`)).toEqual([all[2], all[3]]);
    expect(await found('delivery=failed&integration_id=int_nobody')).toEqual([]);
    expect(await found('delivery=waiting'), 'not tried yet, or to be tried again').toEqual([all[0], all[2]]);
    expect(await found(`delivery=waiting&integration_id=${integration}`)).toEqual([all[0], all[2]]);
    expect(await found('delivery=waiting&integration_id=int_nobody')).toEqual([]);
    expect(await found(`delivery=not_delivered&integration_id=${integration}`)).toEqual([all[1], all[2]]);
    expect(await found('integration_id=int_nobody')).toEqual([]);
    expect(await found('reason=consent_not_granted')).toEqual([all[1]]);
    expect(await found(`from=${iso(LATER + 1)}&to=${iso(LATER + 2)}`)).toEqual([all[1], all[2]]);
    expect(await story.refusal('GET', 'events?delivery=lost')).toEqual([422, 'VALIDATION_ERROR', 'delivery']);
    await story.record({ kind: 'dropped', reason: 'bot', received_at: LATER + 9, ...of('v5', 9) });
    expect(await found('delivery=dropped'), 'as the statistics count them: also before routing').toEqual([['v5', 'dropped'], all[1]]);
    expect(await found(`delivery=dropped&integration_id=${integration}`)).toEqual([['v5', 'dropped'], all[1]]);
    expect(await found('delivery=dropped&integration_id=int_nobody')).toEqual([]);
    // The list shows this result at the integration, and its statistics count it, but no filter found it there.
    const failed: DeadLetter = {
      ...aDeadLetter(story, { pipeline, integration, event_id: 'v6', at: LATER + 10 }),
      integration_id: null,
      stage: 'processing',
    };
    await story.record({ kind: 'dead_lettered', dead_letter: failed, received_at: LATER + 10, ...of('v6', 10) });
    for (const query of ['', `&integration_id=${integration}`]) {
      expect(await found(`delivery=dead_lettered${query}`)).toEqual([['v6', 'dead_lettered']]);
      const notDelivered = [['v6', 'dead_lettered'], ['v5', 'dropped'], all[1], all[2]];
      expect(await found(`delivery=not_delivered${query}`)).toEqual(notDelivered);
    }
    const time = `outcome_from=${iso(LATER)}&outcome_to=${iso(LATER + 10)}`;
    const counted = await story.got(`events?pipeline_id=${pipeline}&delivery=dead_lettered&integration_id=${integration}&${time}`);
    const { totals } = await story.got(`stats?integration_id=${integration}&from=${iso(LATER)}&to=${iso(LATER + 10)}`);
    expect([counted.total, counted.outcomes, totals.dead_lettered]).toEqual([1, 1, 1]);
    for (const delivery of ['dead_lettered', 'not_delivered'])
      expect(await found(`delivery=${delivery}&integration_id=int_nobody`)).toEqual([]);
  });

  test('that wait are searched no further back than the backlog', async () => {
    const { pipeline, integration } = await newIntegration(story);
    const { log } = story.harness.operations;
    const topic = eventsTopic(pipeline);
    const group = { start: 'beginning' as const, maxInFlight: 1, maxBatch: 1 };
    const held = log.consume(topic, integration, group, async () => undefined);
    await held.started;
    const waiting = async () => (await story.got(`events?pipeline_id=${pipeline}&delivery=waiting`)).events.map(({ event_id }) => event_id);
    const meta = { received_at: LATER, org_id: story.org.org_id, pipeline_id: pipeline };
    const event = { event_id: 'in-the-backlog', type: 'track' as const, timestamp: iso(LATER), context: {} };
    await log.append([{ topic, records: [{ id: `${pipeline}.in-the-backlog`, data: encodeEventRecord(meta, event) }] }]);
    const { oldest = 0 } = await log.lag(topic, integration);
    const processed = (event_id: string, at: number): Outcome => ({
      kind: 'processed',
      received_at: LATER,
      decisions: [],
      ...aboutEvent(story, pipeline, event_id, { at }),
    });
    // Its integration was added later, so only a step shows that it waits.
    const retrying = { integration_id: integration, attempt: attempt(503, 'http_503'), due_at: LATER };
    await story.record(
      processed('long-before', oldest - 60_000),
      { kind: 'retrying', ...retrying, ...aboutEvent(story, pipeline, 'long-before', { at: oldest }) },
      processed('in-the-backlog', oldest),
    );
    expect(await waiting()).toEqual(['in-the-backlog']);
    await held.stop();
    await log.remove(topic);
    expect(await waiting(), 'without a group it is not known').toEqual(['long-before', 'in-the-backlog']);
    const started = log.consume(topic, integration, group, async () => undefined);
    await started.started;
    expect(await waiting(), 'without a backlog').toEqual([]);
    await started.stop();
  });

  test('that violated the tracking plan are found, whatever the plan does with them', async () => {
    const { pipeline } = await newIntegration(story);
    const decided = (result: 'flagged' | 'allowed' | 'dropped') => [{ step: 'tracking_plan', result } as const];
    await story.record(
      { kind: 'processed', received_at: T0, decisions: [], ...aboutEvent(story, pipeline, 'fits') },
      { kind: 'processed', received_at: T0 + 1, decisions: decided('flagged'), ...aboutEvent(story, pipeline, 'flagged') },
      { kind: 'processed', received_at: T0 + 2, decisions: decided('allowed'), ...aboutEvent(story, pipeline, 'allowed') },
      { kind: 'dropped', reason: 'tracking_plan', received_at: T0 + 3, ...aboutEvent(story, pipeline, 'dropped') },
    );
    const ids = async (query: string) =>
      (await story.got(`events?pipeline_id=${pipeline}&${query}`)).events.map(({ event_id }) => event_id);
    expect(await ids('plan_violation=true')).toEqual(['dropped', 'allowed', 'flagged']);
    expect(await ids('plan_violation=true&status=processed')).toEqual(['allowed', 'flagged']);
    expect(await ids('plan_violation=false')).toEqual(['dropped', 'allowed', 'flagged', 'fits']);
    expect(await story.refusal('GET', 'events?plan_violation=maybe')).toEqual([422, 'VALIDATION_ERROR', 'plan_violation']);
    const refused = await story.refusal('GET', 'events?status=rejected&plan_violation=true');
    expect(refused).toEqual([422, 'VALIDATION_ERROR', 'plan_violation']);
  });

  test('dropped events of an integration are those that its statistics count, also before routing, since it was added', async () => {
    const { pipeline, integration } = await newIntegration(story);
    const { created_at } = await story.got(`pipelines/${pipeline}/integrations/${integration}`);
    const added = Date.parse(String(created_at));
    const dropped = (id: string, at: number, more: object = {}) =>
      ({ kind: 'dropped', reason: 'bot', received_at: at, ...aboutEvent(story, pipeline, id, { at }), ...more }) as Outcome;
    await story.record(
      dropped('before-it-was-added', added - 120_000),
      dropped('before-routing', added + 60_000),
      dropped('at-the-integration', added + 60_001, { integration_id: integration, reason: 'consent_not_granted' }),
    );
    await story.record({
      kind: 'processed',
      received_at: added + 60_001,
      decisions: [],
      ...aboutEvent(story, pipeline, 'at-the-integration', { at: added + 60_001 }),
    });
    const range = `integration_id=${integration}&from=${iso(added - 3_600_000)}&to=${iso(added + 3_600_000)}`;
    const { totals } = await story.got(`stats?${range}`);
    expect(totals.dropped).toEqual({ bot: 1, consent_not_granted: 1 });
    const { events, total } = await story.got(`events?${range}&delivery=dropped`);
    expect([total, events.map(({ event_id }) => event_id)]).toEqual([2, ['at-the-integration', 'before-routing']]);
  });

  test('are listed by the time of an outcome, as many as the statistics count', async () => {
    const { pipeline, integration } = await newIntegration(story);
    const other = (
      await story.made('integrations', {
        source_id: pipeline,
        vendor: 'webhook',
        name: 'Second',
        config: { url: 'https://hooks.example/two' },
      })
    ).id;
    const [HOUR, at] = [3_600_000, LATER];
    const processed = (id: string, received_at: number): Outcome => ({
      kind: 'processed',
      received_at,
      decisions: [],
      ...aboutEvent(story, pipeline, id, { at: received_at }),
    });
    const delivered = (id: string, when: number, to: string, more: { replay?: true } = {}): Outcome => ({
      ...{ kind: 'delivered', integration_id: to, attempt: attempt(200), received_at: at, duration_ms: 40 },
      ...aboutEvent(story, pipeline, id, { at: when }),
      ...more,
    });
    const dropped = (id: string, when: number, more: { replay?: true } = {}): Outcome => ({
      ...{ kind: 'dropped', reason: 'event_filtered', integration_id: integration, received_at: at + 5 },
      ...aboutEvent(story, pipeline, id, { at: when }),
      ...more,
    });
    await story.record(
      // Received before the hour and delivered in it, to both; once more by a replay.
      processed('late', at - HOUR),
      delivered('late', at + 1, integration),
      delivered('late', at + 2, other),
      delivered('late', at + 3, other, { replay: true }),
      // Received in the hour and delivered after it.
      processed('too-late', at + 4),
      delivered('too-late', at + 2 * HOUR, integration),
      // Dropped at one integration, there again by a replay, and as a whole.
      processed('unwanted', at + 5),
      dropped('unwanted', at + 6),
      dropped('unwanted', at + 8, { replay: true }),
      { kind: 'dropped', reason: 'bot', received_at: at - 1, ...aboutEvent(story, pipeline, 'a-bot', { at: at + 7 }) },
    );
    const time = `outcome_from=${iso(at)}&outcome_to=${iso(at + HOUR - 1)}`;
    const listed = async (query: string) => {
      const { events, total, outcomes } = await story.got(`events?pipeline_id=${pipeline}&${time}&${query}`);
      return [events.map(({ event_id }) => event_id), total, outcomes];
    };
    expect(await listed('delivery=delivered')).toEqual([['late'], 1, 3]);
    expect(await listed(`delivery=delivered&integration_id=${other}`)).toEqual([['late'], 1, 2]);
    expect(await listed('delivery=dropped')).toEqual([['unwanted', 'a-bot'], 2, 3]);
    expect(await listed(`delivery=dropped&integration_id=${other}`)).toEqual([['a-bot'], 1, 1]);
    expect(await listed('reason=bot')).toEqual([['a-bot'], 1, 1]);
    expect(await listed('status=processed')).toEqual([['unwanted', 'too-late'], 2, 2]);
    const { totals } = await story.got(`stats?pipeline_id=${pipeline}&from=${iso(at)}&to=${iso(at + HOUR - 1)}`);
    expect(totals).toMatchObject({ delivered: 2, replayed: 1, processed: 2 });
    expect([totals.dropped, totals.dropped_again]).toEqual([{ bot: 1, event_filtered: 1 }, { event_filtered: 1 }]);
    for (const query of ['', '&delivery=waiting', '&delivery=not_delivered&reason=bot'])
      expect(await story.refusal('GET', `events?${time}${query}`), query).toEqual([422, 'VALIDATION_ERROR', 'delivery']);
    expect(await story.refusal('GET', `events?status=rejected&${time}`)).toEqual([422, 'VALIDATION_ERROR', 'outcome_from']);
    const backwards = `events?delivery=delivered&outcome_from=${iso(at)}&outcome_to=${iso(at - 1)}`;
    expect(await story.refusal('GET', backwards)).toEqual([422, 'VALIDATION_ERROR', 'outcome_to']);
    expect(await story.refusal('GET', 'events?delivery=delivered&outcome_from=noon')).toEqual([422, 'VALIDATION_ERROR', 'outcome_from']);
  });

  // U+0000 was answered 500 on PostgreSQL.
  test.each([
    'x',
    '',
    '1',
    '5 ',
    '5 a\u0000',
    '5 é',
    `5 ${'e'.repeat(256)}`,
    '-5 e',
    '1e3 e',
    '9999999999999999 e',
  ])('the cursor %j is none', async (text) => {
    const cursor = Buffer.from(text).toString('base64url');
    expect(await story.refusal('GET', `events?cursor=${cursor}`)).toEqual([422, 'VALIDATION_ERROR', 'cursor']);
  });

  test('are read page by page with a cursor that new events do not move', async () => {
    const { pipeline } = await newIntegration(story);
    const processed = (id: string, after: number): Outcome => ({
      kind: 'processed',
      received_at: T0 + after,
      decisions: [],
      ...aboutEvent(story, pipeline, id),
    });
    // Two events of the same millisecond: the id decides.
    await story.record(processed('c1', 0), processed('c2', 1), processed('c3', 1), processed('c4', 2));
    const page = (cursor?: unknown) =>
      story.got(`events?pipeline_id=${pipeline}&limit=2${cursor ? `&cursor=${encodeURIComponent(String(cursor))}` : ''}`);
    const first = await page();
    await story.record(processed('c5', 3));
    const second = await page(first.next_cursor);
    const third = await page(second.next_cursor);
    expect([first, second, third].map(({ events }) => events.map(({ event_id }) => event_id))).toEqual([['c4', 'c3'], ['c2', 'c1'], []]);
    expect([first.total, second.total, third.next_cursor]).toEqual([4, undefined, null]);
    for (const cursor of ['x', 'bm9uZQ', '%00'])
      expect(await story.refusal('GET', `events?cursor=${cursor}`), cursor).toEqual([422, 'VALIDATION_ERROR', 'cursor']);
  });
});

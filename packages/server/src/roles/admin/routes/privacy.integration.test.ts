import type { DeadLetter, Outcome } from '@firsthand/core/outcome/outcome.ts';
import { hashPii } from '@firsthand/core/privacy/digest.ts';
import pino from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { deadLetterTopic, eventRecordId, eventsTopic } from '../../../event-record.ts';
import { erasePerson } from '../../../operations/erasure.ts';
import { startEraser } from '../../../outcomes/erasures.ts';
import { newId } from '../../../runtime/ids.ts';
import type { Delivery } from '../../../stores/event-log/port.ts';
import { embeddedLeases } from '../../../stores/leases/embedded.ts';
import { onStory, type Story } from '../testing/story.ts';

const iso = (ms: number) => new Date(ms).toISOString();
let made = 0;

/** An event of that person: processed, and given up by an integration. */
function outcomes(story: Story, pipeline: string, who: { user_id?: string; anonymous_id?: string }): Outcome[] {
  const at = Date.now();
  const event_id = `private-${++made}`;
  const about = { at, org_id: story.org.org_id, pipeline_id: pipeline, event_id, type: 'track' as const, event: 'Seen', ...who };
  const dead_letter: DeadLetter = {
    id: newId('dlq', at),
    org_id: story.org.org_id,
    pipeline_id: pipeline,
    integration_id: 'int_1',
    webhook_source_id: null,
    vendor: 'webhook',
    revision_number: 1,
    event_id,
    stage: 'delivery',
    event: { event_id, type: 'track', event: 'Seen', timestamp: iso(at), context: {}, ...who },
    attempts: [],
    reason: 'http_500',
    created_at: iso(at),
    expires_at: iso(at + 86_400_000),
  };
  return [
    { kind: 'processed', received_at: at, decisions: [], ...about },
    { kind: 'dead_lettered', dead_letter, ...about },
  ];
}

onStory('erasure', (story) => {
  const erase = async (body: object) => {
    const answer = await story.call('POST', 'privacy/erasure', body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.body;
  };
  const left = async (pipeline: string) => [
    (await story.got(`events?pipeline_id=${pipeline}`)).total,
    (await story.got(`dlq?pipeline_id=${pipeline}`)).total,
  ];

  test('of a user removes only their links, sessions, traces and dead letters, including those before the login', async () => {
    const pipeline = (await story.made('pipelines', { name: 'Private' })).id;
    const { visitors } = story.harness.operations;
    const session = { id: 's1', started_at: 1, last_at: 2 };
    await visitors.save(story.org.org_id, [
      ['anon-1', { user_id: 'ada', session }],
      ['anon-2', { user_id: 'ada' }],
      ['anon-3', { user_id: 'bob', session }],
    ]);
    await visitors.save('org_other', [['anon-1', { user_id: 'ada' }]]);
    await story.record(
      ...outcomes(story, pipeline, { user_id: 'ada', anonymous_id: 'anon-1' }),
      ...outcomes(story, pipeline, { anonymous_id: 'anon-2' }),
      ...outcomes(story, pipeline, { user_id: 'bob', anonymous_id: 'anon-3' }),
    );
    const entry = await story.audited(async () =>
      expect(await erase({ user_id: 'ada' })).toMatchObject({ identity_links: 2, sessions: 1, traces: 2, dead_letters: 2 }),
    );
    expect(entry).toMatchObject({ action: 'privacy.erased', changes: { traces: { old: null, new: 2 } } });
    expect(JSON.stringify(entry), 'the log must not remember whom we forgot').not.toContain('ada');
    expect(await left(pipeline)).toEqual([1, 1]);
    expect(await visitors.load(story.org.org_id, ['anon-1', 'anon-2', 'anon-3'])).toEqual([
      undefined,
      undefined,
      { user_id: 'bob', session },
    ]);
    expect(await visitors.load('org_other', ['anon-1'])).toEqual([{ user_id: 'ada' }]);
    expect(await erase({ user_id: 'ada' }), 'a second time there is nothing').toMatchObject({
      identity_links: 0,
      sessions: 0,
      traces: 0,
      dead_letters: 0,
      log_records: 0,
    });
    expect(await erase({ anonymous_id: 'anon-3' })).toMatchObject({ sessions: 1, traces: 1, dead_letters: 1 });
    expect(await left(pipeline)).toEqual([0, 0]);
  });

  test.each(['a\u0000b', '\ud800x', '__proto__'])('takes every id that an event may have: %j', async (user_id) => {
    const pipeline = (await story.made('pipelines', { name: 'Odd ids' })).id;
    const { visitors } = story.harness.operations;
    await visitors.save(story.org.org_id, [[`visitor of ${user_id}`, { user_id }]]);
    await story.record(...outcomes(story, pipeline, { user_id }), ...outcomes(story, pipeline, { user_id: `${user_id}.` }));
    expect(await erase({ user_id })).toMatchObject({ identity_links: 1, traces: 1, dead_letters: 1 });
    expect(await left(pipeline)).toEqual([1, 1]);
    expect(await visitors.load(story.org.org_id, [`visitor of ${user_id}`])).toEqual([undefined]);
  });

  test('takes every id that an event may have: 1,024 characters', async () => {
    const pipeline = (await story.made('pipelines', { name: 'Long ids' })).id;
    const [user_id, anonymous_id] = ['u'.repeat(1_024), 'a'.repeat(1_024)];
    await story.record(...outcomes(story, pipeline, { user_id }), ...outcomes(story, pipeline, { anonymous_id }));
    expect(await erase({ user_id })).toMatchObject({ traces: 1 });
    expect(await erase({ anonymous_id })).toMatchObject({ traces: 1 });
    expect(await story.refusal('POST', 'privacy/erasure', { user_id: `${user_id}u` })).toEqual([422, 'VALIDATION_ERROR', 'user_id']);
  });

  // A statement named each id, and databases take some 32,000 to 65,000: anybody may link that many visitors to a user id.
  test('of a user who was linked to 35,000 visitors', async () => {
    const { visitors } = story.harness.operations;
    const pipeline = (await story.made('pipelines', { name: 'Many visitors' })).id;
    const ids = Array.from({ length: 35_000 }, (_, i) => `many-${i}`);
    for (let from = 0; from < ids.length; from += 5_000)
      await visitors.save(
        story.org.org_id,
        ids.slice(from, from + 5_000).map((id) => [id, { user_id: 'of-many' }]),
      );
    await story.record(...outcomes(story, pipeline, { anonymous_id: ids[34_999]! }));
    expect(await erase({ user_id: 'of-many' })).toMatchObject({ identity_links: 35_000, traces: 1, dead_letters: 1 });
    expect(await left(pipeline)).toEqual([0, 0]);
  });

  test('removes the saved test cases of the person, and those of nobody else', async () => {
    const { visitors } = story.harness.operations;
    await visitors.save(story.org.org_id, [['anon-tess', { user_id: 'tess' }]]);
    const events = {
      'by user': { user_id: 'tess' },
      'before the login': { anonymous_id: 'anon-tess' },
      hashed: { user_id: hashPii('tess') },
      'of another': { user_id: 'tom', anonymous_id: 'tess', properties: { user_id: 'tess' } },
      'of nobody': {},
    };
    for (const [name, who] of Object.entries(events))
      await story.made('test-cases', { name, event: { type: 'track', event: 'Seen', ...who } });
    const stranger = await story.stranger('POST', 'test-cases', { name: 'Theirs', event: { type: 'track', user_id: 'tess' } });
    expect(stranger.status).toBe(201);
    const entry = await story.audited(async () => expect(await erase({ user_id: 'tess' })).toMatchObject({ test_cases: 3 }));
    expect(entry).toMatchObject({ action: 'privacy.erased', changes: { test_cases: { new: 3 } } });
    const left = (await story.got('test-cases')).test_cases.map(({ name }) => name);
    expect(left.toSorted()).toEqual(['of another', 'of nobody']);
    expect((await story.stranger('GET', `test-cases/${stranger.body.id}`)).status).toBe(200);
    expect(await erase({ user_id: 'tess' })).toMatchObject({ test_cases: 0 });
  });

  test('removes the events from the log: as received, processed, replayed and dead, and after their delivery where that still waits', async () => {
    const pipeline = (await story.made('pipelines', { name: 'In the log' })).id;
    const { log } = story.harness.operations;
    const [hers, waiting, his] = ['kim', 'kim', 'leo'].map((user_id) => outcomes(story, pipeline, { user_id }));
    const idsOf = (life: Outcome[] | undefined) => {
      const [processed] = life as [Extract<Outcome, { kind: 'processed' }>, Outcome];
      return { processed, id: eventRecordId(pipeline, processed.event_id) };
    };
    const lives = [hers, waiting, his].map(idsOf);
    const [raw, stored, dead] = [`ingest.${pipeline}`, eventsTopic(pipeline), deadLetterTopic(pipeline)];
    const topics = [raw, stored, `replay.${pipeline}`, dead];
    const recordOf = (topic: string, { id }: { id: string }) =>
      topic.startsWith('replay') ? `${id}#rpl_1` : topic === dead ? `${id}#${pipeline}#dead` : id;
    const appended = await log.append(
      topics.map((topic) => ({ topic, records: lives.map((life) => ({ id: recordOf(topic, life), data: Buffer.from('{}') })) })),
    );
    // An integration that holds the second event.
    const held: Delivery[] = [];
    const options = { start: 'beginning', maxInFlight: 10, maxBatch: 10 } as const;
    const integration = log.consume(stored, 'int_slow', options, async (batch) => {
      held.push(...batch);
      await Promise.all(batch.filter((delivery) => delivery.record.id !== lives[1]?.id).map((delivery) => delivery.ack()));
    });
    onTestFinished(() => integration.stop());
    await expect.poll(async () => (await log.lag(stored, 'int_slow')).waiting).toBe(1);
    for (const [i, life] of [hers, waiting, his].entries()) {
      const { processed } = idsOf(life);
      processed.raw = { topic: raw, position: appended[0]?.positions[i] ?? '' };
      processed.stored = appended[1]?.positions[i] ?? '';
      await story.record(...(life ?? []));
    }
    // As after a restore: a trace of hers whose position is another event's by now.
    const [stray] = outcomes(story, pipeline, { user_id: 'kim' }) as [Extract<Outcome, { kind: 'processed' }>];
    await story.record({
      ...stray,
      raw: { topic: raw, position: appended[0]?.positions[2] ?? '' },
      stored: appended[1]?.positions[2] ?? '',
    });
    const answer = await erase({ user_id: 'kim' });
    expect(answer).toMatchObject({ traces: 3, log_records: 6 });
    expect(Date.parse(String(answer.log_erased_by)) - Date.now()).toBeGreaterThan(0);
    const eraser = startEraser({
      log,
      leases: embeddedLeases(),
      rowWriter: { removeLetters: async () => {} },
      logger: pino({ level: 'silent' }),
    });
    onTestFinished(() => eraser.stop());
    const left = async (topic: string) => {
      const ids: string[] = [];
      for await (const { id } of log.read(topic, { limit: 10 })) ids.push(id);
      return ids;
    };
    const his3 = lives.slice(2);
    for (const topic of topics.filter((name) => name !== stored))
      await expect.poll(() => left(topic), { message: topic }).toEqual(his3.map((life) => recordOf(topic, life)));
    await expect.poll(() => left(stored), { message: 'the one that waits stays' }).toEqual(lives.slice(1).map(({ id }) => id));
  });

  // Its trace names the record of the replay only, so the first one stayed in the log until it expired.
  test('removes an event from the log that failed in processing, was replayed and processed', async () => {
    const pipeline = (await story.made('pipelines', { name: 'Failed at first' })).id;
    const { log } = story.harness.operations;
    const raw = `ingest.${pipeline}`;
    const [processed, given] = outcomes(story, pipeline, { user_id: 'pam' }) as [
      Extract<Outcome, { kind: 'processed' }>,
      Extract<Outcome, { kind: 'dead_lettered' }>,
    ];
    const id = eventRecordId(pipeline, processed.event_id);
    const records = [id, `${id}#dlq_1`, 'of another event'].map((each) => ({ id: each, data: Buffer.from('{}') }));
    const [appended] = await log.append([{ topic: raw, records }]);
    const [first = '', replay = ''] = appended?.positions ?? [];
    const dead_letter = { ...given.dead_letter, integration_id: null, vendor: null, stage: 'processing' as const };
    await story.record({ ...given, received_at: given.at, dead_letter: { ...dead_letter, raw: { topic: raw, position: first } } });
    await story.record({ ...processed, again: true, raw: { topic: raw, position: replay } });
    expect(await erase({ user_id: 'pam' })).toMatchObject({ traces: 1, dead_letters: 1, log_records: 2 });
    const eraser = startEraser({
      log,
      leases: embeddedLeases(),
      rowWriter: { removeLetters: async () => {} },
      logger: pino({ level: 'silent' }),
    });
    onTestFinished(() => eraser.stop());
    const kept = async () => {
      const ids: string[] = [];
      for await (const each of log.read(raw, { limit: 10 })) ids.push(each.id);
      return ids;
    };
    await expect.poll(kept).toEqual(['of another event']);
  });

  test('erases a visitor again that a batch in flight has saved back', async () => {
    const { operations } = story.harness;
    const { visitors } = operations;
    const back: [string, { user_id: string }][] = [['anon-back', { user_id: 'eve' }]];
    await visitors.save(story.org.org_id, back);
    let saves = 1;
    const erased = async (...args: Parameters<typeof visitors.erase>) => {
      const found = await visitors.erase(...args);
      if (found.anonymous_ids.length > 0 && saves-- > 0) await visitors.save(story.org.org_id, back);
      return found;
    };
    await erasePerson({ ...operations, db: story.harness.store.db, visitors: { ...visitors, erase: erased } }, story.org.org_id, {
      user_id: 'eve',
    });
    expect(await visitors.load(story.org.org_id, ['anon-back'])).toEqual([undefined]);
  });

  test('is answered 503 while the log is full, and does not wait for space', async () => {
    const { log } = story.harness.operations;
    const available = vi.spyOn(log, 'available', 'get').mockReturnValue(false);
    const write = vi.spyOn(story.harness.operations.visitors, 'erase').mockReturnValue(new Promise(() => {}));
    onTestFinished(() => void [available, write].map((spy) => spy.mockRestore()));
    expect(await story.refusal('POST', 'privacy/erasure', { user_id: 'kim' })).toEqual([503, 'UNAVAILABLE']);
  });

  test('finds a person whose ids a privacy rule has hashed', async () => {
    const pipeline = (await story.made('pipelines', { name: 'Hashed' })).id;
    const user_id = hashPii('Mia');
    await story.harness.operations.visitors.save(story.org.org_id, [['anon-9', { user_id }]]);
    await story.record(
      ...outcomes(story, pipeline, { user_id, anonymous_id: hashPii('anon-9') }),
      ...outcomes(story, pipeline, { anonymous_id: hashPii('anon-9') }),
      ...outcomes(story, pipeline, { user_id: 'mia' }),
    );
    expect(await erase({ user_id: 'Mia' })).toMatchObject({ identity_links: 1, sessions: 0, traces: 2, dead_letters: 2 });
    expect(await left(pipeline), 'another spelling is another user').toEqual([1, 1]);
  });

  test('erases stored data and reports that earlier events are still being processed', async () => {
    const pipeline = (await story.made('pipelines', { name: 'Behind' })).id;
    await story.record(...outcomes(story, pipeline, { user_id: 'zoe' }));
    const { log } = story.harness.operations;
    const topic = 'ingest.3';
    const options = { start: 'beginning', maxInFlight: 10, maxBatch: 10, ordered: true } as const;
    let settle: (() => void) | undefined;
    const held = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const consumer = log.consume(topic, 'process', options, async (batch) => {
      await held;
      await log.ackAll(batch);
    });
    await log.append([{ topic, records: [{ id: `behind-${++made}`, data: Buffer.from('{}') }] }]);
    const { status, body, headers } = await story.call('POST', 'privacy/erasure', { user_id: 'zoe' });
    expect([status, body.error!.code, headers['retry-after']]).toEqual([503, 'UNAVAILABLE', '10']);
    expect(await left(pipeline)).toEqual([0, 0]);
    const again = story.call('POST', 'privacy/erasure', { user_id: 'zoe' });
    setTimeout(() => settle?.(), 200);
    expect((await again).status).toBe(200);
    await consumer.stop();
  });

  test('by another organisation reaches nothing', async () => {
    const pipeline = (await story.made('pipelines', { name: 'Private too' })).id;
    await story.record(...outcomes(story, pipeline, { user_id: 'eve' }));
    const { status, body } = await story.stranger('POST', 'privacy/erasure', { user_id: 'eve' });
    expect([status, body.traces, body.dead_letters]).toEqual([200, 0, 0]);
    expect(await left(pipeline)).toEqual([1, 1]);
  });

  test.each([
    [{}, [400, 'MISSING_FIELD', 'user_id']],
    [{ user_id: 'a', anonymous_id: 'b' }, [422, 'VALIDATION_ERROR', 'anonymous_id']],
    [{ user_id: '' }, [422, 'VALIDATION_ERROR', 'user_id']],
    [{ user_id: 5 }, [422, 'VALIDATION_ERROR', 'user_id']],
    [{ user_id: 'a', email: 'b' }, [422, 'VALIDATION_ERROR', 'email']],
  ])('of %j is refused', async (body, expected) => {
    expect(await story.refusal('POST', 'privacy/erasure', body)).toEqual(expected);
  });

  test('is for admins', async () => {
    expect(await story.refusal('POST', 'privacy/erasure', { user_id: 'x' }, await story.as('editor'))).toEqual([403, 'FORBIDDEN']);
    expect((await (await story.as('admin'))('POST', 'privacy/erasure', { user_id: 'x' })).status).toBe(200);
  });
});

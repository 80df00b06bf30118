import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { encodeEventRecord, eventRecordId, eventsTopic } from '../../../event-record.ts';
import { createCipher } from '../../../secrets/cipher.ts';
import { sealStoredChannels } from '../../../stores/config/alert-channels.ts';
import { findAlert } from '../../../stores/config/alerts.ts';
import { LogUnavailable } from '../../../stores/event-log/port.ts';
import { embeddedLeases } from '../../../stores/leases/embedded.ts';
import { Evaluator } from '../alerts/evaluator.ts';
import { CALM_CHECKS } from '../alerts/state.ts';
import { SECRET_KEY } from '../testing/harness.ts';
import { about, aDeadLetter, newIntegration } from '../testing/outcomes.ts';
import { type Loose, onStory, type Story } from '../testing/story.ts';

const CIPHER = createCipher(SECRET_KEY);
const WEBHOOK = { type: 'webhook', url: 'http://127.0.0.1:9/alerts' };
const ALERT = { name: 'Orders', kind: 'failing', threshold: 2, window_minutes: 5, channels: [WEBHOOK] };

let received: { type: string; message: string; event_id: string | null; alert: { id: string } }[] = [];
let slackBodies: unknown[] = [];
let status = 200;
const receiver = createServer(async (req, res) => {
  const body = JSON.parse(await text(req));
  if (status === 200) (req.url === '/slack' ? slackBodies : received).push(body);
  res.writeHead(status).end();
});
let url = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
});
afterAll(() => receiver.close());

type Life = ReturnType<typeof about> & { at: number };

/** Evaluated by hand: the interval never ends. */
function evaluator({ harness }: Story, logger = pino({ level: 'silent' })): Evaluator {
  return new Evaluator({
    ...harness.operations,
    db: harness.store.db,
    cipher: CIPHER,
    leases: embeddedLeases(),
    clock: harness.clock,
    logger,
    settings: {
      dataDir: tmpdir(),
      alertIntervalMs: 2_000_000_000,
      baseUrl: 'https://firsthand.example',
      smtpUrl: undefined,
      smtpFrom: 'a@example.com',
    },
  });
}

async function evaluated(checks: Evaluator): Promise<void> {
  await checks.evaluate();
  await checks.announced();
}

onStory('alerts', (story) => {
  test('are created, listed, read, changed and deleted; the audit log and viewers see no channel address', async () => {
    const entry = await story.audited(() => story.made('alerts', ALERT));
    expect(entry).toMatchObject({ action: 'alert.created', changes: { name: { new: 'Orders' } } });
    expect(JSON.stringify(entry)).not.toContain(WEBHOOK.url);
    const [listed] = (await story.got('alerts')).alerts;
    expect(listed).toMatchObject({ ...ALERT, enabled: true, pipeline_id: null, integration_id: null });
    const id = String(listed?.id);
    const viewer = await story.as('viewer');
    expect(JSON.stringify((await viewer('GET', `alerts/${id}`)).body)).not.toContain(WEBHOOK.url);
    expect((await viewer('PUT', `alerts/${id}`, { threshold: 5 })).status).toBe(403);
    expect((await story.call('PUT', `alerts/${id}`, { threshold: 5, enabled: false })).body).toMatchObject({
      threshold: 5,
      enabled: false,
    });
    expect((await story.stranger('GET', `alerts/${id}`)).status).toBe(404);
    expect((await story.call('DELETE', `alerts/${id}`)).status).toBe(204);
    expect(await story.refusal('GET', `alerts/${id}`)).toEqual([404, 'NOT_FOUND']);
  });

  test('addresses are sealed in the store, and a Slack address never reads back; its mask keeps it', async () => {
    const slack = { type: 'slack', url: 'https://hooks.slack.example/services/T0/B0/secret-of-slack' };
    const email = { type: 'email', to: 'oncall@shop.example' };
    const made = await story.made('alerts', { ...ALERT, channels: [slack, WEBHOOK, email] });
    const shown = [{ ...slack, url: '••••lack' }, WEBHOOK, email];
    expect(made.channels).toEqual(shown);
    const { db } = story.harness.store;
    const row = () => db.selectFrom('alerts').selectAll().where('id', '=', String(made.id)).executeTakeFirstOrThrow();
    const stored = JSON.stringify(await row());
    for (const text of ['hooks.slack', '127.0.0.1', 'oncall@shop']) expect(stored).not.toContain(text);
    const opened = async () => (await findAlert({ db, cipher: CIPHER }, story.org.org_id, String(made.id)))?.channels;
    const path = `alerts/${made.id}`;
    expect((await story.put(path, await story.got(path))).channels).toEqual(shown);
    expect(await opened()).toEqual([slack, WEBHOOK, email]);
    expect((await story.put(path, { channels: [email, { ...slack, url: '••••lack' }] })).channels).toEqual([
      email,
      { ...slack, url: '••••lack' },
    ]);
    expect(await opened()).toEqual([email, slack]);
    expect(await story.refusal('PUT', path, { channels: [{ ...slack, url: '••••else' }] })).toEqual([
      422,
      'VALIDATION_ERROR',
      'channels[0].url',
    ]);
    expect(await story.refusal('POST', 'alerts', { ...ALERT, channels: [{ ...slack, url: '••••lack' }] })).toEqual([
      422,
      'VALIDATION_ERROR',
      'channels[0].url',
    ]);
    await story.call('DELETE', path);
  });

  test('the mask of a Slack address cannot become the address of a webhook, which editors read', async () => {
    const slack = { type: 'slack', url: 'https://hooks.slack.example/services/T0/B0/secret-of-slack' };
    const { id } = await story.made('alerts', { ...ALERT, channels: [slack] });
    for (const channels of [
      [{ type: 'webhook', url: '••••lack' }],
      [
        { type: 'slack', url: '••••lack' },
        { type: 'webhook', url: '••••lack' },
      ],
    ])
      expect((await story.refusal('PUT', `alerts/${id}`, { channels })).slice(0, 2)).toEqual([422, 'VALIDATION_ERROR']);
    expect(JSON.stringify(await story.got(`alerts/${id}`))).not.toContain('secret-of-slack');
    await story.call('DELETE', `alerts/${id}`);
  });

  test('channels that the previous release wrote are read, also over sealed ones, and sealed at the next start', async () => {
    const made = await story.made('alerts', ALERT);
    const { db } = story.harness.store;
    const written = [{ type: 'webhook', url: 'http://127.0.0.1:9/from-the-previous-release' }];
    await db
      .updateTable('alerts')
      .set({ channels: JSON.stringify(written) })
      .where('id', '=', String(made.id))
      .execute();
    const path = `alerts/${made.id}`;
    expect((await story.got(path)).channels).toEqual(written);
    await sealStoredChannels(db, CIPHER);
    const { channels } = await db.selectFrom('alerts').select('channels').where('id', '=', String(made.id)).executeTakeFirstOrThrow();
    expect(channels).toBe('[{"type":"webhook","url":"••••ease"}]');
    expect((await story.got(path)).channels).toEqual(written);
    await story.call('DELETE', path);
  });

  test.each([
    [400, 'MISSING_FIELD', 'threshold', { threshold: undefined }],
    [422, 'VALIDATION_ERROR', 'kind', { kind: 'slow' }],
    [422, 'VALIDATION_ERROR', 'window_minutes', { window_minutes: 0 }],
    [422, 'VALIDATION_ERROR', 'threshold', { threshold: -1 }],
    [422, 'VALIDATION_ERROR', 'channels', { channels: [] }],
    [422, 'VALIDATION_ERROR', 'channels[0].url', { channels: [{ type: 'slack' }] }],
    [422, 'VALIDATION_ERROR', 'channels[0].url', { channels: [{ type: 'webhook', url: 'ftp://example.com' }] }],
    [422, 'VALIDATION_ERROR', 'channels[1].to', { channels: [WEBHOOK, { type: 'email', to: 'nobody' }] }],
    [422, 'VALIDATION_ERROR', 'integration_id', { kind: 'silent', integration_id: 'int_x' }],
    [404, 'NOT_FOUND', undefined, { pipeline_id: 'pl_nobody' }],
    [404, 'NOT_FOUND', undefined, { integration_id: 'int_nobody' }],
  ])('answer %i %s at %s', async (expected, code, field, change) => {
    const body = JSON.parse(JSON.stringify({ ...ALERT, ...change }));
    expect(await story.refusal('POST', 'alerts', body)).toEqual([expected, code, ...(field === undefined ? [] : [field])]);
  });

  test('fire at the threshold with the first failing event, tell each channel once, and end after three calm checks', async () => {
    const { pipeline, integration } = await newIntegration(story);
    const alert = await story.made('alerts', {
      ...ALERT,
      kind: 'dead_letters',
      pipeline_id: pipeline,
      integration_id: integration,
      channels: [{ type: 'webhook', url }],
    });
    received = [];
    const checks = evaluator(story);
    const own = () => received.filter((message) => message.alert.id === alert.id);
    const deadLetter = async () => {
      const at = story.harness.clock.now();
      const event = { ...about(story, pipeline), at };
      const dead_letter = aDeadLetter(story, { pipeline, integration, event_id: event.event_id, at });
      await story.record({ kind: 'processed', received_at: at, decisions: [], ...event }, { kind: 'dead_lettered', dead_letter, ...event });
      return event.event_id;
    };
    const first = await deadLetter();
    await evaluated(checks);
    expect(own()).toEqual([]);
    await deadLetter();
    await evaluated(checks);
    await evaluated(checks);
    expect(own()).toMatchObject([
      { type: 'alert.firing', event_id: first, message: expect.stringContaining('2 events became dead letters') },
    ]);
    expect((await story.got('alerts/firing')).alerts).toMatchObject([{ id: alert.id, value: 2, event_id: first }]);
    expect((await story.stranger('GET', 'alerts/firing')).body.alerts).toEqual([]);
    story.harness.clock.advance(6 * 60_000);
    for (let check = 0; check < 4; check++) await evaluated(checks);
    expect(own().map(({ type }) => type)).toEqual(['alert.firing', 'alert.resolved']);
    expect((await story.got('alerts/firing')).alerts).toEqual([]);
    await checks.stop();
  });

  test.each([
    ['disabled and enabled', [{ enabled: false }, { enabled: true }]],
    ['pointed at something else', [{ kind: 'failing' }]],
  ])('an alert that was %s while it fired begins anew', async (_, changes) => {
    const { pipeline, integration } = await newIntegration(story);
    const channels = [{ type: 'webhook', url }];
    const alert = await story.made('alerts', { ...ALERT, kind: 'dead_letters', threshold: 1, pipeline_id: pipeline, channels });
    const at = story.harness.clock.now();
    const event = { ...about(story, pipeline), at };
    const dead_letter = aDeadLetter(story, { pipeline, integration, event_id: event.event_id, at });
    await story.record({ kind: 'processed', received_at: at, decisions: [], ...event }, { kind: 'dead_lettered', dead_letter, ...event });
    const checks = evaluator(story);
    await evaluated(checks);
    for (const change of changes) await story.put(`alerts/${alert.id}`, change);
    await evaluated(checks);
    await evaluated(checks);
    await checks.stop();
    const { message } = (await story.got('alerts/firing')).alerts.find(({ id }: Loose) => id === alert.id) as Loose;
    const told = received.filter((one) => one.alert.id === alert.id);
    expect(told).toMatchObject([{ type: 'alert.firing' }, { type: 'alert.resolved' }, { type: 'alert.firing', message }]);
    await story.call('DELETE', `alerts/${alert.id}`);
  });

  test('an alert whose pipeline is deleted can be disabled, but not given to another that does not exist', async () => {
    const { pipeline } = await newIntegration(story);
    const path = `alerts/${(await story.made('alerts', { ...ALERT, pipeline_id: pipeline })).id}`;
    await story.call('DELETE', `pipelines/${pipeline}`);
    expect((await story.call('PUT', path, { enabled: false })).body).toMatchObject({ enabled: false, pipeline_id: pipeline });
    expect(await story.refusal('PUT', path, { pipeline_id: 'pl_nobody' })).toEqual([404, 'NOT_FOUND']);
    await story.call('DELETE', path);
  });

  test.each([
    ['recorded a moment after it was counted', 0],
    ['rejected in the minute before the one in which it was counted', 500],
  ])('an alert finds its event: %s', async (_, countedLaterMs) => {
    const { pipeline, integration } = await newIntegration(story);
    const alert = await story.made('alerts', {
      ...ALERT,
      kind: 'rejected',
      threshold: 1,
      pipeline_id: pipeline,
      channels: [{ type: 'webhook', url }],
    });
    const own = () => received.filter((message) => message.alert.id === alert.id);
    // The first moment of a minute.
    story.harness.clock.advance(60_000 - (story.harness.clock.now() % 60_000));
    const at = story.harness.clock.now();
    const { org_id, pipeline_id } = about(story, pipeline);
    const checks = evaluator(story);
    await story.record({ kind: 'ingest_counts', at, org_id, pipeline_id, received: 0, duplicates: 0, rejected: { missing_field: 1 } });
    await evaluated(checks);
    expect(own()).toEqual([]);
    const letter = {
      ...aDeadLetter(story, { pipeline, integration, event_id: 'late', at: at - countedLaterMs }),
      integration_id: null,
      stage: 'ingest' as const,
    };
    await story.record({ kind: 'rejected_events', at, org_id, pipeline_id, dropped: 0, letters: [letter] });
    await evaluated(checks);
    await checks.stop();
    expect(own()).toMatchObject([{ type: 'alert.firing', event_id: 'late' }]);
  });

  test('a backlog names the oldest event that waits, and Slack gets the message as text', async () => {
    const { pipeline, integration } = await newIntegration(story);
    const alert = await story.made('alerts', {
      ...ALERT,
      kind: 'backlog',
      pipeline_id: pipeline,
      channels: [
        { type: 'webhook', url },
        { type: 'slack', url: `${url}slack` },
      ],
    });
    const { log } = story.harness.operations;
    const at = Date.now();
    const meta = { received_at: at, org_id: story.org.org_id, pipeline_id: pipeline };
    const [delivered, oldest, next] = [1, 2, 3].map(() => ({ ...about(story, pipeline), at })) as [Life, Life, Life];
    // Appended together: the time alone does not tell which of them waits.
    const records = [delivered, oldest, next].map(({ event_id, type, event }) => ({
      id: eventRecordId(pipeline, event_id),
      data: encodeEventRecord(meta, { event_id, type, event, timestamp: new Date(at).toISOString(), context: {} }),
    }));
    await log.append([{ topic: eventsTopic(pipeline), records }]);
    const consumer = log.consume(
      eventsTopic(pipeline),
      integration,
      { start: 'beginning', maxInFlight: 10, maxBatch: 10 },
      async (batch) => {
        await Promise.all(batch.filter(({ record }) => record.id === records[0]?.id).map((delivery) => delivery.ack()));
      },
    );
    onTestFinished(() => consumer.stop());
    await expect.poll(async () => (await log.lag(eventsTopic(pipeline), integration)).waiting).toBe(2);
    const attempt = { at: new Date(at).toISOString(), status: 200, error: null, duration_ms: 5 };
    await story.record(
      ...[delivered, oldest, next].map((event) => ({ kind: 'processed' as const, received_at: at, decisions: [], ...event })),
      { kind: 'delivered', integration_id: integration, attempt, received_at: at, duration_ms: 5, ...delivered },
    );
    slackBodies = [];
    const checks = evaluator(story);
    await evaluated(checks);
    await checks.stop();
    const link = `https://firsthand.example/events?selected=${oldest.event_id}`;
    const own = received.filter((message) => message.alert.id === alert.id);
    expect(own).toMatchObject([{ type: 'alert.firing', value: 2, event_id: oldest.event_id, link }]);
    const { since } = (await story.got('alerts/firing')).alerts.find(({ id }: Loose) => id === alert.id) as Loose;
    const text = `Alert: Orders\n2 events wait for delivery.\nSince ${since}.\nOldest event: ${oldest.event_id}\n${link}`;
    expect(slackBodies).toEqual([{ text }]);

    // A backlog is told even if the log cannot be read.
    const second = await story.made('alerts', { ...ALERT, kind: 'backlog', pipeline_id: pipeline, channels: [{ type: 'webhook', url }] });
    const read = vi.spyOn(log, 'read').mockImplementation(() => {
      throw new Error('the log cannot be read');
    });
    onTestFinished(() => read.mockRestore());
    const lines: string[] = [];
    const without = evaluator(story, pino({ level: 'warn' }, { write: (line) => void lines.push(line) }));
    await evaluated(without);
    await without.stop();
    expect(received.filter((message) => message.alert.id === second.id)).toMatchObject([
      { type: 'alert.firing', value: 2, event_id: null },
    ]);
    expect(lines).toEqual([expect.stringContaining('oldest waiting event not read')]);
    for (const { id } of [alert, second]) await story.call('DELETE', `alerts/${id}`);
  });

  test('a backlog alert neither ends nor fires while the log cannot say how many events wait', async () => {
    const { pipeline, integration } = await newIntegration(story);
    const { log } = story.harness.operations;
    const backlog = (name: string) =>
      story.made('alerts', { ...ALERT, name, kind: 'backlog', pipeline_id: pipeline, threshold: 2, channels: [{ type: 'webhook', url }] });
    const types = (alert: Loose) => received.filter((message) => message.alert.id === alert.id).map(({ type }) => type);
    const lag = vi
      .spyOn(log, 'lag')
      .mockImplementation(async (_, group) => ({ waiting: group === integration ? 5 : 0, oldest: undefined }));
    onTestFinished(() => lag.mockRestore());
    const before = await backlog('before the outage');
    const checks = evaluator(story);
    await evaluated(checks);
    expect(types(before)).toEqual(['alert.firing']);

    const during = await backlog('during the outage');
    lag.mockRejectedValue(new LogUnavailable('the log is away'));
    for (let n = 0; n <= CALM_CHECKS; n++) await evaluated(checks);
    expect([types(before), types(during)]).toEqual([['alert.firing'], []]);

    lag.mockResolvedValue({ waiting: 0, oldest: undefined });
    for (let n = 0; n < CALM_CHECKS; n++) await evaluated(checks);
    expect([types(before), types(during)]).toEqual([['alert.firing', 'alert.resolved'], []]);
    await checks.stop();
    for (const { id } of [before, during]) await story.call('DELETE', `alerts/${id}`);
  });

  test('a pipeline with events in every minute is not silent at the beginning of the next minute', async () => {
    const { pipeline } = await newIntegration(story);
    const channels = [{ type: 'webhook', url }];
    const alert = await story.made('alerts', {
      ...ALERT,
      kind: 'silent',
      threshold: 1,
      window_minutes: 1,
      pipeline_id: pipeline,
      channels,
    });
    const own = () => received.filter((message) => message.alert.id === alert.id);
    const { clock } = story.harness;
    clock.advance(2 * 60_000 - (clock.now() % 60_000) - 1_000);
    const at = clock.now();
    await story.record({ kind: 'processed', received_at: at, decisions: [], ...about(story, pipeline), at });
    const checks = evaluator(story);
    clock.advance(2_000);
    await evaluated(checks);
    expect(own()).toEqual([]);
    clock.advance(2 * 60_000);
    await evaluated(checks);
    await checks.stop();
    expect(own()).toMatchObject([{ type: 'alert.firing', message: expect.stringContaining('No event arrived') }]);
  });

  test.each(['dead_letters', 'failing'])('%s counts a replay that failed for good', async (kind) => {
    const { pipeline, integration } = await newIntegration(story);
    const channels = [{ type: 'webhook', url }];
    const alert = await story.made('alerts', { ...ALERT, kind, threshold: 1, integration_id: integration, channels });
    const at = story.harness.clock.now();
    const event = { ...about(story, pipeline), at };
    const dead_letter = aDeadLetter(story, { pipeline, integration, event_id: event.event_id, at });
    await story.record({ kind: 'dead_lettered', dead_letter, replay: true, ...event });
    const checks = evaluator(story);
    await evaluated(checks);
    await checks.stop();
    const own = received.filter((message) => message.alert.id === alert.id);
    expect(own).toMatchObject([{ type: 'alert.firing', value: 1, event_id: event.event_id }]);
  });

  test('an event that its processing gave up is a dead letter, but no failed delivery attempt', async () => {
    const { pipeline, integration } = await newIntegration(story);
    const channels = [{ type: 'webhook', url }];
    const scope = { threshold: 1, pipeline_id: pipeline, channels };
    const alerts = [];
    for (const kind of ['dead_letters', 'failing']) alerts.push(await story.made('alerts', { ...ALERT, ...scope, name: kind, kind }));
    const at = story.harness.clock.now();
    const event = { ...about(story, pipeline), at };
    const dead_letter = aDeadLetter(story, { pipeline, integration, event_id: event.event_id, at });
    await story.record({ kind: 'dead_lettered', dead_letter: { ...dead_letter, integration_id: null, stage: 'processing' }, ...event });
    const checks = evaluator(story);
    await evaluated(checks);
    // Without an event to show, an alert fires later.
    story.harness.clock.advance(20_000);
    await evaluated(checks);
    await checks.stop();
    const firing = (await story.got('alerts/firing')).alerts.filter(({ pipeline_id }: Loose) => String(pipeline_id) === pipeline);
    expect(firing.map(({ kind }: Loose) => kind)).toEqual(['dead_letters']);
    for (const { id } of alerts) await story.call('DELETE', `alerts/${id}`);
  });

  test('a channel that is down gets the message later, from another process too', async () => {
    const { pipeline } = await newIntegration(story);
    const alert = await story.made('alerts', {
      ...ALERT,
      kind: 'silent',
      threshold: 0,
      window_minutes: 1,
      pipeline_id: pipeline,
      channels: [{ type: 'webhook', url }],
    });
    const own = () => received.filter((message) => message.alert.id === alert.id);
    story.harness.clock.advance(2 * 60_000);
    status = 503;
    const one = evaluator(story);
    await evaluated(one);
    await one.stop();
    expect(own()).toEqual([]);
    status = 200;
    const another = evaluator(story);
    await evaluated(another);
    await evaluated(another);
    await another.stop();
    expect(own()).toMatchObject([{ type: 'alert.firing', message: expect.stringContaining('No event arrived') }]);
  });

  test('a test message tells what each channel answered', async () => {
    const alert = await story.made('alerts', { ...ALERT, channels: [{ type: 'slack', url }, WEBHOOK] });
    const { results } = (await story.call('POST', `alerts/${alert.id}/test`)).body;
    expect(results).toMatchObject([
      { type: 'slack', ok: true, error: null },
      { type: 'webhook', ok: false, error: expect.any(String) },
    ]);
  });
});

onStory('alerts by e-mail', (story) => {
  test('an e-mail channel without SMTP_URL is accepted; the alert, its test and one log line per firing name the setting', async () => {
    const { pipeline, integration } = await newIntegration(story);
    const channels = [{ type: 'email', to: 'a@example.com' }];
    const alert = await story.made('alerts', { ...ALERT, kind: 'dead_letters', threshold: 1, pipeline_id: pipeline, channels });
    const warnings = [expect.stringContaining('SMTP_URL')];
    expect(alert).toMatchObject({ channels, warnings });
    const path = `alerts/${alert.id}`;
    expect([(await story.got(path)).warnings, (await story.put(path, alert)).warnings]).toEqual([warnings, warnings]);
    expect((await story.got('alerts')).alerts.find(({ id }: Loose) => id === alert.id)).toMatchObject({ warnings });
    expect((await story.made('alerts', ALERT)).warnings, 'other channels need no setting').toEqual([]);
    expect((await story.call('POST', `${path}/test`)).body).toEqual({
      results: [{ type: 'email', ok: false, error: expect.stringContaining('SMTP_URL') }],
    });
    const lines: { alert_id: string; reason: string }[] = [];
    const checks = evaluator(story, pino({ level: 'warn' }, { write: (line) => void lines.push(JSON.parse(line)) }));
    const own = () => lines.filter(({ alert_id }) => alert_id === alert.id).map(({ reason }) => reason);
    for (let firing = 1; firing <= 2; firing++) {
      const at = story.harness.clock.now();
      const event = { ...about(story, pipeline), at };
      const dead_letter = aDeadLetter(story, { pipeline, integration, event_id: event.event_id, at });
      await story.record({ kind: 'processed', received_at: at, decisions: [], ...event }, { kind: 'dead_lettered', dead_letter, ...event });
      for (let check = 0; check < 3; check++) {
        await checks.evaluate();
        story.harness.clock.advance(20_000);
      }
      expect(own(), `firing ${firing}`).toEqual(Array.from({ length: firing }, () => expect.stringContaining('SMTP_URL')));
      story.harness.clock.advance(6 * 60_000);
      for (let check = 0; check < 4; check++) await checks.evaluate();
    }
    await checks.stop();
  });
});

onStory('announcements of alerts', (story) => {
  beforeEach(() => {
    received = [];
  });

  test('slow channels of one organisation delay neither the alerts of another nor a stop', async () => {
    const waiting: (() => void)[] = [];
    const slow = createServer((_req, res) => waiting.push(() => res.end()));
    await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
    const silent = { ...ALERT, kind: 'silent', threshold: 0, window_minutes: 1 };
    const channels = Array.from({ length: 5 }, (_, n) => ({
      type: 'webhook',
      url: `http://127.0.0.1:${(slow.address() as AddressInfo).port}/${n}`,
    }));
    const { pipeline } = await newIntegration(story);
    const slowAlert = await story.made('alerts', { ...silent, pipeline_id: pipeline, channels });
    const other = await story.stranger('POST', 'pipelines', { name: 'Neighbour' });
    const body = { ...silent, pipeline_id: other.body.id, channels: [{ type: 'webhook', url }] };
    const { id } = (await story.stranger('POST', 'alerts', body)).body;
    story.harness.clock.advance(2 * 60_000);
    const checks = evaluator(story);
    await checks.evaluate();
    // Four of five at once.
    await expect.poll(() => waiting.length).toBe(4);
    await expect.poll(() => received.some((message) => message.alert.id === id)).toBe(true);
    // Nobody has answered yet, and a stop does not wait for it.
    await checks.stop();
    expect(waiting).toHaveLength(4);
    for (const answer of waiting) answer();
    slow.closeAllConnections();
    await new Promise((resolve) => slow.close(resolve));
    await story.call('DELETE', `alerts/${slowAlert.id}`);
  });

  test('a secret parameter in the reason of a dead letter reaches neither channels nor the list of firing alerts', async () => {
    const { pipeline, integration } = await newIntegration(story);
    await story.put(`pipelines/${pipeline}`, { parameters: { VENDOR_TOKEN: 'tok-4711-very-secret' } });
    const channels = [{ type: 'webhook', url }];
    const alert = await story.made('alerts', { ...ALERT, kind: 'dead_letters', threshold: 1, pipeline_id: pipeline, channels });
    const at = story.harness.clock.now();
    const event = { ...about(story, pipeline), at };
    const reason = 'http_401 token tok-4711-very-secret is unknown';
    const dead_letter = aDeadLetter(story, { pipeline, integration, event_id: event.event_id, at, reason });
    await story.record({ kind: 'processed', received_at: at, decisions: [], ...event }, { kind: 'dead_lettered', dead_letter, ...event });
    const checks = evaluator(story);
    await evaluated(checks);
    await checks.stop();
    const messages = received.filter((message) => message.alert.id === alert.id);
    expect(messages).toMatchObject([{ message: expect.stringContaining('http_401 token') }]);
    expect(JSON.stringify([messages, await story.got('alerts/firing')])).not.toContain('very-secret');
  });
});

onStory('the window of an alert', (story) => {
  test.each([
    ['across the edge of a minute', [-20_000, 10_000], true],
    ['at the beginning of the minute in which it begins', [-60_000, 10_000], true],
    ['before that minute', [-60_001, 10_000], false],
  ])('a window of a minute counts events %s', async (_, times, fires) => {
    const { pipeline, integration } = await newIntegration(story);
    const channels = [{ type: 'webhook', url }];
    const alert = await story.made('alerts', { ...ALERT, kind: 'dead_letters', window_minutes: 1, pipeline_id: pipeline, channels });
    const { clock } = story.harness;
    clock.advance(60_000 - (clock.now() % 60_000));
    // The clock may be some milliseconds further by now.
    const minute = clock.now() - (clock.now() % 60_000);
    for (const time of times) {
      const at = minute + time;
      const event = { ...about(story, pipeline), at };
      const dead_letter = aDeadLetter(story, { pipeline, integration, event_id: event.event_id, at });
      await story.record({ kind: 'dead_lettered', dead_letter, ...event });
    }
    clock.advance(30_000);
    const checks = evaluator(story);
    await evaluated(checks);
    await checks.stop();
    const own = received.filter((message) => message.alert.id === alert.id);
    expect(own.map(({ type }) => type)).toEqual(fires ? ['alert.firing'] : []);
    await story.call('DELETE', `alerts/${alert.id}`);
  });
});

onStory('ends of alerts', (story) => {
  beforeEach(() => {
    received = [];
  });
  // Each test deletes its alert while it fires.
  afterEach(async () => {
    const checks = evaluator(story);
    await evaluated(checks);
    await checks.stop();
  });

  test.each([
    ['deleted', 'DELETE', undefined],
    ['disabled', 'PUT', { enabled: false }],
    ['changed', 'PUT', { channels: [WEBHOOK] }],
  ])('a channel that was told of an alert is told its end where the alert is %s, also by the next process', async (verb, method, body) => {
    const { pipeline } = await newIntegration(story);
    const channels = [{ type: 'webhook', url }, WEBHOOK];
    const silent = { ...ALERT, kind: 'silent', threshold: 0, window_minutes: 1, pipeline_id: pipeline, channels };
    const alert = await story.made('alerts', silent);
    const { db } = story.harness.store;
    const waiting = async () => JSON.stringify(await db.selectFrom('alert_endings').selectAll().execute());
    story.harness.clock.advance(2 * 60_000);
    const one = evaluator(story);
    await evaluated(one);
    const before = await waiting();
    await story.call(method, `alerts/${alert.id}`, body);
    expect(await waiting()).not.toContain('127.0.0.1');
    status = 503;
    await evaluated(one);
    await one.stop();
    status = 200;
    const another = evaluator(story);
    await evaluated(another);
    await evaluated(another);
    await another.stop();
    const told = received.filter((message) => message.alert.id === alert.id);
    expect(told).toMatchObject([
      { type: 'alert.firing', message: expect.stringContaining('No event arrived') },
      { type: 'alert.resolved', message: expect.stringMatching(`No event arrived .* The alert was ${verb}\\.$`) },
    ]);
    expect(await waiting()).toBe(before);
    await story.call('DELETE', `alerts/${alert.id}`);
  });

  test('an alert that begins anew tells nothing before the end of the earlier occasion was sent', async () => {
    const { pipeline } = await newIntegration(story);
    const silent = { ...ALERT, kind: 'silent', threshold: 0, window_minutes: 1, pipeline_id: pipeline };
    const alert = await story.made('alerts', { ...silent, channels: [{ type: 'webhook', url }] });
    story.harness.clock.advance(2 * 60_000);
    const checks = evaluator(story);
    await evaluated(checks);
    for (const enabled of [false, true]) await story.put(`alerts/${alert.id}`, { enabled });
    status = 503;
    await evaluated(checks);
    status = 200;
    for (let check = 0; check < 3; check++) {
      story.harness.clock.advance(20_000);
      await evaluated(checks);
    }
    await checks.stop();
    const told = received.filter((message) => message.alert.id === alert.id).map(({ type }) => type);
    expect(told).toEqual(['alert.firing', 'alert.resolved', 'alert.firing']);
    await story.call('DELETE', `alerts/${alert.id}`);
  });

  test('an alert that is deleted while its message is being sent is ended as well', async () => {
    const { pipeline } = await newIntegration(story);
    const silent = { ...ALERT, kind: 'silent', threshold: 0, window_minutes: 1, pipeline_id: pipeline };
    const alert = await story.made('alerts', { ...silent, channels: [{ type: 'webhook', url }] });
    story.harness.clock.advance(2 * 60_000);
    const { client } = story.harness.operations;
    const original = client.send.bind(client);
    const send = vi.spyOn(client, 'send').mockImplementation(async (...args) => {
      // Ends of other tests' alerts are sent too.
      if (String(args[0].body).includes(`${alert.id}`)) await story.call('DELETE', `alerts/${alert.id}`);
      return await original(...args);
    });
    onTestFinished(() => send.mockRestore());
    const checks = evaluator(story);
    await evaluated(checks);
    await evaluated(checks);
    await checks.stop();
    const told = received.filter((message) => message.alert.id === alert.id).map(({ type }) => type);
    expect(told).toEqual(['alert.firing', 'alert.resolved']);
  });

  test('an end that cannot be read keeps no alert of anybody from being evaluated', async () => {
    const { pipeline } = await newIntegration(story);
    const { db } = story.harness.store;
    const row = {
      alert_id: 'alr_damaged',
      channel: 'x',
      org_id: story.org.org_id,
      sealed: 'damaged',
      created_at: '2999-01-01T00:00:00.000Z',
    };
    await db.insertInto('alert_endings').values(row).execute();
    onTestFinished(async () => void (await db.deleteFrom('alert_endings').where('alert_id', '=', row.alert_id).execute()));
    const silent = { ...ALERT, kind: 'silent', threshold: 0, window_minutes: 1, pipeline_id: pipeline };
    const alert = await story.made('alerts', { ...silent, channels: [{ type: 'webhook', url }] });
    story.harness.clock.advance(2 * 60_000);
    const checks = evaluator(story);
    await evaluated(checks);
    await checks.stop();
    expect(received.filter((message) => message.alert.id === alert.id)).toMatchObject([{ type: 'alert.firing' }]);
    await story.call('DELETE', `alerts/${alert.id}`);
  });
});

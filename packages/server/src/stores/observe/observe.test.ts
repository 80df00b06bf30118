import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DeadLetter, Outcome } from '@firsthand/core/outcome/outcome.ts';
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onBothEngines } from '../../../test/servers/both-engines.ts';
import { tally } from '../../outcomes/tally.ts';
import {
  countDeadLetters,
  deleteDeadLetter,
  findDeadLetter,
  findRejected,
  listDeadLetters,
  markReplayed,
  pageOfDeadLetters,
  readHealth,
  selectRejected,
} from './dead-letters.ts';
import { findLettersOf, removeLetters } from './erase-letters.ts';
import { type ErasedPerson, findTracesOf, removeTraces } from './erase-traces.ts';
import { firstFailure } from './first-failure.ts';
import { arrayText } from './insert-rows.ts';
import { kyselyWriter } from './kysely-writer.ts';
import { listTraces } from './list-traces.ts';
import { openObserve } from './open.ts';
import { type ObserveDb, prepareObserve } from './schema.ts';
import { readStats } from './stats.ts';
import { sweepRows } from './sweep.ts';
import { findTrace, stepsOfEvents } from './traces.ts';
import { waitingSeries } from './waiting.ts';
import { readPosition, writeTally, writeTogether } from './write.ts';

const T0 = Date.parse('2026-01-01T00:00:00.000Z');
const iso = (ms: number) => new Date(ms).toISOString();
const about = {
  at: T0,
  org_id: 'org_1',
  pipeline_id: 'pl_1',
  event_id: 'e1',
  type: 'track' as const,
  event: 'Order Completed',
  user_id: 'u1',
  anonymous_id: 'a1',
};
const attempt = { at: new Date(T0).toISOString(), status: 200, error: null, duration_ms: 12 };
function letter(id: string, more: Partial<DeadLetter> = {}): DeadLetter {
  return {
    id,
    org_id: 'org_1',
    pipeline_id: 'pl_1',
    integration_id: 'int_1',
    webhook_source_id: null,
    vendor: 'webhook',
    revision_number: 1,
    event_id: 'e1',
    stage: 'delivery',
    event: { event_id: 'e1', type: 'track', timestamp: '', context: {}, properties: { nul: 'a\u0000b' }, user_id: 'u1' },
    attempts: [{ ...attempt, status: 503, error: 'http_503' }],
    reason: 'http_503',
    created_at: new Date(T0).toISOString(),
    expires_at: new Date(T0 + 1_000).toISOString(),
    ...more,
  };
}

onBothEngines('what became of events', (fresh, engine) => {
  let observe: ObserveDb & { close(): Promise<void> };
  const dataDir = mkdtempSync(join(tmpdir(), 'firsthand-observe-'));
  let position = 0;
  const write = (...outcomes: Outcome[]) => writeTally(kyselyWriter(observe), [tally(outcomes)], String(++position));

  const eraseLetters = async (who: ErasedPerson) => {
    const letters = await findLettersOf(observe, 'org_1', who);
    await removeLetters(observe, letters);
    expect(await findLettersOf(observe, 'org_1', who)).toEqual([]);
    return letters;
  };

  beforeAll(async () => {
    const databaseUrl = await fresh();
    observe = await openObserve({ databaseUrl, dataDir, onConnectionError: () => {} });
  });
  afterAll(async () => {
    await observe?.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  test('a batch and its position are written together, and opening again finds both', async () => {
    expect(await readPosition(kyselyWriter(observe))).toBe('');
    await write({ kind: 'processed', received_at: T0 - 5, decisions: [{ step: 'bots', result: 'human' }], stored: '7', ...about });
    expect(await readPosition(kyselyWriter(observe))).toBe('1');
    const found = await findTrace(observe, 'org_1', 'e1');
    expect(found?.event).toMatchObject({ received_at: T0 - 5, result: 'processed', stored_position: '7', user_id: 'u1' });
    expect(JSON.parse(found!.event.decisions)).toEqual([{ step: 'bots', result: 'human' }]);
    expect(await findTrace(observe, 'org_2', 'e1')).toBeUndefined();
    expect(await findTrace(observe, 'org_1', 'e1', 'pl_2')).toBeUndefined();
  });

  test('two recorders that have read the same position write a batch once (a frozen process and its successor counted it twice)', async () => {
    const writer = kyselyWriter(observe);
    const outcome: Outcome = { kind: 'processed', received_at: T0, decisions: [], ...about, org_id: 'org_fenced', event_id: 'fenced' };
    const record = (position: string, after: string) => writeTally(writer, [tally([outcome])], position, 'outcomes.3', after);
    expect((await Promise.all([record('1', ''), record('1', '')])).toSorted()).toEqual([false, true]);
    expect((await Promise.all([record('2', '1'), record('3', '1')])).toSorted()).toEqual([false, true]);
    expect(await record('2', '1')).toBe(false);
    expect(await readPosition(writer, 'outcomes.3')).not.toBe('1');
    const counted = await observe.db.selectFrom('counters').select(['counter', 'n']).where('org_id', '=', 'org_fenced').execute();
    expect(counted.map(({ counter, n }) => [counter, Number(n)]).toSorted()).toEqual([
      ['processed', 2],
      ['received', 2],
    ]);
  });

  const onPostgres = engine === 'postgres' ? test : test.skip;
  onPostgres('topics are written together, or not at all if another recorder has moved one', async () => {
    const writer = kyselyWriter(observe);
    const outcome: Outcome = { kind: 'processed', received_at: T0, decisions: [], ...about, org_id: 'org_together', event_id: 'together' };
    const counted = async () =>
      Number((await observe.db.selectFrom('counters').select('n').where('org_id', '=', 'org_together').executeTakeFirst())?.n ?? 0);
    for (const topic of ['outcomes.5', 'outcomes.6']) await writeTally(writer, [tally([])], '1', topic, '');
    const record = (first: string, second: string) =>
      writeTogether(writer, tally([outcome]), [
        { topic: 'outcomes.5', after: first, position: '2' },
        { topic: 'outcomes.6', after: second, position: '2' },
      ]);
    expect(await record('1', 'other')).toBe(false);
    expect(await readPosition(writer, 'outcomes.5')).toBe('1');
    expect(await counted()).toBe(0);
    expect(await record('1', '1')).toBe(true);
    expect(await readPosition(writer, 'outcomes.6')).toBe('2');
    expect(await counted()).toBe(1);
  });

  onPostgres('an array arrives as it was, with every character that its text escapes', async () => {
    const character = fc.oneof(fc.constantFrom('"', '\\', '{', '}', ',', ' ', '\n', "'", 'NULL'), fc.string({ unit: 'grapheme' }));
    const value = fc.option(fc.array(character).map((parts) => parts.join('').replaceAll('\u0000', '')));
    const sent = async (values: (string | null)[]) =>
      (await sql<{ value: string | null }>`select value from unnest(${arrayText(values)}::text[]) as given (value)`.execute(observe.db))
        .rows;
    await fc.assert(
      fc.asyncProperty(fc.array(value), async (values) => {
        expect((await sent(values)).map((row) => row.value)).toEqual(values);
      }),
    );
    expect(await sent(['\ud800'])).toEqual([{ value: '\ufffd' }]);
    await expect(sent(['\u0000'])).rejects.toThrow('invalid byte sequence');
    const numbers = [0, -1, null, Number.MAX_SAFE_INTEGER];
    const { rows } = await sql`select value from unnest(${arrayText(numbers)}::bigint[]) as given (value)`.execute(observe.db);
    expect(rows).toEqual(numbers.map((number) => ({ value: number })));
  });
  onPostgres('steps that are the same in every column are all stored', async () => {
    const step: Outcome = { kind: 'delivered', integration_id: 'int_1', attempt, received_at: T0, duration_ms: 40, ...about };
    await write({ ...step, org_id: 'org_twice' }, { ...step, org_id: 'org_twice' });
    const { rows } = await sql`select event_id, reason, status from trace_steps where org_id = 'org_twice'`.execute(observe.db);
    expect(rows).toEqual([1, 2].map(() => ({ event_id: 'e1', reason: null, status: 200 })));
  });

  test('deliveries, retries and drops are steps of the event, oldest first, and determine the health', async () => {
    await write(
      {
        kind: 'retrying',
        integration_id: 'int_1',
        attempt: { ...attempt, status: 503, error: 'http_503' },
        due_at: T0 + 9,
        ...about,
        at: T0 + 1,
      },
      { kind: 'delivered', integration_id: 'int_1', revision_number: 7, attempt, received_at: T0, duration_ms: 40, ...about, at: T0 + 2 },
      {
        kind: 'dropped',
        reason: 'consent_not_granted',
        integration_id: 'int_2',
        revision_number: 3,
        received_at: T0,
        ...about,
        at: T0 + 3,
      },
    );
    const found = await findTrace(observe, 'org_1', 'e1');
    expect(found?.steps.map((step) => [step.integration_id, step.kind, step.reason, step.status, step.revision_number])).toEqual([
      ['int_1', 'retrying', 'http_503', 503, null],
      ['int_1', 'delivered', null, 200, 7],
      ['int_2', 'dropped', 'consent_not_granted', null, 3],
    ]);
    const health = { integration_id: 'int_1', last_success_at: T0 + 2, last_error: 'http_503', last_error_at: T0 + 1 };
    expect((await readHealth(observe, ['int_1', 'int_2'])).get('int_1')).toEqual(health);
    // SQLite refuses a statement with more than 32,766 values.
    const many = Array.from({ length: 33_000 }, (_, n) => `int_none_${n}`);
    expect((await readHealth(observe, [...many, 'int_1'])).get('int_1')).toEqual(health);
  });

  test('steps of an event with the same id in another pipeline are left out', async () => {
    const at = T0 + 60_000;
    const step = (pipeline_id: string, event_id: string): Outcome => ({
      ...{ kind: 'delivered', integration_id: 'int_1', attempt, received_at: at, duration_ms: 40, ...about, at },
      ...{ org_id: 'org_same', pipeline_id, event_id },
    });
    await write(step('pl_1', 'same'), step('pl_2', 'same'), step('pl_2', 'other'));
    const steps = await stepsOfEvents(observe, 'org_same', [
      { pipeline_id: 'pl_1', event_id: 'same', received_at: at },
      { pipeline_id: 'pl_2', event_id: 'other', received_at: at },
    ]);
    expect(steps.map(({ pipeline_id, event_id }) => `${pipeline_id} ${event_id}`).toSorted()).toEqual(['pl_1 same', 'pl_2 other']);
  });

  test('statistics add up by interval and balance for an integration', async () => {
    const query = { org_id: 'org_1', from: T0 - 60_000, to: T0 + 60_000, interval: 'hour' as const };
    const { totals, series } = await readStats(observe, query, {
      id: 'int_1',
      pipeline_id: 'pl_1',
      created_at: new Date(T0 - 120_000).toISOString(),
      waiting: 0,
    });
    expect(totals).toMatchObject({ received: 1, processed: 1, delivered: 1, retried: 1, dropped: {}, dead_lettered: 0 });
    expect(totals.p50_ms).toBeGreaterThan(35);
    expect(series).toHaveLength(2);
    expect((await readStats(observe, query)).totals.dropped).toEqual({ consent_not_granted: 1 });
    expect((await readStats(observe, { ...query, org_id: 'org_2' })).totals.received).toBe(0);
  });

  test('statistics of an integration balance in the minute in which it was added', async () => {
    const scope = { org_id: 'org_9', pipeline_id: 'pl_9' };
    const minute = Math.floor(T0 / 60_000) * 60_000;
    const created_at = new Date(minute + 30_000).toISOString();
    const processed = (at: number) => ({ kind: 'processed' as const, ...about, ...scope, received_at: at, at, decisions: [] });
    const delivered = (at: number) => ({
      kind: 'delivered' as const,
      ...about,
      ...scope,
      integration_id: 'int_9',
      attempt: { at: new Date(at).toISOString(), status: 200, error: null, duration_ms: 1 },
      received_at: at,
      duration_ms: 1,
      at,
    });
    const read = async (waiting: number, to = minute + 120_000) => {
      const query = { org_id: 'org_9', from: minute, to, interval: 'minute' as const };
      const { totals, series } = await readStats(observe, query, { id: 'int_9', pipeline_id: 'pl_9', created_at, waiting });
      return { ...totals, series: series.map(({ received }) => received) };
    };
    const before = [1, 2, 3].map((n) => processed(minute + n));
    const after = [processed(minute + 40_000), processed(minute + 50_000), processed(minute + 70_000)];
    await write(...before, ...after, delivered(minute + 41_000));
    expect(await read(2)).toMatchObject({ received: 3, processed: 3, delivered: 1, series: [2, 1] });
    expect(await read(0), 'two delivered, and not recorded yet').toMatchObject({ received: 2, delivered: 1, series: [1, 1] });
    await write(delivered(minute + 61_000), delivered(minute + 71_000), {
      kind: 'dropped',
      reason: 'bot',
      received_at: minute + 80_000,
      ...about,
      ...scope,
      at: minute + 80_000,
    });
    expect(await read(0)).toMatchObject({ received: 4, processed: 3, delivered: 3, dropped: { bot: 1 }, series: [2, 2] });
    expect(await read(0, minute + 59_000), 'only its first minute').toMatchObject({ received: 2, delivered: 1, series: [2] });
  });

  test('the backlog of the past follows from the present one and the counters', async () => {
    const scope = { ...about, org_id: 'org_backlog', pipeline_id: 'pl_backlog' };
    const hour = Math.floor(T0 / 3_600_000) * 3_600_000;
    const at = (minutes: number) => hour + minutes * 60_000;
    const processed = (minutes: number): Outcome => ({
      kind: 'processed',
      ...scope,
      received_at: at(minutes),
      at: at(minutes),
      decisions: [],
    });
    const ended = (minutes: number, integration_id: string) => ({ ...scope, integration_id, received_at: at(minutes), at: at(minutes) });
    await write(
      ...[1, 1, 2, 61].map(processed),
      { kind: 'delivered', attempt, duration_ms: 1, ...ended(2, 'int_a') },
      { kind: 'dropped', reason: 'event_filtered', ...ended(62, 'int_a') },
      { kind: 'delivered', attempt, duration_ms: 1, ...ended(62, 'int_b') },
      { kind: 'delivered', attempt, duration_ms: 1, ...ended(62, 'int_gone') },
    );
    const [early, late] = [iso(at(-5)), iso(at(60))];
    const integrations = [
      { id: 'int_a', pipeline_id: 'pl_backlog', created_at: early },
      { id: 'int_b', pipeline_id: 'pl_backlog', created_at: late },
    ];
    const minutes = [0, 1, 2, 3, 61, 62].map((each) => iso(at(each)));
    const read = (query: object, times: string[], waiting = 2) =>
      waitingSeries(observe, { org_id: 'org_backlog', from: hour, interval: 'minute', ...query }, { integrations, waiting }, times);
    expect(await read({}, minutes)).toEqual([0, 2, 2, 2, 4, 2]);
    expect(await read({ interval: 'hour' }, [iso(hour), iso(at(60))])).toEqual([2, 2]);
    expect(await read({ from: at(61) }, [iso(at(61))]), 'a range within the past').toEqual([4]);
    expect(await read({}, minutes, 0), 'outcomes that are not recorded yet').toEqual([0, 0, 0, 0, 2, 0]);
  });

  test('events are listed by their source, and counted by it', async () => {
    const scope = { ...about, org_id: 'org_source' };
    const sources = [
      ['b', { source: 'browser' }],
      ['s', { source: 'server' }],
      ['w', { webhook_source_id: 'whs_1' }],
      ['unknown', {}],
    ] as const;
    await write(
      ...sources.map(
        ([event_id, of], n): Outcome => ({ kind: 'processed', ...scope, event_id, ...of, received_at: T0 + n, decisions: [] }),
      ),
      { kind: 'dropped', reason: 'bot', ...scope, event_id: 'd', source: 'server', received_at: T0 + 9 },
    );
    const listed = async (by: object) =>
      (await listTraces(observe, { org_id: 'org_source', ...by, limit: 10, offset: 0 })).rows.map(({ event_id }) => event_id);
    expect(await listed({ source: 'browser' })).toEqual(['b']);
    expect(await listed({ source: 'server' })).toEqual(['d', 's']);
    expect(await listed({ source: 'server', status: 'dropped' })).toEqual(['d']);
    expect(await listed({ source: 'webhook' })).toEqual(['w']);
    expect(await listed({ webhook_source_id: 'whs_1', pipeline_id: 'pl_1' })).toEqual(['w']);
    expect(await listed({ webhook_source_id: 'whs_2' })).toEqual([]);
    const { totals } = await readStats(observe, { org_id: 'org_source', from: T0, to: T0 + 60_000, interval: 'hour' });
    expect([totals.received, totals.received_by_source]).toEqual([5, { browser: 1, server: 2, whs_1: 1 }]);
  });

  test('listing events filters and pages, newest first', async () => {
    await write({ kind: 'dropped', reason: 'bot', received_at: T0 + 50, ...about, event_id: 'e2', event: 'Other', user_id: 'u2' });
    const list = async (filter: object) =>
      (await listTraces(observe, { org_id: 'org_1', limit: 10, offset: 0, ...filter })).rows.map((row) => row.event_id);
    expect(await list({})).toEqual(['e2', 'e1']);
    expect(await list({ event: 'Other' })).toEqual(['e2']);
    expect(await list({ user_id: 'u1' })).toEqual(['e1']);
    expect(await list({ pipeline_id: 'pl_9' })).toEqual([]);
    expect(await list({ event: '@page' })).toEqual([]);
    expect(await listTraces(observe, { org_id: 'org_1', limit: 1, offset: 1 })).toMatchObject({ total: 2, rows: [{ event_id: 'e1' }] });
  });

  test('dead letters keep their bytes, are listed, replayed, deleted, and expire', async () => {
    await write(
      { kind: 'dead_lettered', dead_letter: letter('dlq_1'), ...about },
      { kind: 'dead_lettered', dead_letter: letter('dlq_2', { stage: 'mapping', created_at: new Date(T0 + 5).toISOString() }), ...about },
    );
    const filter = { org_id: 'org_1' };
    expect((await listDeadLetters(observe, filter, { limit: 10, offset: 0 }, T0)).letters.map((each) => each.id)).toEqual([
      'dlq_2',
      'dlq_1',
    ]);
    expect(await countDeadLetters(observe, { ...filter, stage: 'mapping' }, T0)).toBe(1);
    expect(await findDeadLetter(observe, 'org_1', 'dlq_1', T0)).toEqual({ ...letter('dlq_1'), status: 'pending' });
    expect(await findDeadLetter(observe, 'org_2', 'dlq_1', T0)).toBeUndefined();
    expect(await findDeadLetter(observe, 'org_1', 'dlq_1', T0 + 1_000)).toBeUndefined();
    await markReplayed(observe, 'org_1', ['dlq_1']);
    expect((await pageOfDeadLetters(observe, { ...filter, status: 'pending' }, '', 10, T0)).map((each) => each.id)).toEqual(['dlq_2']);
    expect(await deleteDeadLetter(observe, 'org_2', 'dlq_1')).toBe(false);
    expect(await deleteDeadLetter(observe, 'org_1', 'dlq_1')).toBe(true);
  });

  test('the newest 1,000 rejected webhooks of a source are kept', async () => {
    const refused = Array.from({ length: 1_005 }, (_, i) => ({
      kind: 'dead_lettered' as const,
      dead_letter: letter(`dlq_w${String(i).padStart(4, '0')}`, {
        integration_id: null,
        webhook_source_id: 'whs_1',
        stage: 'webhook',
        created_at: new Date(T0 + i).toISOString(),
      }),
      ...about,
    }));
    const failed = letter('dlq_a', {
      integration_id: null,
      webhook_source_id: 'whs_1',
      stage: 'processing',
      created_at: new Date(T0 - 9).toISOString(),
    });
    await write({ kind: 'dead_lettered', dead_letter: failed, ...about }, ...refused);
    expect(await countDeadLetters(observe, { org_id: 'org_1', webhook_source_id: 'whs_1', stage: 'webhook' }, T0)).toBe(1_000);
    expect(await findDeadLetter(observe, 'org_1', 'dlq_a', T0), 'what was accepted and then failed is not thrown away').toBeDefined();
    expect(await findDeadLetter(observe, 'org_1', 'dlq_w0004', T0)).toBeUndefined();
  });

  test('erasure removes one person’s traces and dead letters only', async () => {
    const erased = await findTracesOf(observe, 'org_1', { user_ids: ['u1'], anonymous_ids: [] });
    await removeTraces(observe, erased);
    expect(new Set(erased.map(({ event_id }) => event_id))).toEqual(new Set(['e1']));
    expect(await findTrace(observe, 'org_1', 'e1')).toBeUndefined();
    expect(await findTrace(observe, 'org_1', 'e2')).toBeDefined();
    expect(await eraseLetters({ user_ids: ['u1'], anonymous_ids: ['a9'] })).toHaveLength(1_002);
  });

  test('an error of an event without a trace gives it one row, and takes the place of none', async () => {
    const own = { ...about, org_id: 'org_7', pipeline_id: 'pl_7' };
    const traced = { ...own, event_id: 'traced' };
    const untraced = { ...own, event_id: 'untraced', untraced: true as const };
    const retry = { kind: 'retrying' as const, integration_id: 'int_7', attempt, due_at: T0 + 1, received_at: T0 };
    await write({ kind: 'processed', received_at: T0, decisions: [], ...traced });
    await write({ ...retry, ...untraced }, { ...retry, ...traced, untraced: true });
    await write({ ...retry, ...untraced });
    expect(await findTrace(observe, 'org_7', 'traced')).toMatchObject({ event: { reason: null }, steps: [{ kind: 'retrying' }] });
    const found = await findTrace(observe, 'org_7', 'untraced');
    expect(found).toMatchObject({ event: { reason: 'untraced', event: 'Order Completed' }, steps: [{}, {}] });
    const { rows } = await listTraces(observe, { org_id: 'org_7', limit: 10, offset: 0 });
    expect(rows.map(({ event_id }) => event_id).sort()).toEqual(['traced', 'untraced']);
  });

  test('a messageId that comes again after the deduplication window is a second event, and its newest trace is shown', async () => {
    const own = { ...about, org_id: 'org_twice', pipeline_id: 'pl_twice', event_id: 'twice', user_id: 'u8' };
    const processed = (at: number, more: object = {}): Outcome => ({
      ...{ kind: 'processed', ...own, at, received_at: at, decisions: [{ step: 'bots', result: 'human', detail: iso(at) }] },
      ...{ raw: { topic: 'ingest.1', position: String(at) }, stored: String(at), ...more },
    });
    const again = T0 + 86_400_000;
    const listed = async (filter: object = {}) =>
      (await listTraces(observe, { org_id: 'org_twice', limit: 10, offset: 0, ...filter })).rows.map(({ received_at }) => received_at);
    await write(processed(T0, { user_id: 'u7' }), processed(T0 + 1, { event_id: 'once' }));
    await write(processed(again));
    expect(await listed()).toEqual([again, T0 + 1, T0]);
    expect([await listed({ user_id: 'u7' }), await listed({ to: T0 + 5, pipeline_id: 'pl_twice' })]).toEqual([[T0], [T0 + 1, T0]]);
    const { event } = (await findTrace(observe, 'org_twice', 'twice'))!;
    expect([event.received_at, JSON.parse(event.decisions)]).toEqual([again, [{ step: 'bots', result: 'human', detail: iso(again) }]]);
    const erased = await findTracesOf(observe, 'org_twice', { user_ids: ['u7', 'u8'], anonymous_ids: [] });
    expect(erased.map(({ raw_position }) => Number(raw_position)).toSorted()).toEqual([T0, T0 + 1, again]);
    const outcomes = async (filter: object) =>
      (await listTraces(observe, { org_id: 'org_twice', limit: 10, offset: 0, outcome: {}, ...filter })).outcomes;
    const delivered = { kind: 'delivered' as const, ...own, integration_id: 'int_8', attempt, duration_ms: 1 };
    await write({ ...delivered, at: T0, received_at: T0 }, { ...delivered, at: again, received_at: again });
    expect([await outcomes({ delivery: 'delivered' }), await outcomes({ status: 'processed' })], 'as the statistics').toEqual([2, 3]);
    await write(processed(again + 1, { again: true }));
    expect(await listed(), 'the replay of a dead letter is no event of its own').toEqual([again + 1, T0 + 1]);
    await write(processed(again + 2));
    const pipelines = [{ org_id: 'org_twice', pipeline_id: 'pl_twice', before: again + 2 }];
    const ages = { traces: 0, counters: 0, deadLetters: 0, graceMs: 0, pipelines };
    const { expiring } = await sweepRows(kyselyWriter(observe), ages, []);
    expect(expiring.map(({ raw_position }) => Number(raw_position)).toSorted(), 'each has its own place').toEqual([T0 + 1, again + 1]);
    await sweepRows(kyselyWriter(observe), ages, expiring);
    expect(await listed()).toEqual([again + 2]);
    await write(processed(again + 3));
    await removeTraces(observe, erased);
    expect(await listed()).toEqual([]);
  });

  const onSqlite = engine === 'sqlite' ? test : test.skip;
  onSqlite('an id that never came is not looked for in every dead letter (90 ms with 100,000 of them)', async () => {
    const { sql: text, parameters } = selectRejected(observe, 'org_1', 'nothing', T0).compile();
    const plan = await kyselyWriter(observe).all<{ detail: string }>(`explain query plan ${text}`, parameters);
    expect(plan[0]?.detail).toBe('SEARCH dead_letters USING INDEX dead_letters_rejected_id (org_id=? AND event_id=?)');
  });

  test('the newest 1,000 rejected events of a pipeline are kept, and the others are counted', async () => {
    const rejected = (n: number) =>
      letter(`dlq_rejected_${String(n).padStart(5, '0')}`, {
        integration_id: null,
        pipeline_id: 'pl_rejecting',
        stage: 'ingest',
        event_id: `bad-${n}`,
        event: { raw: { userId: n }, message: 'wrong', received_at: '', request: { source: 'server' } },
        created_at: new Date(T0 + n).toISOString(),
        expires_at: new Date(T0 + 1e9).toISOString(),
      });
    const letters = Array.from({ length: 1_100 }, (_, n) => rejected(n));
    await write({ kind: 'rejected_events', at: T0, org_id: 'org_1', pipeline_id: 'pl_rejecting', letters, dropped: 7 });
    const filter = { org_id: 'org_1', pipeline_id: 'pl_rejecting', stage: 'ingest' as const };
    expect(await countDeadLetters(observe, filter, T0)).toBe(1_000);
    expect(await findRejected(observe, 'org_1', 'bad-99', T0)).toBeUndefined();
    expect(await findRejected(observe, 'org_1', 'bad-100', T0)).toMatchObject({ event: { raw: { userId: 100 } } });
    const { totals } = await readStats(observe, {
      org_id: 'org_1',
      pipeline_id: 'pl_rejecting',
      from: 0,
      to: T0 + 86_400_000,
      interval: 'day',
    });
    expect(totals.rejected_dropped).toBe(107);
    expect(await eraseLetters({ user_ids: ['500'], anonymous_ids: [] })).toHaveLength(1);
  });
  test('violations of a plan that only watches are counted, and the first is found for its alert', async () => {
    const scope = { org_id: 'org_8', pipeline_id: 'pl_8' };
    const event = { kind: 'processed' as const, ...about, ...scope, received_at: T0 };
    await write(
      { ...event, event_id: 'fits', decisions: [{ step: 'bots', result: 'flagged' }] },
      { ...event, event_id: 'violates', decisions: [{ step: 'tracking_plan', result: 'allowed', detail: 'properties.total is required' }] },
    );
    const { totals } = await readStats(observe, { ...scope, from: 0, to: T0 + 86_400_000, interval: 'day' });
    expect(totals.plan_violations).toBe(1);
    const found = await firstFailure(observe, 'plan_violations', { ...scope, integration_id: null }, about.at);
    expect(found).toMatchObject({ event_id: 'violates' });
  });
  test('a rejected event whose visitor only its cookie named is erased with the visitor', async () => {
    const request = { source: 'browser' as const, anonymous_id: 'of-the-cookie' };
    const rejected = letter('dlq_cookie', {
      stage: 'ingest',
      event: { raw: { type: 'track' }, message: 'wrong', received_at: '', request },
    });
    await write({ kind: 'rejected_events', at: T0, org_id: 'org_1', pipeline_id: 'pl_1', letters: [rejected], dropped: 0 });
    expect(await eraseLetters({ user_ids: [], anonymous_ids: ['of-the-cookie'] })).toHaveLength(1);
  });

  test('a rejected event that is kept as text for its numbers is erased with its person', async () => {
    const raw = '{"userId":"of-the-text","properties":{"total":9007199254740993}}';
    const event = { raw, inexact: true as const, message: 'wrong', received_at: '', request: { source: 'server' as const } };
    const rejected = letter('dlq_text', { stage: 'ingest', event });
    await write({ kind: 'rejected_events', at: T0, org_id: 'org_1', pipeline_id: 'pl_1', letters: [rejected], dropped: 0 });
    expect(await eraseLetters({ user_ids: ['of-the-text'], anonymous_ids: [] })).toMatchObject([
      { pipeline_id: 'pl_1', event_id: rejected.event_id },
    ]);
  });

  test('tables of an earlier version gain the columns they lack', async () => {
    const { rows: segments } = await sql<{ id: number }>`select id from trace_segments order by id desc`
      .execute(observe.db)
      .catch(() => ({ rows: [] }));
    const tableOf = (kind: string) => (engine === 'sqlite' ? `${kind}_${segments[0]!.id}` : kind);
    if (engine === 'sqlite') for (const kind of ['events', 'steps']) await sql.raw(`drop view all_trace_${kind}`).execute(observe.db);
    await sql.raw(`alter table ${tableOf('trace_events')} drop column original_type`).execute(observe.db);
    await sql.raw(`alter table ${tableOf('trace_steps')} drop column revision_number`).execute(observe.db);
    await prepareObserve(kyselyWriter(observe));
    await write({
      kind: 'processed',
      received_at: T0,
      decisions: [],
      ...about,
      org_id: 'org_3',
      event_id: 'gained',
      type: 'page',
      original_type: 'screen',
    });
    const delivered = { kind: 'delivered', integration_id: 'int_1', attempt, received_at: T0, duration_ms: 1, revision_number: 4 } as const;
    await write({ ...delivered, ...about, org_id: 'org_3', event_id: 'gained' });
    expect(await findTrace(observe, 'org_3', 'gained')).toMatchObject({ steps: [{ kind: 'delivered', revision_number: 4 }] });
    const { rows } = await listTraces(observe, { org_id: 'org_3', event: '@screen', limit: 10, offset: 0 });
    expect(rows).toMatchObject([{ event_id: 'gained', type: 'page', original_type: 'screen' }]);
  });
});

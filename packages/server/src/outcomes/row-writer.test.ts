import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Outcome } from '@firsthand/core/outcome/outcome.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onBothEngines } from '../../test/servers/both-engines.ts';
import { freePort } from '../../test/servers/index.ts';
import type { StoredRecord } from '../stores/event-log/port.ts';
import { kyselyWriter } from '../stores/observe/kysely-writer.ts';
import { openObserve } from '../stores/observe/open.ts';
import type { ObserveDb } from '../stores/observe/schema.ts';
import { readPosition } from '../stores/observe/write.ts';
import { outageOf } from '../stores/outages.ts';
import { traceIds } from '../telemetry/event-spans.ts';
import { RowWriter } from './row-writer.ts';

const T0 = Date.parse('2026-01-01T00:00:00.000Z');

function record(position: number, ids: string[], at = T0): StoredRecord {
  const outcomes: Outcome[] = ids.map((event_id) => ({
    kind: 'processed',
    at,
    org_id: 'org_1',
    pipeline_id: 'pl_1',
    event_id,
    type: 'track',
    event: 'é',
    received_at: at,
    decisions: [],
  }));
  return { id: String(position), position: String(position).padStart(16, '0'), time: at, data: Buffer.from(JSON.stringify(outcomes)) };
}
const ids = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}${i}`);

onBothEngines('the row-writer thread', (fresh, engine) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'firsthand-rows-'));
  const lost: string[] = [];
  let observe: ObserveDb & { close(): Promise<void> };
  let rowWriter: RowWriter;
  const events = async () =>
    Number(
      (
        await sql<{ n: number }>`select count(*) as n from ${sql.table(engine === 'sqlite' ? 'all_trace_events' : 'trace_events')}`.execute(
          observe.db,
        )
      ).rows[0]!.n,
    );

  beforeAll(async () => {
    const databaseUrl = await fresh();
    observe = await openObserve({ databaseUrl, dataDir, onConnectionError: (error) => lost.push(error.message) });
    rowWriter = new RowWriter({ databaseUrl, dataDir, spanRatio: 1 }, ({ message }) => lost.push(message));
  });
  afterAll(async () => {
    await rowWriter.stop();
    await observe?.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  test('writes new rows, reports counts and spans, and skips repeats', async () => {
    const batch = [record(1, ['a', 'b']), record(2, ['c'])];
    const written = await rowWriter.record('outcomes', batch);
    expect(written).toMatchObject({ counted: { received: 3, processed: 3 }, unreadable: [] });
    expect(written.spans.map((span) => JSON.parse(span))).toMatchObject([
      { name: 'process track', spanId: traceIds({ pipeline_id: 'pl_1', event_id: 'a' }).rootSpanId },
      { name: 'process track', spanId: traceIds({ pipeline_id: 'pl_1', event_id: 'b' }).rootSpanId },
      { name: 'process track', spanId: traceIds({ pipeline_id: 'pl_1', event_id: 'c' }).rootSpanId },
    ]);
    expect(await readPosition(kyselyWriter(observe))).toBe(batch[1]!.position);
    expect(await rowWriter.record('outcomes', [...batch, record(3, ['d'])])).toMatchObject({ counted: { received: 1, processed: 1 } });
    expect(await rowWriter.record('outcomes', batch)).toEqual({ counted: {}, unreadable: [], spans: [] });
    expect(await events()).toBe(4);
  });

  test('a record that cannot be read is named and left out, and the others are written', async () => {
    const broken = { ...record(4, []), data: Buffer.from('{') };
    expect(await rowWriter.record('outcomes', [broken, record(5, ['e'])])).toMatchObject({
      counted: { received: 1, processed: 1 },
      unreadable: [broken.position],
    });
  });

  // Each such value was a fault that stopped the traces of every organisation until it was corrected.
  test('an outcome that can never be recorded is named and left out, and the others of its record and its batch are written', async () => {
    const before = await events();
    const outcomeOf = (event_id: unknown) => ({ ...JSON.parse(record(1, ['x']).data.toString())[0], event_id });
    const bad = [
      { ...outcomeOf('bad-time'), received_at: 'soon', at: 'later' },
      { ...outcomeOf('bad-type'), type: null },
      outcomeOf(17),
      { ...outcomeOf('bad-letter'), kind: 'dead_lettered', dead_letter: { id: 'dlq_bad', attempts: [] } },
    ];
    const topic = 'outcomes.7';
    await rowWriter.record(topic, [record(1, ['first'])]);
    const mixed = [outcomeOf('sound-a'), ...bad, outcomeOf('sound-b')];
    const poisoned = { ...record(2, []), data: Buffer.from(JSON.stringify(mixed)) };
    const written = await rowWriter.record(topic, [poisoned, record(3, ['sound-c'])]);
    expect(written).toMatchObject({ counted: { received: 3, processed: 3 }, unreadable: [] });
    expect(written.refused?.map(({ position, event_id }) => [position, event_id])).toEqual(
      bad.map(({ event_id }) => [poisoned.position, event_id]),
    );
    for (const { reason } of written.refused ?? []) expect(reason).not.toBe('');
    expect(written.spans).toHaveLength(3);
    expect(await readPosition(kyselyWriter(observe), topic)).toBe(record(3, []).position);
    expect(await events()).toBe(before + 4);
    await sql`delete from recorder where name = ${topic}`.execute(observe.db);
  });

  test('topics that are recorded at the same time keep their own positions, also one that another process has recorded', async () => {
    const before = await events();
    const topics = ['outcomes.1', 'outcomes.2', 'outcomes.3'];
    const recordAll = (position: number) =>
      Promise.all(topics.map((topic) => rowWriter.record(topic, [record(position, [`${topic}-${position}`])])));
    await recordAll(1);
    await recordAll(2);
    const repeated = await recordAll(2);
    expect(repeated.map(({ counted }) => counted)).toEqual([{}, {}, {}]);
    await sql`update recorder set position = ${record(3, []).position} where name = 'outcomes.2'`.execute(observe.db);
    const counted = (await recordAll(3)).map(({ counted: { processed = 0 } }) => processed);
    expect(counted.reduce((sum, n) => sum + n, 0)).toBe(2);
    for (const topic of topics) expect(await readPosition(kyselyWriter(observe), topic)).toBe(record(3, []).position);
    expect(await events()).toBe(before + 8);
    await sql`delete from recorder where name in ('outcomes.1', 'outcomes.2', 'outcomes.3')`.execute(observe.db);
  });

  test('requests to a thread that ends are rejected, and a new thread continues', async () => {
    // A new one: it is ended before it has come to its work.
    await rowWriter.stop();
    const asked = rowWriter.record('outcomes', [record(6, ['f'])]);
    const refused = expect(asked).rejects.toThrow('the row-writer thread exited');
    await rowWriter.stop();
    await refused;
    const before = await events();
    await rowWriter.record('outcomes', [record(6, ['f'])]);
    expect(await events()).toBe(before + 1);
  });

  test('the end of a thread rejects its own requests only (it rejected those of the next thread too)', async () => {
    await rowWriter.stop();
    const asked = rowWriter.record('outcomes', [record(6, ['f'])]);
    const refused = expect(asked).rejects.toThrow('the row-writer thread exited');
    const stopping = rowWriter.stop();
    expect(await rowWriter.record('outcomes', [record(6, ['f'])])).toEqual({ counted: {}, unreadable: [], spans: [] });
    await refused;
    await stopping;
  });

  test('removes the dead letters of events by pipeline and event', async () => {
    const letters = [
      ['dlq_1', 'pl_1', 'e1'],
      ['dlq_2', 'pl_2', 'e1'],
      ['dlq_3', 'pl_1', 'e2'],
    ];
    for (const [id, pipeline, event] of letters)
      await sql`insert into dead_letters (id, org_id, pipeline_id, event_id, stage, event, attempts, reason, status, created_at, expires_at)
        values (${id}, 'org_1', ${pipeline}, ${event}, 'delivery', ${Buffer.from('{}')}, '[]', 'x', 'pending', 1, 2)`.execute(observe.db);
    await rowWriter.removeLetters(['pl_1:e1']);
    const { rows } = await sql<{ id: string }>`select id from dead_letters order by id`.execute(observe.db);
    expect(rows.map(({ id }) => id)).toEqual(['dlq_2', 'dlq_3']);
  });

  test('removes any number of expired rows', async () => {
    const before = await events();
    await rowWriter.record('outcomes', [record(7, ids('old', 4_500), T0 - 10_000)]);
    const ages = { traces: T0 - 5_000, counters: 0, deadLetters: 0, pipelines: [], graceMs: 0 };
    let removed = 0;
    for (let some = 1; some > 0; removed += some) some = (await rowWriter.sweep(ages)).removed;
    expect(removed).toBe(4_500);
    expect(await events()).toBe(before);
  });

  test('a batch that is written in pieces is recorded as a whole', async () => {
    const before = await events();
    const batch = [1, 2, 3, 4].map((position) => record(position, ids(`${'p'.repeat(200)}${position}-`, 500)));
    const broken = { ...record(5, []), data: Buffer.from('{') };
    const { counted, unreadable, spans } = await rowWriter.record('outcomes.9', [...batch, broken]);
    expect({ counted, unreadable, spans: spans.length }).toEqual({
      counted: { received: 2_000, processed: 2_000 },
      unreadable: [broken.position],
      spans: 2_000,
    });
    expect(await events()).toBe(before + 2_000);
    expect(await readPosition(kyselyWriter(observe), 'outcomes.9')).toBe(broken.position);
  });
});

test('an outage of PostgreSQL is known as one outside the thread (each line about it had a stack trace)', async () => {
  const nowhere = new RowWriter(
    { databaseUrl: `postgres://u@127.0.0.1:${await freePort()}/d`, dataDir: '', spanRatio: undefined },
    () => {},
  );
  const failure = await nowhere.position('outcomes').catch((error: Error) => error);
  await nowhere.stop();
  expect(outageOf(failure as Error)).toBe('database');
});

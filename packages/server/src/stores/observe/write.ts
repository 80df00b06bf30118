import type { DeadLetter } from '@firsthand/core/outcome/outcome.ts';
import { sql } from 'kysely';
import type { Tally, TraceStepRow } from '../../outcomes/tally.ts';
import { type DeadLetterRow, type HealthRow, insertRows, type ObserveDb } from './schema.ts';

const RECORDER = 'outcomes';
/** Refused webhooks kept for each source; the rest is only counted. */
const MOST_REFUSED_WEBHOOKS = 1_000;

export async function readPosition({ db }: ObserveDb): Promise<string> {
  const row = await db.selectFrom('recorder').select('position').where('name', '=', RECORDER).executeTakeFirst();
  return row?.position ?? '';
}

/** One batch and the position up to which it counts, together or not at all. */
export async function writeTally(observe: ObserveDb, tally: Tally, position: string): Promise<void> {
  await observe.db.transaction().execute(async (db) => {
    const tx: ObserveDb = { db, engine: observe.engine };
    // A repeated id (a replay, or the same messageId after the deduplication window) shows its newest life.
    await insertRows(
      tx,
      'trace_events',
      lastOf(tally.events, (row) => `${row.pipeline_id}\n${row.event_id}`),
      REPLACE_EVENT,
    );
    await insertRows(tx, 'trace_steps', tally.steps);
    await insertRows(
      tx,
      'counters',
      tally.counters,
      'on conflict (org_id, pipeline_id, integration_id, minute, counter) do update set n = counters.n + excluded.n',
    );
    await insertRows(tx, 'integration_health', healthOf(tally.steps), KEEP_NEWER_HEALTH);
    if (tally.deadLetters.length > 0) await insertDeadLetters(tx, tally.deadLetters);
    await db
      .insertInto('recorder')
      .values({ name: RECORDER, position })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ position }))
      .execute();
  });
}

const REPLACE_EVENT = `on conflict (pipeline_id, event_id) do update set ${[
  'received_at',
  'processed_at',
  'type',
  'event',
  'user_id',
  'anonymous_id',
  'result',
  'reason',
  'decisions',
  'raw_topic',
  'raw_position',
  'stored_position',
]
  .map((name) => `${name} = excluded.${name}`)
  .join(', ')}`;
const KEEP_NEWER_HEALTH = `on conflict (integration_id) do update set
  last_success_at = coalesce(excluded.last_success_at, integration_health.last_success_at),
  last_error = coalesce(excluded.last_error, integration_health.last_error),
  last_error_at = coalesce(excluded.last_error_at, integration_health.last_error_at)`;

function lastOf<T>(rows: T[], keyOf: (row: T) => string): T[] {
  return [...new Map(rows.map((row) => [keyOf(row), row])).values()];
}

function healthOf(steps: TraceStepRow[]): HealthRow[] {
  const health = new Map<string, HealthRow>();
  for (const step of steps) {
    if (step.kind === 'dropped') continue;
    let row = health.get(step.integration_id);
    if (!row)
      health.set(
        step.integration_id,
        (row = { integration_id: step.integration_id, last_success_at: null, last_error: null, last_error_at: null }),
      );
    if (step.kind === 'delivered') row.last_success_at = step.at;
    else {
      row.last_error = step.reason ?? (step.status === null ? 'failed' : `http_${step.status}`);
      row.last_error_at = step.at;
    }
  }
  return [...health.values()];
}

async function insertDeadLetters(tx: ObserveDb, letters: DeadLetter[]): Promise<void> {
  for (let i = 0; i < letters.length; i += 50)
    await tx.db
      .insertInto('dead_letters')
      .values(letters.slice(i, i + 50).map(deadLetterRow))
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute();
  for (const source of new Set(letters.map((letter) => letter.webhook_source_id)))
    if (source !== null)
      await sql`delete from dead_letters where webhook_source_id = ${source} and stage = 'webhook' and id not in
        (select id from dead_letters where webhook_source_id = ${source} and stage = 'webhook' order by created_at desc, id desc limit ${MOST_REFUSED_WEBHOOKS})`.execute(
        tx.db,
      );
}

function deadLetterRow(letter: DeadLetter): DeadLetterRow {
  const { event, attempts, created_at, expires_at, event_id, reason, raw, ...rest } = letter;
  const ids = event as { user_id?: unknown; anonymous_id?: unknown };
  return {
    ...rest,
    event_id: text(event_id) ?? '',
    reason: text(reason) ?? '',
    user_id: text(ids.user_id),
    anonymous_id: text(ids.anonymous_id),
    event: Buffer.from(JSON.stringify(event)),
    attempts: JSON.stringify(attempts),
    status: 'pending',
    created_at: Date.parse(created_at),
    expires_at: Date.parse(expires_at),
    raw_topic: raw?.topic ?? null,
    raw_position: raw?.position ?? null,
  };
}
function text(value: unknown): string | null {
  return typeof value === 'string' ? value.replaceAll('\u0000', '\uFFFD').toWellFormed().slice(0, 1_000) : null;
}

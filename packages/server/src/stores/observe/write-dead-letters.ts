import { anonymousIdOf } from '@firsthand/core/event/anonymous-id.ts';
import { idText } from '@firsthand/core/event/canonicalise.ts';
import { isObject, type JsonObject, own } from '@firsthand/core/json.ts';
import type { DeadLetter } from '@firsthand/core/outcome/outcome.ts';
import { addToCounters } from './insert-rows.ts';
import { storedId, storedReason } from './stored-text.ts';
import { type DeadLetterRow, TABLES } from './tables.ts';
import type { Writer } from './writer.ts';

/** Limit of stored rejections: webhooks per source, events per pipeline. Further ones are only counted. */
const MOST_REJECTED = 1_000;
/** SQLite requires a limit before an offset. */
const MAX_REMOVED = 1_000_000;

export async function writeDeadLetters(writer: Writer, letters: DeadLetter[]): Promise<void> {
  await insertDeadLetters(writer, letters);
  await trimRejectedEvents(writer, letters);
}

/** One statement each: there are few, and their events are bytes, which JSON cannot carry. */
async function insertDeadLetters(writer: Writer, letters: DeadLetter[]): Promise<void> {
  const names = Object.keys(TABLES.dead_letters.columns) as (keyof DeadLetterRow)[];
  const insert = `insert into dead_letters (${names.join(', ')}) values (${names.map(() => '?').join(', ')}) on conflict (id) do nothing`;
  for (const letter of letters) {
    const row = deadLetterRow(letter);
    await writer.run(
      insert,
      names.map((name) => row[name]),
    );
  }
  for (const source of new Set(letters.map((letter) => letter.webhook_source_id)))
    if (source !== null)
      await writer.run(
        `delete from dead_letters where webhook_source_id = ? and stage = 'webhook' and id not in
          (select id from dead_letters where webhook_source_id = ? and stage = 'webhook' order by created_at desc, id desc limit ?)`,
        [source, source, MOST_REJECTED],
      );
}

/** Removes the oldest rejected events beyond the limit. They stay counted, as `rejected_dropped`. */
async function trimRejectedEvents(writer: Writer, letters: DeadLetter[]): Promise<void> {
  const newest = new Map<string, DeadLetter>();
  for (const letter of letters) if (letter.stage === 'ingest') newest.set(letter.pipeline_id, letter);
  for (const { org_id, pipeline_id, created_at } of newest.values()) {
    const removed = await writer.run(
      `delete from dead_letters where pipeline_id = ? and stage = 'ingest' and id in
        (select id from dead_letters where pipeline_id = ? and stage = 'ingest' order by created_at desc, id desc limit ? offset ?)`,
      [pipeline_id, pipeline_id, MAX_REMOVED, MOST_REJECTED],
    );
    if (removed === 0) continue;
    const minute = Math.floor(Date.parse(created_at) / 60_000);
    const row = { org_id, pipeline_id, integration_id: '', minute, counter: 'rejected_dropped', n: removed };
    await addToCounters(writer, [row]);
  }
}

function deadLetterRow(letter: DeadLetter): DeadLetterRow {
  const { event, attempts, created_at, expires_at, event_id, reason, raw, ...rest } = letter;
  const ids = idsOf(letter);
  return {
    ...rest,
    event_id: storedId(event_id),
    reason: storedReason(reason),
    user_id: id(ids.user_id),
    anonymous_id: id(ids.anonymous_id),
    event: Buffer.from(JSON.stringify(event)),
    attempts: JSON.stringify(attempts),
    status: 'pending',
    created_at: Date.parse(created_at),
    expires_at: Date.parse(expires_at),
    raw_topic: raw?.topic ?? null,
    raw_position: raw?.position ?? null,
  };
}
/** Works for a canonical event and for a client's event as received. Only the stage tells them apart: rules may add a field `raw`. */
function idsOf({ stage, event }: DeadLetter): { user_id?: unknown; anonymous_id?: unknown } {
  if (stage !== 'ingest' || !('raw' in event)) return event as { user_id?: unknown; anonymous_id?: unknown };
  const raw: unknown = event.inexact && typeof event.raw === 'string' ? JSON.parse(event.raw) : event.raw;
  const { context, anonymous_id: cookieId } = event.request;
  const body = (isObject(raw) ? raw : {}) as JsonObject;
  const visitor = { cookieId, context: isObject(context) ? (context as JsonObject) : undefined };
  return { user_id: idText(own(body, 'userId')), anonymous_id: anonymousIdOf(body, visitor) };
}
function id(value: unknown): string | null {
  return typeof value === 'string' ? storedId(value) : null;
}

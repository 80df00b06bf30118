/**
 * Replays retained events to one integration, or dead letters to the stage where they failed. A replay appends records under new ids, so
 * that deduplication lets them through; the roles do the rest. A pending dead letter has one fixed replay id: if two callers replay it at
 * the same time, even on different admin processes, deduplication drops the second.
 */
import { type CanonicalEvent, isNamedIn } from '@firsthand/core/event/canonical.ts';
import { decodeEventRecord, encodeEventRecord, eventRecordId, eventsTopic, openEventRecord, replayTopic } from '../event-record.ts';
import { newId } from '../runtime/ids.ts';
import { inBulkTurn, turns } from '../runtime/turns.ts';
import type { Append, EventLog } from '../stores/event-log/port.ts';
import {
  countByIntegration,
  countDeadLetters,
  type DeadLetterFilter,
  markReplayed,
  pageOfDeadLetters,
  type StoredDeadLetter,
} from '../stores/observe/dead-letters.ts';
import type { ObserveDb } from '../stores/observe/schema.ts';

const CHUNK = 500;
const CHUNK_BYTES = 4_000_000;
/** Dead letters that are replayed at once: they are decoded and stored in a few milliseconds. */
const LETTERS = 100;

export interface HistoryReplay {
  pipeline_id: string;
  integration_id: string;
  from: Date;
  to: Date;
  /** As in an event filter, an empty list means every event. */
  event_names?: string[];
  event_ids?: string[];
  dry_run?: boolean;
}

/** Sends retained processed events of the pipeline to one integration again. */
export async function replayHistory(log: EventLog, replay: HistoryReplay): Promise<number> {
  const names = replay.event_names?.length ? new Set(replay.event_names) : undefined;
  const ids = replay.event_ids && new Set(replay.event_ids);
  const replayId = newId('rpl');
  const topic = replayTopic(replay.integration_id);
  let records: Append['records'] = [];
  let bytes = 0;
  let count = 0;
  const flush = async () => {
    if (records.length > 0) await log.append([{ topic, records }]);
    records = [];
    bytes = 0;
  };
  for await (const record of log.read(eventsTopic(replay.pipeline_id), {
    from: replay.from,
    to: replay.to,
    limit: Number.MAX_SAFE_INTEGER,
  })) {
    // Not by the record's id: that of an event from a replayed dead letter also names the replay.
    if (ids !== undefined && !ids.has(openEventRecord(record.data).event_id)) continue;
    // Counting all events needs no decoding.
    if (replay.dry_run && names === undefined) {
      count++;
      continue;
    }
    const { meta, event } = await inBulkTurn(record.data.length, () => decodeEventRecord(record.data));
    if (names && !isNamedIn(names, event)) continue;
    count++;
    if (replay.dry_run) continue;
    records.push({ id: eventRecordId(meta.pipeline_id, event.event_id, replayId), data: record.data });
    bytes += record.data.length;
    if (records.length >= CHUNK || bytes >= CHUNK_BYTES) await flush();
  }
  await flush();
  return count;
}

export interface DeadLetterReplay {
  filter: DeadLetterFilter;
  use_revision?: 'pinned' | 'latest' | undefined;
  dry_run?: boolean | undefined;
  /** Replay at most this many. */
  limit?: number | undefined;
}
export interface ReplayDeps {
  log: EventLog;
  observe: ObserveDb;
  now(): number;
  /** The latest revision number of its template; undefined if the integration takes no events: deleted, disabled or client-side. */
  latestRevision(orgId: string, integrationId: string): Promise<number | undefined>;
  /** Records for ingest from a dead letter of an earlier stage; empty if it cannot be sent again now. */
  reingest(letter: StoredDeadLetter, replayId: string): Promise<Append[]>;
}

/** Replays every pending dead letter that matches. One that cannot be sent now (its integration is deleted or disabled) stays pending. */
export async function replayDeadLetters(deps: ReplayDeps, { filter, use_revision, dry_run, limit }: DeadLetterReplay): Promise<number> {
  const pending: DeadLetterFilter = { ...filter, status: 'pending' };
  if (dry_run) return Math.min(await estimateReplay(deps, pending), limit ?? Number.MAX_SAFE_INTEGER);
  return await replayPending(deps, pending, { use_revision, limit });
}

/**
 * Counts what a replay would send. Whether a delivery can be repeated depends only on its integration, so the database counts those. Dead
 * letters from before routing are tried one by one, as in the replay itself.
 */
async function estimateReplay(deps: ReplayDeps, pending: DeadLetterFilter): Promise<number> {
  let count = 0;
  for (const [integrationId, letters] of await countByIntegration(deps.observe, pending, deps.now())) {
    if (integrationId === null) count += await replayPending(deps, { ...pending, before_routing: true }, { dry_run: true });
    else if ((await deps.latestRevision(pending.org_id, integrationId)) !== undefined) count += letters;
  }
  return count;
}

async function replayPending(
  deps: ReplayDeps,
  pending: DeadLetterFilter,
  { use_revision, dry_run, limit = Number.MAX_SAFE_INTEGER }: Omit<DeadLetterReplay, 'filter'>,
): Promise<number> {
  let count = 0;
  // What fails again meanwhile comes behind them: a vendor that refuses at once would keep the replay going for ever.
  let left = await countDeadLetters(deps.observe, pending, deps.now());
  for (let after = ''; left > 0 && count < limit; ) {
    const page = await pageOfDeadLetters(deps.observe, pending, after, Math.min(LETTERS, left, limit - count), deps.now());
    const last = page.at(-1);
    if (last === undefined) break;
    count += await replayLetters(deps, page, { use_revision, dry_run });
    left -= page.length;
    after = last.id;
  }
  return count;
}

/**
 * All letters must belong to one organisation. Appends first, then marks: a crash in between loses nothing. A dry run takes the same path
 * up to the append, so its count is exact.
 */
export async function replayLetters(
  deps: ReplayDeps,
  letters: StoredDeadLetter[],
  { use_revision = 'pinned', dry_run = false }: Omit<DeadLetterReplay, 'filter'> = {},
): Promise<number> {
  const appends: Append[] = [];
  const replayed: string[] = [];
  const revisions = new Map<string, number | undefined>();
  for (const letter of letters) {
    const turn = turns.bulk();
    if (turn !== undefined) await turn;
    const replayId = letter.status === 'pending' ? letter.id : `${letter.id}.${newId('rpl')}`;
    const again =
      letter.integration_id === null
        ? await deps.reingest(letter, replayId)
        : await redeliver(deps, letter, letter.integration_id, replayId, use_revision, revisions);
    if (again.length === 0) continue;
    appends.push(...again);
    replayed.push(letter.id);
  }
  if (dry_run) return replayed.length;
  if (appends.length > 0) await deps.log.append(appends);
  const [first] = letters;
  if (replayed.length > 0 && first !== undefined) await markReplayed(deps.observe, first.org_id, replayed);
  return replayed.length;
}

async function redeliver(
  deps: ReplayDeps,
  letter: StoredDeadLetter,
  integrationId: string,
  replayId: string,
  useRevision: 'pinned' | 'latest',
  revisions: Map<string, number | undefined>,
): Promise<Append[]> {
  if (!revisions.has(integrationId)) revisions.set(integrationId, await deps.latestRevision(letter.org_id, integrationId));
  const latest = revisions.get(integrationId);
  if (latest === undefined) return [];
  // Only its head was kept: the vendor must not get that as the event. A whole event has a context, and rules may add a field `truncated`.
  if ('truncated' in letter.event && !('context' in letter.event)) return [];
  const event = letter.event as CanonicalEvent;
  const meta = {
    received_at: Date.parse(letter.created_at),
    org_id: letter.org_id,
    pipeline_id: letter.pipeline_id,
    ...(useRevision === 'latest' ? { revision_number: latest } : {}),
  };
  const id = eventRecordId(letter.pipeline_id, letter.event_id, replayId);
  return [{ topic: replayTopic(integrationId), records: [{ id, data: encodeEventRecord(meta, event) }] }];
}

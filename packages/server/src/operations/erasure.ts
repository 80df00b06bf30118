/**
 * Erases a person at once: links, sessions, traces, dead letters and saved test cases. The traces tell where the log has the events; their records are removed
 * in the background (`outcomes/erasures.ts`). Events accepted earlier but still in flight would bring some data back, so erasure waits for
 * them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { hashPii } from '@firsthand/core/privacy/digest.ts';
import { VISITORS_ERASED_CHANNEL, type VisitorsErased } from '../channels.ts';
import { eventRecordId, eventsTopic } from '../event-record.ts';
import { type Erasure, erasureAppends, placesByTopic } from '../outcomes/erasures.ts';
import { outcomesTopicSets, RECORDER_GROUP } from '../outcomes/outcome-log.ts';
import { ingestPartitions, LAGGING_PREFIX, PROCESS_GROUP } from '../partition.ts';
import { turns } from '../runtime/turns.ts';
import { eraseTestCases } from '../stores/config/event-cases.ts';
import type { Db } from '../stores/config/schema.ts';
import { type EventLog, LogUnavailable } from '../stores/event-log/port.ts';
import { type ErasedLetter, findLettersOf, removeLetters } from '../stores/observe/erase-letters.ts';
import { type ErasedTrace, findTracesOf, removeTraces } from '../stores/observe/erase-traces.ts';
import type { Operations } from './operations.ts';

export interface Erased {
  identity_links: number;
  sessions: number;
  traces: number;
  dead_letters: number;
  test_cases: number;
  /** Records of the log that will be removed. */
  log_records: number;
}
const LONGEST_WAIT_MS = 5_000;
const LOOK_EVERY_MS = 50;
/** Visitors in one message, which NATS would refuse above 1 MB. */
const MOST_TOLD = 200;
const HASHED_AT_ONCE = 100;

/** `complete` is false if earlier events were still in flight after some seconds. Call again then. */
export async function erasePerson(
  operations: Pick<Operations, 'visitors' | 'observe' | 'ephemeral' | 'log'> & { db: Db },
  orgId: string,
  person: { user_id: string } | { anonymous_id: string },
  longestWaitMs = LONGEST_WAIT_MS,
): Promise<{ erased: Erased; complete: boolean }> {
  const { log, observe } = operations;
  // Removals wait for space, so the request would wait too.
  if (!log.available) throw new LogUnavailable('the log cannot store the erasure');
  const end = performance.now() + longestWaitMs;
  const processed = await caughtUp(log, await processGroups(log), end);
  // A privacy rule may have hashed the ids before they were stored, so erase the digests too.
  const userIds = 'user_id' in person ? await plainAndHashed([person.user_id]) : [];
  const found = [];
  for (const user_id of userIds) found.push(await operations.visitors.erase(orgId, { user_id }));
  if ('anonymous_id' in person) found.push(await operations.visitors.erase(orgId, person));
  const anonymousIds = [
    ...new Set([...found.flatMap(({ anonymous_ids }) => anonymous_ids), ...('anonymous_id' in person ? [person.anonymous_id] : [])]),
  ];
  for (let from = 0; from < anonymousIds.length; from += MOST_TOLD) {
    const anonymous_ids = anonymousIds.slice(from, from + MOST_TOLD);
    operations.ephemeral.publish(VISITORS_ERASED_CHANNEL, { org_id: orgId, anonymous_ids } satisfies VisitorsErased);
  }
  const recorded = await caughtUp(
    log,
    outcomesTopicSets(log)
      .flat()
      .map((topic) => [topic, RECORDER_GROUP] as const),
    end,
  );
  // A batch that was being processed may have saved one of them back.
  await caughtUp(log, await processGroups(log), end);
  for (const anonymous_id of anonymousIds) await operations.visitors.erase(orgId, { anonymous_id });
  const erased: Erased = { identity_links: 0, sessions: 0, traces: 0, dead_letters: 0, test_cases: 0, log_records: 0 };
  for (const { links, sessions } of found) {
    erased.identity_links += links;
    erased.sessions += sessions;
  }
  const who = { user_ids: userIds, anonymous_ids: await plainAndHashed(anonymousIds) };
  const traces = await findTracesOf(observe, orgId, who);
  const letters = await findLettersOf(observe, orgId, who);
  const recordOf = ({ pipeline_id, event_id }: ErasedTrace | ErasedLetter) => eventRecordId(pipeline_id, event_id);
  const events = new Set(traces.map(recordOf));
  const places = placesOf(traces, letters);
  // Before traces and dead letters are removed: only they lead to the records.
  await log.append(erasureAppends({ places, ids: [...new Set([...events, ...letters.map(recordOf)])], letters: true }));
  await removeTraces(observe, traces);
  await removeLetters(observe, letters);
  erased.test_cases = await eraseTestCases(operations.db, orgId, who);
  erased.traces = events.size;
  erased.dead_letters = letters.length;
  erased.log_records = places.reduce((sum, [, positions]) => sum + positions.length, 0);
  return { erased, complete: processed && recorded };
}

/**
 * The event as received and as processed, with the id of its record. Letters too: once a replay of an event that failed in processing succeeds,
 * its trace names only the replay.
 */
function placesOf(traces: readonly ErasedTrace[], letters: readonly ErasedLetter[]): Erasure['places'] {
  const received = [...traces, ...letters].map(({ pipeline_id, event_id, raw_topic, raw_position }) => ({
    topic: raw_topic,
    position: raw_position,
    record: eventRecordId(pipeline_id, event_id),
  }));
  const processed = traces.map(({ pipeline_id, event_id, stored_position }) => ({
    topic: eventsTopic(pipeline_id),
    position: stored_position,
    record: eventRecordId(pipeline_id, event_id),
  }));
  return placesByTopic([...received, ...processed]);
}

async function plainAndHashed(ids: readonly string[]): Promise<string[]> {
  const all: string[] = [];
  for (const [i, id] of ids.entries()) {
    if (i % HASHED_AT_ONCE === 0) await turns.bulk();
    all.push(id, hashPii(id));
  }
  return all;
}

type TopicGroup = readonly [topic: string, group: string];

/** Every group that processes accepted events. An organisation with a long backlog has groups of its own. */
async function processGroups(log: Pick<EventLog, 'groups'>): Promise<TopicGroup[]> {
  const groups = await Promise.all(
    ingestPartitions.topics.map(async (topic) => (await log.groups(topic)).map((group): TopicGroup => [topic, group])),
  );
  return groups.flat().filter(([, group]) => group === PROCESS_GROUP || group.startsWith(LAGGING_PREFIX));
}

/** Waits until the groups have settled everything currently in their topics. */
async function caughtUp(log: Pick<EventLog, 'lag'>, groups: readonly TopicGroup[], end: number): Promise<boolean> {
  const since = Date.now();
  let behind = groups;
  for (;;) {
    const lags = await Promise.all(behind.map(async (each) => ({ each, ...(await log.lag(...each)) })));
    behind = lags.filter(({ waiting, oldest }) => waiting > 0 && (oldest ?? 0) <= since).map(({ each }) => each);
    if (behind.length === 0) return true;
    if (performance.now() >= end) return false;
    await sleep(LOOK_EVERY_MS);
  }
}

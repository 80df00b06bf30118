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
import { eraseTestCases } from '../stores/config/event-cases.ts';
import type { Db } from '../stores/config/schema.ts';
import { type EventLog, LogUnavailable } from '../stores/event-log/port.ts';
import { eraseDeadLetters, receivedLettersOf } from '../stores/observe/dead-letters.ts';
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

/** `complete` is false if earlier events were still in flight after some seconds. Call again then. */
export async function erasePerson(
  operations: Pick<Operations, 'visitors' | 'observe' | 'ephemeral' | 'log'> & { db: Db },
  orgId: string,
  who: { user_id: string } | { anonymous_id: string },
  longestWaitMs = LONGEST_WAIT_MS,
): Promise<{ erased: Erased; complete: boolean }> {
  const { log, observe } = operations;
  // Removals wait for space, so the request would wait too.
  if (!log.available) throw new LogUnavailable('the log cannot store the erasure');
  const end = performance.now() + longestWaitMs;
  const processed = await caughtUp(log, await processGroups(log), end);
  // A privacy rule may have hashed the ids before they were stored, so erase the digests too.
  const userIds = 'user_id' in who ? plainAndHashed(who.user_id) : [];
  const found = [];
  for (const user_id of userIds) found.push(await operations.visitors.erase(orgId, { user_id }));
  if ('anonymous_id' in who) found.push(await operations.visitors.erase(orgId, who));
  const anonymousIds = [
    ...new Set([...found.flatMap(({ anonymous_ids }) => anonymous_ids), ...('anonymous_id' in who ? [who.anonymous_id] : [])]),
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
  const wanted = { anonymous_ids: anonymousIds.flatMap(plainAndHashed) };
  const persons = userIds.length === 0 ? [wanted] : userIds.map((user_id) => ({ ...wanted, user_id }));
  const traces: ErasedTrace[] = [];
  for (const person of persons) traces.push(...(await findTracesOf(observe, orgId, person)));
  const events = new Set(traces.map(({ pipeline_id, event_id }) => eventRecordId(pipeline_id, event_id)));
  const failed = [];
  for (const person of persons) failed.push(...(await receivedLettersOf(observe, orgId, person)));
  const places = placesOf(traces, failed);
  // Before traces and dead letters are removed: only they lead to the records.
  await log.append(erasureAppends({ places, ids: [...events], letters: true }));
  await removeTraces(observe, traces);
  const letters: string[] = [];
  for (const person of persons)
    for (const { pipeline_id, event_id } of await eraseDeadLetters(observe, orgId, person))
      letters.push(eventRecordId(pipeline_id, event_id));
  await log.append(erasureAppends({ places: [], ids: letters }));
  erased.test_cases = await eraseTestCases(operations.db, orgId, { user_ids: userIds, ...wanted });
  erased.traces = events.size;
  erased.dead_letters = letters.length;
  erased.log_records = places.reduce((sum, [, positions]) => sum + positions.length, 0);
  return { erased, complete: processed && recorded };
}

/** The event as received and as processed, with the id of its record. */
function placesOf(
  traces: readonly ErasedTrace[],
  failed: readonly Pick<ErasedTrace, 'pipeline_id' | 'event_id' | 'raw_topic' | 'raw_position'>[],
): Erasure['places'] {
  const received = [...traces, ...failed].map(({ pipeline_id, event_id, raw_topic, raw_position }) => ({
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

function plainAndHashed(id: string): string[] {
  return [id, hashPii(id)];
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

import { expect, test } from 'vitest';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import { openLmdbLog } from '../../stores/event-log/lmdb.ts';
import type { EventLog } from '../../stores/event-log/port.ts';
import { embeddedLeases } from '../../stores/leases/embedded.ts';
import { AttemptCounts } from './attempt-counts.ts';
import { groupOf, type Lane, onlyLane } from './lanes.ts';
import { RecordCache } from './record-cache.ts';
import { anEvent, anIntegration, Bench, compiledWebhook, until } from './testing/bench.ts';
import { bench, openForEachTest, receiver } from './testing/bench-per-test.ts';
import { Worker } from './worker.ts';

const HOUR = 3_600_000;
const aClock = (): Clock & { ahead: number } => ({
  ahead: 0,
  now() {
    return Date.now() + this.ahead;
  },
  monotonic() {
    return performance.now() + this.ahead;
  },
});
/** The log's clock, which the test can move on. The deliverer has another one: its requests in flight would time out and be repeated. */
let clock: ReturnType<typeof aClock>;
/** Consumers that read replays now, and the most at one time. */
let replayers: { now: number; most: number };
openForEachTest(() => {
  clock = aClock();
  replayers = { now: 0, most: 0 };
  return Bench.open(async (path) => countReplayers(await openLmdbLog({ path, dedupWindowMs: HOUR, clock })));
});

function countReplayers(log: EventLog): EventLog {
  const consume = log.consume.bind(log);
  log.consume = (topic, ...rest) => {
    const consumer = consume(topic, ...rest);
    if (!topic.startsWith('replay.')) return consumer;
    replayers.most = Math.max(replayers.most, ++replayers.now);
    const stop = async () => {
      await consumer.stop();
      replayers.now--;
    };
    return { started: consumer.started, stop };
  };
  return log;
}

function aWorker(lane: Lane, deliverersClock: Clock): Worker {
  const deps = { ...bench.workerDeps(), clock: deliverersClock, attempts: new AttemptCounts() };
  const shared = {
    cache: new RecordCache(1_000_000),
    byteBudget: () => 1_000_000,
    hasLanes: true,
    othersOfPipeline: () => 0,
  };
  return new Worker(deps, anIntegration(compiledWebhook(receiver.url)), shared, lane);
}
const lag = (lane: Lane) => bench.log.lag('events.pl_1', groupOf(lane));

test("a deliverer whose clock is ahead does not end a lane early (events appended before the lane's end were never delivered)", async () => {
  const lane = { ...onlyLane('int_1'), to: clock.now() + 60_000 };
  const ahead = aClock();
  ahead.ahead = HOUR;
  const worker = aWorker(lane, ahead);
  await bench.append([anEvent('e1')]);
  await until(async () => receiver.requests.length === 1 && (await lag(lane)).waiting === 0);
  expect([worker.hasPassed(), await worker.isFinished()]).toEqual([false, false]);
  await worker.stop(1_000);
});

test('a lane has passed with the first record behind its end, and is finished with one a minute behind it', async () => {
  const lane = { ...onlyLane('int_1'), to: clock.now() + 10_000 };
  const worker = aWorker(lane, systemClock);
  await bench.append([anEvent('before')]);
  clock.ahead = 11_000;
  await bench.append([anEvent('behind'), anEvent('also behind')]);
  await until(() => worker.hasPassed());
  await worker.settleMarks();
  await until(async () => (await lag(lane)).waiting === 0);
  expect(await worker.isFinished()).toBe(false);
  clock.ahead = 75_000;
  await bench.append([anEvent('a minute behind')]);
  await until(() => worker.isFinished());
  expect(receiver.eventIds).toEqual(['before']);
  await worker.stop(1_000);
});

test('a change of max_deliverers delivers every event once, and one consumer at a time reads the replays (there were two)', async () => {
  bench.snapshots.set([anIntegration({ ...compiledWebhook(receiver.url), concurrency: 8 }, { max_deliverers: 2 })]);
  bench.start({ leases: embeddedLeases() });
  const groups = () => bench.log.groups('events.pl_1');
  const delivered = (count: number) => until(() => receiver.requests.length >= count);
  await until(async () => (await bench.log.topics('lanes.')).length === 1);
  await bench.append([anEvent('e1')]);
  await bench.replay([anEvent('replayed')]);
  await delivered(2);
  clock.ahead = 11_000;
  await bench.append([anEvent('e2')]);
  await delivered(3);
  expect(await groups()).toEqual(expect.arrayContaining(['int_1', 'int_1~1-0-2', 'int_1~1-1-2']));
  await bench.replay([anEvent('replayed later')]);
  await delivered(4);
  clock.ahead = 75_000;
  await bench.append([anEvent('e3')]);
  await until(async () => !(await groups()).includes('int_1'));
  await bench.replay([anEvent('replayed by the new lane')]);
  await delivered(6);
  expect(receiver.eventIds.toSorted()).toEqual(['e1', 'e2', 'e3', 'replayed', 'replayed by the new lane', 'replayed later']);
  expect(replayers).toEqual({ now: 1, most: 1 });
}, 60_000);

test('of the lanes of a deleted integration one drops the replays, and all groups go (each lane dropped them)', async () => {
  bench.snapshots.set([anIntegration({ ...compiledWebhook(receiver.url), concurrency: 8 }, { max_deliverers: 2 })]);
  bench.start({ leases: embeddedLeases() });
  const groups = () => bench.log.groups('events.pl_1');
  await until(async () => (await bench.log.topics('lanes.')).length === 1);
  clock.ahead = 11_000;
  await bench.append([anEvent('e1')]);
  await until(async () => (await groups()).length === 3);
  bench.snapshots.set([], ['pl_1']);
  await until(async () => (await groups()).length === 0);
  expect(replayers).toEqual({ now: 0, most: 1 });
}, 60_000);

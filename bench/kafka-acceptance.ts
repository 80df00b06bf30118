/**
 * `npm run accept:kafka`: a backlog of events (BENCH_EVENTS, a million by default) into a real Kafka. One run without kills is compared
 * with the same client writing the same records by itself; another run has five `kill -9` along the way. None may be missing. Kafka is
 * promised at least once, so repeats are counted and bounded by what was in flight at a kill. BENCH_KILLS=0 leaves the second run out.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fillBacklog } from '@firsthand/server/roles/deliver/testing/backlog.ts';
import { Deliverer, deliverWithKills } from '@firsthand/server/roles/deliver/testing/deliverer.ts';
import { startKafka } from '../packages/server/test/servers/index.ts';
import { createTopic, endOffsets, orderIn, writeDirectly } from './acceptance/kafka-broker.ts';
import { PeakMemory } from './acceptance/memory.ts';
import { orderAt } from './acceptance/visitor-order.ts';
import { atLeast, atMost, type BenchResult, figure, report } from './result.ts';

const EVENTS = Number(process.env.BENCH_EVENTS ?? 1_000_000);
const KILLS = Number(process.env.BENCH_KILLS ?? 5);
/** Batches whose verdict may not be stored yet when the process is killed: two in flight, and four with a verdict. */
const REPEATS_PER_KILL = 6 * 1_000;

const folder = await mkdtemp(join(tmpdir(), 'kafka-acceptance-'));
const server = await startKafka();
try {
  report(await run());
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

async function run(): Promise<BenchResult[]> {
  for (const topic of ['floor', 'clean', 'killed']) await createTopic(server.url, topic);
  await fillBacklog(folder, EVENTS, orderAt);
  const memory = new PeakMemory();
  const task = (topic: string) => ({
    vendor: 'kafka',
    config: { brokers: server.url, tls: 'disable', topic },
    folder,
    group: `int_${topic}`,
  });
  const floor = EVENTS / (await writeDirectly(server.url, 'floor', EVENTS));
  const clean = await new Deliverer(task('clean'), memory.sample).finished();
  const rate = EVENTS / clean.seconds;
  const results = [
    figure('the client alone', floor, 'events/s'),
    figure('through the service', rate, 'events/s'),
    atLeast('of the client alone', rate / floor, '', 0.5),
    figure('processor time', (clean.cpu_seconds * 1e6) / EVENTS, 'µs/event'),
    figure('longest stall of the event loop', clean.stall_ms, 'ms'),
    atMost('missing without kills', EVENTS - (await endOffsets(server.url, 'clean')), 'events', 0),
  ];
  if (KILLS > 0) {
    const stored = () => endOffsets(server.url, 'killed');
    await deliverWithKills(task('killed'), { events: EVENTS, kills: KILLS, stored }, memory.sample);
    const { ids, messages, swapped } = await orderIn(server.url, 'killed');
    results.push(
      atMost(`missing after ${KILLS} kills`, EVENTS - ids, 'events', 0),
      atMost(`repeats after ${KILLS} kills`, messages - ids, 'events', KILLS * REPEATS_PER_KILL),
      atMost('events of a visitor out of order', swapped, 'events', 0),
    );
  }
  return [...results, ...memory.results('kafka')];
}

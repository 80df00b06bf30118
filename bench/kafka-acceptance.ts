/**
 * `npm run accept:kafka`: a backlog of events (BENCH_EVENTS, a million by default) into a real Kafka, with five `kill -9` of the
 * delivering process along the way. None may be missing. Kafka is promised at least once, so repeats are counted and bounded by what was
 * in flight at a kill. The floor is the same client writing the same records by itself.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { encodeEventRecord, eventRecordId, eventsTopic } from '@firsthand/server/event-record.ts';
import { openLmdbLog } from '@firsthand/server/stores/event-log/lmdb.ts';
import { startKafka } from '../packages/server/test/servers/index.ts';
import { createTopic, endOffsets, orderIn, writeDirectly } from './kafka-acceptance/broker.ts';
import { orderAt } from './kafka-acceptance/order.ts';
import { atLeast, atMost, type BenchResult, figure } from './result.ts';

const EVENTS = Number(process.env.BENCH_EVENTS ?? 1_000_000);
const KILLS = 5;
const PER_APPEND = 2_000;
/** Batches whose verdict may not be stored yet when the process is killed: one in flight, one settled. */
const REPEATS_PER_KILL = 2 * 2_000;

const folder = await mkdtemp(join(tmpdir(), 'kafka-acceptance-'));
const server = await startKafka();
try {
  const results = await run();
  for (const { name, value, unit, ok } of results) console.log(`${ok === false ? 'FAILED ' : ''}${name}: ${value} ${unit}`);
  if (results.some(({ ok }) => ok === false)) process.exitCode = 1;
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

async function run(): Promise<BenchResult[]> {
  await createTopic(server.url, 'floor');
  const floor = EVENTS / (await writeDirectly(server.url, 'floor', EVENTS));
  await createTopic(server.url, 'events');
  await fill();
  let peak = 0;
  const began = performance.now();
  for (let kill = 0; kill <= KILLS; kill++) {
    const child = start();
    const ended = new Promise<boolean>((resolve) => {
      child.once('message', () => resolve(true));
      child.once('exit', () => resolve(false));
    });
    const until = (EVENTS * (kill + 1)) / (KILLS + 1);
    if (kill < KILLS) while ((await endOffsets(server.url, 'events')) < until) await pause(100);
    else if (!(await ended)) throw new Error('the process ended before the last event was delivered');
    peak = Math.max(peak, peakMb(child.pid));
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await new Promise((resolve) => child.once('exit', resolve));
  }
  const rate = (EVENTS * 1_000) / (performance.now() - began);
  const { ids, messages, swapped } = await orderIn(server.url, 'events');
  return [
    { name: `missing of ${EVENTS} events after ${KILLS} kills`, value: EVENTS - ids, unit: '', ok: ids === EVENTS },
    atMost('repeats', messages - ids, '', KILLS * REPEATS_PER_KILL),
    { name: 'events of a visitor out of order', value: swapped, unit: '', ok: swapped === 0 },
    figure('the client alone', floor, 'events/s'),
    figure('through the service, kills and restarts included', rate, 'events/s'),
    atLeast('of the client alone', rate / floor, '', 0.5),
    atMost('peak memory of the delivering process', peak, 'MB', 300),
  ];
}

async function fill(): Promise<void> {
  const log = await openLmdbLog({ path: folder, dedupWindowMs: 3_600_000 });
  for (let from = 0; from < EVENTS; from += PER_APPEND) {
    const records = Array.from({ length: Math.min(PER_APPEND, EVENTS - from) }, (_, i) => {
      const event = orderAt(from + i);
      const meta = { received_at: Date.now(), org_id: 'org_1', pipeline_id: 'pl_1' };
      return { id: eventRecordId('pl_1', event.event_id), data: encodeEventRecord(meta, event) };
    });
    await log.append([{ topic: eventsTopic('pl_1'), records }]);
  }
  await log.close();
}

/** With the flags of `npm start`. */
function start(): ChildProcess {
  return fork(join(import.meta.dirname, 'kafka-acceptance/deliver.ts'), [folder, server.url], {
    execArgv: ['--max-semi-space-size=8', '--v8-pool-size=0'],
    env: { ...process.env, MALLOC_ARENA_MAX: '2' },
  });
}
function peakMb(pid: number | undefined): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024;
}

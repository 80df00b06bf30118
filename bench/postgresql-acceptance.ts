/**
 * A backlog of events (BENCH_EVENTS, a million by default) into PostgreSQL, with five `kill -9` of the delivering process along the way: none
 * missing, none twice, against the time in which the same client writes the same rows by itself. A PostgreSQL that flushes its writes.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { encodeEventRecord, eventRecordId, eventsTopic } from '@firsthand/server/event-record.ts';
import { openLmdbLog } from '@firsthand/server/stores/event-log/lmdb.ts';
import pg from 'pg';
import { startPostgres } from '../packages/server/test/servers/index.ts';
import { type BenchResult, eventAt } from './postgresql-acceptance/event.ts';
import { writeDirectly } from './postgresql-acceptance/floor.ts';
import { atLeast, atMost, figure } from './result.ts';

const EVENTS = Number(process.env.BENCH_EVENTS ?? 1_000_000);
const KILLS = 5;
const AT_ONCE = 2_000;
const MAX_MB = 300;

const folder = await mkdtemp(join(tmpdir(), 'postgresql-acceptance-'));
const server = await startPostgres({ durable: true });
try {
  for (const one of await run())
    console.log(
      `${one.ok === false ? 'FAILED ' : ''}${one.name}: ${one.value} ${one.unit}${one.floor === undefined ? '' : ` (at least ${one.floor})`}`,
    );
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

async function run(): Promise<BenchResult[]> {
  const floor = EVENTS / (await writeDirectly(server.url, EVENTS, AT_ONCE));
  await fill();
  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  const stored = async () => {
    const { rows } = await admin.query<{ n: number }>(
      "select coalesce((select count(*) from pg_class where relname = 'events'), 0)::int as n",
    );
    return rows[0]?.n === 0 ? 0 : ((await admin.query<{ n: number }>('select count(*)::int as n from events')).rows[0]?.n ?? 0);
  };
  let peak = 0;
  const began = performance.now();
  for (let kill = 0; kill <= KILLS; kill++) {
    const child = start();
    const done = new Promise<boolean>((resolve) => {
      child.once('message', () => resolve(true));
      child.once('exit', () => resolve(false));
    });
    const until = (EVENTS * (kill + 1)) / (KILLS + 1);
    while (kill < KILLS && (await stored()) < until) await pause(100);
    if (kill === KILLS && !(await done)) throw new Error('the process ended before the last event was delivered');
    peak = Math.max(peak, residentMb(child.pid));
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await new Promise((resolve) => child.once('exit', resolve));
  }
  const seconds = (performance.now() - began) / 1000;
  const { rows } = await admin.query<{ n: number; ids: number }>(
    'select count(*)::int as n, count(distinct event_id)::int as ids from events',
  );
  await admin.end();
  const { n = 0, ids = 0 } = rows[0] ?? {};
  const failed = n !== EVENTS || ids !== EVENTS;
  if (failed) process.exitCode = 1;
  const rate = EVENTS / seconds;
  const results = [
    { name: `events of ${EVENTS} missing after ${KILLS} kills`, value: EVENTS - ids, unit: '', ok: ids === EVENTS },
    { name: 'repeats', value: n - ids, unit: '', ok: n === ids },
    figure('the client alone', floor, 'events/s'),
    figure('through the service, kills and restarts included', rate, 'events/s'),
    atLeast('of the client alone', rate / floor, '', 0.5),
    atMost('peak memory of the process', peak, 'MB', MAX_MB),
  ];
  if (results.some(({ ok }) => ok === false)) process.exitCode = 1;
  return results;
}

async function fill(): Promise<void> {
  const log = await openLmdbLog({ path: folder, dedupWindowMs: 3_600_000 });
  for (let from = 0; from < EVENTS; from += AT_ONCE) {
    const records = Array.from({ length: Math.min(AT_ONCE, EVENTS - from) }, (_, i) => {
      const event = eventAt(from + i);
      return {
        id: eventRecordId('pl_1', event.event_id),
        data: encodeEventRecord({ received_at: Date.now(), org_id: 'org_1', pipeline_id: 'pl_1' }, event),
      };
    });
    await log.append([{ topic: eventsTopic('pl_1'), records }]);
  }
  await log.close();
}

/** With the flags of `npm start`. */
function start(): ChildProcess {
  return fork(join(import.meta.dirname, 'postgresql-acceptance/deliver.ts'), [folder, server.url], {
    execArgv: ['--max-semi-space-size=8', '--v8-pool-size=0'],
    env: { ...process.env, MALLOC_ARENA_MAX: '2' },
  });
}
function residentMb(pid: number | undefined): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024;
}

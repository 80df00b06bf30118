/**
 * `npm run accept:postgresql`: a backlog of events (BENCH_EVENTS, a million by default) into a PostgreSQL that flushes its writes. One run
 * without kills is compared with the same client writing the same rows by itself; another run has five `kill -9` along the way. None may
 * be missing or stored twice. BENCH_KILLS=0 leaves the second run out.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fillBacklog } from '@firsthand/server/roles/deliver/testing/backlog.ts';
import { Deliverer, deliverWithKills } from '@firsthand/server/roles/deliver/testing/deliverer.ts';
import pg from 'pg';
import { startPostgres } from '../packages/server/test/servers/index.ts';
import { PeakMemory } from './acceptance/memory.ts';
import { orderAt } from './acceptance/order-event.ts';
import { writeDirectly } from './acceptance/postgresql-floor.ts';
import { atLeast, atMost, type BenchResult, figure, report } from './result.ts';

const EVENTS = Number(process.env.BENCH_EVENTS ?? 1_000_000);
const KILLS = Number(process.env.BENCH_KILLS ?? 5);
const PER_BATCH = 2_000;

const folder = await mkdtemp(join(tmpdir(), 'postgresql-acceptance-'));
const server = await startPostgres({ durable: true });
try {
  report(await run());
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

async function run(): Promise<BenchResult[]> {
  await fillBacklog(folder, EVENTS, orderAt);
  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  const count = async (table: string, distinct = '*') => {
    const { rows } = await admin.query<{ n: number | null }>('select 1 as n from pg_class where relname = $1', [table]);
    if (rows.length === 0) return 0;
    return (await admin.query<{ n: number }>(`select count(${distinct})::int as n from ${table}`)).rows[0]?.n ?? 0;
  };
  const memory = new PeakMemory();
  const task = (table: string) => ({
    vendor: 'postgresql',
    config: { url: server.url, tls: 'disable', table, rate_limit_rps: 1_000, rate_limit_burst: 1_000 },
    folder,
    group: `int_${table}`,
  });
  const floor = EVENTS / (await writeDirectly(server.url, EVENTS, PER_BATCH));
  await admin.query('checkpoint');
  const clean = await new Deliverer(task('clean'), memory.sample).finished();
  const rate = EVENTS / clean.seconds;
  const results = [
    figure('the client alone', floor, 'events/s'),
    figure('through the service', rate, 'events/s'),
    atLeast('of the client alone', rate / floor, '', 0.5),
    figure('processor time', (clean.cpu_seconds * 1e6) / EVENTS, 'µs/event'),
    figure('longest stall of the event loop', clean.stall_ms, 'ms'),
    atMost('missing without kills', EVENTS - (await count('clean')), 'events', 0),
  ];
  if (KILLS > 0) {
    await admin.query('drop table clean');
    await deliverWithKills(task('killed'), { events: EVENTS, kills: KILLS, stored: () => count('killed') }, memory.sample);
    const ids = await count('killed', 'distinct event_id');
    results.push(
      atMost(`missing after ${KILLS} kills`, EVENTS - ids, 'events', 0),
      atMost(`repeats after ${KILLS} kills`, (await count('killed')) - ids, 'events', 0),
    );
  }
  await admin.end();
  return [...results, ...memory.results('postgresql')];
}

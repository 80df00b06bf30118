/**
 * Writes a backlog of events (BENCH_EVENTS, a million by default) as NDJSON and as Parquet files to a local S3 server. One run without
 * kills is compared with the driver alone; another run has five `kill -9` along the way. No event may be missing or repeated.
 * `BENCH_FORMATS` sets the formats. BENCH_KILLS=0 leaves the second run out.
 */
import { fork } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { fillBacklog } from '@firsthand/server/roles/deliver/testing/backlog.ts';
import { Deliverer, deliverWithKills } from '@firsthand/server/roles/deliver/testing/deliverer.ts';
import { ObjectServer } from '@firsthand/server/transports/files/testing/object-server.ts';
import { s3Service } from '@firsthand/server/transports/files/testing/s3-service.ts';
import type { FloorTask, FloorTimes } from './acceptance/files-floor.ts';
import { PeakMemory } from './acceptance/memory.ts';
import { type FileFormat, PER_FILE, s3Config } from './acceptance/s3-config.ts';
import { shopEvent } from './acceptance/shop-event.ts';
import { atLeast, atMost, type BenchResult, figure, report } from './result.ts';

const EVENTS = Number(process.env.BENCH_EVENTS ?? 1_000_000);
const FORMATS = (process.env.BENCH_FORMATS ?? 'ndjson,parquet').split(',') as FileFormat[];
const KILLS = Number(process.env.BENCH_KILLS ?? 5);

async function measure(format: FileFormat): Promise<BenchResult[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-files-'));
  const server = await ObjectServer.start(s3Service(s3Config('', format)));
  try {
    const config = s3Config(server.url, format);
    await fillBacklog(folder, EVENTS, shopEvent);
    const alone = await timesAlone({ config, events: EVENTS });
    const floor = EVENTS / alone.seconds;
    server.objects.clear();
    const memory = new PeakMemory();
    const clean = await new Deliverer({ vendor: 'amazon_s3', config, folder, group: 'int_clean' }, memory.sample).finished();
    const rate = EVENTS / clean.seconds;
    const whole = await eventIds(server, format);
    const results = [
      figure(`${format}, driver alone`, floor, 'events/s'),
      figure(`${format}, delivered`, rate, 'events/s'),
      atLeast(`${format}, delivered to driver alone`, rate / floor, '×', 0.5),
      figure(`${format}, processor time of the driver alone`, (alone.cpu_seconds * 1e6) / EVENTS, 'µs/event'),
      figure(`${format}, processor time`, (clean.cpu_seconds * 1e6) / EVENTS, 'µs/event'),
      figure(`${format}, longest stall of the event loop`, clean.stall_ms, 'ms'),
      atMost(`${format}, missing without kills`, EVENTS - whole.ids, 'events', 0),
    ];
    server.objects.clear();
    if (KILLS > 0) {
      const task = { vendor: 'amazon_s3', config, folder, group: 'int_killed' };
      const stored = () => server.objects.size * PER_FILE;
      await deliverWithKills(task, { events: EVENTS, kills: KILLS, stored }, memory.sample);
      const { ids, rows } = await eventIds(server, format);
      results.push(
        atMost(`${format}, missing after ${KILLS} kills`, EVENTS - ids, 'events', 0),
        atMost(`${format}, repeats after ${KILLS} kills`, rows - ids, 'events', 0),
      );
    }
    return [...results, ...memory.results(format)];
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function timesAlone(task: FloorTask): Promise<FloorTimes> {
  const child = fork(join(import.meta.dirname, 'acceptance/files-floor.ts'), [JSON.stringify(task)]);
  return new Promise((resolve, reject) => {
    child.once('message', (times: FloorTimes) => resolve(times));
    child.once('exit', () => reject(new Error('the driver alone ended without a result')));
  });
}

async function eventIds({ objects }: ObjectServer, format: FileFormat): Promise<{ ids: number; rows: number }> {
  const ids = new Set<string>();
  let rows = 0;
  const add = (id: unknown) => {
    ids.add(String(id));
    rows++;
  };
  for (const bytes of objects.values()) {
    if (format === 'ndjson') for (const line of gunzipSync(bytes).toString().trim().split('\n')) add(JSON.parse(line).event_id);
    else {
      const { parquetReadObjects } = await import('hyparquet');
      const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
      for (const { event_id } of await parquetReadObjects({ file, columns: ['event_id'] })) add(event_id);
    }
  }
  return { ids: ids.size, rows };
}

for (const format of FORMATS) report(await measure(format));

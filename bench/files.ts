/**
 * Writes a million events as NDJSON and as Parquet files to a local S3 server and kills the process five times with `kill -9`. No event
 * may be missing or repeated. It also compares the throughput of a run without kills with that of the driver alone.
 * `BENCH_EVENTS` sets the number of events, `BENCH_FORMATS` the formats.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { ObjectServer } from '@firsthand/server/transports/files/testing/object-server.ts';
import { s3Service } from '@firsthand/server/transports/files/testing/s3-service.ts';
import { ACCOUNT, type FilesTask, PER_FILE } from './files/task.ts';
import { atLeast, atMost, type BenchResult, figure } from './result.ts';

const EVENTS = Number(process.env.BENCH_EVENTS ?? 1_000_000);
const FORMATS = (process.env.BENCH_FORMATS ?? 'ndjson,parquet').split(',') as FilesTask['format'][];
const KILLS = 5;
const MAX_MB = 300;

interface Report {
  seconds: number;
  stall_ms: number;
}
class Child {
  readonly process: ChildProcess;
  readonly done: Promise<Report | undefined>;
  peakMb = 0;
  constructor(task: FilesTask) {
    const path = fileURLToPath(new URL('./files/child.ts', import.meta.url));
    this.process = spawn(process.execPath, ['--max-semi-space-size=8', path, JSON.stringify(task)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { ...process.env, MALLOC_ARENA_MAX: '2' },
    });
    let report: Report | undefined;
    this.process.on('message', (message: Report) => {
      report = message;
    });
    this.done = new Promise((resolve) => this.process.once('exit', () => resolve(report)));
    void this.#watch();
  }
  async kill(): Promise<void> {
    this.process.kill('SIGKILL');
    await this.done;
  }
  /** The log is a mapped file, and its pages belong to the system's cache: only the process's own memory counts. */
  async #watch(): Promise<void> {
    while (this.process.exitCode === null && this.process.signalCode === null) {
      const status = await readFile(`/proc/${this.process.pid}/status`, 'utf8').catch(() => '');
      this.peakMb = Math.max(this.peakMb, Number(/RssAnon:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024);
      await sleep(50);
    }
  }
}

async function finished(task: FilesTask): Promise<Report & { peakMb: number }> {
  const child = new Child(task);
  const report = await child.done;
  if (!report) throw new Error(`the ${task.role} process ended without a report`);
  return { ...report, peakMb: child.peakMb };
}

async function measure(format: FilesTask['format']): Promise<BenchResult[]> {
  const path = await mkdtemp(join(tmpdir(), 'bench-files-'));
  const server = await ObjectServer.start(s3Service(ACCOUNT));
  try {
    const task = { format, url: server.url, path, events: EVENTS };
    await finished({ ...task, role: 'fill' });
    const plain = await finished({ ...task, role: 'plain' });
    server.objects.clear();
    const clean = await finished({ ...task, role: 'deliver', group: 'int_clean' });
    server.objects.clear();
    let peakMb = clean.peakMb;
    // At even parts of the way, plus a moment that differs: before, during and after uploads.
    for (let kill = 1; kill <= KILLS; kill++) {
      const child = new Child({ ...task, role: 'deliver', group: 'int_killed' });
      const enough = Math.floor(((EVENTS / PER_FILE) * kill) / (KILLS + 1));
      while (server.objects.size < enough) await sleep(1);
      await sleep(kill * 13);
      await child.kill();
      peakMb = Math.max(peakMb, child.peakMb);
    }
    const last = await finished({ ...task, role: 'deliver', group: 'int_killed' });
    peakMb = Math.max(peakMb, last.peakMb);
    const { ids, rows } = await eventIds(server, format);
    const ratio = plain.seconds / clean.seconds;
    return [
      figure(`${format}, driver alone`, EVENTS / plain.seconds, 'events/s'),
      figure(`${format}, delivered`, EVENTS / clean.seconds, 'events/s'),
      atLeast(`${format}, delivered to driver alone`, ratio, '×', 0.5),
      figure(`${format}, longest stall of the event loop`, Math.max(clean.stall_ms, last.stall_ms), 'ms'),
      atMost(`${format}, own memory`, peakMb, 'MB', MAX_MB),
      atMost(`${format}, events missing after ${KILLS} kills`, EVENTS - ids, '', 0),
      atMost(`${format}, events repeated after ${KILLS} kills`, rows - ids, '', 0),
    ];
  } finally {
    await server.stop();
    await rm(path, { recursive: true, force: true });
  }
}

async function eventIds({ objects }: ObjectServer, format: FilesTask['format']): Promise<{ ids: number; rows: number }> {
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

let failed = false;
for (const format of FORMATS)
  for (const result of await measure(format)) {
    failed ||= result.ok === false;
    console.log(result);
  }
process.exit(failed ? 1 : 0);

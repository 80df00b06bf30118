/**
 * How the number of retained events changes a service on the embedded stores: start, disk, memory, append rate, the reads of the management
 * API, and what these reads cost the senders. `RETAINED=25000,1000000` chooses the numbers; `RETAINED_DIR` keeps the filled installations, so
 * that a second run only measures. Reads are measured in turns, while all installations run: at different times the same read differs by more
 * than what is to be seen. `RETAINED_ONLY=fill` stops before measuring, and `FILL_SECONDS` ends the filling early: the next run
 * continues it.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, pipelineTo, send, signIn } from '../e2e/harness/client.ts';
import { type Service, startService } from '../e2e/harness/service.ts';
import { describeConditions, watchConditions } from './conditions.ts';
import { request } from './end-to-end.ts';
import type { LoadPlan, LoadResult } from './ingest/load.ts';
import { rssAnonMb } from './ingest/memory.ts';
import { openLoop } from './ingest/open-loop.ts';
import { trackEvent } from './ingest/request.ts';
import { median } from './result.ts';
import { messageIdOf, userOf, visitorOf } from './retained/copies.ts';
import { fill, type Retained } from './retained/fill.ts';
import { read } from './retained/read.ts';
import type { ReadersPlan } from './retained/readers.ts';
import { undisturbed } from './turns.ts';

const SIZES = (process.env.RETAINED ?? '25000,1000000').split(',').map(Number);
const DIR = process.env.RETAINED_DIR ?? mkdtempSync(join(tmpdir(), 'firsthand-retained-'));
const FILL_MS = Number(process.env.FILL_SECONDS ?? Number.POSITIVE_INFINITY) * 1_000;
/** Of each read and installation: rounds, reads of a round, and when a round ends at the latest. */
const [ROUNDS, READS, ROUND_MS] = [4, 50, 1_250];
const QUANTILES = [
  ['p50', 0.5],
  ['p99', 0.99],
  ['slowest', 1],
] as const;
/** With and without readers. Figures are medians. */
const BESIDE_TURNS = 3;
const READERS = 4;
const RATE = 300;
const TEMPLATE = { event_id: 'msg-feedfacefeedface', visitor: 'feedface' };
const ENV = { LOG_LEVEL: 'error', DEDUP_WINDOW: '24h' };
const here = (path: string) => join(import.meta.dirname, path);

type Installation = Retained & { key: string; filled: number; until: number };

/** An installation with `count` events, made and filled unless it is there. */
async function installation(count: number): Promise<Installation> {
  const notes = join(DIR, `${count}.json`);
  let made = existsSync(notes) ? (JSON.parse(readFileSync(notes, 'utf8')) as Installation) : await newInstallation(count);
  const plan = { from: made.filled, to: count, total: count, until: made.until, atMostMs: FILL_MS };
  if (made.filled < count) made = { ...made, filled: await fill(made, plan) };
  writeFileSync(notes, JSON.stringify(made));
  return made;
}

async function newInstallation(count: number): Promise<Installation> {
  const dataDir = join(DIR, String(count));
  rmSync(dataDir, { recursive: true, force: true });
  mkdirSync(dataDir, { recursive: true });
  const receiver = fork(here('end-to-end/receiver.ts'));
  const [{ port }] = (await once(receiver, 'message')) as [{ port: number }];
  const service = await startService(ENV, { dataDir });
  const client = await signIn(service);
  const made = await pipelineTo(client, `http://127.0.0.1:${port}`, { pipeline: { rate_limit_rps: 1_000_000 } });
  await sleep(2_000);
  await send(service, made.key, '/v1/t', trackEvent(TEMPLATE.event_id, TEMPLATE.visitor));
  for (let tries = 0; ; tries++) {
    const { body } = await client.call('GET', `/events/${TEMPLATE.event_id}`);
    if (body.deliveries?.[0]?.status === 'delivered') break;
    if (tries > 100) throw new Error(`the template event is not delivered: ${JSON.stringify(body)}`);
    await sleep(100);
  }
  await service.stop();
  receiver.disconnect();
  const ids = { dataDir, pipeline: made.pipeline.id, integration: made.integration.id, key: made.key };
  return { ...ids, ...TEMPLATE, filled: 0, until: Date.now() - 600_000 };
}

type Row = [what: string, value: number, unit: string];

interface Running {
  retained: Installation;
  service: Service;
  client: Client;
  port: number;
  reads: ReturnType<typeof readsOf>;
  rows: Row[];
}

async function start(retained: Installation, count: number, receiverUrl: string): Promise<Running> {
  const { dataDir, key, pipeline, integration } = retained;
  const rows: Row[] = [];
  const started = performance.now();
  const service = await startService(ENV, { dataDir });
  rows.push(['start to ready', performance.now() - started, 'ms']);
  rows.push(['disk: log', statSync(join(dataDir, 'log/data.mdb')).blocks / 2_048, 'MB']);
  rows.push(['disk: traces and statistics', statSync(join(dataDir, 'observe.sqlite')).size / 1_048_576, 'MB']);
  const client = await signIn(service);
  await deliverTo(client, retained, receiverUrl);
  await sleep(2_000);
  rows.push(['private memory after start', rssAnonMb(Number(service.pid)), 'MB']);
  const port = Number(new URL(service.url).port);
  rows.push(['append rate', await appendRate({ port, key }), 'events/s']);
  rows.push(['the last trace is visible after', await recordedAfter(client, pipeline, integration), 'ms']);
  return { retained, service, client, port, reads: readsOf(retained, count), rows };
}

/** Each goes first in every second round. */
async function compareReads(all: readonly Running[]): Promise<void> {
  for (const [i, [name]] of all[0]?.reads.entries() ?? []) {
    let turn = 0;
    const rounds = await undisturbed(ROUNDS, async () => {
      const found = new Map<Running, Awaited<ReturnType<typeof timesOf>>>();
      for (const each of turn++ % 2 === 0 ? all : all.toReversed()) found.set(each, await timesOf(each, each.reads[i]?.[1] ?? ''));
      return found;
    });
    for (const running of all) {
      const times = rounds.flatMap((found) => found.get(running)?.times ?? []);
      const mainThreadMs = rounds.reduce((ms, found) => ms + (found.get(running)?.mainThreadMs ?? 0), 0);
      for (const [kind, at] of QUANTILES) running.rows.push([`GET ${name}, ${kind}`, quantile(times, at), 'ms']);
      running.rows.push([`GET ${name}, processor time of the main thread`, mainThreadMs / times.length, 'ms']);
    }
  }
}

async function besideReaders({ retained: { key }, service, client, port, reads, rows }: Running): Promise<void> {
  const load = { port, key, connections: 32, path: '/v1/t', batch: 1, rate: RATE, warmupMs: 1_000, durationMs: 5_000 };
  const turns = await undisturbed(BESIDE_TURNS, async () => {
    const alone = await openLoop({ ...load, prefix: `alone-${Date.now()}-` });
    const reading = readUntilStopped(service, client, reads);
    const beside = await openLoop({ ...load, prefix: `beside-${Date.now()}-` });
    return { alone, beside, requests: await reading.stop() };
  });
  const of = (pick: (turn: (typeof turns)[number]) => number) => median(turns.map(pick));
  rows.push([`accept at ${RATE}/s, p99`, of(({ alone }) => alone.acceptedP99Ms), 'ms']);
  rows.push(['the same, slowest', of(({ alone }) => alone.acceptedMaxMs), 'ms']);
  rows.push([`accept at ${RATE}/s beside ${READERS} readers, p99`, of(({ beside }) => beside.acceptedP99Ms), 'ms']);
  rows.push(['the same, slowest', of(({ beside }) => beside.acceptedMaxMs), 'ms']);
  rows.push(['reads served meanwhile', of(({ requests }) => requests), '']);
  rows.push(['private memory after all', rssAnonMb(Number(service.pid)), 'MB']);
}

async function measure(installations: ReadonlyMap<number, Installation>): Promise<Map<number, Row[]>> {
  const receiver = fork(here('end-to-end/receiver.ts'));
  const [{ port }] = (await once(receiver, 'message')) as [{ port: number }];
  const running = new Map<number, Running>();
  try {
    for (const [size, made] of installations) running.set(size, await start(made, size, `http://127.0.0.1:${port}`));
    await compareReads([...running.values()]);
    for (const each of running.values()) await besideReaders(each);
    return new Map(Array.from(running, ([size, { rows }]) => [size, rows]));
  } finally {
    await Promise.all(Array.from(running.values(), ({ service }) => service.terminate()));
    receiver.disconnect();
  }
}

/** The receiver of this run has another port than the one before. */
async function deliverTo(client: Client, { pipeline, integration }: Installation, url: string): Promise<void> {
  const path = `/pipelines/${pipeline}/integrations/${integration}`;
  const { body } = await client.call('GET', path);
  const config = { url, rate_limit_rps: 100_000, rate_limit_burst: 100_000 };
  const revision = await client.call('POST', `/integration-templates/${body.template_id}/revisions`, { config });
  const pinned = await client.call('PUT', path, { revision_number: revision.body.number ?? revision.body.revision_number });
  if (pinned.status !== 200) throw new Error(JSON.stringify([revision.body, pinned.body]));
}

/**
 * Each read asks for an old event, or for a page far into the list, where the number of events matters most. With 25,000 events or more, a
 * read returns as many events at every size: an empty page would compare the page, not the search for it.
 */
function readsOf({ pipeline, integration }: Installation, count: number): [name: string, path: string][] {
  const old = messageIdOf(Math.floor(count / 10));
  const { id: visitor } = visitorOf(0, count);
  const middle = new Date(Date.now() - 3 * 86_400_000).toISOString();
  return [
    ['/events', '/events'],
    ['/events of a pipeline', `/events?pipeline_id=${pipeline}&limit=100`],
    ['/events three days ago', `/events?pipeline_id=${pipeline}&to=${middle}`],
    ['/events of a user', `/events?user_id=${userOf(visitor)}`],
    ['/events of an anonymous id', `/events?anonymous_id=${visitor}-7f0a-4a39-8f59-0d8f4b0c8a11`],
    ['/events by name', `/events?event=Product%20Viewed`],
    ['/events by a name that never came', `/events?event=Nothing`],
    ['/events dropped', `/events?status=dropped`],
    ['/events by integration', `/events?integration_id=${integration}`],
    ['/events waiting for delivery', '/events?delivery=waiting'],
    ['/events/{id}, newest', `/events/${TEMPLATE.event_id}`],
    ['/events/{id}, old', `/events/${old}`],
    ['/events/{id} that never came', '/events/nothing'],
    ['/stats', '/stats'],
    ['/stats of a pipeline', `/stats?pipeline_id=${pipeline}`],
    ['/stats with the backlog', '/stats?with_waiting=true'],
    ['/dlq', '/dlq'],
    ['/dlq/groups', '/dlq/groups'],
    ['/attention', '/attention'],
    ['/pipelines/{id}/integrations', `/pipelines/${pipeline}/integrations`],
    ['/pipelines/{id}/fields', `/pipelines/${pipeline}/fields`],
    ['/integrations', '/integrations'],
    ['/alerts/firing', '/alerts/firing'],
    ['/installation', '/installation'],
  ];
}

async function timesOf({ service, client }: Running, path: string): Promise<{ times: number[]; mainThreadMs: number }> {
  for (let n = 0; n < 5; n++) await read(service.url, client.token, path);
  const times: number[] = [];
  const before = mainThreadMs(service);
  const until = performance.now() + ROUND_MS;
  for (let n = 0; n < READS && performance.now() < until; n++) {
    const started = performance.now();
    await read(service.url, client.token, path);
    times.push(performance.now() - started);
  }
  return { times, mainThreadMs: mainThreadMs(service) - before };
}
/** Processor time so far. Besides the reads it has the upkeep of a service without events, some percent of a core. */
function mainThreadMs({ pid }: Service): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}

function readUntilStopped(service: Service, client: Client, reads: [string, string][]): { stop(): Promise<number> } {
  const readers = fork(here('retained/readers.ts'));
  const plan: ReadersPlan = { url: service.url, token: client.token, paths: reads.map(([, path]) => path), readers: READERS };
  readers.send(plan);
  return {
    async stop() {
      const { requests } = await request<{ requests: number }>(readers, 'stop');
      return requests;
    },
  };
}

async function appendRate(to: Pick<LoadPlan, 'port' | 'key'>): Promise<number> {
  const generator = fork(here('ingest/load.ts'));
  const plan: LoadPlan = { ...to, path: '/v1/t', connections: 64, batch: 1, warmupMs: 1_000, durationMs: 5_000 };
  const { result } = await request<{ result: LoadResult }>(generator, plan);
  generator.disconnect();
  return result.perSecond;
}
/** Milliseconds until everything that was received is delivered and recorded. */
async function recordedAfter(client: Client, pipeline: string, integration: string): Promise<number> {
  const started = performance.now();
  for (;;) {
    const { totals, waiting } = await client.get(`/stats?pipeline_id=${pipeline}&integration_id=${integration}`);
    const ended = performance.now() - started;
    await sleep(500);
    const later = await client.get(`/stats?pipeline_id=${pipeline}&integration_id=${integration}`);
    if (waiting === 0 && later.totals.delivered === totals.delivered) return ended;
  }
}
function quantile(values: readonly number[], at: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * at))] ?? 0;
}

const installations = new Map<number, Installation>();
for (const size of SIZES) installations.set(size, await installation(size));
const conditions = watchConditions();
const columns = process.env.RETAINED_ONLY === 'fill' ? new Map<number, Row[]>() : await measure(installations);
const [first] = columns.values();
const round = (value: number | undefined) => (value === undefined ? '' : value >= 100 ? Math.round(value) : Math.round(value * 10) / 10);
if (first !== undefined) {
  console.log(`| | ${[...columns.keys()].map((size) => `${size.toLocaleString('en')} events`).join(' | ')} |`);
  console.log(`|---|${'---:|'.repeat(columns.size)}`);
  for (const [i, [what, , unit]] of first.entries())
    console.log(`| ${what} | ${[...columns.values()].map((rows) => `${round(rows[i]?.[1])} ${unit}`.trim()).join(' | ')} |`);
  console.log(describeConditions(conditions()));
}
if (process.env.RETAINED_DIR === undefined) rmSync(DIR, { recursive: true, force: true });

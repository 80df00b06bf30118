/** Many idle integrations: what they cost, how long their configuration takes to load, and whether every one delivers. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { pipelineTo, send, signIn } from '../../e2e/harness/client.ts';
import { startReceiver } from '../../e2e/harness/receiver.ts';
import type { Service } from '../../e2e/harness/service.ts';
import { atMost, type BenchResult, figure } from '../result.ts';
import { startCluster, sum, TICKS_PER_SECOND, ticks } from './installation.ts';

const PER_PIPELINE = 10;
/** Each process collects the garbage of the load: counted apart. */
const SETTLE_MS = 30_000;
const WATCH_MS = 60_000;
const LOADED_MS = 12_000;
const START_MS = 180_000;
const DELIVER_MS = 180_000;
const SENDS_AT_ONCE = 16;

export async function measureManyIntegrations(count: number): Promise<BenchResult[]> {
  const pipelines = Math.ceil(count / PER_PIPELINE);
  const receiver = await startReceiver();
  const installation = await startCluster();
  const { service, pids } = installation;
  try {
    const client = await signIn(service);
    // One template per integration of a pipeline. Its path tells the receiver which one delivered.
    const first = await pipelineTo(client, `${receiver.url}/0`);
    for (let n = 1; n < PER_PIPELINE; n++)
      await client.post('/integrations', {
        source_id: first.pipeline.id,
        vendor: 'webhook',
        name: `Receiver ${n}`,
        enabled: true,
        config: { url: `${receiver.url}/${n}` },
      });
    const empty = await startOther(service);
    const importMs = await timed(() => copyPipelines(service.databaseUrl ?? '', first.pipeline.id, pipelines));
    // The other processes load it too, within the interval of the configuration: not at the same time.
    await sleep(LOADED_MS);
    const full = await startOther(service);

    // The deliverer has all its groups when a cursor per integration is stored and their number does not grow any more.
    const groups = async () => (await installation.broker?.counts())?.streams.cursors?.messages ?? 0;
    const startedMs = await timed(async () => {
      const deadline = performance.now() + START_MS;
      for (let before = -1, now = await groups(); before !== now || now < count; before = now, now = await groups()) {
        if (performance.now() > deadline) break;
        await sleep(5_000);
      }
    });
    const settling = await watch(pids, SETTLE_MS);
    const from = await installation.broker?.counts();
    const idle = await watch(pids, WATCH_MS);
    const to = await installation.broker?.counts();

    const delivered = () =>
      new Set(receiver.requests.map(({ path, body }) => `${path} ${(JSON.parse(body) as { event_id: string }).event_id}`)).size;
    const [ingest = ''] = installation.urls;
    const accepted = await sendToAll(ingest, pipelines);
    const deadline = performance.now() + DELIVER_MS;
    while (delivered() < pipelines * PER_PIPELINE && performance.now() < deadline) await sleep(500);

    return [
      figure('integrations', pipelines * PER_PIPELINE, ''),
      figure('import into the database', importMs / 1_000, 's'),
      figure('until every group is stored', startedMs / 1_000, 's'),
      atMost('snapshot load', Math.max(0, full.ms - empty.ms) / 1_000, 's', 3),
      // Comparable on a busy machine too.
      figure('snapshot load: CPU', full.cpuSeconds - empty.cpuSeconds, 's'),
      figure('just after the load: all processes and brokers', sum(settling.map(([, percent]) => percent)), '% of a core'),
      ...idle.map(([name, percent]) => figure(`idle: ${name}`, percent, '% of a core')),
      figure('idle: API requests', ((to?.apiRequests ?? 0) - (from?.apiRequests ?? 0)) / (WATCH_MS / 1_000), 'a second'),
      atMost('idle: all processes and brokers', sum(idle.map(([, percent]) => percent)), '% of a core', 10),
      atMost('events not accepted', pipelines - accepted, '', 0),
      atMost('integrations that did not deliver', pipelines * PER_PIPELINE - delivered(), '', 0),
    ];
  } finally {
    await installation.stop();
    await receiver.close();
  }
}

/** Share of a core that each process uses. */
async function watch(pids: Record<string, number>, ms: number): Promise<[name: string, percent: number][]> {
  const before = ticks(pids);
  await sleep(ms);
  return Object.entries(ticks(pids)).map(([name, ticked]) => [
    name,
    ((ticked - (before[name] ?? 0)) / TICKS_PER_SECOND / (ms / 1_000)) * 100,
  ]);
}

/** Copies a pipeline with its integrations in SQL: 10,000 requests to the management API would take minutes. */
async function copyPipelines(databaseUrl: string, id: string, pipelines: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query('begin');
    const { rows } = await client.query('update config_version set version = version + 1, urgent_version = version + 1 returning version');
    const version = (rows[0] as { version: number }).version;
    const copy = async (table: string, where: string, changed: Record<string, string>) => {
      const { rows: columns } = await client.query(
        'select column_name from information_schema.columns where table_schema = current_schema() and table_name = $1',
        [table],
      );
      const names = (columns as { column_name: string }[]).map(({ column_name }) => column_name);
      const values = names.map((name) => changed[name] ?? `source.${name}`);
      await client.query(
        `insert into ${table} (${names.join(', ')}) select ${values.join(', ')} from ${table} source, generate_series(1, $1) n where ${where} = $2`,
        [pipelines - 1, id],
      );
    };
    await copy('pipelines', 'source.id', {
      id: "source.id || '_' || n",
      slug: "source.slug || '-' || n",
      pipeline_key: "'pk_many_' || n",
      row_version: String(version),
    });
    await copy('integrations', 'source.pipeline_id', {
      id: "source.id || '_' || n",
      pipeline_id: "source.pipeline_id || '_' || n",
      row_version: String(version),
    });
    await client.query("update pipelines set pipeline_key = 'pk_many_0', row_version = $2 where id = $1", [id, version]);
    await client.query('commit');
  } finally {
    await client.end();
  }
}

/** Time and CPU from the start of an ingest process until it accepts events. */
async function startOther(service: Service): Promise<{ ms: number; cpuSeconds: number }> {
  let other: Service | undefined;
  const ms = await timed(async () => {
    other = await service.sibling({ ROLES: 'ingest' });
  });
  const { used = 0 } = ticks({ used: other?.pid ?? 0 });
  await other?.stop();
  return { ms, cpuSeconds: used / TICKS_PER_SECOND };
}
async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** One event to each pipeline. Returns how many were accepted. */
async function sendToAll(url: string, pipelines: number): Promise<number> {
  let [next, accepted] = [0, 0];
  await Promise.all(
    Array.from({ length: SENDS_AT_ONCE }, async () => {
      for (let n = next++; n < pipelines; n = next++) {
        const event = { type: 'track', event: 'Order Completed', messageId: `many-${n}`, anonymousId: `visitor-${n}` };
        if ((await send({ url }, `pk_many_${n}`, '/v1/t', event)).status === 200) accepted++;
      }
    }),
  );
  return accepted;
}

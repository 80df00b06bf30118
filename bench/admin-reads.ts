/**
 * Latency of the management API in a large organisation: 1,000 pipelines, 5,000 integrations (100 of them on one pipeline, each with its own
 * delivery group and a backlog), 500 templates with three revisions each, and the audit log of creating them. Requests run in process
 * through the whole app: token, validation, database, health, JSON.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeEventRecord, eventRecordId, eventsTopic } from '@firsthand/server/event-record.ts';
import { createSharedLimits } from '@firsthand/server/rate-limits/shared-limits.ts';
import { buildAdminApp } from '@firsthand/server/roles/admin/app.ts';
import { createOrganisation } from '@firsthand/server/roles/admin/create-organisation.ts';
import { startOperations } from '@firsthand/server/roles/admin/testing/operations.ts';
import { ADMIN_SETTINGS } from '@firsthand/server/roles/admin/testing/settings.ts';
import { systemClock } from '@firsthand/server/runtime/clock.ts';
import { createCipher } from '@firsthand/server/secrets/cipher.ts';
import { openConfigStore } from '@firsthand/server/stores/config/open.ts';
import { sql } from 'kysely';
import pino from 'pino';
import { findPostgres } from '../packages/server/test/servers/find.ts';
import { startPostgres } from '../packages/server/test/servers/index.ts';
import { atMost, type BenchResult } from './result.ts';

const PIPELINES = 1_000;
const INTEGRATIONS = 5_000;
const ON_ONE_PIPELINE = 100;
const TEMPLATES = 500;
const CEILING_MS = 5;
const ROUNDS = 5;
const READS = 41;
const SECRET_KEY = 'only for this measurement';
const LOGIN = { email: 'owner@bench.test', password: 'correct horse battery' };

type Api = (method: 'GET' | 'POST', path: string, body?: unknown) => Promise<Record<string, unknown>>;

async function measure(engine: 'SQLite' | 'PostgreSQL', databaseUrl: string | undefined): Promise<BenchResult[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'firsthand-admin-reads-'));
  const clock = systemClock;
  const cipher = createCipher(SECRET_KEY);
  const store = await openConfigStore({ databaseUrl, dataDir, clock });
  const operations = await startOperations({ dataDir, databaseUrl, clock, db: store.db, cipher });
  const deps = {
    db: store.db,
    cipher,
    operations,
    clock,
    secretKey: SECRET_KEY,
    logger: pino({ level: 'silent' }),
    version: '0.0.0',
    settings: { ...ADMIN_SETTINGS, accessTokenTtlMs: 3_600_000 },
    rateLimits: createSharedLimits({ clock: systemClock }),
    // `reload` runs once, after the data is in place: this benchmark measures reads.
    configChanged: async () => {},
  };
  const app = buildAdminApp(deps);
  try {
    await createOrganisation(deps, { name: 'Large', owner_email: LOGIN.email, owner_password: LOGIN.password });
    let token = '';
    /** The raw bytes of the response: decoding them is the client's work. */
    const send = async (method: 'GET' | 'POST', path: string, body?: unknown): Promise<Buffer> => {
      const answer = await app.inject({
        method,
        url: `/v1/admin/${path}`,
        headers: { authorization: `Bearer ${token}` },
        ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
      });
      if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${answer.body}`);
      return answer.rawPayload;
    };
    const api: Api = async (method, path, body) => JSON.parse((await send(method, path, body)).toString());
    token = String((await api('POST', 'auth/login', LOGIN)).access_token);
    const { pipeline, template } = await fill(api, operations);
    await operations.reload();
    // Autovacuum would do this within a minute of so many changes.
    if (databaseUrl !== undefined) await sql.raw('vacuum (analyze)').execute(store.db);
    const reads: [string, string][] = [
      ['pipelines', 'pipelines?limit=100'],
      ['pipelines, a far page', 'pipelines?limit=100&offset=900'],
      ['pipelines by search', 'pipelines?search=line%207'],
      ['pipelines by label', 'pipelines?label=env:3&limit=100'],
      ['pipelines by type and state', 'pipelines?type=server&enabled=true'],
      ['one pipeline', `pipelines/${pipeline}`],
      ['integrations of a pipeline', `pipelines/${pipeline}/integrations?limit=100`],
      ['templates', 'integration-templates?limit=100'],
      ['templates by search', 'integration-templates?search=late%207'],
      ['one template', `integration-templates/${template}`],
      ['revisions', `integration-templates/${template}/revisions`],
      ['audit log', 'audit-logs?limit=100'],
      ['audit log by resource', `audit-logs?resource_id=${pipeline}`],
      ['audit log by action', 'audit-logs?action=pipeline.created&limit=100'],
      ['catalog', 'integration-catalog'],
      ['catalog by search', 'integration-catalog?search=google'],
      ['data layer', 'data-layer'],
      ['webhook sources', 'webhook-sources'],
      ['dead letters', 'dlq'],
      ['statistics of a pipeline', `stats?pipeline_id=${pipeline}`],
    ];
    const results: BenchResult[] = [];
    for (const [name, path] of reads)
      results.push(atMost(`admin reads, ${engine}: ${name}`, await median(() => send('GET', path)), 'ms', CEILING_MS));
    return results;
  } finally {
    await app.close();
    await operations.close();
    await store.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function fill(api: Api, { log }: Awaited<ReturnType<typeof startOperations>>): Promise<{ pipeline: string; template: string }> {
  const idOf = async (path: string, body: object) => String((await api('POST', path, body)).id);
  const templates = await many(TEMPLATES, async (n) => {
    const config = { url: `https://hooks.example/${n}`, authentication: 'bearer', auth_token: `token-number-${n}` };
    const made = await api('POST', 'integration-templates', { name: `Template ${n}`, vendor: 'webhook', config });
    const { id } = made.template as { id: string };
    for (const version of [2, 3])
      await api('POST', `integration-templates/${id}/revisions`, { config: { ...config, max_retries: version } });
    return id;
  });
  const pipelines = await many(PIPELINES, (n) =>
    idOf('pipelines', { name: `Pipeline ${n}`, type: ['web', 'app', 'server'][n % 3], labels: [`env:${n % 4}`, `team:${n % 20}`] }),
  );
  const [first, ...others] = pipelines as [string, ...string[]];
  const assign = (n: number) =>
    idOf(`pipelines/${n < ON_ONE_PIPELINE ? first : others[n % others.length]}/integrations`, { template_id: templates[n % TEMPLATES] });
  const integrations = await many(INTEGRATIONS, assign);
  const start = new Date(0);
  for (const group of integrations.slice(0, ON_ONE_PIPELINE)) {
    const consumer = await log.consume(eventsTopic(first), group, { start, maxInFlight: 1, maxBatch: 1 }, async () => {});
    await consumer.stop();
  }
  const event = { type: 'track' as const, event: 'Waiting', timestamp: '2026-05-01T00:00:00.000Z', context: {} };
  const meta = { received_at: Date.now(), org_id: 'org', pipeline_id: first };
  const records = Array.from({ length: 1_000 }, (_, n) => ({
    id: eventRecordId(first, `e${n}`),
    data: encodeEventRecord(meta, { ...event, event_id: `e${n}` }),
  }));
  await log.append([{ topic: eventsTopic(first), records }]);
  return { pipeline: first, template: templates[0]! };
}

/** A few at a time: writes are serialised anyway. */
async function many<T>(count: number, make: (n: number) => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  for (let n = 0; n < count; n += 10)
    made.push(...(await Promise.all(Array.from({ length: Math.min(10, count - n) }, (_, i) => make(n + i)))));
  return made;
}

/** The median of the best round: other load on the machine can only slow a round down. */
async function median(read: () => Promise<unknown>): Promise<number> {
  const medians: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const times: number[] = [];
    for (let n = 0; n < READS; n++) {
      const started = performance.now();
      await read();
      times.push(performance.now() - started);
    }
    medians.push(times.sort((a, b) => a - b)[READS >> 1]!);
  }
  return Math.min(...medians);
}

export async function run(): Promise<BenchResult[]> {
  const results = await measure('SQLite', undefined);
  if (findPostgres() === undefined) {
    console.log('PostgreSQL is not installed: skipped.');
    return results;
  }
  const server = await startPostgres();
  try {
    return [...results, ...(await measure('PostgreSQL', server.url))];
  } finally {
    await server.stop();
  }
}

if (import.meta.main) {
  const results = await run();
  for (const { name, value, unit, ok } of results) console.log(`${name}: ${value} ${unit}${ok === false ? '  NO' : ''}`);
  process.exit(results.every(({ ok }) => ok !== false) ? 0 : 1);
}

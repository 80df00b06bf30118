/** Credentials that change while events arrive, and the number of connections, seen from the destination. */
import amazonS3 from '@firsthand/catalog/vendors/amazon_s3/vendor.ts';
import postgresql from '@firsthand/catalog/vendors/postgresql/vendor.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import { compileVendor } from '@firsthand/core/vendor/compile.ts';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startPostgres, type TestServer } from '../../test/servers/index.ts';
import { anEvent, anIntegration, Bench, until } from '../roles/deliver/testing/bench.ts';
import { idsIn } from './files/testing/conformance.ts';
import { ObjectServer } from './files/testing/object-server.ts';
import { type S3Account, s3Service } from './files/testing/s3-service.ts';

const PER_STEP = 200;
const STEPS = 10;
const ALL = Array.from({ length: PER_STEP * STEPS }, (_, index) => `rotated-${index}`);
const BATCHES = { batch_size: 20, batch_interval_ms: 20, rate_limit_rps: 1_000, rate_limit_burst: 1_000 };

let server: TestServer;
let admin: pg.Client;
beforeAll(async () => {
  server = await startPostgres();
  admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
});
afterAll(async () => {
  await admin.end();
  await server.stop();
});

function compiled(definition: typeof postgresql, config: JsonObject) {
  const result = compileVendor(definition, { ...BATCHES, ...config }, { mode: 'development', allow_private: true });
  if (!result.ok) throw new Error(JSON.stringify(result));
  return result.vendor;
}
async function openBench(): Promise<Bench> {
  const bench = await Bench.open();
  onTestFinished(() => bench.close());
  return bench;
}
/** Each role may do everything in the schema, so that one can go on with the table of the other. */
async function createRole(name: string): Promise<string> {
  await admin.query(`create role ${name} login superuser`);
  return server.url.replace('firsthand@', `${name}@`);
}
/** The role can neither connect nor use the connections that it has. */
async function revokeRole(name: string): Promise<void> {
  await admin.query(`alter role ${name} nologin`);
  await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where usename = $1', [name]);
}

interface Rotation {
  definition: typeof postgresql;
  before: JsonObject;
  after: JsonObject;
  /** The destination rejects the credentials of `before` from now on. */
  revoke(): Promise<void>;
  /** What the destination stored, repeats included. */
  stored(): Promise<string[]>;
}
const targets: [string, () => Promise<Rotation>][] = [
  [
    'PostgreSQL',
    async () => {
      const table = `rotation_${Date.now()}`;
      const [old, next] = [`old_${table}`, `new_${table}`];
      return {
        definition: postgresql,
        before: { url: await createRole(old), tls: 'disable', table },
        after: { url: await createRole(next), tls: 'disable', table },
        revoke: () => revokeRole(old),
        stored: async () => (await admin.query<{ event_id: string }>(`select event_id from ${table}`)).rows.map((row) => row.event_id),
      };
    },
  ],
  [
    'Amazon S3',
    async () => {
      const account: S3Account = { access_key_id: 'AKIAOLD', secret_access_key: 'old', region: 'eu-central-1', bucket: 'acme' };
      const objects = await ObjectServer.start(s3Service(account));
      onTestFinished(() => objects.stop());
      const config = { ...account, endpoint: objects.url, format: 'ndjson', compression: 'none' };
      const next = { access_key_id: 'AKIANEW', secret_access_key: 'new' };
      return {
        definition: amazonS3,
        before: config,
        after: { ...config, ...next },
        revoke: async () => void Object.assign(account, next),
        stored: async () => [...objects.objects.values()].flatMap(idsIn),
      };
    },
  ],
];

describe.each(targets)('credentials of %s that are rotated while events arrive', (_name, make) => {
  test('no event is lost, repeated or refused', async () => {
    const rotation = await make();
    const bench = await openBench();
    const use = (config: JsonObject) => bench.snapshots.set([anIntegration(compiled(rotation.definition, config))]);
    use(rotation.before);
    // Retries 0.2, 0.8, 3.2 … seconds after the first attempt: time enough to configure what the destination already demands.
    bench.start({ retryBaseMs: 200 });
    const rejected = async () => ((await bench.counts()).retrying ?? 0) > 0;
    for (let step = 0; step < STEPS; step++) {
      if (step === 4) await rotation.revoke();
      await bench.append(ALL.slice(step * PER_STEP, (step + 1) * PER_STEP).map((id) => anEvent(id)));
      if (step !== 5) continue;
      // The old credentials were tried and rejected before the new ones came.
      await until(rejected);
      use(rotation.after);
    }
    await bench.settled();
    expect((await rotation.stored()).toSorted()).toEqual(ALL.toSorted());
    expect(await bench.deadLetters()).toEqual([]);
    expect(await bench.counts()).toMatchObject({ delivered: ALL.length });
  });
});

describe('connections of PostgreSQL, counted at the server', () => {
  test('each integration has its own pool, and it is bounded', async () => {
    const bench = await openBench();
    await admin.query('create role pooled login superuser');
    const url = server.url.replace('firsthand@', 'pooled@');
    const ids = ['int_1', 'int_2', 'int_3'];
    // The same settings three times: the integrations still share no connection.
    const vendor = compiled(postgresql, { url, tls: 'disable', table: 'pooled' });
    await bench.append(ALL.map((id) => anEvent(id)));
    // Batches wait for this lock with the connections that they have taken.
    await admin.query('create table pooled (event_id text primary key, type text, event text, timestamp timestamptz, context jsonb)');
    const holder = new pg.Client({ connectionString: server.url });
    await holder.connect();
    await holder.query('begin; lock table pooled in access exclusive mode');
    bench.snapshots.set(ids.map((id) => anIntegration({ ...vendor, concurrency: 50 }, { id })));
    bench.start();
    const connections = async () => {
      const { rows } = await admin.query<{ n: number }>("select count(*)::int as n from pg_stat_activity where usename = 'pooled'");
      return rows[0]?.n ?? 0;
    };
    await until(async () => (await connections()) === 12);
    // More batches than connections are ready, and none opens another one.
    expect((await Promise.all(ids.map((id) => bench.deliver.health(id)))).map((health) => health?.waiting)).toEqual(
      ids.map(() => ALL.length),
    );
    expect(await connections()).toBe(12);
    await holder.end();
    for (const id of ids) await bench.settled(id);
    expect(await connections()).toBeLessThanOrEqual(12);
    const { rows } = await admin.query<{ n: number }>('select count(*)::int as n from pooled');
    expect(rows[0]?.n).toBe(ALL.length);
    expect(await bench.deadLetters()).toEqual([]);
  });
});

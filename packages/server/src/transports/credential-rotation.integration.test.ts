/**
 * Credentials that change while events arrive, and the number of connections, seen from the destination.
 *
 * @module-tag postgresql
 */
import { loadVendor } from '@firsthand/catalog/index.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import { createClient } from '@redis/client';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startPostgres, startRedis, type TestServer } from '../../test/servers/index.ts';
import { anEvent, anIntegration, Bench, until } from '../roles/deliver/testing/bench.ts';
import { type AzureAccount, azureService } from './files/testing/azure-service.ts';
import { idsIn } from './files/testing/conformance.ts';
import { type GcsAccount, gcsService } from './files/testing/gcs-service.ts';
import { ObjectServer, type Service } from './files/testing/object-server.ts';
import { type S3Account, s3Service } from './files/testing/s3-service.ts';
import { CloudServer } from './testing/clouds/cloud-server.ts';
import { CLOUDS, type CloudTarget } from './testing/clouds/services.ts';
import { compiledFor } from './testing/clouds/via-vendor.ts';
import { rsaKeyPair } from './testing/verify-jwt.ts';

const PER_STEP = 20;
const STEPS = 10;
const ALL = Array.from({ length: PER_STEP * STEPS }, (_, index) => `rotated-${index}`);
const BATCHES = { batch_size: 10, batch_interval_ms: 20, rate_limit_rps: 1_000, rate_limit_burst: 1_000 };

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

async function compiled(vendor: string, config: JsonObject) {
  const definition = await loadVendor(vendor);
  if (!definition) throw new Error(`there is no vendor ${vendor}`);
  return compiledFor(definition, { ...BATCHES, ...config });
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
  vendor: string;
  before: JsonObject;
  after: JsonObject;
  /** The destination rejects the credentials of `before` from now on. */
  revoke(): Promise<void>;
  /** What the destination stored, repeats included. */
  stored(): Promise<string[]>;
}

async function postgresql(): Promise<Rotation> {
  const table = `rotation_${Date.now()}`;
  const [old, next] = [`old_${table}`, `new_${table}`];
  return {
    vendor: 'postgresql',
    before: { url: await createRole(old), tls: 'disable', table },
    after: { url: await createRole(next), tls: 'disable', table },
    revoke: () => revokeRole(old),
    stored: async () => (await admin.query<{ event_id: string }>(`select event_id from ${table}`)).rows.map((row) => row.event_id),
  };
}

/** A file target whose account has the credentials `next` after the rotation. */
async function files<Account extends object>(
  vendor: string,
  account: Account,
  next: Partial<Account>,
  service: (account: Account) => Service,
): Promise<Rotation> {
  const objects = await ObjectServer.start(service(account));
  onTestFinished(() => objects.stop());
  const before = { ...account, endpoint: objects.url, format: 'ndjson', compression: 'none' } as unknown as JsonObject;
  return {
    vendor,
    before,
    after: { ...before, ...next } as JsonObject,
    revoke: async () => void Object.assign(account, next),
    stored: async () => [...objects.objects.values()].flatMap(idsIn),
  };
}
const amazonS3 = () => {
  const account: S3Account = { access_key_id: 'AKIAOLD', secret_access_key: 'old', region: 'eu-central-1', bucket: 'acme' };
  return files('amazon_s3', account, { access_key_id: 'AKIANEW', secret_access_key: 'new' }, s3Service);
};
const cloudStorage = () => {
  const account: GcsAccount = { client_email: 'writer@acme.iam.gserviceaccount.com', private_key: rsaKeyPair().privatePem, bucket: 'acme' };
  return files('google_cloud_storage', account, { private_key: rsaKeyPair().privatePem }, gcsService);
};
const blobStorage = () => {
  const account: AzureAccount & { authentication: string } = {
    account: 'acmeevents',
    account_key: 'b2xkIGtleQ==',
    sas_token: 'sv=2022-11-02&sp=cw&sig=c2ln',
    container: 'events',
    authentication: 'account_key',
  };
  return files('azure_blob_storage', account, { account_key: 'bmV3IGtleQ==' }, azureService);
};

async function redis(): Promise<Rotation> {
  const started = await startRedis();
  const client = createClient({ url: started.url });
  await client.connect();
  onTestFinished(async () => {
    client.destroy();
    await started.stop();
  });
  for (const name of ['old', 'new']) await client.sendCommand(['ACL', 'SETUSER', name, 'on', `>${name}-secret`, '~*', '+@all']);
  const config = { url: started.url, stream: 'events' };
  return {
    vendor: 'redis',
    before: { ...config, username: 'old', password: 'old-secret' },
    after: { ...config, username: 'new', password: 'new-secret' },
    // Ends the connections of the user as well.
    revoke: async () => void (await client.sendCommand(['ACL', 'DELUSER', 'old'])),
    stored: async () => {
      const entries = (await client.sendCommand(['XRANGE', 'events', '-', '+'])) as unknown as [string, string[]][];
      return entries.map(([, [, event_id = '']]) => event_id);
    },
  };
}

async function cloud(target: CloudTarget): Promise<Rotation> {
  const started = await CloudServer.start(target.service());
  onTestFinished(() => started.stop());
  const name = `events${target.suffix ?? ''}`;
  const config = { endpoint: started.url, ...target.config(name), ...target.credentials(started.service) };
  const next = target.rotated();
  return {
    vendor: target.vendor,
    before: config,
    after: { ...config, ...next },
    revoke: async () => void Object.assign(started.service.credentials, next),
    stored: async () => started.in(name).map(({ event_id }) => event_id),
  };
}

const targets: [name: string, make: () => Promise<Rotation>, tags?: string[]][] = [
  ['PostgreSQL', postgresql],
  ['Amazon S3', amazonS3],
  ['Google Cloud Storage', cloudStorage],
  ['Azure Blob Storage', blobStorage],
  ['Redis', redis, ['redis-server']],
  ...CLOUDS.map((target): [string, () => Promise<Rotation>] => [target.name, () => cloud(target)]),
];

describe.each(targets)('credentials of %s that are rotated while events arrive', (_name, make, tags = []) => {
  test('no event is lost, repeated or refused', { tags }, async () => {
    const rotation = await make();
    const bench = await openBench();
    const use = async (config: JsonObject) => bench.snapshots.set([anIntegration(await compiled(rotation.vendor, config))]);
    await use(rotation.before);
    // Retries 0.2, 0.8, 3.2 … seconds after the first attempt: time enough to configure what the destination already demands.
    bench.start({ retryBaseMs: 200 });
    const rejected = async () => ((await bench.counts()).retrying ?? 0) > 0;
    for (let step = 0; step < STEPS; step++) {
      if (step === 4) await rotation.revoke();
      await bench.append(ALL.slice(step * PER_STEP, (step + 1) * PER_STEP).map((id) => anEvent(id)));
      if (step !== 5) continue;
      // The old credentials were tried and rejected before the new ones came.
      await until(rejected);
      await use(rotation.after);
    }
    await bench.settled();
    expect((await rotation.stored()).toSorted()).toEqual(ALL.toSorted());
    expect(await bench.deadLetters()).toEqual([]);
    expect(await bench.counts()).toMatchObject({ delivered: ALL.length });
  });
});

interface Pooled {
  vendor: string;
  config: JsonObject;
  /** Batches wait at the destination with the connections that they have taken. */
  hold(): Promise<void>;
  release(): Promise<void>;
  connections(): Promise<number>;
  stored(): Promise<number>;
  /** Of one integration. */
  bound: number;
}

async function pooledPostgresql(): Promise<Pooled> {
  await admin.query('create role pooled login superuser');
  await admin.query('create table pooled (event_id text primary key, type text, event text, timestamp timestamptz, context jsonb)');
  const holder = new pg.Client({ connectionString: server.url });
  await holder.connect();
  return {
    vendor: 'postgresql',
    config: { url: server.url.replace('firsthand@', 'pooled@'), tls: 'disable', table: 'pooled' },
    hold: async () => void (await holder.query('begin; lock table pooled in access exclusive mode')),
    release: () => holder.end(),
    connections: async () => {
      const { rows } = await admin.query<{ n: number }>("select count(*)::int as n from pg_stat_activity where usename = 'pooled'");
      return rows[0]?.n ?? 0;
    },
    stored: async () => (await admin.query<{ n: number }>('select count(*)::int as n from pooled')).rows[0]?.n ?? 0,
    bound: 4,
  };
}
/** Connections to one address are pooled. Each integration takes at most as many as it may have requests in flight. */
async function pooledCloud(target: CloudTarget): Promise<Pooled> {
  const started = await CloudServer.start(target.service());
  onTestFinished(() => started.stop());
  const name = `events${target.suffix ?? ''}`;
  const definition = await loadVendor(target.vendor);
  return {
    vendor: target.vendor,
    config: { endpoint: started.url, ...target.config(name), ...target.credentials(started.service) },
    hold: async () => started.pause(),
    release: async () => started.resume(),
    connections: async () => started.mostConnections,
    stored: async () => new Set(started.in(name).map(({ event_id }) => event_id)).size,
    bound: definition?.concurrency ?? 1,
  };
}
const pools: [name: string, make: () => Promise<Pooled>][] = [
  ['PostgreSQL', pooledPostgresql],
  ...CLOUDS.map((target): [string, () => Promise<Pooled>] => [target.name, () => pooledCloud(target)]),
];

describe.each(pools)('connections of %s, counted at the server', (name, make) => {
  test("no integration takes another one's, and each has a bound", async () => {
    const bench = await openBench();
    const pooled = await make();
    const ids = ['int_1', 'int_2', 'int_3'];
    const most = ids.length * pooled.bound;
    // The same settings three times.
    const vendor = await compiled(pooled.vendor, pooled.config);
    // More batches than connections are ready, of visitors that wait for nobody.
    await bench.append(ALL.map((id) => anEvent(id, { anonymous_id: id })));
    await pooled.hold();
    const wide = name === 'PostgreSQL' ? { ...vendor, concurrency: 50 } : vendor;
    bench.snapshots.set(ids.map((id) => anIntegration(wide, { id })));
    bench.start();
    await until(async () => (await pooled.connections()) === most);
    expect((await Promise.all(ids.map((id) => bench.deliver.health(id)))).map((health) => health?.waiting)).toEqual(
      ids.map(() => ALL.length),
    );
    expect(await pooled.connections()).toBe(most);
    await pooled.release();
    for (const id of ids) await bench.settled(id);
    expect(await pooled.connections()).toBeLessThanOrEqual(most);
    expect(await pooled.stored()).toBe(ALL.length);
    expect(await bench.deadLetters()).toEqual([]);
  });
});

/**
 * Streams of clouds at local servers that check signatures by their own code, have the documented limits and answer as the service does.
 * They pass the suite of the real brokers.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadVendor } from '@firsthand/catalog/index.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import type { VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fillBacklog } from '../roles/deliver/testing/backlog.ts';
import { anEvent } from '../roles/deliver/testing/bench.ts';
import { deliverWithKills } from '../roles/deliver/testing/deliverer.ts';
import { CloudServer } from './testing/clouds/cloud-server.ts';
import { CLOUDS, type CloudTarget } from './testing/clouds/services.ts';
import { viaVendor } from './testing/clouds/via-vendor.ts';
import { driverOptions, record } from './testing/conformance.ts';
import { describeStream } from './testing/streams.ts';

async function definitionOf({ vendor }: CloudTarget): Promise<VendorDefinition> {
  const definition = await loadVendor(vendor);
  if (!definition) throw new Error(`there is no vendor ${vendor}`);
  return definition;
}
/** The config of an integration without what depends on the target. */
const account = (cloud: CloudTarget, server: CloudServer): JsonObject => ({ endpoint: server.url, ...cloud.credentials(server.service) });
let targets = 0;
const freshName = ({ suffix = '' }: CloudTarget) => `events-${++targets}${suffix}`;

describe.each(CLOUDS.map((cloud) => [cloud.name, cloud] as const))('%s', (name, cloud) => {
  let server: CloudServer;
  let definition: VendorDefinition;
  beforeAll(async () => {
    [server, definition] = await Promise.all([CloudServer.start(cloud.service()), definitionOf(cloud)]);
  });
  afterAll(() => server.stop());
  const connection = (more: JsonObject = {}) => ({ config: JSON.stringify({ ...account(cloud, server), ...more }) });
  const open = () => viaVendor(definition, cloud.config);

  describeStream(name, () => ({
    open: (given, options) => open()(given, options),
    server,
    connection: connection(),
    wrongCredentials: connection(cloud.wrong),
    nobody: connection({ endpoint: 'http://127.0.0.1:1' }),
    freshTarget: async () => freshName(cloud),
    stored: async (target) => server.in(target).map(({ event_id, event }) => ({ event_id, values: event.properties })),
    once: cloud.once,
    survivesKill: true,
    size: cloud.size,
    tooLarge: cloud.tooLarge,
    failNext: (fault) => server.failNext(fault),
    partial: server.service.partly !== undefined,
  }));

  test('no request without the right signature is served', async () => {
    const transport = open()(connection(cloud.wrong), driverOptions());
    const before = server.requests;
    expect(await transport.send([record(freshName(cloud), 1)], { timeout_ms: 5_000 })).toMatchObject({ kind: 'unavailable' });
    expect(server.requests).toBe(before);
    await transport.close();
  });
});

describe('order', () => {
  test.each(
    CLOUDS.filter(({ suffix }) => suffix === '.fifo').map((cloud) => [cloud.name, cloud] as const),
  )('%s: the events of a visitor share a message group', async (_name, cloud) => {
    const server = await CloudServer.start(cloud.service());
    const target = freshName(cloud);
    const transport = viaVendor(await definitionOf(cloud), cloud.config)(
      { config: JSON.stringify(account(cloud, server)) },
      driverOptions(),
    );
    expect(await transport.send([record(target, 1), record(target, 2)], { timeout_ms: 5_000 })).toEqual({ kind: 'delivered' });
    expect(new Set(server.in(target).map(({ key }) => key)).size).toBe(1);
    await transport.close();
    await server.stop();
  });
});

const EVENTS = 300;
const KILLS = 3;
/** Requests in flight, and as many with a verdict that is not stored yet. */
const BATCHES_AT_A_KILL = 2 * 16;

const LOSES_NOTHING = `${KILLS} kill -9 of the deliverer lose nothing on any of them, and repeat nothing where that is promised`;
test(LOSES_NOTHING, { tags: ['long'], timeout: 180_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kills-'));
  const all = await Promise.all(
    CLOUDS.map(async (cloud, index) => {
      const server = await CloudServer.start(cloud.service());
      const target = freshName(cloud);
      const config = { ...account(cloud, server), ...cloud.config(target), batch_interval_ms: 50, batch_size: 10, rate_limit_rps: 1_000 };
      return { cloud, server, target, integration: { vendor: cloud.vendor, config, group: `int_${index}` } };
    }),
  );
  try {
    await fillBacklog(folder, EVENTS, (index) => anEvent(`kill-${index}`, { anonymous_id: `visitor-${index % 50}` }));
    const [first, ...others] = all.map(({ integration }) => integration);
    if (!first) throw new Error('no targets');
    // The slowest target says how far they are.
    const stored = () => Math.min(...all.map(({ server, target }) => server.in(target).length));
    await deliverWithKills({ ...first, others, folder }, { events: EVENTS, kills: KILLS, stored });
    for (const { cloud, server, target } of all) {
      const ids = server.in(target).map(({ event_id }) => event_id);
      expect([cloud.name, new Set(ids).size]).toEqual([cloud.name, EVENTS]);
      const allowed = cloud.once ? 0 : KILLS * BATCHES_AT_A_KILL * 10;
      expect(ids.length - EVENTS, `${cloud.name}: repeats`).toBeLessThanOrEqual(allowed);
    }
  } finally {
    await Promise.all(all.map(({ server }) => server.stop()));
    await rm(folder, { recursive: true, force: true });
  }
});

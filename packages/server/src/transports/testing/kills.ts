/** What every target must hold when the delivering process is killed with `kill -9`. Run it against a real destination. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@firsthand/core/json.ts';
import { expect, test } from 'vitest';
import { fillBacklog } from '../../roles/deliver/testing/backlog.ts';
import { anEvent } from '../../roles/deliver/testing/bench.ts';
import { deliverWithKills } from '../../roles/deliver/testing/deliverer.ts';

export interface TargetUnderKills {
  /** Its key in the catalog. */
  vendor: string;
  config: JsonObject;
  /** Settings of the driver in the place of the vendor's, such as a local address. */
  connection?: Record<string, string>;
  /** The number of stored events, where that is faster than reading them or reading removes them. */
  count?(): Promise<number>;
  /** The stored event ids, repeats included. Those of other tests are left out. */
  eventIds(): Promise<string[]>;
  /** As the reference promises: an event is stored once, also after a kill. Otherwise at least once. */
  exactlyOnce: boolean;
}

const EVENTS = 2_000;
const KILLS = 3;
const PER_BATCH = 100;
/** Two in flight, and verdicts of four that are not stored yet. */
const BATCHES_AT_A_KILL = 6;

/** `npm test` kills the deliverer of a database and of an object store; the other targets are left to `npm run test:long`. */
export function testKills(name: string, make: () => Promise<TargetUnderKills>, { tags = ['long'] }: { tags?: string[] } = {}): void {
  test(`${name}: ${KILLS} kill -9 of the deliverer lose nothing, and repeat nothing where that is promised`, {
    tags,
    timeout: 180_000,
  }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'kills-'));
    try {
      const { vendor, config, connection, eventIds, exactlyOnce, ...target } = await make();
      const stored = async () => (await eventIds()).filter((id) => id.startsWith('kill-'));
      const count = target.count ?? (async () => (await stored()).length);
      await fillBacklog(folder, EVENTS, (index) => anEvent(`kill-${index}`, { anonymous_id: `visitor-${index % 500}` }));
      const settings = { batch_size: PER_BATCH, batch_interval_ms: 100, rate_limit_rps: 1_000, ...config };
      const task = { vendor, config: settings, ...(connection ? { connection } : {}), folder, group: 'int_kills' };
      await deliverWithKills(task, { events: EVENTS, kills: KILLS, stored: count });
      const ids = await stored();
      const missing = Array.from({ length: EVENTS }, (_, index) => `kill-${index}`).filter((id) => !ids.includes(id));
      expect(missing).toEqual([]);
      expect(ids.length - EVENTS).toBeLessThanOrEqual(exactlyOnce ? 0 : KILLS * BATCHES_AT_A_KILL * PER_BATCH);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
}

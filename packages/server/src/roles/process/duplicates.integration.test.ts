// @module-tag nats-server
import { afterEach, expect, test } from 'vitest';
import { startNats } from '../../../test/servers/index.ts';
import { decodeOutcomes } from '../../outcomes/outcome-log.ts';
import { systemClock } from '../../runtime/clock.ts';
import { createLogger } from '../../runtime/logger.ts';
import { connectNats, openJetStreamLog } from '../../stores/event-log/jetstream.ts';
import { embeddedLeases } from '../../stores/leases/embedded.ts';
import { openKvVisitors } from '../../stores/visitors/jetstream-kv.ts';
import { startProcess } from './start.ts';
import { SETTINGS } from './testing/bench.ts';
import { gate, quiet, twoOrganisations } from './testing/two-organisations.ts';

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const one of undo.splice(0).reverse()) await one();
});

test('a repeat of an event that came to another ingest process is not processed, and counted as a duplicate', async () => {
  const nats = await startNats();
  undo.push(() => nats.stop());
  async function open() {
    const connection = await connectNats(nats.url);
    undo.push(() => connection.close());
    const log = await openJetStreamLog({ connection, dedupWindowMs: 600_000, replicas: 1 });
    undo.push(() => log.close());
    return { connection, log };
  }
  const [{ connection, log }, other] = [await open(), await open()];
  const { sandbox, release } = gate();
  release();
  const role = startProcess({
    log,
    leases: embeddedLeases(),
    visitors: await openKvVisitors({ connection, replicas: 1 }),
    snapshots: twoOrganisations(),
    sandbox,
    tap: { watched: () => false, emit: () => {} },
    settings: SETTINGS,
    clock: systemClock,
    logger: createLogger('silent'),
  });
  undo.push(() => role.stop());

  // Each writer reads the ids of its family once: before the first append of the other.
  await Promise.all([log.prepare?.(['ingest']), other.log.prepare?.(['ingest'])]);
  await log.append([quiet('q1')]);
  await other.log.append([quiet('q1'), quiet('q2')]);
  async function counts() {
    const seen = { processed: 0, duplicates: 0 };
    for (const topic of await log.topics('outcomes'))
      for await (const record of log.read(topic, { limit: 100 }))
        for (const outcome of decodeOutcomes(record)) {
          if (outcome.kind === 'processed') seen.processed++;
          if (outcome.kind === 'ingest_counts') seen.duplicates += outcome.duplicates;
        }
    return seen;
  }
  await expect.poll(counts).toEqual({ processed: 2, duplicates: 1 });
});

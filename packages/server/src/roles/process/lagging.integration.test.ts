// @module-tag nats-server
import { afterEach, expect, test } from 'vitest';
import { startNats } from '../../../test/servers/index.ts';
import { systemClock } from '../../runtime/clock.ts';
import { createLogger } from '../../runtime/logger.ts';
import { connectNats, openJetStreamLog } from '../../stores/event-log/jetstream.ts';
import { embeddedLeases } from '../../stores/leases/embedded.ts';
import { openKvVisitors } from '../../stores/visitors/jetstream-kv.ts';
import { startProcess } from './start.ts';
import { readEvents, SETTINGS } from './testing/bench.ts';
import { gate, loud, loudIds, quiet, twoOrganisations, until } from './testing/two-organisations.ts';

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const one of undo.splice(0).reverse()) await one();
});

test('on JetStream too, a stuck backlog is overtaken, and processed later, once and in order', async () => {
  const nats = await startNats();
  undo.push(() => nats.stop());
  const connection = await connectNats(nats.url);
  undo.push(() => connection.close());
  const log = await openJetStreamLog({ connection, dedupWindowMs: 600_000, replicas: 1 });
  undo.push(() => log.close());
  const visitors = await openKvVisitors({ connection, replicas: 1 });
  const start = (sandbox: ReturnType<typeof gate>['sandbox']) =>
    startProcess({
      log,
      leases: embeddedLeases(),
      visitors,
      snapshots: twoOrganisations(),
      sandbox,
      tap: { watched: () => false, emit: () => {} },
      settings: SETTINGS,
      clock: systemClock,
      logger: createLogger('silent'),
    });
  const idsOf = async (pipelineId: string) => (await readEvents(log, pipelineId)).map(({ event_id }) => event_id);
  const topic = quiet('q').topic;

  const stuck = gate();
  await log.append([...loud(0, 600), quiet('q1')]);
  const first = start(stuck.sandbox);
  await until('the quiet event is processed', async () => (await idsOf('pl_2')).length === 1);
  expect(await idsOf('pl_1')).toEqual([]);
  await until('the backlog has a cursor', async () => (await log.groups(topic)).some((group) => group.startsWith('lagging.org_1.')));
  await first.stop();

  const free = gate();
  free.release();
  const second = start(free.sandbox);
  undo.push(() => second.stop());
  await until('the backlog is processed', async () => (await idsOf('pl_1')).length >= 600);
  await log.append([...loud(600, 20), quiet('q2')]);
  await until('later events are processed', async () => (await idsOf('pl_1')).length >= 620 && (await idsOf('pl_2')).length === 2);
  expect(await idsOf('pl_1')).toEqual(loudIds(620));
  await until('the cursor is removed', async () => (await log.groups(topic)).length === 1);
});

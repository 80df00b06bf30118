import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../harness/client.ts';
import { EMBEDDED, type Fault, Figures, SERVERS } from './kit/fault.ts';
import { compare } from './kit/oracle.ts';
import type { Scope } from './kit/scope.ts';
import { startSender } from './kit/sender.ts';

const KILLS = 20;
/** Backlog at each kill: enough that ingest, processing and delivery are all busy. */
const MOST_BEHIND = 4_000;

async function killUnderLoad(scope: Scope, figures: Figures, servers: boolean): Promise<void> {
  const wanted = scope.by(20_000, servers ? 50_000 : 100_000, 200_000);
  const service = await scope.service({}, { servers });
  const sink = await scope.sink();
  const { key } = await scope.pipeline(service, sink.url);
  const port = Number(new URL(service.url).port);
  const accepted = () => singles.accepted.size + batches.accepted.size;
  let returning = false;
  const plan = { port, key, may: () => returning || accepted() - sink.distinct < MOST_BEHIND };
  const singles = startSender({ ...plan, connections: 24, batch: 1, prefix: 'one' });
  const batches = startSender({ ...plan, connections: 2, batch: 25, prefix: 'many' });
  const backMs: number[] = [];
  const startedAt = performance.now();
  for (let kill = 1; kill <= KILLS; kill++) {
    const due = (wanted * kill) / (KILLS + 1);
    await until(`${Math.round(due)} accepted`, () => accepted() >= due, 120_000);
    await service.kill();
    const dead = performance.now();
    // Deliveries do not show when the service accepts again.
    returning = true;
    await service.start();
    await until('the next 200', () => Math.max(singles.lastOkAt, batches.lastOkAt) > dead, 30_000);
    returning = false;
    backMs.push(Math.max(singles.lastOkAt, batches.lastOkAt) - dead);
  }
  await until('the rest', () => accepted() >= wanted, 120_000);
  await Promise.all([singles.stop(), batches.stop()]);
  // On servers, a dead process's partitions and unacknowledged records are taken over only after their lease: 10 s each.
  const all = new Set([...singles.accepted, ...batches.accepted]);
  await sink.settle(all, 180_000, 45_000);
  const arrived = await sink.ids();
  compare(figures, all, arrived);
  const repeated = [...arrived.repeated.values()].reduce((sum, count) => sum + count - 1, 0);
  // 0.1 % of 200,000 in 20 kills. The number of repeats per kill does not depend on the number of events.
  figures.atMost('delivered twice, per kill', repeated / KILLS, 10);
  figures.equal('ids that nobody sent', [...arrived.ids].filter((id) => !/^(one|many)-\d+$/.test(id)).length, 0);
  figures.atMost(`from kill -9 to the next 200, slowest of ${KILLS}`, Math.max(...backMs) / 1_000, 3, 's');
  figures.tell('accepted to delivered, kills and all', (1_000 * all.size) / (performance.now() - startedAt), 'events/s');
  await sleep(100);
}

export const f1: Fault = {
  id: 'F1',
  title: 'kill -9 under load, 20 times',
  limit_s: { quick: 300, normal: 480, full: 600 },
  async run(scope) {
    const figures = new Figures(EMBEDDED);
    await killUnderLoad(scope, figures, false);
    await scope.close();
    await killUnderLoad(scope, figures.on(SERVERS), true);
    return figures.verdict;
  },
};

import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../harness/client.ts';
import { EMBEDDED, type Fault, Figures, SERVERS } from './kit/fault.ts';
import { compare } from './kit/oracle.ts';
import type { Scope } from './kit/scope.ts';
import { startSender } from './kit/sender.ts';

async function terminate(scope: Scope, figures: Figures, servers: boolean): Promise<void> {
  const rounds = scope.by(2, 5);
  const service = await scope.service({}, { servers });
  const sink = await scope.sink();
  const { key } = await scope.pipeline(service, sink.url);
  const sender = startSender({
    port: Number(new URL(service.url).port),
    key,
    connections: 24,
    batch: 1,
    prefix: 'term',
    may: () => sender.accepted.size - sink.distinct < 3_000,
  });
  let slowest = 0;
  const codes = new Set<number | null>();
  for (let round = 0; round < rounds; round++) {
    const from = sender.accepted.size;
    await until('traffic', () => sender.accepted.size > from + 1_000, 30_000);
    const start = performance.now();
    codes.add(await service.terminate());
    slowest = Math.max(slowest, performance.now() - start);
    await service.start();
  }
  await sleep(500);
  await sender.stop();
  await sink.settle(sender.accepted.size, 60_000);
  figures.equal(`exit codes of ${rounds} ends`, [...codes].join(', '), '0');
  figures.atMost('the slowest end', slowest / 1_000, 10, 's');
  compare(figures, sender.accepted, await sink.ids(), { repeatedPercent: 0 });
}

export const f23: Fault = {
  id: 'F23',
  title: 'SIGTERM under load',
  limit_s: { quick: 150, normal: 240, full: 240 },
  async run(scope) {
    const figures = new Figures(EMBEDDED);
    await terminate(scope, figures, false);
    await scope.close();
    await terminate(scope, figures.on(SERVERS), true);
    return figures.verdict;
  },
};

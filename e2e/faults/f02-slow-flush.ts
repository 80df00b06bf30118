import { join } from 'node:path';
import { until } from '../harness/client.ts';
import { EMBEDDED, type Fault, Figures } from './kit/fault.ts';
import { compare } from './kit/oracle.ts';
import { startSender } from './kit/sender.ts';
import { attach, hasStrace } from './kit/tracer.ts';

const DELAY_MS = 300;

export const f2: Fault = {
  id: 'F2',
  title: `flush delayed by ${DELAY_MS} ms`,
  limit_s: { quick: 60, normal: 120, full: 120 },
  async run(scope) {
    const figures = new Figures(EMBEDDED);
    if (!hasStrace()) {
      figures.leaveOut('strace is not installed');
      return figures.verdict;
    }
    const wanted = scope.by(200, 1_000);
    const service = await scope.service();
    const sink = await scope.sink();
    const { key } = await scope.pipeline(service, sink.url);
    const path = join(service.dataDir, 'log', 'data.mdb');
    const tracer = await attach(service.pid!, {
      calls: 'fdatasync,fsync,msync,sync_file_range',
      inject: `delay_enter=${DELAY_MS * 1_000}`,
      path,
    });
    scope.defer(() => tracer.detach());
    const sender = startSender({ port: Number(new URL(service.url).port), key, connections: 64, batch: 1, prefix: 'slow' });
    await until(`${wanted} accepted`, () => sender.accepted.size >= wanted, 90_000);
    await sender.stop();
    const flushes = tracer.calls();
    await tracer.detach();
    const sooner = sender.latencies.filter((ms) => ms < DELAY_MS).length;
    figures.equal(`200 sooner than ${DELAY_MS} ms after the request, of ${sender.latencies.length}`, sooner, 0);
    figures.tell('the soonest 200', Math.min(...sender.latencies), 'ms');
    figures.atLeast('flushes of the log that were delayed', flushes, 3);
    await sink.settle(sender.accepted, 30_000);
    compare(figures, sender.accepted, await sink.ids(), { repeatedPercent: 0 });
    return figures.verdict;
  },
};

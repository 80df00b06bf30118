import { join } from 'node:path';
import { until } from '../harness/client.ts';
import { EMBEDDED, type Fault, Figures } from './kit/fault.ts';
import { compare } from './kit/oracle.ts';
import type { Scope } from './kit/scope.ts';
import { startSender } from './kit/sender.ts';
import { attach, hasStrace } from './kit/tracer.ts';

const ERRORS = [
  { name: 'flush', calls: 'fdatasync,fsync,msync' },
  { name: 'write', calls: 'pwrite64,pwritev,writev,write' },
];

async function broken(scope: Scope, figures: Figures, name: string, calls: string): Promise<void> {
  const service = await scope.service();
  const sink = await scope.sink();
  const { key } = await scope.pipeline(service, sink.url);
  const sender = startSender({ port: Number(new URL(service.url).port), key, connections: 16, batch: 1, prefix: `eio-${name}` });
  await until('traffic', () => sender.accepted.size > 500, 20_000);
  let exitedAt = 0;
  const tracer = await attach(service.pid!, { calls, inject: 'error=EIO', path: join(service.dataDir, 'log', 'data.mdb') });
  scope.defer(() => tracer.detach());
  await until('the end', () => service.ended() !== undefined, 30_000).catch(() => {});
  exitedAt = Date.now();
  const [first] = tracer.injected();
  const ended = service.ended();
  await tracer.detach();
  if (first === undefined) {
    figures.holds(`${name}: EIO was injected`, 'yes', false, 'never');
    await sender.stop();
    return;
  }
  const firstAt = first.at * 1_000;
  figures.holds(
    `${name}: it ends by itself`,
    'code ≠ 0',
    ended !== undefined && ended.code !== null && ended.code !== 0,
    ended ? `code ${ended.code ?? ended.signal}` : 'it went on',
  );
  figures.atMost(`${name}: from the first error to the end`, (exitedAt - firstAt) / 1_000, 2, 's');
  figures.equal(`${name}: 200 to requests sent after it`, sender.lastOkSentAt > firstAt ? 'some' : 'none', 'none');
  await service.start();
  await until('accepting again', () => sender.lastOkAt > performance.now() - 100, 20_000);
  await sender.stop();
  await sink.settle(sender.accepted, 60_000);
  compare(figures, sender.accepted, await sink.ids());
}

export const f4: Fault = {
  id: 'F4',
  title: 'disk errors (EIO)',
  limit_s: { quick: 120, normal: 180, full: 180 },
  async run(scope) {
    const figures = new Figures(EMBEDDED);
    if (!hasStrace()) {
      figures.leaveOut('strace is not installed');
      return figures.verdict;
    }
    for (const { name, calls } of ERRORS) {
      await broken(scope, figures, name, calls);
      await scope.close();
    }
    return figures.verdict;
  },
};

import { once } from 'node:events';
import { EMBEDDED, type Fault, Figures } from './kit/fault.ts';
import { percentile, watchMemory } from './kit/measure.ts';
import { compare } from './kit/oracle.ts';
import type { Sender, SenderPlan } from './kit/sender.ts';

export const f25: Fault = {
  id: 'F25',
  title: '3 × overload',
  limit_s: { quick: 120, normal: 180, full: 180 },
  async run(scope) {
    const figures = new Figures(EMBEDDED);
    const service = await scope.service();
    const sink = await scope.sink();
    const { key } = await scope.pipeline(service, sink.url, { batch_enabled: true, batch_size: 100, batch_interval_ms: 200 });
    const port = Number(new URL(service.url).port);
    const child = scope.child('sender-process.ts');
    const run = async (plan: Partial<SenderPlan>, ms: number, warmupMs = 500) => {
      child.send({ plan: { port, key, connections: 64, batch: 1, prefix: 'load', ...plan }, ms, warmupMs });
      return ((await once(child, 'message')) as [Pick<Sender, 'accepted' | 'statuses' | 'latencies' | 'broken'> & { counted: number }])[0];
    };
    await run({ prefix: 'warm' }, 2_000);
    const calm = await run({ prefix: 'calm' }, scope.by(4_000, 8_000));
    const capacity = (calm.counted * 1_000) / scope.by(4_000, 8_000);
    const memory = watchMemory(() => service.pid);
    const overMs = scope.by(6_000, 15_000);
    // Enough connections that waiting for responses does not slow the sender down.
    const over = await run({ prefix: 'over', connections: 1_500, rate: capacity * 3, restMs: 0 }, overMs, 4_000);
    memory.stop();
    const sent = [...over.statuses.values()].reduce((a, b) => a + b, 0);
    figures.tell('capacity, 64 connections', capacity, 'requests/s');
    // Without this load there was no overload, and the other figures mean little.
    figures.atLeast('sent ÷ capacity', (sent * 1_000) / overMs / capacity, 2.7, '×');
    figures.tell('accepted ÷ capacity', (over.counted * 1_000) / overMs / capacity, '×');
    figures.atMost('accepted p99', percentile(over.latencies, 0.99), 250, 'ms');
    const others = [...over.statuses].filter(([status]) => ![200, 429, 503].includes(status));
    figures.equal('answers other than 200, 429, 503', others.map(([status, count]) => `${status} × ${count}`).join(', '), '');
    figures.tell('refused', sent - over.counted);
    figures.equal('connections broken off', over.broken, 0);
    figures.tell('peak private memory, all roles', memory.peak, 'MB');
    const accepted = new Set([...calm.accepted, ...over.accepted]);
    await sink.settle(accepted.size, 90_000);
    compare(figures, accepted, await sink.ids(), { repeatedPercent: 0 });
    return figures.verdict;
  },
};

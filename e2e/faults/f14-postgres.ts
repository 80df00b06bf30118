import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../harness/client.ts';
import { type Fault, Figures, SERVERS } from './kit/fault.ts';
import { compare } from './kit/oracle.ts';
import { startSender } from './kit/sender.ts';

export const f14: Fault = {
  id: 'F14',
  title: 'PostgreSQL unavailable',
  limit_s: { quick: 120, normal: 180, full: 450 },
  async run(scope) {
    const figures = new Figures(SERVERS);
    const awayMs = scope.by(15_000, 60_000, 300_000);
    const postgres = await scope.postgres();
    const service = await scope.service({}, { servers: true });
    const sink = await scope.sink();
    const { key, client } = await scope.pipeline(service, sink.url);
    const sender = startSender({ port: Number(new URL(service.url).port), key, connections: 8, batch: 1, prefix: 'pg', rate: 200 });
    await until('traffic', () => sink.distinct > 200, 20_000);
    await postgres.kill();
    await sleep(2_000);
    const before = { accepted: sender.accepted.size, arrived: sink.distinct };
    const admin = new Map<string, number>();
    const end = performance.now() + awayMs;
    let ready = '';
    let slowest = 0;
    while (performance.now() < end) {
      const start = performance.now();
      const reply = await client.call('GET', '/pipelines');
      slowest = Math.max(slowest, performance.now() - start);
      const word = `${reply.status} ${reply.body.error?.code}`;
      admin.set(word, (admin.get(word) ?? 0) + 1);
      const probe = await fetch(`${service.url}/readyz`);
      ready = `${probe.status} ${JSON.stringify(((await probe.json()) as { checks: { store: { ok: boolean } } }).checks.store.ok)}`;
      await sleep(1_000);
    }
    figures.tell('away for', awayMs / 1_000, 's');
    const due = (200 * awayMs) / 1_000;
    figures.atLeast('accepted meanwhile', sender.accepted.size - before.accepted, 0.9 * due);
    figures.atLeast('delivered meanwhile', sink.distinct - before.arrived, 0.9 * due);
    figures.equal('answers of the management API', [...admin.keys()].join('; '), '503 UNAVAILABLE');
    figures.tell('its slowest answer', slowest, 'ms');
    figures.equal('/readyz', ready, '200 false');
    await postgres.restart();
    const up = performance.now();
    await until('the management API', async () => (await client.call('GET', '/pipelines')).status === 200, 60_000);
    figures.atMost('the management API again after', (performance.now() - up) / 1_000, 10, 's');
    await sleep(1_000);
    await sender.stop();
    figures.equal('answers to events', [...sender.statuses.keys()].join(', '), '200');
    await sink.settle(sender.accepted, 60_000);
    compare(figures, sender.accepted, await sink.ids(), { repeatedPercent: 0 });
    const stats = await until(
      'the statistics to catch up',
      async () => {
        const found = await client.get('/stats');
        return found.totals.delivered >= sender.accepted.size && found;
      },
      40_000,
    ).catch(async () => client.get('/stats'));
    figures.equal('delivered by the statistics', stats.totals.delivered, sender.accepted.size);
    return figures.verdict;
  },
};

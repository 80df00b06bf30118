import { setTimeout as sleep } from 'node:timers/promises';
import { EMBEDDED, type Fault, Figures } from './kit/fault.ts';
import { percentile, watchMemory } from './kit/measure.ts';
import { compare } from './kit/oracle.ts';
import { startSender } from './kit/sender.ts';

const RATE = 60;

export const f5: Fault = {
  id: 'F5',
  title: '1 of 10 vendors accepts connections and never responds',
  limit_s: { quick: 90, normal: 180, full: 800 },
  async run(scope) {
    const figures = new Figures(EMBEDDED);
    const service = await scope.service();
    const nine = await scope.sink();
    const tenth = await scope.receiver();
    const { key, client, pipeline } = await scope.pipeline(service, `${nine.url}/1`);
    const more = (url: string, name: string) =>
      client.post('/integrations', {
        source_id: pipeline.id,
        vendor: 'webhook',
        name,
        config: { url, timeout_ms: 5_000, rate_limit_rps: 100_000, rate_limit_burst: 100_000 },
      });
    for (let n = 2; n <= 9; n++) await more(`${nine.url}/${n}`, `Good ${n}`);
    await more(tenth.url, 'Tenth');
    const sender = startSender({ port: Number(new URL(service.url).port), key, connections: 16, batch: 1, prefix: 'iso', rate: RATE });
    await sleep(3_000);
    await nine.latencies();
    await sleep(scope.by(10_000, 30_000));
    const before = await nine.latencies();
    tenth.answer(() => 'hang');
    const memory = watchMemory(() => service.pid);
    await sleep(2_000);
    await nine.latencies();
    await sleep(scope.by(15_000, 60_000, 600_000));
    const during = await nine.latencies();
    memory.stop();
    await sender.stop();
    await nine.settle(sender.accepted.size, 20_000);
    const baseline = percentile(before, 0.99);
    const p99 = percentile(during, 0.99);
    figures.tell('p99 of the nine before, sent to arrived', baseline, 'ms');
    figures.tell('p99 of the nine during', p99, 'ms');
    figures.atMost('during ÷ before', p99 / baseline, 1.2, '×');
    figures.tell('peak private memory', memory.peak, 'MB');
    const arrived = await nine.ids();
    compare(figures, sender.accepted, { ids: arrived.ids, repeated: new Map() });
    figures.equal('deliveries to the nine', nine.total, sender.accepted.size * 9);
    return figures.verdict;
  },
};

import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { EMBEDDED, type Fault, Figures } from './kit/fault.ts';
import { percentile, privateMb } from './kit/measure.ts';
import { compare } from './kit/oracle.ts';
import { startSender } from './kit/sender.ts';

const SOCKETS = 2_000;
const RATE = 300;

export const f19: Fault = {
  id: 'F19',
  title: `${SOCKETS.toLocaleString('en-GB')} slow-loris sockets`,
  limit_s: { quick: 90, normal: 120, full: 120 },
  async run(scope) {
    const figures = new Figures(EMBEDDED);
    const service = await scope.service();
    const sink = await scope.sink();
    const { key } = await scope.pipeline(service, sink.url);
    const port = Number(new URL(service.url).port);
    const measure = async (prefix: string, ms: number) => {
      const sender = startSender({ port, key, connections: 16, batch: 1, prefix, rate: RATE });
      await sleep(ms);
      await sender.stop();
      return sender;
    };
    await measure('warm', 2_000);
    const calm = await measure('calm', scope.by(5_000, 15_000));
    const memoryBefore = privateMb(service.pid!);

    const attackers = scope.child('loris-process.ts', [String(port), key, String(SOCKETS)]);
    await once(attackers, 'message');
    await sleep(1_000);
    const attacked = await measure('attacked', scope.by(8_000, 30_000));
    attackers.send('count');
    const [{ opened, ended }] = (await once(attackers, 'message')) as [{ opened: number; ended: number }];
    const [before, during] = [percentile(calm.latencies, 0.99), percentile(attacked.latencies, 0.99)];
    figures.tell('sockets opened', opened);
    figures.tell('cut off by the service', ended);
    figures.tell("good clients' p99 before", before, 'ms');
    figures.tell("good clients' p99 during", during, 'ms');
    figures.atMost('during ÷ before', during / before, 2, '×');
    figures.equal('answers to good clients', [...attacked.statuses.keys()].join(', '), '200');
    figures.tell('private memory added', privateMb(service.pid!) - memoryBefore, 'MB');
    const accepted = new Set([...calm.accepted, ...attacked.accepted]);
    await sink.settle(accepted.size, 20_000);
    compare(figures, accepted, await sink.ids(), { repeatedPercent: 0 });
    return figures.verdict;
  },
};

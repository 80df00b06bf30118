import { setTimeout as sleep } from 'node:timers/promises';
import { startNatsCluster } from '../../packages/server/test/servers/index.ts';
import { until } from '../harness/client.ts';
import { type Fault, Figures, SERVERS } from './kit/fault.ts';
import { compare } from './kit/oracle.ts';
import type { Scope } from './kit/scope.ts';
import { type Sender, startSender } from './kit/sender.ts';

const RATE = 300;

/** Seconds from `back` until the next request answered 200. */
async function accepting(sender: Sender, back: number): Promise<number> {
  await until('the next 200', () => sender.lastOkAt > back, 40_000);
  return (sender.lastOkAt - back) / 1_000;
}
const refusalsOnly = (sender: Sender) => [...sender.statuses.keys()].filter((status) => status !== 200 && status !== 503).join(', ');

async function single(scope: Scope, figures: Figures): Promise<void> {
  const service = await scope.service({}, { servers: true });
  const nats = service.nats!;
  const sink = await scope.sink();
  const { key } = await scope.pipeline(service, sink.url);
  const sender = startSender({ port: Number(new URL(service.url).port), key, connections: 8, batch: 1, prefix: 'nats', rate: RATE });
  await sleep(2_000);
  const restarts: number[] = [];
  for (let n = 0; n < scope.by(1, 3); n++) {
    if (n % 2 === 0) await nats.kill();
    await nats.restart();
    restarts.push(await accepting(sender, performance.now()));
    await sleep(1_500);
  }
  figures.atMost('accepting again after NATS was killed or restarted', Math.max(...restarts), 10, 's');
  nats.pause();
  await sleep(1_000);
  const ok = sender.accepted.size;
  await sleep(scope.by(9_000, 19_000));
  figures.equal('200 while NATS stood still', sender.accepted.size - ok, 0);
  nats.resume();
  figures.atMost('accepting again after NATS stood still', await accepting(sender, performance.now()), 10, 's');
  await sleep(2_000);
  await sender.stop();
  figures.equal('answers other than 200 and 503', refusalsOnly(sender), '');
  await sink.settle(sender.accepted, 60_000);
  compare(figures, sender.accepted, await sink.ids());
  figures.equal('the process', service.ended() === undefined ? 'lives' : 'ended', 'lives');
}

async function cluster(scope: Scope, figures: Figures): Promise<void> {
  const { nodes, url: natsUrl, stop } = await startNatsCluster(3);
  scope.defer(stop);
  // Wait for the leader election: before it, the service has no broker.
  await sleep(5_000);
  const service = await scope.service({ NATS_REPLICAS: '3' }, { servers: true, natsUrl });
  const sink = await scope.sink();
  const { key } = await scope.pipeline(service, sink.url);
  const sender = startSender({ port: Number(new URL(service.url).port), key, connections: 8, batch: 1, prefix: 'three', rate: 100 });
  await until('traffic', () => sink.distinct > 100, 40_000);
  await nodes[0]!.kill();
  figures.atMost('one of three killed: accepting again', await accepting(sender, performance.now() + 500), 10, 's');
  await sleep(3_000);
  await nodes[1]!.kill();
  await sleep(3_000);
  const ok = sender.accepted.size;
  await sleep(4_000);
  figures.equal('two of three killed: 200', sender.accepted.size - ok, 0);
  const back = performance.now();
  await Promise.all([nodes[0]!.restart(), nodes[1]!.restart()]);
  const up = performance.now();
  figures.tell('two nats-servers started in', (up - back) / 1_000, 's');
  figures.atMost('all three again: accepting', await accepting(sender, up), 10, 's');
  await sleep(2_000);
  await sender.stop();
  figures.equal('answers other than 200 and 503', refusalsOnly(sender), '');
  await sink.settle(sender.accepted, 60_000);
  compare(figures, sender.accepted, await sink.ids());
}

export const f13: Fault = {
  id: 'F13',
  title: 'NATS restarted, frozen, one of three killed',
  limit_s: { quick: 240, normal: 300, full: 300 },
  async run(scope) {
    const figures = new Figures(SERVERS);
    await single(scope, figures);
    await scope.close();
    await cluster(scope, figures.on('PostgreSQL + 3 NATS'));
    return figures.verdict;
  },
};

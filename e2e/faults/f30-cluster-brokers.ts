import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../harness/client.ts';
import { CLUSTER, type Cluster, leadingNode, row, startCluster } from './kit/cluster.ts';
import { type Fault, Figures } from './kit/fault.ts';
import type { Visitors } from './kit/visitors.ts';

/** Seconds from `back` until a request sent after it is answered 200. */
async function accepting(visitors: Visitors, back: number): Promise<number> {
  await until('the next 200', () => visitors.lastOk.sentAt > back, 60_000);
  return (visitors.lastOk.answeredAt - back) / 1_000;
}

async function loseQuorum({ nodes, roles, client }: Cluster, figures: Figures, visitors: Visitors, ms: number): Promise<void> {
  const name = 'quorum lost';
  const [first, second] = nodes;
  await Promise.all([first!.kill(), second!.kill()]);
  await sleep(5_000);
  const before = visitors.statuses.get(200) ?? 0;
  const ready = new Map<number, number>();
  for (const end = performance.now() + ms; performance.now() < end; await sleep(500)) {
    const { status } = await fetch(`${roles.ingest[1].url}/readyz`);
    ready.set(status, (ready.get(status) ?? 0) + 1);
  }
  figures.equal(`${name}: 200 while it lasted`, (visitors.statuses.get(200) ?? 0) - before, 0);
  figures.equal(`${name}: /readyz of ingest`, [...ready.keys()].join(', '), '503');
  figures.equal(`${name}: GET /pipelines`, (await client.call('GET', '/pipelines')).status, 200);
  await Promise.all([first!.restart(), second!.restart()]);
  figures.atMost(`${name}: accepting again after`, await accepting(visitors, performance.now()), 10, 's');
}

export const f30: Fault = {
  id: 'F30',
  title: 'three brokers: one killed, quorum lost, leader frozen, rolling restart',
  limit_s: { quick: 300, normal: 300, full: 600 },
  async run(scope) {
    const figures = new Figures(CLUSTER);
    const cluster = await startCluster(scope);
    const holdMs = scope.by(8_000, 12_000);
    await row(cluster, figures, 'node killed', async () => {
      const node = await leadingNode(cluster);
      await node.kill();
      await sleep(holdMs);
      await node.restart();
    });
    await row(cluster, figures, 'quorum lost', (visitors) => loseQuorum(cluster, figures, visitors, holdMs));
    await row(cluster, figures, 'leader frozen', async (visitors) => {
      const node = await leadingNode(cluster);
      node.pause();
      const frozen = performance.now();
      figures.atMost('leader frozen: accepting again after', await accepting(visitors, frozen + 1_000), 15, 's');
      await sleep(holdMs);
      node.resume();
    });
    await row(cluster, figures, 'rolling broker restart', async () => {
      for (const node of cluster.nodes) {
        await node.restart();
        await sleep(5_000);
      }
    });
    return figures.verdict;
  },
};

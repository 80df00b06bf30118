import { setTimeout as sleep } from 'node:timers/promises';
import { CLUSTER, row, startCluster } from './kit/cluster.ts';
import { type Fault, Figures } from './kit/fault.ts';
import { signInToOther } from './kit/other-organisation.ts';
import { startSender } from './kit/sender.ts';

/** Offers far more than the cluster delivers to the slow vendor of the loud organisation. */
export const f35: Fault = {
  id: 'F35',
  title: 'two organisations on the cluster: one floods and has a slow vendor',
  limit_s: { quick: 240, normal: 300, full: 600 },
  async run(scope) {
    const figures = new Figures(CLUSTER);
    const cluster = await startCluster(scope);
    const [admin] = cluster.roles.ingest;
    const loud = await signInToOther(admin);
    const slow = await scope.sink({ delayMs: 500 });
    const flooding = await scope.pipeline(admin, slow.url, {}, loud);
    await row(cluster, figures, 'alone', () => sleep(scope.by(8_000, 20_000)));
    const senders = cluster.roles.ingest.map(({ url }, n) =>
      startSender({ port: Number(new URL(url).port), key: flooding.key, connections: 4, batch: 20, prefix: `flood-${n}`, rate: 25 }),
    );
    await row(cluster, figures, 'beside a flood', () => sleep(scope.by(10_000, 30_000)), { takeover: 10 });
    await Promise.all(senders.map((sender) => sender.stop()));
    figures.tell(
      'events of the flood accepted',
      senders.reduce((sum, { accepted }) => sum + accepted.size, 0),
    );
    return figures.verdict;
  },
};

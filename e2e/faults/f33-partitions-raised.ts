import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '@nats-io/transport-node';
import { until } from '../harness/client.ts';
import { CLUSTER, type Cluster, row, startCluster } from './kit/cluster.ts';
import { type Fault, Figures } from './kit/fault.ts';

const BEFORE = 4;
const AFTER = 16;
/** The new number counts 30 s after it was stored, and new partitions are read 10 s later. */
const SWITCH_MS = 45_000;

/** Ingest partitions that hold events. */
async function usedPartitions({ natsUrl }: Cluster): Promise<number[]> {
  const connection = await connect({ servers: natsUrl.split(',') });
  try {
    const call = async (subject: string, body: object) =>
      (await connection.request(`$JS.API.${subject}`, JSON.stringify(body), { timeout: 5_000 })).json<{
        streams?: string[];
        state?: { subjects?: Record<string, number> };
      }>();
    const { streams = [] } = await call('STREAM.NAMES', {});
    const infos = await Promise.all(
      streams.filter((name) => name.startsWith('firsthand_ingest')).map((name) => call(`STREAM.INFO.${name}`, { subjects_filter: '>' })),
    );
    return infos.flatMap(({ state }) => Object.keys(state?.subjects ?? {}).map((subject) => Number(subject.split('.').at(-1))));
  } finally {
    await connection.close();
  }
}

export const f33: Fault = {
  id: 'F33',
  title: 'PARTITIONS raised while events flow',
  limit_s: { quick: 300, normal: 300, full: 300 },
  async run(scope) {
    const figures = new Figures(CLUSTER);
    const cluster = await startCluster(scope, { PARTITIONS: String(BEFORE) });
    figures.atMost('partitions before', Math.max(...(await usedPartitions(cluster))) + 1, BEFORE);
    await row(cluster, figures, 'partitions raised', async (visitors) => {
      const [, process] = cluster.roles.process;
      await process.terminate();
      await process.start({ PARTITIONS: String(AFTER) });
      await sleep(SWITCH_MS);
      const from = visitors.accepted.size;
      await until('traffic on the new partitions', () => visitors.accepted.size > from + 200, 60_000);
    });
    figures.atLeast('partitions used after', new Set(await usedPartitions(cluster)).size, BEFORE + 1);
    return figures.verdict;
  },
};

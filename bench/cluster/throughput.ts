/** Events per second from acceptance to delivery, with one and with two processes per role. */
import { setTimeout as sleep } from 'node:timers/promises';
import { pipelineTo, signIn } from '../../e2e/harness/client.ts';
import { atMost, type BenchResult, figure } from '../result.ts';
import { startCluster } from './installation.ts';
import { startTraffic } from './traffic.ts';

const SECONDS = 8;
/** The generator has 1,000 ids a millisecond, and each request takes 100 of them. */
const CONNECTIONS = 8;
/** A change of the number of deliverers counts 10 s later. */
const DELIVERERS_MS = 15_000;

export async function measureThroughput(): Promise<BenchResult[]> {
  const results: BenchResult[] = [];
  for (const each of [1, 2]) {
    const traffic = await startTraffic();
    const installation = await startCluster(each);
    try {
      const client = await signIn(installation.service);
      const { key } = await pipelineTo(client, traffic.target, {
        pipeline: { rate_limit_rps: 1_000_000 },
        integration: { max_in_flight: 64, max_deliverers: each },
      });
      await sleep(each === 1 ? 3_000 : DELIVERERS_MS);
      const [port = 0, ...otherPorts] = installation.urls.map((url) => Number(new URL(url).port));
      const plan = { connections: CONNECTIONS, warmupMs: 0, port, otherPorts, path: '/v1/batch', batch: 100, key };
      await traffic.load({ ...plan, durationMs: 2_000 });
      await traffic.untilDelivered();
      await traffic.ask('reset');
      const began = performance.now();
      const { ok } = await traffic.load({ ...plan, durationMs: SECONDS * 1_000 });
      let ended = began;
      const { events, repeats } = await traffic.untilDelivered(() => {
        ended = performance.now();
      });
      const name = `${each} per role`;
      results.push(figure(`${name}: accepted`, (ok * 100) / SECONDS, 'events/s'));
      results.push(figure(`${name}: accepted and delivered`, events / ((ended - began) / 1_000), 'events/s'));
      results.push(atMost(`${name}: accepted and not delivered`, ok * 100 - events, 'events', 0));
      results.push(figure(`${name}: repeated`, repeats, 'events'));
    } finally {
      await installation.stop();
      traffic.close();
    }
  }
  return results;
}

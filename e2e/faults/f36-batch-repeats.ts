import { signIn, until } from '../harness/client.ts';
import { EMBEDDED, type Fault, Figures, SERVERS } from './kit/fault.ts';
import type { Scope } from './kit/scope.ts';
import { startSender } from './kit/sender.ts';
import { repeatsOf, storeRequests } from './kit/stored-requests.ts';

const IN_FLIGHT = 8;
const MOST_REPEATED = 10;
const MOST_BEHIND = 3_000;

async function killWhileBatching(scope: Scope, figures: Figures, servers: boolean): Promise<void> {
  const kills = scope.by(5, 10, 20);
  const perKill = scope.by(600, 2_000);
  const service = await scope.service({}, { servers });
  const client = await signIn(service);
  const port = Number(new URL(service.url).port);
  const start = async (prefix: string, config: Record<string, unknown>) => {
    const receiver = await scope.receiver();
    const stored = storeRequests(receiver);
    const { key } = await scope.pipeline(service, receiver.url, config, client);
    const may = () => sender.accepted.size - stored.events.size < MOST_BEHIND;
    const sender = startSender({ port, key, connections: 2, batch: 50, prefix, may });
    return { stored, sender };
  };
  const batches = await start('batch', { batch_enabled: true, batch_size: 100, batch_interval_ms: 200 });
  const singles = await start('single', {});
  const both = [batches, singles];
  for (let kill = 1; kill <= kills; kill++) {
    await until(`the load before kill ${kill}`, () => both.every(({ stored }) => stored.events.size >= perKill * kill), 240_000);
    await service.kill();
    await service.start();
  }
  await Promise.all(both.map(({ sender }) => sender.stop()));
  for (const [name, { stored, sender }] of Object.entries({ batches, singles })) {
    const repeats = () => repeatsOf(stored, sender.accepted);
    // A lost event shows in the figures.
    await until('every event', () => repeats().lost === 0, 120_000).catch(() => undefined);
    const { lost, sameRequests, inOtherRequests } = repeats();
    figures.tell(`${name}: accepted`, sender.accepted.size);
    figures.equal(`${name}: accepted and never delivered`, lost, 0);
    figures.atMost(
      `${name}: requests repeated under their id, per kill`,
      sameRequests / kills,
      name === 'batches' ? IN_FLIGHT : MOST_REPEATED,
    );
    figures.atMost(`${name}: events repeated under another id, per kill`, inOtherRequests / kills, name === 'batches' ? MOST_REPEATED : 0);
  }
}

export const f36: Fault = {
  id: 'F36',
  title: 'kill -9 while batches of 100 are delivered',
  limit_s: { quick: 480, normal: 600, full: 900 },
  async run(scope) {
    const figures = new Figures(EMBEDDED);
    await killWhileBatching(scope, figures, false);
    await scope.close();
    await killWhileBatching(scope, figures.on(SERVERS), true);
    return figures.verdict;
  },
};

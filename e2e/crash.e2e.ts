/** Ten `kill -9` under load. The sender notes every id answered 200, the receiver every id that arrives; the sets are compared. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pipelineTo, signIn, until } from './harness/client.ts';
import { type Receiver, startReceiver } from './harness/receiver.ts';
import { type Service, startService } from './harness/service.ts';

const KILLS = 10;
const SENDERS = 16;
let service: Service;
let receiver: Receiver;
beforeAll(async () => {
  service = await startService();
  receiver = await startReceiver();
});
afterAll(async () => {
  await service.stop();
  await receiver.close();
});

test('every event answered 200 is delivered, and hardly any twice', async () => {
  const { key } = await pipelineTo(await signIn(service), receiver.url, { pipeline: { rate_limit_rps: 1_000_000 } });
  const accepted = new Set<string>();
  let running = true;
  let next = 0;
  async function sender(): Promise<void> {
    while (running) {
      const id = `crash-${next++}`;
      try {
        const reply = await fetch(`${service.url}/v1/t`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ type: 'track', event: 'Crash', messageId: id, anonymousId: `a${next % 50}` }),
        });
        await reply.arrayBuffer();
        if (reply.status === 200) accepted.add(id);
        else await sleep(20);
      } catch {
        // The process is dead or dying: this id was not answered, so nobody may rely on it.
        await sleep(20);
      }
    }
  }
  const senders = Array.from({ length: SENDERS }, sender);
  for (let kill = 0; kill < KILLS; kill++) {
    const before = accepted.size;
    await sleep(400 + 97 * kill);
    await until('some traffic', () => accepted.size > before + 110);
    await service.kill();
    await service.start();
  }
  await sleep(300);
  running = false;
  await Promise.all(senders);

  const arrived = () => receiver.events().map((event) => event.event_id as string);
  await until('the last event', () => {
    const ids = new Set(arrived());
    return [...accepted].every((id) => ids.has(id));
  });
  const all = arrived();
  const repeated = all.length - new Set(all).size;
  expect(accepted.size).toBeGreaterThan(1_000);
  // In flight at each kill: what was sent and not yet acknowledged comes once more, and no more than that.
  expect(repeated).toBeLessThanOrEqual(KILLS * 32);
  console.log(`${accepted.size} accepted, ${all.length} arrived, ${repeated} twice (${((100 * repeated) / all.length).toFixed(2)} %)`);
});

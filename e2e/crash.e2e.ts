/** Ten `kill -9` under load. Compares the ids that the sender saw answered 200 with those that arrive at the receiver. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSender } from './faults/kit/sender.ts';
import { pipelineTo, signIn, until } from './harness/client.ts';
import { type Receiver, startReceiver } from './harness/receiver.ts';
import { type Service, startService } from './harness/service.ts';

const KILLS = 10;
const EVENTS_A_KILL = 3_000;
/** Requests in flight at a kill are sent again, because it is unknown whether they arrived. */
const MOST_REPEATED = 0.005;
/** Long, because there are many events and the machine may be slow. */
const PATIENCE_MS = 240_000;
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

// Eleven starts and 33,000 events take minutes on a busy machine. A hang is ended by the timeouts of the waits.
test('after ten kill -9 every event answered 200 is delivered, and few of them twice', { timeout: 1_200_000 }, async () => {
  const { key } = await pipelineTo(await signIn(service), receiver.url, { pipeline: { rate_limit_rps: 1_000_000 } });
  const sender = startSender({ port: Number(new URL(service.url).port), key, connections: 16, batch: 1, prefix: 'crash' });
  const { accepted } = sender;
  for (let kill = 1; kill <= KILLS; kill++) {
    await until(`the load before kill ${kill}`, () => accepted.size > EVENTS_A_KILL * kill, PATIENCE_MS);
    await service.kill();
    await service.start();
  }
  await until('the load after the last kill', () => accepted.size > EVENTS_A_KILL * (KILLS + 1), PATIENCE_MS);
  await sender.stop();

  const all: string[] = [];
  const missing = new Set(accepted);
  // Times out only if no event arrives at all. Each is parsed once, because the receiver shares this thread.
  for (let read = 0; missing.size > 0; ) {
    await until(`one of ${missing.size} missing events`, () => receiver.requests.length > read);
    for (; read < receiver.requests.length; read++) {
      const { event_id } = JSON.parse(receiver.requests[read]!.body) as { event_id: string };
      all.push(event_id);
      missing.delete(event_id);
    }
  }
  const repeated = all.length - new Set(all).size;
  console.log(`${accepted.size} accepted, ${all.length} arrived, ${repeated} twice (${((100 * repeated) / all.length).toFixed(2)} %)`);
  expect(accepted.size).toBeGreaterThan(EVENTS_A_KILL * KILLS);
  expect(repeated / all.length).toBeLessThanOrEqual(MOST_REPEATED);
});

/** `kill -9` under load, again and again. Compares the ids that the sender saw answered 200 with those that arrive at the receiver. */
import { expect, onTestFinished, test } from 'vitest';
import { startSender } from './faults/kit/sender.ts';
import { pipelineTo, signIn, until } from './harness/client.ts';
import { startReceiver } from './harness/receiver.ts';
import { startService } from './harness/service.ts';

/** Long, because there are many events and the machine may be slow. */
const PATIENCE_MS = 240_000;

// Requests that are in flight at a kill are sent again, because it is unknown whether they arrived.
for (const { kills, eventsAKill, mostRepeated, tags } of [
  { kills: 3, eventsAKill: 500, mostRepeated: 75, tags: [] },
  // 0.5 % of the events.
  { kills: 10, eventsAKill: 3_000, mostRepeated: 165, tags: ['long'] },
]) {
  // Ten kills and 33,000 events take minutes on a busy machine. A hang is ended by the timeouts of the waits.
  const options = { tags, timeout: 1_200_000 };
  test(`after ${kills} kill -9 every event answered 200 is delivered, and few of them twice`, options, async () => {
    const service = await startService();
    onTestFinished(() => service.stop());
    const receiver = await startReceiver();
    onTestFinished(() => receiver.close());
    const { key } = await pipelineTo(await signIn(service), receiver.url, { pipeline: { rate_limit_rps: 1_000_000 } });
    const sender = startSender({ port: Number(new URL(service.url).port), key, connections: 16, batch: 1, prefix: 'crash' });
    const { accepted } = sender;
    for (let kill = 1; kill <= kills; kill++) {
      await until(`the load before kill ${kill}`, () => accepted.size > eventsAKill * kill, PATIENCE_MS);
      await service.kill();
      await service.start();
    }
    await until('the load after the last kill', () => accepted.size > eventsAKill * (kills + 1), PATIENCE_MS);
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
    expect(accepted.size).toBeGreaterThan(eventsAKill * kills);
    expect(repeated).toBeLessThanOrEqual(mostRepeated);
  });
}

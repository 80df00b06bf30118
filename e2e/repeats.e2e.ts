/** What vendors get again when the delivering process is killed: docs/explanation/delivery-guarantees.md. */
import { expect, onTestFinished, test } from 'vitest';
import { repeatsOf, storeRequests } from './faults/kit/stored-requests.ts';
import { pipelineTo, send, signIn, until } from './harness/client.ts';
import { startReceiver } from './harness/receiver.ts';
import { startService } from './harness/service.ts';

const IN_FLIGHT = 8;
const RAISED = 64;
const MOST_REPEATED = 10;
const PER_REQUEST = 500;
/** On servers the next process waits for the lease of the killed one. */
const PATIENCE_MS = 240_000;
/** Requests that hang must not be tried again before the kill. */
const timeout_ms = 300_000;

for (const { randomKills, tags } of [
  { randomKills: 1, tags: [] },
  { randomKills: 5, tags: ['long'] },
]) {
  const name = `a process killed ${1 + randomKills} times repeats batches under their ids, and of single events few`;
  test(name, { timeout: 1_200_000, tags }, async () => {
    const service = await startService();
    onTestFinished(() => service.stop());
    const client = await signIn(service);
    const vendorWith = async (limit: number, max_in_flight: number | null, batching = {}) => {
      const receiver = await startReceiver();
      onTestFinished(() => receiver.close());
      const options = { pipeline: { rate_limit_rps: 1_000_000 }, config: { timeout_ms, ...batching }, integration: { max_in_flight } };
      const { key } = await pipelineTo(client, receiver.url, options);
      return { stored: storeRequests(receiver), key, limit };
    };
    const batched = await vendorWith(IN_FLIGHT, null, { batch_enabled: true, batch_size: 100, batch_interval_ms: 2_000 });
    const single = await vendorWith(IN_FLIGHT, null);
    const raised = await vendorWith(RAISED, RAISED);
    const vendors = [batched, single, raised];
    const accepted: string[] = [];
    async function sendEvents(count: number): Promise<void> {
      for (let sent = 0; sent < count; sent += PER_REQUEST) {
        const ids = Array.from({ length: PER_REQUEST }, (_, i) => `kill-${accepted.length + i}`);
        const events = ids.map((messageId) => ({ type: 'track', event: 'Kill', messageId }));
        for (const { key } of vendors) expect((await send(service, key, '/v1/batch', { batch: events })).body.accepted).toBe(PER_REQUEST);
        accepted.push(...ids);
      }
    }
    const repeats = () => vendors.map(({ stored }) => repeatsOf(stored, accepted));
    const nothingLost = () => vendors.every(({ stored }) => stored.events.size === accepted.length);

    // As many requests hang as may be in flight. Exactly these come again, each once.
    for (const { stored } of vendors) stored.hangs = true;
    await sendEvents(1_000);
    await until('the limit in flight', () => vendors.every(({ stored, limit }) => stored.requests.length === limit), PATIENCE_MS);
    await service.kill();
    // A batch that has one event when its time is up is not sealed.
    const ofOneEvent = batched.stored.requests.filter(({ events }) => events.length === 1).length;
    for (const { stored } of vendors) stored.hangs = false;
    await service.start();
    const timesAgain = () => repeats().map(({ sameRequests, inOtherRequests }) => sameRequests + inOtherRequests);
    await until('every event, and the repeats', () => nothingLost() && timesAgain().every((n, i) => n >= vendors[i]!.limit), PATIENCE_MS);
    expect(timesAgain()).toEqual([IN_FLIGHT, IN_FLIGHT, RAISED]);
    expect(repeats()[0]!.inOtherRequests).toBeLessThanOrEqual(ofOneEvent);

    for (let kill = 0; kill < randomKills; kill++) {
      const { length } = batched.stored.requests;
      await sendEvents(PER_REQUEST);
      await until('a few batches', () => batched.stored.requests.length >= length + 1 + kill, PATIENCE_MS);
      await service.kill();
      await service.start();
    }
    await until('every event', nothingLost, PATIENCE_MS);
    const [batches, singles, many] = repeats();
    console.log({ batches, singles, many });
    expect(batches!.sameRequests).toBeLessThanOrEqual(IN_FLIGHT * (1 + randomKills));
    expect(batches!.inOtherRequests).toBeLessThanOrEqual(ofOneEvent + MOST_REPEATED * randomKills);
    expect(singles!.sameRequests).toBeLessThanOrEqual(IN_FLIGHT + MOST_REPEATED * randomKills);
    expect(many!.sameRequests).toBeLessThanOrEqual(RAISED * (1 + randomKills));
  });
}

/** Limits hold over all processes: two processes on PostgreSQL and NATS, offered far more than the limit. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSender } from './faults/kit/sender.ts';
import { type Client, clientOf, pipelineTo, send, signIn, until } from './harness/client.ts';
import { type Receiver, startReceiver } from './harness/receiver.ts';
import { onServers, type Service, startService } from './harness/service.ts';

/** By then each process knows the other, and new accounts have their burst. */
const SETTLED_MS = 6_000;
/** A rate that is not shared would admit twice as much in this time. */
const OFFERED_MS = 4_000;
const CALLS_A_MINUTE = 200;
const LOGINS_A_MINUTE = 20;

describe.runIf(onServers)('limits over two processes', () => {
  let processes: Service[] = [];
  let receiver: Receiver;
  let client: Client;
  beforeAll(async () => {
    const service = await startService({ ADMIN_RATE_LIMIT: String(CALLS_A_MINUTE), LOGIN_RATE_LIMIT: String(LOGINS_A_MINUTE) });
    processes = [service, await service.sibling({ ROLES: 'admin,ingest' })];
    receiver = await startReceiver();
    client = await signIn(service);
    await sleep(SETTLED_MS);
  });
  afterAll(async () => {
    await processes[0]?.stop();
    await receiver.close();
  });
  /** A slow machine offers for longer, and the allowance grows meanwhile. */
  const within = (admitted: number, aMinute: number, began: number) => {
    const minutes = (performance.now() - began) / 60_000;
    expect(admitted).toBeGreaterThanOrEqual(aMinute * 0.9);
    expect(admitted).toBeLessThanOrEqual(aMinute * (1 + minutes) * 1.1);
  };
  /** Calls both processes in turn, `total` times. */
  async function inTurn<T>(total: number, call: (to: Service, n: number) => Promise<T>): Promise<T[]> {
    const answers: T[] = [];
    for (let n = 0; n < total; n += processes.length) answers.push(...(await Promise.all(processes.map((to, at) => call(to, n + at)))));
    return answers;
  }

  // Each pipeline has a rate of its own.
  test.concurrent.each([
    ['one event per request, twice as many to one process', 100, 1, [4, 2]],
    ['batches', 500, 20, [3, 3]],
    ['everything to one process', 100, 1, [0, 5]],
  ])('the rate of a pipeline: %s', async (name, rate, batch, times) => {
    const { key } = await pipelineTo(client, receiver.url, { pipeline: { rate_limit_rps: rate, name } });
    await until('the key everywhere', async () => {
      const replies = await Promise.all(processes.map((to) => send(to, key, '/v1/batch', { batch: [] })));
      return replies.every(({ status }) => status !== 401);
    });
    await sleep(2_000);
    const began = performance.now();
    const senders = processes.flatMap(({ url }, n) => {
      const offered = (rate * times[n]!) / batch;
      const prefix = `${name}-${n}`;
      return offered === 0
        ? []
        : [startSender({ port: Number(new URL(url).port), key, connections: 8, batch, prefix, rate: offered, restMs: 1 })];
    });
    await sleep(OFFERED_MS);
    // A busy machine may need longer to offer more than the limit.
    await until('every process to refuse some', () => senders.every(({ statuses }) => (statuses.get(429) ?? 0) > 0));
    // Senders stop after their last answer, so that the time fits what was admitted.
    await Promise.all(senders.map((sender) => sender.stop()));
    const seconds = (performance.now() - began) / 1_000;
    const admitted = senders.map(({ accepted }) => accepted.size);
    const total = admitted.reduce((sum, each) => sum + each, 0);
    console.log(`${name}: ${total} admitted (${admitted.join(' + ')}), ${Math.round(rate * (seconds + 1))} allowed`);
    // The rate allows the events of this time and a burst of one more second. How many fewer are admitted depends on the machine's speed:
    // shared-limits.test.ts asserts that with a clock of its own.
    expect(total).toBeLessThanOrEqual(rate * (seconds + 1) * 1.1);
    expect(Math.min(...admitted)).toBeGreaterThan(0);
  });

  const viewer = { email: 'busy@shop.example', password: 'a-busy-password' };
  test.each([
    ['an API token', async () => (await client.post('/api-tokens', { name: 'Busy', role: 'viewer' })).token],
    [
      'a user',
      async () => {
        await client.post('/users', { ...viewer, name: 'Busy', role: 'viewer' });
        return (await signIn(processes[0]!, viewer)).token;
      },
    ],
  ])('calls of %s a minute', async (_, tokenOf) => {
    const token = await tokenOf();
    const began = performance.now();
    const statuses = await inTurn(2 * CALLS_A_MINUTE, async (to) => (await clientOf(to, token).call('GET', '/pipelines')).status);
    const admitted = statuses.filter((status) => status === 200).length;
    console.log(`calls: ${admitted} of ${CALLS_A_MINUTE}`);
    within(admitted, CALLS_A_MINUTE, began);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
  });

  test('logins a minute', async () => {
    const body = JSON.stringify({ email: 'nobody@firsthand.test', password: 'wrong-password-here' });
    const headers = { 'content-type': 'application/json' };
    const login = async (to: Service) => (await fetch(`${to.url}/v1/admin/auth/login`, { method: 'POST', headers, body })).status;
    const began = performance.now();
    const statuses = await inTurn(3 * LOGINS_A_MINUTE, login);
    within(statuses.filter((status) => status !== 429).length, LOGINS_A_MINUTE, began);
  });
});

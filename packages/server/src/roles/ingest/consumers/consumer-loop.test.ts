import { expect, onTestFinished, test, vi } from 'vitest';
import { type Append, RecordTooLarge } from '../../../stores/event-log/port.ts';
import type { Consumer, SourceMessage } from '../../../transports/consumers/port.ts';
import { driverOptions } from '../../../transports/testing/conformance.ts';
import { FairAdmission } from '../fair-admission.ts';
import { aPipeline, aSnapshot, aSource, ORG, startIngest } from '../testing/harness.ts';

const source = aSource({ kind: 'nats', connection: {}, signature_method: 'none', mappings: { event: "'Paid'", 'properties.n': '$.n' } });
const message = (n: number): SourceMessage => ({ id: `m-${n}`, headers: {}, query: {}, body: Buffer.from(JSON.stringify({ n })) });

test('a source waits for the limit of its pipeline before it receives more', async () => {
  let time = 1_760_000_000_000;
  const receivedAt: number[] = [];
  const charged = vi.spyOn(FairAdmission.prototype, 'charge');
  onTestFinished(() => charged.mockRestore());
  const consumer: Consumer = {
    async receive() {
      receivedAt.push(time);
      const first = (receivedAt.length - 1) * 20;
      // The real time of a source that has nothing more.
      if (receivedAt.length > 2) return new Promise((resolve) => setTimeout(resolve, 20, []));
      return Array.from({ length: 20 }, (_, i) => message(first + i));
    },
    acknowledge: async () => undefined,
    lag: async () => 0,
    close: async () => undefined,
  };
  const harness = await startIngest(aSnapshot([aPipeline({ rate_limit_rps: 10 })], [source]), {
    clock: { now: () => time, monotonic: () => time },
    consumers: { driver: driverOptions(), open: async () => consumer },
  });
  onTestFinished(() => harness.close());
  await expect.poll(async () => (await harness.stored()).length).toBe(20);
  expect(charged).toHaveBeenCalledWith(ORG, 20, expect.any(Number));
  await expect
    .poll(
      () => {
        time += 50;
        return receivedAt.length;
      },
      { timeout: 30_000, interval: 20 },
    )
    .toBeGreaterThanOrEqual(2);
  // A burst of 10, and 10 that the first batch took on credit.
  expect(receivedAt[1]! - receivedAt[0]!).toBeGreaterThanOrEqual(1_000);
});

// Its dead letter was more than NATS takes: the source failed, and received the same message again for ever.
test('a message that is rejected with a key and headers of megabytes leaves a small dead letter, and the next one is read', async () => {
  const long = 'k'.repeat(2_000_000);
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`header-${i}`, 'x'.repeat(100)]));
  const rejected = { id: 'bad', headers: many, query: { topic: 'orders', key: long }, body: Buffer.from('no JSON') };
  let acknowledged = 0;
  const batches = [[rejected], [{ ...rejected, id: 'named', query: { [long]: 'v' } }], [message(7)]];
  const consumer: Consumer = {
    receive: async () => batches[acknowledged] ?? new Promise((resolve) => setTimeout(resolve, 20, [])),
    acknowledge: async () => void acknowledged++,
    lag: async () => 0,
    close: async () => undefined,
  };
  const harness = await startIngest(aSnapshot([aPipeline()], [source]), {
    log: (log) =>
      new Proxy(log, {
        get(target, name) {
          const value = Reflect.get(target, name, target) as unknown;
          if (name !== 'append') return typeof value === 'function' ? value.bind(target) : value;
          return (appends: Append[]) => {
            const largest = Math.max(...appends.flatMap(({ records }) => records.map(({ data }) => data.length)));
            return largest > 1_000_000 ? Promise.reject(new RecordTooLarge(`${largest} bytes`)) : target.append(appends);
          };
        },
      }),
    consumers: { driver: driverOptions(), open: async () => consumer },
  });
  onTestFinished(() => harness.close());
  await expect.poll(async () => (await harness.stored()).length).toBe(1);
  const letters = (await harness.outcomes()).flatMap((outcome) => (outcome.kind === 'dead_lettered' ? [outcome.dead_letter] : []));
  expect(letters).toMatchObject([
    {
      stage: 'webhook',
      event: { query: { topic: 'orders', key: expect.stringMatching(/^k{30000,}$/) }, body: 'no JSON', truncated: true },
    },
    { stage: 'webhook', event: { query: {}, truncated: true } },
  ]);
  for (const letter of letters) expect(JSON.stringify(letter).length).toBeLessThan(200_000);
});

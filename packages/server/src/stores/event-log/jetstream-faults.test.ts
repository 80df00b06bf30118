import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { startNats, type TestServer } from '../../../test/servers/index.ts';
import { fresh, record, records, until } from './conformance/kit.ts';
import { connectNats, openJetStreamLog } from './jetstream.ts';
import { type EventLog, LogUnavailable } from './port.ts';

let server: TestServer;
let connection: NatsConnection;
let log: EventLog;
beforeAll(async () => {
  server = await startNats();
  connection = await connectNats(server.url);
  log = await openJetStreamLog({ connection, dedupWindowMs: 600_000, replicas: 1 });
});
afterAll(async () => {
  await log.close();
  await connection.close();
  await server.stop();
});

/** Appends one after the other, trying again what was refused; counts refusals. */
function sender(topic: string) {
  const sent: string[] = [];
  let refused = 0;
  let running = true;
  const done = (async () => {
    for (let i = 0; running; i++) {
      const one = record(`${topic}/${i}`);
      for (let stored = false; !stored; ) {
        try {
          await log.append([{ topic, records: [one] }]);
          stored = true;
        } catch (error) {
          expect(error).toBeInstanceOf(LogUnavailable);
          refused++;
          await sleep(50);
        }
      }
      sent.push(one.id);
      await sleep(2);
    }
  })();
  return {
    sent,
    get refused() {
      return refused;
    },
    stop: () => {
      running = false;
      return done;
    },
  };
}
function receiver(topic: string, ordered: boolean) {
  const got: string[] = [];
  const consumer = log.consume(topic, 'g', { start: 'beginning', maxInFlight: 100, maxBatch: 10, ordered }, async (batch) => {
    for (const delivery of batch) {
      got.push(delivery.record.id);
      await delivery.ack();
    }
  });
  onTestFinished(() => consumer.stop());
  return got;
}
const numberOf = (id: string) => Number(id.slice(id.lastIndexOf('/') + 1));

test('a reader whose request ran out asks again at once: it was deaf for three seconds of every eleven', async () => {
  const topic = fresh();
  const requests = new Map<string, number>();
  const wire = await connectNats(server.url);
  onTestFinished(() => wire.close());
  wire.subscribe('$JS.API.CONSUMER.MSG.NEXT.>', {
    callback: (_, { subject }) => void requests.set(subject, (requests.get(subject) ?? 0) + 1),
  });
  await wire.flush();
  // No timer of the reader's own fires any more: it asks again because the broker has said that its time is over, or never.
  const realTimeout = globalThis.setTimeout;
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((run: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) =>
    realTimeout(ms !== undefined && ms > 8_000 ? () => {} : run, ms, ...args)) as typeof setTimeout);
  onTestFinished(() => void vi.restoreAllMocks());
  let heard = 0;
  const consumer = log.consume(topic, 'g', { start: 'beginning', maxInFlight: 100, maxBatch: 10 }, async (batch) => {
    for (const delivery of batch) await delivery.ack();
    heard += batch.length;
  });
  onTestFinished(() => consumer.stop());
  await until(() => requests.size > 0 && [...requests.values()].every((count) => count >= 2));
  await log.append([{ topic, records: records(topic, 1) }]);
  await until(() => heard === 1);
});

describe('a broker that goes away', () => {
  test.each([
    [
      'is killed and restarted',
      async (refused: () => boolean) => {
        await server.kill();
        await until(refused);
        await server.restart();
      },
    ],
    [
      'is frozen',
      async (refused: () => boolean) => {
        server.pause();
        await until(refused);
        server.resume();
      },
    ],
  ])('%s: appends are refused while it is away, nothing is lost, and it goes on', async (_, goAway) => {
    const [plain, ordered] = [fresh(), fresh('ingest')];
    const senders = [sender(plain), sender(ordered)];
    const got = [receiver(plain, false), receiver(ordered, true)];
    await until(() => got.every((ids) => ids.length > 20));
    let sawUnavailable = false;
    const watch = setInterval(() => void (sawUnavailable ||= !log.available), 20);
    await goAway(() => sawUnavailable && senders.every((one) => one.refused > 0));
    const before = got.map((ids) => ids.length);
    await until(() => log.available && got.every((ids, i) => ids.length > before[i]!));
    clearInterval(watch);
    await sleep(500);
    for (const one of senders) await one.stop();
    await until(() => senders.every((one, i) => new Set(got[i]).size === one.sent.length));
    const numbers = got[1]!.map(numberOf);
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    // What comes twice was in hand when the broker went.
    for (const [i, one] of senders.entries()) expect(got[i]!.length - one.sent.length).toBeLessThanOrEqual(10);
  });

  test('an acknowledgement given while it is away is kept until it is back', async () => {
    const [topic, out] = [fresh(), fresh('replay')];
    await log.append([{ topic, records: records(topic, 3) }]);
    let settled = 0;
    let held = 0;
    let go = () => {};
    const away = new Promise<void>((resolve) => {
      go = resolve;
    });
    const consumer = log.consume(topic, 'g', { start: 'beginning', maxInFlight: 10, maxBatch: 10 }, async (batch) => {
      held += batch.length;
      await away;
      await Promise.all(batch.map((delivery) => delivery.ack([{ topic: out, records: [record(`${delivery.record.id}/out`)] }])));
      settled += batch.length;
    });
    onTestFinished(() => consumer.stop());
    await until(() => held === 3);
    await server.kill();
    await until(() => !log.available);
    go();
    await sleep(500);
    expect(settled).toBe(0);
    await server.restart();
    await until(() => settled === 3);
    await until(async () => (await log.lag(topic, 'g')).waiting === 0);
    expect(held).toBe(3);
    let stored = 0;
    for await (const _ of log.read(out, { limit: 10 })) stored++;
    expect(stored).toBe(3);
  });
});

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

test('a reader requests again as soon as its pull request expires (it missed three of eleven seconds)', async () => {
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

describe('a reader that begins while another process ends its own', () => {
  /** The next answer to that operation is another one, as the server gives it when consumers come and go beside us. */
  function answerOnce(operation: string, change: (text: string) => unknown): { seen(): boolean } {
    const request = connection.request.bind(connection);
    let seen = false;
    vi.spyOn(connection, 'request').mockImplementation(async (subject, payload, options) => {
      const reply = await request(subject, payload, options);
      if (seen || !subject.startsWith(`$JS.API.${operation}.`)) return reply;
      seen = true;
      const text = JSON.stringify(change(reply.string()));
      return Object.assign(Object.create(reply) as typeof reply, { string: () => text });
    });
    onTestFinished(() => void vi.restoreAllMocks());
    return { seen: () => seen };
  }
  const withNull = (text: string) => {
    const list = JSON.parse(text) as { total: number; consumers: unknown[] | null };
    return { ...list, total: list.total + 1, consumers: [null, ...(list.consumers ?? [])] };
  };
  const notFound = () => ({ error: { code: 404, err_code: 10014, description: 'consumer not found' } });

  test.each([
    ['the list holds one that goes at that moment, as null', 'CONSUMER.LIST', withNull],
    ['the one to follow on is gone when it is asked about', 'CONSUMER.INFO.firsthand--ingest', notFound],
  ])('begins all the same: %s', async (_, operation, change) => {
    const topic = fresh('ingest');
    await log.append([{ topic, records: records(topic, 1) }]);
    // There is one of an earlier reader.
    const earlier = log.consume(topic, 'g', { start: 'beginning', maxInFlight: 10, maxBatch: 10, ordered: true }, async () => {});
    await until(async () => (await log.groups(topic)).length === 1);
    await earlier.stop();
    const { seen } = answerOnce(operation, change);
    const got = receiver(topic, true);
    await until(() => got.length > 0);
    expect(seen()).toBe(true);
  });

  test('a clean-up ignores null entries in the broker’s list', async () => {
    const topic = fresh();
    await log.append([{ topic, records: records(topic, 3) }]);
    const holding = log.consume(topic, 'g', { start: 'beginning', maxInFlight: 10, maxBatch: 10 }, async () => {});
    onTestFinished(() => holding.stop());
    await until(async () => (await log.groups(topic)).length === 1);
    await sleep(1_100);
    // The only group's successor came after the list was begun.
    const { seen } = answerOnce('CONSUMER.LIST', () => ({ total: 1, consumers: [null] }));
    expect(await log.expire(topic, new Date(Date.now() + 60_000))).toBe(0);
    expect(seen()).toBe(true);
  });
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

  test('an acknowledgement during an outage is kept until the broker is back', async () => {
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

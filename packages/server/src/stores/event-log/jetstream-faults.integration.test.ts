// @module-tag nats-server
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startNats, type TestServer } from '../../../test/servers/index.ts';
import { collect, fresh, record, records, until } from './conformance/kit.ts';
import { Layout } from './jetstream/names.ts';
import { connectNats, openJetStreamLog } from './jetstream.ts';
import { type Delivery, type EventLog, LogUnavailable, RecordTooLarge } from './port.ts';

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
/** Returns a function that makes the connection lose the next message that a consumer sends. */
function dropsDeliveries(connection: NatsConnection): () => void {
  let losing = 0;
  const subscribe = connection.subscribe.bind(connection);
  connection.subscribe = (subject, options) => {
    const callback = options?.callback;
    if (!callback) return subscribe(subject, options);
    return subscribe(subject, {
      ...options,
      callback: (error, msg) => {
        if (losing > 0 && msg.reply?.startsWith('$JS.ACK.') && msg.data.length > 0) losing--;
        else callback(error, msg);
      },
    });
  };
  return () => void losing++;
}
const numberOf = (id: string) => Number(id.slice(id.lastIndexOf('/') + 1));

async function another(): Promise<{ log: EventLog; connection: NatsConnection }> {
  const own = await connectNats(server.url);
  const opened = await openJetStreamLog({ connection: own, dedupWindowMs: 600_000, replicas: 1 });
  onTestFinished(async () => {
    await opened.close();
    await own.close();
  });
  return { log: opened, connection: own };
}

describe('several processes', () => {
  test('of one id that two processes store at once, each group gets one, also after a restart', async () => {
    const topic = fresh('ingest');
    const [a, b] = [(await another()).log, (await another()).log];
    // Both have read the family's ids before either stores this one.
    await Promise.all([a, b].map((each, i) => each.append([{ topic, records: [record(`${topic}/first ${i}`)] }])));
    const got = receiver(topic, true);
    await until(() => got.length === 2);
    const results = await Promise.all([a, b].map((each) => each.append([{ topic, records: records(topic, 50) }])));
    expect(results.flatMap(([result]) => result?.positions.filter((position) => position !== undefined) ?? []).length).toBe(100);
    await until(() => got.length >= 52);
    await log.append([{ topic, records: [record(`${topic}/last`)] }]);
    await until(() => got.includes(`${topic}/last`));
    expect(got.length).toBe(53);
    // Only the second half of the duplicates is left to a reader that starts now: it knows the first from the headers.
    const { log: late } = await another();
    const seen: string[] = [];
    const consumer = late.consume(topic, 'late', { start: 'beginning', maxInFlight: 10, maxBatch: 10 }, async (batch) => {
      seen.push(...batch.map((delivery) => delivery.record.id));
      await late.ackAll(batch);
    });
    onTestFinished(() => consumer.stop());
    await until(() => seen.includes(`${topic}/last`));
    expect(seen.length).toBe(53);
  });

  test('a consumer that another process has replaced settles nothing any more', async () => {
    const topic = fresh();
    await log.append([{ topic, records: records(topic, 4) }]);
    const held: Delivery[] = [];
    const options = { start: 'beginning', maxInFlight: 10, maxBatch: 10 } as const;
    const { log: frozen } = await another();
    const old = frozen.consume(topic, 'g', options, async (batch) => void held.push(...batch));
    onTestFinished(() => old.stop());
    await until(() => held.length === 4);
    await held[0]?.ack();
    const { log: heir } = await another();
    const taken: Delivery[] = [];
    const next = heir.consume(topic, 'g', options, async (batch) => void taken.push(...batch));
    onTestFinished(() => next.stop());
    await until(() => taken.length === 3);
    await until(async () => (await log.lag(topic, 'g')).waiting === 3);
    await held[1]?.ack();
    expect((await log.lag(topic, 'g')).waiting).toBe(3);
    // Not even for the one after the heir.
    const { log: last } = await another();
    const left: Delivery[] = [];
    const third = last.consume(topic, 'g', options, async (batch) => void left.push(...batch));
    onTestFinished(() => third.stop());
    await until(() => left.length === 3);
    await last.ackAll(left);
    await until(async () => (await log.lag(topic, 'g')).waiting === 0);
  });

  test('a retry that a replaced consumer stores late is not delivered (its event came again, out of order)', async () => {
    const topic = fresh();
    await log.append([{ topic, records: records(topic, 2) }]);
    const options = { start: 'beginning', maxInFlight: 10, maxBatch: 10 } as const;
    const held: Delivery[] = [];
    const { log: frozen } = await another();
    const old = frozen.consume(topic, 'g', options, async (batch) => void held.push(...batch));
    onTestFinished(() => old.stop());
    await until(() => held.length === 2);
    // This one counts: it is stored before the group is taken over.
    await held[0]?.retryIn(3_600_000, 'early');
    const { log: heir } = await another();
    const next = heir.consume(topic, 'g', options, async (batch) => {
      for (const delivery of batch) await delivery.ack();
    });
    await until(async () => (await log.lag(topic, 'g')).waiting === 1);
    await held[1]?.retryIn(0, 'late');
    await old.stop();
    await next.stop();
    const got: string[] = [];
    const last = log.consume(topic, 'g', { ...options, skipRetryDelays: true }, async (batch) => {
      for (const delivery of batch) {
        got.push(`${delivery.record.id} ${String(delivery.state)}`);
        await delivery.ack();
      }
    });
    onTestFinished(() => last.stop());
    await until(() => got.length > 0);
    await until(async () => (await log.lag(topic, 'g')).waiting === 0);
    expect(got).toEqual([`${topic}/0 early`]);
  });

  test('a replaced consumer stores no retry of a later attempt either (the third was delivered again)', async () => {
    const topic = fresh();
    await log.append([{ topic, records: records(topic, 2) }]);
    const options = { start: 'beginning', maxInFlight: 10, maxBatch: 10 } as const;
    const held: Delivery[] = [];
    const { log: frozen } = await another();
    const old = frozen.consume(topic, 'g', options, async (batch) => {
      for (const delivery of batch)
        if (delivery.attempt === 1) await delivery.retryIn(0, undefined);
        else held.push(delivery);
    });
    onTestFinished(() => old.stop());
    await until(() => held.length === 2);
    // One second attempt succeeds at the heir, the other still waits there.
    const { log: heir } = await another();
    const next = heir.consume(topic, 'g', options, async (batch) => {
      for (const delivery of batch)
        if (delivery.record.id === `${topic}/0`) await delivery.ack();
        else await delivery.retryIn(3_600_000, 'heir');
    });
    onTestFinished(() => next.stop());
    await until(async () => (await log.lag(topic, 'g')).waiting === 1);
    for (const delivery of held) await delivery.retryIn(0, 'late');
    await old.stop();
    await next.stop();
    const got: string[] = [];
    const last = log.consume(topic, 'g', { ...options, skipRetryDelays: true }, async (batch) => {
      for (const { record: each, attempt, state } of batch) got.push(`${each.id} ${attempt} ${String(state)}`);
      for (const delivery of batch) await delivery.ack();
    });
    onTestFinished(() => last.stop());
    await until(async () => (await log.lag(topic, 'g')).waiting === 0);
    expect(got).toEqual([`${topic}/1 3 heir`]);
  });

  test('a consumer that is stopped while it starts does not take the group from its owner', async () => {
    const topic = fresh();
    await log.append([{ topic, records: records(topic, 1) }]);
    const options = { start: 'beginning', maxInFlight: 10, maxBatch: 10 } as const;
    const owner = log.consume(topic, 'g', options, async () => {});
    onTestFinished(() => owner.stop());
    await owner.started;
    const { subject, stream } = new Layout(3).cursorOf(topic, 'g');
    const cursor = async () =>
      (await connection.request(`$JS.API.STREAM.MSG.GET.${stream}`, JSON.stringify({ last_by_subj: subject }))).json<{
        message: unknown;
      }>();
    const before = await cursor();
    const { log: other, connection: slow } = await another();
    const { promise: gate, resolve: answer } = Promise.withResolvers<void>();
    const { promise: asked, resolve: asks } = Promise.withResolvers<void>();
    const request = slow.request.bind(slow);
    slow.request = async (to, ...rest) => {
      const reply = await request(to, ...rest);
      if (to === `$JS.API.STREAM.MSG.GET.${stream}`) {
        asks();
        await gate;
      }
      return reply;
    };
    const late = other.consume(topic, 'g', options, async () => {});
    await asked;
    await late.stop();
    answer();
    await late.started;
    expect(await cursor()).toEqual(before);
  });
});

test('a message that is lost on its way is noticed by its number and read again, in order (87 inversions in 108,540 events)', async () => {
  const topic = fresh('ingest');
  const reading = await another();
  const lose = dropsDeliveries(reading.connection);
  const got: string[] = [];
  const consumer = reading.log.consume(topic, 'g', { start: 'beginning', maxInFlight: 100, maxBatch: 10, ordered: true }, async (batch) => {
    got.push(...batch.map((delivery) => delivery.record.id));
    await reading.log.ackAll(batch);
  });
  onTestFinished(() => consumer.stop());
  await consumer.started;
  for (let i = 0; i < 40; i++) {
    if (i % 10 === 5) lose();
    await log.append([{ topic, records: records(topic, 1, i) }]);
  }
  await until(() => new Set(got).size === 40);
  expect(got).toEqual(records(topic, 40).map(({ id }) => id));
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

test('appends of a settlement are stored although the process died before they reached their topic', async () => {
  const [topic, out] = [fresh(), fresh('outcomes')];
  await log.append([{ topic, records: records(topic, 3) }]);
  const dying = await connectNats(server.url);
  const itsLog = await openJetStreamLog({ connection: dying, dedupWindowMs: 600_000, replicas: 1 });
  const held: Delivery[] = [];
  itsLog.consume(topic, 'g', { start: 'beginning', maxInFlight: 10, maxBatch: 10 }, async (batch) => void held.push(...batch));
  await until(() => held.length === 3);
  await itsLog.ackAll(held.slice(0, 2), { appends: [{ topic: out, records: [record(`${out}/a`)] }] });
  // At once, as a killed process: the settlement is in the journal, cursor and append are not stored yet.
  await dying.close();
  const got: string[] = [];
  const next = log.consume(topic, 'g', { start: 'beginning', maxInFlight: 10, maxBatch: 10 }, async (batch) => {
    for (const delivery of batch) {
      got.push(delivery.record.id);
      await delivery.ack();
    }
  });
  onTestFinished(() => next.stop());
  await until(() => got.length === 1);
  expect(got).toEqual([`${topic}/2`]);
  const stored: string[] = [];
  await until(async () => {
    stored.length = 0;
    for await (const { id } of log.read(out, { limit: 10 })) stored.push(id);
    return stored.length > 0;
  });
  expect(stored).toEqual([`${out}/a`]);
});

test('a group that is taken over late repeats nothing (the journal forgot settlements after 10 s)', async () => {
  const topic = fresh();
  await log.append([{ topic, records: records(topic, 3) }]);
  const first = await another();
  const held: Delivery[] = [];
  first.log.consume(topic, 'g', { start: 'beginning', maxInFlight: 10, maxBatch: 10 }, async (batch) => void held.push(...batch));
  await until(() => held.length === 3);
  await first.log.ackAll(held.slice(0, 2));
  await first.connection.close();
  const { stream } = new Layout(3).journalOf(topic, 'g');
  const { config } = (await connection.request(`$JS.API.STREAM.INFO.${stream}`)).json<{ config: { max_age: number } }>();
  expect(config.max_age / 1e9, 'seconds: longer than a lease, and a restart').toBeGreaterThan(600);
  const got = receiver(topic, false);
  await until(() => got.length > 0);
  await until(async () => (await log.lag(topic, 'g')).waiting === 0);
  expect(got).toEqual([`${topic}/2`]);
});

test('what one process has settled is not repeated although the next one died too', async () => {
  const topic = fresh();
  for (let i = 0; i < 3; i++) await log.append([{ topic, records: records(topic, 2, i * 2) }]);
  const first = await another();
  const held: Delivery[] = [];
  first.log.consume(topic, 'g', { start: 'beginning', maxInFlight: 10, maxBatch: 10 }, async (batch) => void held.push(...batch));
  await until(() => held.length === 6);
  await first.log.ackAll([1, 4].map((i) => held[i]!));
  await first.connection.close();
  const second = await another();
  const next: Delivery[] = [];
  // It reads the first message only, and stores its cursor.
  const options = { start: 'beginning', maxInFlight: 1, maxBatch: 1, ordered: true } as const;
  second.log.consume(topic, 'g', options, async (batch) => void next.push(...batch));
  await until(() => next.length === 1);
  await next[0]!.ack();
  await until(() => next.length === 2);
  await until(async () => (await log.lag(topic, 'g')).waiting < 5);
  await second.connection.close();
  const got = receiver(topic, false);
  await until(async () => got.length > 0 && (await log.lag(topic, 'g')).waiting === 0);
  expect(got).toEqual([2, 3, 5].map((i) => `${topic}/${i}`));
});

test('a group lags until the appends of its settlements can be read (an erasure was complete before the last traces)', async () => {
  const [topic, out] = [fresh(), fresh('outcomes')];
  await log.append([{ topic, records: records(topic, 3) }]);
  const held: Delivery[] = [];
  const options = { start: 'beginning', maxInFlight: 10, maxBatch: 10 } as const;
  const consumer = log.consume(topic, 'g', options, async (batch) => void held.push(...batch));
  onTestFinished(() => consumer.stop());
  await until(() => held.length === 3);
  await log.ackAll(held, { appends: [{ topic: out, records: [record(`${out}/a`)] }] });
  await until(async () => (await log.lag(topic, 'g')).waiting === 0);
  expect((await collect(log.read(out, { limit: 10 }))).map(({ id }) => id)).toEqual([`${out}/a`]);
});

test('a dead letter is stored before the outcome that tells of it', async () => {
  const [topic, letters, outcomes] = [fresh(), `dlq-delivery-${fresh('int').replace('.', '_')}`, 'outcomes.7'];
  await log.append([
    { topic, records: records(topic, 1) },
    { topic: letters, records: records(letters, 1) },
  ]);
  const held: Delivery[] = [];
  const options = { start: 'beginning', maxInFlight: 1, maxBatch: 1 } as const;
  const consumer = log.consume(topic, 'g', options, async (batch) => void held.push(...batch));
  onTestFinished(() => consumer.stop());
  await until(() => held.length === 1);
  const ids = async (of: string) => (await collect(log.read(of, { limit: 100 }))).map(({ id }) => id);
  const limitSize = async (max_msg_size: number) => {
    const { config } = (await connection.request('$JS.API.STREAM.INFO.firsthand_other')).json<{ config: object }>();
    await connection.request('$JS.API.STREAM.UPDATE.firsthand_other', JSON.stringify({ ...config, max_msg_size }));
  };
  await limitSize(10);
  const acknowledged = held[0]?.ack([
    { topic: outcomes, records: [record(`${letters}/told`)] },
    { topic: letters, records: [record(`${letters}/letter`)] },
  ]);
  await sleep(700);
  expect(await ids(outcomes)).not.toContain(`${letters}/told`);
  await limitSize(-1);
  await acknowledged;
  expect(await ids(letters)).toContain(`${letters}/letter`);
  expect(await ids(outcomes)).toContain(`${letters}/told`);
});

test('a dead letter above max_payload settles its event (it was stored, not announced, and its integration stalled)', async () => {
  const [topic, letters] = [fresh(), `dlq-delivery-${fresh('int').replace('.', '_')}`];
  await log.append([{ topic, records: records(topic, 1) }]);
  const held: Delivery[] = [];
  const consumer = log.consume(topic, 'g', { start: 'beginning', maxInFlight: 1, maxBatch: 1 }, async (batch) => void held.push(...batch));
  onTestFinished(() => consumer.stop());
  await until(() => held.length === 1);
  await held[0]?.ack([{ topic: letters, records: [record(`${letters}/large`, 'x'.repeat(2_000_000))] }]);
  expect((await collect(log.read(letters, { limit: 10 }))).map(({ data }) => data.length)).toEqual([2_000_000]);
  await until(async () => (await log.lag(topic, 'g')).waiting === 0);
});

test('a settlement that was rejected can be repeated (the first rejection was given for ever)', async () => {
  const [topic, out] = [fresh(), fresh('replay')];
  await log.append([{ topic, records: records(topic, 1) }]);
  const held: Delivery[] = [];
  const consumer = log.consume(topic, 'g', { start: 'beginning', maxInFlight: 1, maxBatch: 1 }, async (batch) => void held.push(...batch));
  onTestFinished(() => consumer.stop());
  await until(() => held.length === 1);
  const tooLarge = { id: `${out}/a`, data: randomBytes(1_500_000) };
  await expect(held[0]?.ack([{ topic: out, records: [tooLarge] }])).rejects.toThrow(RecordTooLarge);
  await held[0]?.ack([{ topic: out, records: [record(`${out}/b`)] }]);
  expect((await collect(log.read(out, { limit: 10 }))).map(({ id }) => id)).toEqual([`${out}/b`]);
  await until(async () => (await log.lag(topic, 'g')).waiting === 0);
});

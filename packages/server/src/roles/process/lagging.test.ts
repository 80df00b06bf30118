/** An organisation with a long backlog: others overtake it, and each of its events is processed once and in order, also after a restart. */
import { afterEach, expect, test } from 'vitest';
import { LogUnavailable } from '../../stores/event-log/port.ts';
import { embeddedLeases } from '../../stores/leases/embedded.ts';
import type { Leases } from '../../stores/leases/port.ts';
import { Bench } from './testing/bench.ts';
import { gate, loud, loudIds, quiet, twoOrganisations, until } from './testing/two-organisations.ts';

const open: Bench[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function bench(): Promise<Bench> {
  const one = await Bench.open(twoOrganisations());
  open.push(one);
  return one;
}
/** Partitions that are taken away at once: nothing that runs is finished, as in a crash. */
function fragile(): { leases: Leases; crash(): Promise<unknown> } {
  let crash: () => Promise<unknown> = async () => {};
  return {
    crash: () => crash(),
    leases: {
      ...embeddedLeases(),
      share(names, { won, lost }) {
        const winning = names.map((name) => won(name));
        crash = async () => {
          await Promise.all(winning);
          await Promise.all(names.map((name) => lost(name)));
        };
        return { stop: async () => {} };
      },
    },
  };
}

const LOUD = 900;
const order = async (b: Bench) => (await b.events('pl_1')).map(({ event_id }) => event_id);
const topic = loud(0, 1)[0]!.topic;
const groups = (b: Bench) => b.log.groups(topic);

test('events behind a stuck backlog are processed, and the backlog later, once and in order', async () => {
  const b = await bench();
  const { sandbox, release } = gate();
  await b.log.append([...loud(0, LOUD), quiet('q1')]);
  b.start({ sandbox });
  await until('the quiet event is processed', async () => (await b.events('pl_2')).length === 1);
  expect(await order(b)).toEqual([]);
  expect((await groups(b)).filter((group) => group.startsWith('lagging.org_1.'))).toHaveLength(1);
  await b.log.append([...loud(LOUD, 100), quiet('q2')]);
  await until('the next one too', async () => (await b.events('pl_2')).length === 2);
  release();
  await until('the backlog is processed', async () => (await order(b)).length >= LOUD + 100);
  await until('the cursor is removed', async () => (await groups(b)).length === 1);
  await b.log.append(loud(LOUD + 100, 50));
  await until('later events are processed', async () => (await order(b)).length >= LOUD + 150);
  expect(await order(b)).toEqual(loudIds(LOUD + 150));
});

test('a restart continues the backlog where it was, after the events that were in memory', async () => {
  const b = await bench();
  const stuck = gate();
  await b.log.append([...loud(0, LOUD), quiet('q1')]);
  const { leases, crash } = fragile();
  b.start({ sandbox: stuck.sandbox, leases });
  await until('the quiet event is processed', async () => (await b.events('pl_2')).length === 1);
  await crash();
  await b.reopen();
  const free = gate();
  free.release();
  b.start({ sandbox: free.sandbox });
  await until('the backlog is processed', async () => (await order(b)).length >= LOUD);
  expect(await order(b)).toEqual(loudIds(LOUD));
  expect(await b.events('pl_2')).toHaveLength(1);
  await b.log.append([...loud(LOUD, 20), quiet('q2')]);
  await until('later events are processed', async () => (await order(b)).length >= LOUD + 20 && (await b.events('pl_2')).length === 2);
  await until('the cursor is removed', async () => (await groups(b)).length === 1);
  expect(await order(b)).toEqual(loudIds(LOUD + 20));
});

type Log = Bench['log'];
/** The same log, but `ackAll` waits for `before` and fails with it. */
function beforeAckAll(log: Log, before: (deliveries: Parameters<Log['ackAll']>[0]) => Promise<void>): Log {
  return new Proxy(log, {
    get(target, key) {
      const value = Reflect.get(target, key) as unknown;
      if (typeof value !== 'function') return value;
      if (key !== 'ackAll') return value.bind(target);
      return async (...args: Parameters<Log['ackAll']>) => {
        await before(args[0]);
        return target.ackAll(...args);
      };
    },
  });
}

test('nothing is lost or repeated while restarts and a failing log interrupt a backlog', async () => {
  const b = await bench();
  let sent = 0;
  for (let round = 0; round < 6; round++) {
    let failures = 2;
    const log = beforeAckAll(b.log, async () => {
      if (failures-- > 0) throw new LogUnavailable('full');
    });
    const { sandbox, release } = gate();
    const { leases, crash } = fragile();
    b.start({ log, sandbox, leases });
    await b.log.append([...loud(sent, 400), quiet(`q${round}`)]);
    sent += 400;
    if (round % 2 === 0) release();
    await until('the quiet event is processed', async () => (await b.events('pl_2')).length === round + 1);
    await crash();
    await b.reopen();
  }
  const { sandbox, release } = gate();
  release();
  b.start({ sandbox });
  await until('the backlog is processed', async () => (await order(b)).length >= sent);
  expect(await order(b)).toEqual(loudIds(sent));
});

/** A log that acknowledges the loud organisation's events only after `release`. */
function slowFor(b: Bench): { log: Log; release(): void } {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const log = beforeAckAll(b.log, async (deliveries) => {
    if (deliveries.some(({ record }) => record.id.includes('loud'))) await released;
  });
  return { log, release };
}

test("an event does not wait for the commit of another organisation's events", async () => {
  const b = await bench();
  const code = gate();
  code.release();
  const { log, release } = slowFor(b);
  await b.log.append([...loud(0, 40), quiet('q1')]);
  b.start({ log, sandbox: code.sandbox });
  await until('the quiet event is processed', async () => (await b.events('pl_2')).length === 1);
  expect(await order(b)).toEqual([]);
  release();
  await until('the others are processed', async () => (await order(b)).length === 40);
  expect(await order(b)).toEqual(loudIds(40));
});

test('an event does not wait until a backlog in front of it is passed over', async () => {
  const b = await bench();
  const code = gate();
  const { log, release } = slowFor(b);
  await b.log.append([...loud(0, LOUD), quiet('q1')]);
  b.start({ log, sandbox: code.sandbox });
  await until('the quiet event is processed', async () => (await b.events('pl_2')).length === 1);
  release();
  code.release();
  await until('the backlog is processed', async () => (await order(b)).length >= LOUD);
  await until('the cursor is removed', async () => (await groups(b)).length === 1);
  expect(await order(b)).toEqual(loudIds(LOUD));
});

test('a single organisation is not read twice', async () => {
  const b = await bench();
  const current = b.snapshots.current();
  b.snapshots.current = () => ({ ...current, organisations: new Map([...current.organisations].slice(0, 1)) });
  const { sandbox, release } = gate();
  await b.log.append(loud(0, LOUD));
  b.start({ sandbox });
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(await groups(b)).toEqual(['process']);
  release();
  await until('all are processed', async () => (await order(b)).length >= LOUD);
  expect(await order(b)).toEqual(loudIds(LOUD));
});

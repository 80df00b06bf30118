import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../runtime/clock.ts';
import { createLogger } from '../../runtime/logger.ts';
import type { SandboxLimits } from '../../sandbox/protocol.ts';
import { type Append, type EventLog, LogUnavailable } from '../../stores/event-log/port.ts';
import { outageOf } from '../../stores/outages.ts';
import { Bench, type ClientEvent, ingestAppend, SETTINGS, Snapshots } from './testing/bench.ts';

const open: Bench[] = [];
async function bench(snapshots = new Snapshots({}, [{ id: 'pl_1' }]), limits?: Partial<SandboxLimits>): Promise<Bench> {
  const one = await Bench.open(snapshots, limits);
  open.push(one);
  return one;
}
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

const track = (event: string, over: ClientEvent = {}): ClientEvent => ({
  type: 'track',
  event,
  anonymousId: 'v1',
  properties: {},
  ...over,
});

test('an event becomes canonical, is stored once in its pipeline topic, and has an outcome', async () => {
  const b = await bench();
  b.start();
  await b.send(
    'e1',
    track('Order Completed', { properties: { total: 5 }, context: { page: { url: 'https://a.example/?utm_source=x&gclid=g1' } } }),
  );
  await b.send('e1', track('Order Completed'));
  const [outcome] = await b.settled(1);
  expect(outcome).toMatchObject({
    kind: 'processed',
    org_id: 'org_1',
    pipeline_id: 'pl_1',
    event_id: 'e1',
    event: 'Order Completed',
    anonymous_id: 'v1',
  });
  expect(outcome).toHaveProperty('raw.topic', expect.stringMatching(/^ingest\.\d+$/));
  const stored = outcome?.kind === 'processed' ? await b.log.get('events.pl_1', outcome.stored!) : undefined;
  expect(stored?.id).toBe('pl_1:e1');
  expect(await b.events()).toMatchObject([
    {
      event_id: 'e1',
      properties: { total: 5 },
      context: {
        campaign: { source: 'x' },
        click_ids: { gclid: 'g1' },
        consent: { canonical: { essential: true } },
        session: { is_new: true },
      },
    },
  ]);
});

test('an identify links the visitor for later events, across restarts', async () => {
  const b = await bench();
  b.start();
  await b.send('e1', track('Before'));
  await b.send('e2', { type: 'identify', anonymousId: 'v1', userId: 'u1', traits: {} });
  await b.send('e3', track('After'));
  await b.settled(3);
  await b.reopen();
  b.start();
  await b.send('e4', track('After the restart'));
  await b.send('e5', track('Own id wins', { userId: 'u9' }));
  await b.send('e6', track('Another visitor', { anonymousId: 'v2' }));
  await b.settled(6);
  const users = Object.fromEntries((await b.events()).map((event) => [event.event_id, event.user_id]));
  expect(users).toEqual({ e1: undefined, e2: 'u1', e3: 'u1', e4: 'u1', e5: 'u9', e6: undefined });
  const sessions = (await b.events())
    .filter((event) => event.anonymous_id === 'v1')
    .map((event) => event.context.session as { id: string; is_new: boolean });
  expect(new Set(sessions.map(({ id }) => id)).size).toBe(1);
  expect(sessions.filter(({ is_new }) => is_new)).toHaveLength(1);
});

test('the events of a session are counted on after a pause of minutes, and after a restart', async () => {
  const b = await bench();
  const started = Date.now();
  let now = 0;
  const clock = { ...systemClock, now: () => started + now, monotonic: () => now };
  const send = async (at: number) => {
    now = at;
    await b.send(`e${at}`, track('Viewed'), { received_at: started + at });
  };
  b.start({ clock });
  for (const at of [0, 2_000, 4_000]) await send(at);
  await b.settled(3);
  await send(90_000);
  await send(92_000);
  await b.settled(5);
  await b.reopen();
  b.start({ clock });
  await send(94_000);
  await b.settled(6);
  expect((await b.events()).map(({ context }) => (context.session as { event_index: number }).event_index)).toEqual([1, 2, 3, 4, 5, 6]);
});

test('erased visitors are forgotten at once, also in memory', async () => {
  const b = await bench();
  const role = b.start();
  await b.send('e1', { type: 'identify', anonymousId: 'v1', userId: 'u1' });
  await b.settled(1);
  const { anonymous_ids } = await b.visitors.erase('org_1', { user_id: 'u1' });
  expect(anonymous_ids).toEqual(['v1']);
  role.forget('org_1', anonymous_ids);
  await b.send('e2', track('Later'));
  await b.settled(2);
  expect((await b.events()).at(-1)!.user_id).toBeUndefined();
});

test('a visitor erased while code runs is not stored again', async () => {
  const code = 'function transform(e) { return e }';
  const b = await bench(new Snapshots({}, [{ id: 'pl_1', transformations: [{ kind: 'code', code }] }]));
  let begun = () => {};
  let finish = () => {};
  const running = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const erased = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const sandbox: typeof b.sandbox = {
    ...b.sandbox,
    async run(call) {
      begun();
      await erased;
      return b.sandbox.run(call);
    },
  };
  const role = b.start({ sandbox });
  await b.send('e1', { type: 'identify', anonymousId: 'v1', userId: 'u1' });
  await running;
  await b.visitors.erase('org_1', { anonymous_id: 'v1' });
  role.forget('org_1', ['v1']);
  finish();
  await b.settled(1);
  await b.send('e2', track('Later'));
  await b.settled(2);
  expect((await b.events()).at(-1)!.user_id).toBeUndefined();
  expect(await b.visitors.load('org_1', ['v1'])).not.toMatchObject([{ user_id: 'u1' }]);
});

test('a failing event becomes a dead letter of stage processing and blocks no other (poison)', async () => {
  const code = 'function transform(e) { if (e.properties.poison) throw new Error("bad"); return e }';
  const b = await bench(new Snapshots({}, [{ id: 'pl_1', transformations: [{ kind: 'code', code }] }]));
  b.start();
  const sent: Promise<void>[] = [];
  for (let i = 0; i < 300; i++)
    sent.push(b.send(`e${i}`, track('T', { anonymousId: `v${i % 7}`, properties: { n: i, poison: i % 10 === 0 } })));
  await Promise.all(sent);
  const outcomes = await b.settled(300);
  const dead = outcomes.filter((outcome) => outcome.kind === 'dead_lettered');
  expect(dead).toHaveLength(30);
  expect(dead[0]).toMatchObject({
    dead_letter: {
      stage: 'processing',
      reason: 'transformation trf_pl_1_0: line 1: Error: bad',
      integration_id: null,
      event: { type: 'track', properties: { poison: true } },
    },
  });
  expect(new Set(dead.map((outcome) => outcome.kind === 'dead_lettered' && outcome.dead_letter.id)).size).toBe(30);
  const events = await b.events();
  expect(events).toHaveLength(270);
  for (let visitor = 0; visitor < 7; visitor++) {
    const order = events.filter((event) => event.anonymous_id === `v${visitor}`).map((event) => event.properties!.n as number);
    expect(order).toEqual([...order].sort((a, b) => a - b));
  }
});

test('a visitor whose code hangs does not delay others of the pipeline', async () => {
  const code = 'function transform(e) { if (e.properties.hang) for (;;); return e }';
  // Long enough for the others to be done before it ends, on any machine.
  const limits = { soft_ms: 2_000, hard_ms: 60_000 };
  const b = await bench(new Snapshots({}, [{ id: 'pl_1', transformations: [{ kind: 'code', code }] }]), limits);
  b.start();
  await b.send('warm', track('T', { anonymousId: 'w' }));
  await b.settled(1);
  await b.log.append([
    ingestAppend('h1', track('T', { anonymousId: 'slow', properties: { hang: true } })),
    ingestAppend('h2', track('T', { anonymousId: 'slow', properties: { n: 2 } })),
    ...Array.from({ length: 50 }, (_, i) => ingestAppend(`o${i}`, track('T', { anonymousId: `other${i}` }))),
  ]);
  await b.settled(53);
  const order = (await b.events()).map((event) => event.event_id);
  expect(order).toHaveLength(52);
  expect(order.at(-1)).toBe('h2');
});

describe('drops, each with its reason word', () => {
  const rules = (rule: object) => [{ id: 'pl_1', transformations: [{ kind: 'rules' as const, rules: [rule] as never }] }];
  const cases: [reason: string, snapshots: Snapshots, body: ClientEvent][] = [
    [
      'bot',
      new Snapshots({ bot_filtering: { action: 'drop', block_empty_user_agent: false, custom_patterns: [] } }, [{ id: 'pl_1' }]),
      track('T', { context: { userAgent: 'Googlebot/2.1' } }),
    ],
    [
      'routing_rule',
      new Snapshots({ routing_rules: [{ condition: { field: 'event', op: 'eq', value: 'T' }, action: 'drop' }] }, [{ id: 'pl_1' }]),
      track('T'),
    ],
    [
      'custom_code',
      new Snapshots({ custom_js: { enabled: true, code: 'function transform() { return null }' } }, [{ id: 'pl_1' }]),
      track('T'),
    ],
    [
      'tracking_plan',
      new Snapshots({}, [{ id: 'pl_1', tracking_plan: { events: { T: { required: ['total'] } }, on_violation: 'drop' } }]),
      track('T'),
    ],
    ['transformation', new Snapshots({}, rules({ type: 'filter', condition: { field: 'event', op: 'eq', value: 'other' } })), track('T')],
    [
      'transformation',
      new Snapshots({}, [{ id: 'pl_1', transformations: [{ kind: 'code', code: 'function transform() { return null }' }] }]),
      track('T'),
    ],
  ];
  test.each(cases)('%s', async (reason, snapshots, body) => {
    const b = await bench(snapshots);
    b.watched = true;
    b.start();
    await b.send('e1', body);
    expect(await b.settled(1)).toMatchObject([{ kind: 'dropped', reason, event_id: 'e1' }]);
    expect(await b.events()).toEqual([]);
    await expect.poll(() => b.frames).toHaveLength(1);
    expect(b.frames).toMatchObject([{ stage: 'dropped', reason, pipeline_id: 'pl_1', event_id: 'e1' }]);
  });

  test('pipeline_deleted, at once when it was here before', async () => {
    const snapshots = new Snapshots({}, [{ id: 'pl_1' }]);
    const b = await bench(snapshots);
    b.start({ settings: { ...SETTINGS, configReloadMs: 600_000 } });
    snapshots.change({}, []);
    await b.send('e1', track('T'));
    expect(await b.settled(1)).toMatchObject([{ kind: 'dropped', reason: 'pipeline_deleted' }]);
  });
});

test('a pipeline that this process has not loaded yet is waited for', async () => {
  const snapshots = new Snapshots({}, []);
  const b = await bench(snapshots);
  b.start({ settings: { ...SETTINGS, configReloadMs: 60_000 } });
  await b.send('e1', track('T'));
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await b.outcomes()).toEqual([]);
  snapshots.change({}, [{ id: 'pl_1' }]);
  expect(await b.settled(1)).toMatchObject([{ kind: 'processed' }]);
});

test('an unavailable log loses nothing and duplicates nothing', async () => {
  const b = await bench();
  let failures = 3;
  const log = new Proxy(b.log, {
    get(target, key) {
      if (key === 'append')
        return async (appends: never) => {
          if (failures-- > 0) throw new LogUnavailable('full');
          return target.append(appends);
        };
      const value = Reflect.get(target, key) as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  b.start({ log });
  await Promise.all(Array.from({ length: 20 }, (_, i) => b.send(`e${i}`, track('T'))));
  await b.settled(20);
  expect(await b.events()).toHaveLength(20);
});

test('an unavailable log is one line a minute, however many partitions retry', async () => {
  const b = await bench();
  const lines: string[] = [];
  const logger = createLogger('warn', { outageOf, destination: { write: (line) => void lines.push(line) } });
  let failures = 0;
  const log = override(b.log, {
    async ackAll(...args) {
      if (failures++ < 12) throw new LogUnavailable('full');
      return b.log.ackAll(...args);
    },
  });
  b.start({ log, logger });
  await Promise.all(Array.from({ length: 20 }, (_, i) => b.send(`e${i}`, track('T', { anonymousId: `a${i}` }))));
  await b.settled(20);
  expect(failures).toBeGreaterThan(12);
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([expect.objectContaining({ outage: 'event log', reason: 'full' })]);
});

function override(log: EventLog, methods: Partial<EventLog>): EventLog {
  return new Proxy(log, {
    get(target, key) {
      const value = (Reflect.get(methods, key) ?? Reflect.get(target, key)) as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
/** An engine that writes one thing after the other, as JetStream does. */
function withoutTransactions(log: EventLog, acknowledges: boolean): EventLog {
  return override(log, {
    atomic: false,
    async ackAll(deliveries, { appends, derive, save } = { appends: [] }) {
      const results = await log.append(appends);
      await Promise.all([derive && log.append(derive(results)), save?.()]);
      if (acknowledges) await Promise.all(deliveries.map((delivery) => delivery.ack()));
    },
  });
}

test('an event too large for the log becomes a dead letter, and others of the batch pass', async () => {
  const b = await bench();
  const check = (appends: Append[]) => {
    if (appends.some(({ records }) => records.some(({ data }) => data.length > 50_000))) throw new Error('too large');
  };
  const log = override(b.log, {
    append: async (appends) => {
      check(appends);
      return b.log.append(appends);
    },
    ackAll: async (deliveries, alongside) => {
      check(alongside!.appends);
      return b.log.ackAll(deliveries, alongside);
    },
  });
  b.start({ log });
  await Promise.all(
    Array.from({ length: 5 }, (_, i) => b.send(`e${i}`, track('T', { properties: { text: 'x'.repeat(i === 2 ? 60_000 : 1) } }))),
  );
  const outcomes = await b.settled(5);
  const dead = outcomes.filter((outcome) => outcome.kind === 'dead_lettered');
  expect(dead).toMatchObject([
    { event_id: 'e2', dead_letter: { reason: 'the processed event cannot be stored: too large', raw: { topic: expect.any(String) } } },
  ]);
  expect(await b.events()).toHaveLength(4);
});

test('an event stored but not acknowledged is processed again and stored once', async () => {
  const b = await bench();
  // The first owner stores and dies before it acknowledges.
  b.start({ log: withoutTransactions(b.log, false) });
  await b.send('e1', track('Before'));
  await b.send('e2', { type: 'identify', anonymousId: 'v1', userId: 'u1' });
  await b.settled(2);
  await b.reopen();
  b.start({ log: withoutTransactions(b.log, true) });
  await b.send('e3', track('After'));
  await b.settled(3);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await b.outcomes()).toHaveLength(3);
  expect((await b.events()).map(({ event_id, user_id }) => [event_id, user_id])).toEqual([
    ['e1', undefined],
    ['e2', 'u1'],
    ['e3', 'u1'],
  ]);
});

test('a replayed dead letter is processed under a new id', async () => {
  const b = await bench();
  b.start();
  await b.send('e1', track('T'));
  await b.send('e1', track('T'), { replay_of: 'dlq_1' });
  expect(await b.settled(2)).toHaveLength(2);
  expect(await b.events()).toHaveLength(2);
});

test('bytes that are not an event become a dead letter and do not stop processing', async () => {
  const b = await bench();
  b.start();
  const { topic, records } = ingestAppend('e1', track('T'));
  const data = Buffer.from(records[0]!.data);
  await b.log.append([
    {
      topic,
      records: [
        { id: 'pl_1:e1', data: data.subarray(0, data.length - 3) },
        { id: 'x', data: Buffer.from('nothing') },
      ],
    },
  ]);
  await b.send('e2', track('T'));
  const outcomes = await b.settled(2);
  expect(outcomes.map((outcome) => outcome.kind).sort()).toEqual(['dead_lettered', 'processed']);
});

test('stopping under load loses nothing and duplicates nothing', async () => {
  const b = await bench();
  b.start();
  const sending = Promise.all(Array.from({ length: 500 }, (_, i) => b.send(`e${i}`, track('T', { anonymousId: `v${i % 20}` }))));
  await new Promise((resolve) => setTimeout(resolve, 5));
  await b.role!.stop();
  await sending;
  b.start();
  await b.settled(500);
  const ids = (await b.events()).map((event) => event.event_id);
  expect(ids).toHaveLength(500);
  expect(new Set(ids).size).toBe(500);
});

test('an organisation with a backlog does not delay the events of another', async () => {
  const snapshots = new Snapshots({}, [{ id: 'pl_1' }]);
  const { organisations } = snapshots.current();
  const other = { ...snapshots.current(), organisations: new Map([...organisations, ['org_2', organisations.get('org_1')!]]) };
  snapshots.current = () => other;
  const b = await bench(snapshots);
  const loud = Array.from({ length: 60 }, (_, i) => ingestAppend(`loud-${i}`, track('Loud')));
  // The same visitor id: the same partition.
  await b.log.append([...loud, ingestAppend('quiet', track('Quiet'), { org_id: 'org_2' })]);
  b.start();
  const order = (await b.settled(61)).map((outcome) => ('event_id' in outcome ? outcome.event_id : ''));
  expect(order.indexOf('quiet')).toBeLessThan(32);
  expect(order.filter((id) => id !== 'quiet')).toEqual(loud.map((_, i) => `loud-${i}`));
});

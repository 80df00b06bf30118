import { USER_AGENT } from '@firsthand/core/vendor/version.ts';
import { describe, expect, test } from 'vitest';
import { DELIVERY_HEALTH_CHANNEL, type DeliveryHealthNotice } from '../../channels.ts';
import { inProcessEphemeral } from '../../stores/ephemeral/in-process.ts';
import type { Leases } from '../../stores/leases/port.ts';
import { AttemptCounts } from './attempt-counts.ts';
import { Fleet } from './fleet.ts';
import { anEvent, anIntegration, compiledWebhook, events, pause, Receiver, until } from './testing/bench.ts';
import { bench, openForEachTest, receiver } from './testing/bench-per-test.ts';

openForEachTest();

describe('one event a request', () => {
  test('delivers the canonical event with its headers and leaves one outcome', async () => {
    bench.snapshots.set([anIntegration(compiledWebhook(receiver.url))]);
    bench.start();
    const event = anEvent('e1', { properties: { total: 42 }, user_id: 'u' });
    await bench.append([event]);
    await bench.settled();
    const [request] = receiver.requests;
    expect(JSON.parse(request!.body)).toEqual(event);
    expect(request!.headers).toMatchObject({ 'webhook-id': 'e1', 'x-firsthand-attempt': '1', 'user-agent': USER_AGENT });
    const outcomes = await bench.outcomes();
    expect(outcomes).toHaveLength(1);
    expect(outcomes[0]).toMatchObject({
      kind: 'delivered',
      event_id: 'e1',
      integration_id: 'int_1',
      attempt: { status: 200, error: null },
    });
  });

  test('a thousand events are delivered once each', async () => {
    bench.snapshots.set([anIntegration(compiledWebhook(receiver.url))]);
    bench.start();
    await bench.append(events(1000));
    await bench.settled();
    expect(receiver.requests).toHaveLength(1000);
    expect(new Set(receiver.eventIds).size).toBe(1000);
    expect(await bench.counts()).toEqual({ delivered: 1000 });
  });

  test('F7: a storm of 503 is tried exactly six times by the table, then a dead letter', async () => {
    receiver.respond = (_request, response) => void response.writeHead(503).end();
    bench.snapshots.set([anIntegration(compiledWebhook(receiver.url))]);
    bench.start({ retryBaseMs: 5 });
    await bench.append([anEvent('e1')]);
    await until(async () => (await bench.deadLetters()).length === 1);
    expect(receiver.requests.map(({ headers }) => headers['x-firsthand-attempt'])).toEqual(['1', '2', '3', '4', '5', '6']);
    expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id']))).toEqual(new Set(['e1']));
    const gaps = receiver.requests.slice(1).map((request, i) => request.at - receiver.requests[i]!.at);
    for (const [i, gap] of gaps.entries()) expect(gap).toBeGreaterThanOrEqual(5 * 4 ** i - 1);
    const [letter] = await bench.deadLetters();
    expect(letter).toMatchObject({ stage: 'delivery', event_id: 'e1', integration_id: 'int_1', vendor: 'webhook', revision_number: 1 });
    expect(letter!.attempts.map(({ status }) => status)).toEqual([503, 503, 503, 503, 503, 503]);
    expect(await bench.counts()).toEqual({ retrying: 5, dead_lettered: 1 });
    expect(await bench.deliver.health('int_1')).toMatchObject({ status: 'failing', waiting: 0 });
  });

  test.each([[400], [401], [302], [404], [410]])('status %d is refused for good at once', async (status) => {
    receiver.respond = (_request, response) => void response.writeHead(status, { location: '/elsewhere' }).end('no');
    bench.snapshots.set([anIntegration(compiledWebhook(receiver.url))]);
    bench.start();
    await bench.append([anEvent('e1')]);
    await bench.settled();
    expect(receiver.requests).toHaveLength(1);
    expect(await bench.counts()).toEqual({ dead_lettered: 1 });
  });

  test('F8: Retry-After lengthens the wait', async () => {
    receiver.respond = (_request, response) =>
      void response.writeHead(receiver.requests.length === 1 ? 429 : 200, { 'retry-after': '1' }).end();
    bench.snapshots.set([anIntegration(compiledWebhook(receiver.url))]);
    bench.start();
    await bench.append([anEvent('e1')]);
    await until(() => receiver.requests.length === 2);
    expect(receiver.requests[1]!.at - receiver.requests[0]!.at).toBeGreaterThanOrEqual(999);
  });

  test.each([
    ['retry_enabled', { retry_enabled: false }],
    ['max_retries', { max_retries: 0 }],
  ])('%s off: one try', async (_name, config) => {
    receiver.respond = (_request, response) => void response.writeHead(500).end();
    bench.snapshots.set([anIntegration(compiledWebhook(receiver.url, config))]);
    bench.start();
    await bench.append([anEvent('e1')]);
    await bench.settled();
    expect(receiver.requests).toHaveLength(1);
    expect(await bench.deadLetters()).toHaveLength(1);
  });
});

describe('dropped events', () => {
  test.each([
    ['integration_disabled', { enabled: false }, {}],
    ['client_side', { delivery_mode: 'client_side' as const }, {}],
    ['event_filtered', { event_filter: { event_names: ['@page', 'Other'] } }, {}],
    ['consent_not_granted', { consent_category: 'marketing' }, {}],
    ['consent_not_granted', { consent_category: 'marketing' }, { context: { consent: { canonical: { marketing: false } } } }],
    ['consent_not_granted', { consent_category: 'marketing' }, { context: { consent: { canonical: { marketing: 'true' } } } }],
    ['consent_not_granted', { consent_category: 'toString' }, { context: { consent: { canonical: {} } } }],
  ])('%s', async (reason, integration, event) => {
    bench.snapshots.set([anIntegration(compiledWebhook(receiver.url), integration)]);
    bench.start();
    await bench.append([anEvent('e1', event), anEvent('e2', event)]);
    await bench.settled();
    expect(await bench.counts()).toEqual({ [`dropped:${reason}`]: 2 });
    expect(receiver.requests).toHaveLength(0);
  });

  test('an event that passes filter and consent is sent', async () => {
    const integration = { event_filter: { event_names: ['@page'] }, consent_category: 'analytics' };
    bench.snapshots.set([anIntegration(compiledWebhook(receiver.url), integration)]);
    bench.start();
    await bench.append([anEvent('e1', { type: 'page', context: { consent: { canonical: { analytics: true } } } })]);
    await bench.settled();
    expect(receiver.eventIds).toEqual(['e1']);
  });

  test("the vendor config's consent category counts where the record has none", async () => {
    bench.snapshots.set([anIntegration(compiledWebhook(receiver.url, { consent_category: 'advertising' }))]);
    bench.start();
    await bench.append([anEvent('e1'), anEvent('e2', { context: { consent: { canonical: { advertising: true } } } })]);
    await bench.settled();
    expect(receiver.eventIds).toEqual(['e2']);
  });

  test('an integration that cannot be started, or whose group cannot be read, says why; the next one is delivered', async () => {
    const { log } = bench;
    bench.log = new Proxy(log, {
      get(target, key) {
        const value = Reflect.get(target, key) as unknown;
        if (typeof value !== 'function') return value;
        if (key !== 'consume') return value.bind(target);
        return (...args: Parameters<typeof log.consume>) => {
          if (args[1] === 'int_1') throw new Error('no such topic');
          const startError = args[1] === 'int_2' ? new Error('too many consumers') : undefined;
          return { ...target.consume(...args), startError };
        };
      },
    });
    const compiled = compiledWebhook(receiver.url);
    bench.snapshots.set(['int_1', 'int_2', 'int_3'].map((id) => anIntegration(compiled, { id })));
    const ephemeral = inProcessEphemeral();
    const notices: unknown[] = [];
    ephemeral.subscribe(DELIVERY_HEALTH_CHANNEL, (notice) => void notices.push((notice as DeliveryHealthNotice).integrations));
    bench.start({ ephemeral });
    await until(() => notices.length > 0);
    expect(notices[0]).toEqual([
      { integration_id: 'int_1', status: 'failing', reason: 'it cannot be started: no such topic' },
      { integration_id: 'int_2', status: 'failing', reason: 'its events cannot be read: too many consumers' },
    ]);
    expect(await bench.deliver.health('int_2')).toMatchObject({
      status: 'failing',
      last_error: 'its events cannot be read: too many consumers',
    });
    await bench.append([anEvent('e1')]);
    await bench.settled('int_3');
    expect(receiver.eventIds).toContain('e1');
  });

  test('an integration that cannot be started is tried again by itself (it waited for a change of the configuration)', async () => {
    const { log } = bench;
    const consume = log.consume.bind(log);
    let failures = 2;
    log.consume = (...args) => {
      if (failures-- > 0) throw new Error('no such topic');
      return consume(...args);
    };
    bench.snapshots.set([anIntegration(compiledWebhook(receiver.url))]);
    bench.start();
    await bench.append([anEvent('e1')]);
    await until(() => receiver.requests.length === 1);
    expect(failures).toBeLessThan(0);
  });

  test('misconfigured: events wait, and go out when the config is right', async () => {
    bench.snapshots.set([anIntegration(undefined)]);
    bench.start();
    await bench.append(events(3));
    await until(async () => (await bench.deliver.health('int_1'))?.waiting === 3);
    expect(await bench.deliver.health('int_1')).toMatchObject({ status: 'misconfigured', waiting: 3, warnings: ['url: is required'] });
    bench.snapshots.set([anIntegration(compiledWebhook(receiver.url), { revision_number: 2 })]);
    await bench.settled();
    expect(receiver.eventIds).toEqual(['e0', 'e1', 'e2']);
  });

  test('deleting an integration drops its backlog with that reason and removes its group', async () => {
    receiver.respond = (_request, response) => void response.writeHead(500).end();
    const other = anIntegration(compiledWebhook(receiver.url), { id: 'int_2', enabled: false });
    bench.snapshots.set([anIntegration(compiledWebhook(receiver.url)), other]);
    // An hour: nobody waits for it.
    bench.start({ retryBaseMs: 3_600_000 });
    await bench.append(events(4));
    await until(async () => (await bench.counts('int_1')).retrying === 4);
    const before = receiver.requests.length;
    bench.snapshots.set([other]);
    await until(async () => (await bench.counts('int_1'))['dropped:integration_deleted'] === 4);
    expect(await bench.deliver.health('int_1')).toBeUndefined();
    expect(receiver.requests).toHaveLength(before);
  });

  test('a deleted pipeline: its own reason', async () => {
    bench.snapshots.set([anIntegration(undefined)]);
    bench.start();
    await bench.append(events(4));
    await until(async () => (await bench.deliver.health('int_1'))?.waiting === 4);
    bench.snapshots.set([]);
    await until(async () => (await bench.counts())['dropped:pipeline_deleted'] === 4);
  });

  test('a new integration starts at its creation', async () => {
    await bench.append([anEvent('before')]);
    await pause(5);
    bench.snapshots.set([anIntegration(compiledWebhook(receiver.url), { created_at: new Date().toISOString() })]);
    bench.start();
    await pause(5);
    await bench.append([anEvent('after')]);
    await until(() => receiver.requests.length > 0);
    await bench.settled();
    expect(receiver.eventIds).toEqual(['after']);
  });
});

test('replays reach the one integration, and are marked', async () => {
  const other = await Receiver.start();
  bench.snapshots.set([anIntegration(compiledWebhook(receiver.url)), anIntegration(compiledWebhook(other.url), { id: 'int_2' })]);
  bench.start();
  await bench.append([anEvent('e1')]);
  await bench.settled('int_1');
  await bench.settled('int_2');
  await bench.replay([anEvent('e1')]);
  await until(() => receiver.requests.length === 2);
  expect(other.requests).toHaveLength(1);
  await until(async () => (await bench.outcomes()).some((outcome) => outcome.kind === 'delivered' && outcome.replay === true));
  await other.stop();
});

test.each([
  'integration_disabled',
  'client_side',
])('a dead letter whose replay comes to an integration that sends nothing is one again (it was lost): %s', async (reason) => {
  const unsent = reason === 'client_side' ? { delivery_mode: 'client_side' as const } : { enabled: false };
  receiver.respond = (_request, response) => void response.writeHead(503).end();
  bench.snapshots.set([anIntegration(compiledWebhook(receiver.url))]);
  bench.start({ retryBaseMs: 200 });
  // One that was tried already, one that was not, and one of history, which is still in the log.
  await bench.replay([anEvent('tried')], {}, 'dlq_1');
  await until(async () => (await bench.counts()).retrying === 1);
  bench.snapshots.set([anIntegration(compiledWebhook(receiver.url), unsent)]);
  await bench.replay([anEvent('untried#rpl_1')], {}, 'dlq_2');
  await bench.replay([anEvent('history#dlq_1')]);
  await until(async () => (await bench.deadLetters()).length === 2 && (await bench.counts())[`dropped:${reason}`] === 1);
  const letters = (await bench.deadLetters()).toSorted((a, b) => (a.event_id < b.event_id ? -1 : 1));
  const expected = { stage: 'delivery', reason, integration_id: 'int_1' };
  expect(letters).toMatchObject([
    { ...expected, event_id: 'tried', event: anEvent('tried') },
    { ...expected, event_id: 'untried#rpl_1', attempts: [] },
  ]);
  expect(letters[0]?.attempts.length).toBeGreaterThan(0);
  expect(receiver.eventIds).not.toContain('untried#rpl_1');
});

test('of a deleted integration the replay of a dead letter is dropped: there is nothing to replay it to', async () => {
  receiver.respond = (_request, response) => void response.writeHead(503).end();
  bench.snapshots.set([anIntegration(compiledWebhook(receiver.url))]);
  bench.start({ retryBaseMs: 3_600_000 });
  await bench.replay([anEvent('e1')], {}, 'dlq_1');
  await until(async () => (await bench.counts()).retrying === 1);
  bench.snapshots.set([], ['pl_1']);
  await until(async () => (await bench.counts())['dropped:integration_deleted'] === 1);
  expect(await bench.deadLetters()).toEqual([]);
});

test('a new revision is used for the next events', async () => {
  const next = await Receiver.start();
  bench.snapshots.set([anIntegration(compiledWebhook(receiver.url))]);
  bench.start();
  await bench.append([anEvent('e1')]);
  await bench.settled();
  bench.snapshots.set([anIntegration(compiledWebhook(next.url), { revision_number: 2 })]);
  await bench.append([anEvent('e2')]);
  await bench.settled();
  expect([receiver.eventIds, next.eventIds]).toEqual([['e1'], ['e2']]);
  await next.stop();
});

test('requests that wait for a limit use corrected credentials: they went out with the revoked ones and were dead letters', async () => {
  const rate = { rate_limit_rps: 50, rate_limit_burst: 1 };
  const withKey = (key: string) => ({ ...compiledWebhook(`${receiver.url}?key=${key}`, rate), concurrency: 1 });
  receiver.respond = ({ url }, response) => void response.writeHead(url.includes('key=revoked') ? 401 : 200).end();
  bench.snapshots.set([anIntegration(withKey('revoked'), { rate_limit_daily: 1 })]);
  bench.start();
  await bench.append([...events(20), anEvent('other', { event: 'Other' })]);
  await until(async () => (await bench.deadLetters()).length === 1 && (await bench.deliver.health('int_1'))?.status === 'paused');
  bench.snapshots.set([anIntegration(withKey('right'), { event_filter: { event_names: ['Order Completed'] } })]);
  await bench.settled();
  expect(await bench.counts()).toEqual({ dead_lettered: 1, delivered: 19, 'dropped:event_filtered': 1 });
  expect(receiver.requests.map(({ url }) => url.split('key=')[1])).toEqual(['revoked', ...Array(19).fill('right')]);
  // Less than the longest wait for a limit: a new limit must not wait for the old one.
}, 30_000);

test('a replay with another revision uses that revision', async () => {
  const latest = await Receiver.start();
  const pinned = anIntegration(compiledWebhook(receiver.url));
  bench.snapshots.set([pinned]);
  let asked = 0;
  bench.start({
    async compileRevision(integration, revision) {
      if (asked++ === 0) throw new Error('the database is away');
      return revision === 7 ? { ...pinned, integration, vendor: compiledWebhook(latest.url) } : undefined;
    },
  });
  await bench.replay([anEvent('e1')], { revision_number: 7 });
  await bench.replay([anEvent('e2')], { revision_number: 8 });
  await bench.replay([anEvent('e3')]);
  await until(async () => (await bench.deadLetters()).length === 1 && receiver.requests.length === 1);
  expect([latest.eventIds, receiver.eventIds]).toEqual([['e1'], ['e3']]);
  expect(await bench.deadLetters()).toMatchObject([
    { event_id: 'e2', reason: 'revision 8 cannot be used: revision_number: there is no such revision' },
  ]);
  await latest.stop();
});

test('thousands of integrations are started in turns of the event loop, each once, and none that was deleted meanwhile; a change is in force at once', async () => {
  const all = Array.from({ length: 2_000 }, (_, i) => anIntegration(undefined, { id: `int_${i}` }));
  bench.snapshots.set(all);
  const deps = { ...bench.workerDeps(), attempts: new AttemptCounts() };
  const fleet = new Fleet(deps, bench.snapshots.current(), () => true, 1_000);
  fleet.reconcile();
  expect(fleet.workers.size).toBeLessThan(1_000);
  bench.snapshots.set(all.slice(0, 1_500));
  fleet.adopt(bench.snapshots.current());
  expect(fleet.workers.size).toBeLessThan(1_000);
  await until(() => fleet.workers.size === 1_500);
  expect(fleet.workers.size).toBe(1_500);
  const [changed, added] = [anIntegration(undefined, { id: 'int_0', enabled: false }), anIntegration(undefined, { id: 'int_added' })];
  bench.snapshots.set([changed, ...all.slice(1, 1_000), added]);
  fleet.adopt(bench.snapshots.current());
  expect(fleet.workers.get('int_0')?.compiled).toBe(changed);
  await until(() => fleet.workers.has('int_added'));
  expect(fleet.workers.size).toBe(1_001);
  await fleet.stop(100);
});

test('integrations deleted while delivery was stopped are found, and their events dropped', async () => {
  bench.snapshots.set([anIntegration(undefined)]);
  bench.start();
  await bench.append(events(3));
  await until(async () => (await bench.log.groups('events.pl_1')).length === 1);
  bench.snapshots.set([], ['pl_1']);
  await bench.deliver.stop();
  const deps = { ...bench.workerDeps(), attempts: new AttemptCounts() };
  const fleet = new Fleet(deps, bench.snapshots.current(), () => true, 1_000);
  await fleet.findOrphans();
  expect(await bench.log.groups('events.pl_1')).toEqual(['int_1']);
  await fleet.findOrphans();
  await until(async () => (await bench.log.groups('events.pl_1')).length === 0);
  expect(await bench.counts()).toEqual({ 'dropped:integration_deleted': 3 });
  await fleet.stop(100);
});

test('with leases an integration is worked on by the process that won it, and changes hands without a repeat', async () => {
  receiver.respond = (_request, response) => void setTimeout(() => response.end(), 2);
  const [one, two] = [new TwoLeases(), new TwoLeases()];
  bench.snapshots.set([anIntegration(compiledWebhook(receiver.url))]);
  const first = bench.startAnother({ leases: one });
  const second = bench.startAnother({ leases: two });
  await bench.append(events(600));
  await pause(50);
  expect(receiver.requests).toHaveLength(0);
  for (let round = 0; round < 3; round++) {
    await one.win();
    await pause(60);
    await one.lose();
    await two.win();
    await pause(60);
    await two.lose();
  }
  await one.win();
  await bench.settled();
  expect(receiver.requests).toHaveLength(600);
  expect(await bench.counts()).toEqual({ delivered: 600 });
  await first.stop();
  await second.stop();
});

class TwoLeases implements Leases {
  #names: string[] = [];
  #callbacks: Parameters<Leases['share']>[1] | undefined;
  share(names: string[], callbacks: Parameters<Leases['share']>[1]) {
    this.#names = names;
    this.#callbacks = callbacks;
    return { stop: () => this.lose() };
  }
  async win(): Promise<void> {
    await Promise.all(this.#names.map((name) => this.#callbacks!.won(name)));
  }
  async lose(): Promise<void> {
    await Promise.all(this.#names.map((name) => this.#callbacks!.lost(name)));
  }
  async close(): Promise<void> {}
}

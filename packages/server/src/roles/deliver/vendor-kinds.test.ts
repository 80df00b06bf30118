/** The kinds of the vendor format that concern delivery: chains, jobs, drivers. Small vendors, real log, real HTTP. */
import hubspot from '@firsthand/catalog/vendors/hubspot/vendor.ts';
import postgresql from '@firsthand/catalog/vendors/postgresql/vendor.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import { compileVendor } from '@firsthand/core/vendor/compile.ts';
import type { CompiledVendor } from '@firsthand/core/vendor/compiled.ts';
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { startDatabase } from '../../../test/servers/index.ts';
import type { TapFrame } from '../../tap/port.ts';
import { anEvent, anIntegration, compiledWebhook, until } from './testing/bench.ts';
import { bench, openForEachTest, receiver } from './testing/bench-per-test.ts';

openForEachTest();
const origin = () => receiver.url.replace('/hook', '');

function compile(vendor: VendorDefinition, config: JsonObject): CompiledVendor {
  const result = compileVendor(vendor, { rate_limit_rps: 10_000, ...config }, { mode: 'development', allow_private: true });
  if (!result.ok) throw new Error(JSON.stringify(result));
  return result.vendor;
}
function contact(id: string, email = `${id}@example.com`) {
  return anEvent(id, { type: 'identify', traits: { email } });
}

describe('chained requests', () => {
  const vendor = () => compile(hubspot, { ...hubspot.variants[0]?.default_config, access_token: 'pat', endpoint: origin() });
  const requests = () => receiver.requests.map(({ method, url }) => `${method} ${url.split('?')[0]?.split('/contacts')[1]}`);

  test('a failed step is retried from that step, also after a restart', async () => {
    let failures = 0;
    receiver.respond = ({ method }, response) => {
      if (method === 'GET') response.writeHead(404).end('{}');
      else response.writeHead(failures++ < 2 ? 503 : 201).end('{"id":"7"}');
    };
    bench.snapshots.set([anIntegration(vendor())]);
    bench.start({ retryBaseMs: 300 });
    await bench.append([contact('a')]);
    await until(async () => (await bench.counts()).retrying === 1);
    await bench.restart({ retryBaseMs: 5 });
    await bench.settled();
    expect(requests()).toEqual(['GET /a%40example.com', 'POST ', 'POST ', 'POST ']);
    expect(await bench.counts()).toEqual({ retrying: 2, delivered: 1 });
  });

  test('a lookup result is cached: the next event of the contact needs no lookup', async () => {
    receiver.respond = (_request, response) => void response.end('{"id":"7"}');
    bench.snapshots.set([anIntegration(vendor())]);
    bench.start();
    await bench.append([contact('a', 'x@example.com')]);
    await bench.settled();
    await bench.append([contact('b', 'x@example.com'), contact('c', 'y@example.com')]);
    await bench.settled();
    expect(requests().filter((one) => one.startsWith('GET'))).toEqual(['GET /x%40example.com', 'GET /y%40example.com']);
    expect(requests().filter((one) => one === 'PATCH /7')).toHaveLength(3);
  });

  test('a dead letter names the step that failed', async () => {
    receiver.respond = ({ method }, response) => void response.writeHead(method === 'GET' ? 404 : 400).end('{"message":"no"}');
    bench.snapshots.set([anIntegration(vendor())]);
    bench.start();
    await bench.append([contact('a')]);
    await bench.settled();
    expect(await bench.deadLetters()).toMatchObject([{ reason: 'create: http_400: no' }]);
  });

  test('a set-up call is sent once', async () => {
    const setUp = defineVendor({
      ...custom('set_up'),
      chain: [
        {
          name: 'set_up',
          once: true,
          method: 'PUT',
          url: 'https://v.example/set-up',
          body: { kind: 'none' },
          keep: { token: 'body.token' },
        },
        { name: 'send', method: 'POST', url: 'https://v.example/{{steps.set_up.token}}', body: { kind: 'json' } },
      ],
    });
    receiver.respond = (_request, response) => void response.end('{"token":"t1"}');
    bench.snapshots.set([anIntegration(compile(setUp, { endpoint: origin() }))]);
    bench.start();
    await bench.append([anEvent('a')]);
    await bench.settled();
    await bench.append([anEvent('b'), anEvent('c')]);
    await bench.settled();
    expect(receiver.requests.map(({ method, url }) => `${method} ${url}`)).toEqual(['PUT /set-up', 'POST /t1', 'POST /t1', 'POST /t1']);
  });
});

describe('asynchronous results', () => {
  const jobs = (poll: { first_ms: number; within_ms: number }) =>
    defineVendor({
      ...custom('jobs'),
      request: {
        method: 'POST',
        url: 'https://v.example/ingest',
        body: { kind: 'json_list' },
        batch: { max_items: 10, max_bytes: 100_000, interval_ms: 50 },
        answers: [{ status: [200], verdict: 'accepted', job: 'body.job' }],
        poll: {
          url: 'https://v.example/jobs/{{job.id}}',
          every_ms: 20,
          ...poll,
          answers: [
            { when: { field: 'body.state', op: 'eq', value: 'done' }, verdict: 'delivered' },
            { when: { field: 'body.state', op: 'eq', value: 'failed' }, verdict: 'refused', reason: 'body.why' },
            { status: [200], verdict: 'accepted' },
          ],
        },
      },
    });
  const polls = () => receiver.requests.filter(({ method }) => method === 'GET').map(({ url }) => url);
  const start = (poll: { first_ms: number; within_ms: number }) => {
    bench.snapshots.set([anIntegration(compile(jobs(poll), { endpoint: origin() }))]);
    const frames: TapFrame[] = [];
    bench.start({ tap: { watched: () => true, emit: (_org, frame) => void frames.push(frame) } });
    return frames;
  };

  test('accepted, polled over a restart, delivered: one poll asks for the whole batch and sends nothing again', async () => {
    let state = 'running';
    receiver.respond = ({ method }, response) => void response.end(JSON.stringify(method === 'POST' ? { job: 'j1' } : { state }));
    const frames = start({ first_ms: 100, within_ms: 600_000 });
    await bench.append([anEvent('a'), anEvent('b'), anEvent('c')]);
    await until(async () => (await bench.counts()).accepted_by_vendor === 3);
    expect(frames.map(({ stage }) => stage)).toEqual(['accepted_by_vendor', 'accepted_by_vendor', 'accepted_by_vendor']);
    expect((await bench.log.lag('events.pl_1', 'int_1')).waiting).toBe(3);
    await until(() => polls().length >= 2);
    await bench.restart();
    state = 'done';
    await bench.settled();
    expect(await bench.counts()).toEqual({ accepted_by_vendor: 3, delivered: 3 });
    expect(receiver.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
    expect(new Set(polls())).toEqual(new Set(['/jobs/j1']));
  });

  test('a job that fails becomes dead letters with the reason of the vendor', async () => {
    receiver.respond = ({ method }, response) =>
      void response.end(JSON.stringify(method === 'POST' ? { job: 'j1' } : { state: 'failed', why: 'EVENT_TOO_OLD' }));
    start({ first_ms: 1, within_ms: 600_000 });
    await bench.append([anEvent('a'), anEvent('b')]);
    await until(async () => (await bench.deadLetters()).length === 2);
    expect(await bench.deadLetters()).toMatchObject([1, 2].map(() => ({ stage: 'delivery', reason: 'http_200: EVENT_TOO_OLD' })));
  });

  test('polls that fail cost no attempt', async () => {
    receiver.respond = ({ method }, response) => {
      if (method === 'POST') response.end('{"job":"j1"}');
      else if (polls().length <= 7) response.writeHead(503).end();
      else response.end('{"state":"done"}');
    };
    start({ first_ms: 1, within_ms: 600_000 });
    await bench.append([anEvent('a')]);
    await bench.settled();
    expect(await bench.counts()).toEqual({ accepted_by_vendor: 1, delivered: 1 });
  });

  test('without a result in time the event is a dead letter', async () => {
    receiver.respond = ({ method }, response) =>
      void response.end(JSON.stringify(method === 'POST' ? { job: 'j1' } : { state: 'running' }));
    start({ first_ms: 1, within_ms: 1 });
    await bench.append([anEvent('a')]);
    await until(async () => (await bench.deadLetters()).length === 1);
    const [letter] = await bench.deadLetters();
    expect(letter?.reason).toBe('the vendor accepted the event and reported no result for job j1 in time');
    expect(await bench.counts()).toEqual({ accepted_by_vendor: 1, dead_lettered: 1 });
  });
});

describe('ordering', () => {
  const ordered = (order: string) => compiledWebhook(receiver.url, { delivery_order: order });
  const of = (id: string, user_id: string) => anEvent(id, { user_id });

  test('events of a user wait for the retry of an earlier one; other users do not', async () => {
    let failures = 0;
    receiver.respond = ({ body }, response) => void response.writeHead(body.includes('"a1"') && failures++ < 3 ? 503 : 200).end();
    bench.snapshots.set([anIntegration(ordered('user'))]);
    bench.start({ retryBaseMs: 5 });
    await bench.append([of('a1', 'a'), of('b1', 'b'), of('a2', 'a'), of('b2', 'b'), of('a3', 'a')]);
    await bench.settled();
    const ids = receiver.eventIds;
    expect(ids.filter((id) => id.startsWith('a'))).toEqual(['a1', 'a1', 'a1', 'a1', 'a2', 'a3']);
    expect(ids.filter((id) => id.startsWith('b'))).toEqual(['b1', 'b2']);
    expect(ids.indexOf('b2')).toBeLessThan(ids.indexOf('a2'));
    expect(await bench.counts()).toEqual({ retrying: 3, delivered: 5 });
  });

  test('with order by lane, events of other users wait for the retry too', async () => {
    let failures = 0;
    receiver.respond = ({ body }, response) => void response.writeHead(body.includes('"a1"') && failures++ < 3 ? 503 : 200).end();
    bench.snapshots.set([anIntegration(ordered('lane'))]);
    bench.start({ retryBaseMs: 5 });
    await bench.append([of('a1', 'a'), of('b1', 'b'), of('a2', 'a'), of('c1', 'c')]);
    await bench.settled();
    expect(receiver.eventIds).toEqual(['a1', 'a1', 'a1', 'a1', 'b1', 'a2', 'c1']);
  });

  test('a dead letter lets the next event of the user pass', async () => {
    receiver.respond = ({ body }, response) => void response.writeHead(body.includes('"a1"') ? 400 : 200).end();
    bench.snapshots.set([anIntegration(ordered('user'))]);
    bench.start();
    await bench.append([of('a1', 'a'), of('a2', 'a')]);
    await bench.settled();
    expect(await bench.counts()).toEqual({ dead_lettered: 1, delivered: 1 });
  });

  test('the order survives a restart in the middle of a retry', async () => {
    let up = false;
    receiver.respond = (_request, response) => void response.writeHead(up ? 200 : 503).end();
    bench.snapshots.set([anIntegration(ordered('lane'))]);
    bench.start({ retryBaseMs: 3_600_000 });
    await bench.append(Array.from({ length: 5 }, (_, i) => of(`e${i}`, `u${i}`)));
    await until(async () => (await bench.counts()).retrying === 1);
    up = true;
    await bench.restart();
    await bench.settled();
    expect(receiver.eventIds).toEqual(['e0', 'e0', 'e1', 'e2', 'e3', 'e4']);
  });

  test('events that wait in order use corrected credentials: they kept the revoked ones until they were dead letters', async () => {
    const withKey = (key: string) => compiledWebhook(`${receiver.url}?key=${key}`, { delivery_order: 'user' });
    receiver.respond = ({ url }, response) => void response.writeHead(url.includes('key=revoked') ? 503 : 200).end();
    bench.snapshots.set([anIntegration(withKey('revoked'))]);
    bench.start({ retryBaseMs: 1_000 });
    await bench.append([of('a1', 'a'), anEvent('a2', { user_id: 'a', event: 'Other' }), of('a3', 'a')]);
    await until(async () => (await bench.counts()).retrying === 1);
    bench.snapshots.set([anIntegration(withKey('right'), { event_filter: { event_names: ['Order Completed'] } })]);
    await bench.settled();
    expect(receiver.requests.map(({ url }) => url.split('key=')[1])).toEqual(['revoked', 'right', 'right']);
    expect(await bench.counts()).toEqual({ retrying: 1, delivered: 2, 'dropped:event_filtered': 1 });
  });

  test('20,000 events that wait in order are dropped by a new filter (their renewal overflowed the stack)', async () => {
    const vendor = compiledWebhook(receiver.url, {
      delivery_order: 'user',
      batch_enabled: true,
      batch_size: 10_000,
      batch_interval_ms: 10,
    });
    receiver.respond = (_request, response) => void response.writeHead(503).end();
    let decided = 0;
    const counted = (filter: string[]) => {
      const buildAtOnce: typeof vendor.buildAtOnce = (event, context) => {
        decided++;
        return vendor.build(event, context);
      };
      return anIntegration({ ...vendor, verbatim: undefined, buildAtOnce }, { event_filter: { event_names: filter } });
    };
    bench.snapshots.set([counted([])]);
    bench.start({ retryBaseMs: 5_000 });
    await bench.append(Array.from({ length: 20_000 }, (_, i) => of(`e${i}`, 'a')));
    await until(async () => decided === 20_000 && (await bench.counts()).retrying === 1);
    bench.snapshots.set([counted(['Nothing'])]);
    await bench.settled();
    expect(await bench.counts()).toEqual({ retrying: 1, 'dropped:event_filtered': 20_000 });
  }, 120_000);

  test('a disabled integration drops events that wait for their turn', async () => {
    receiver.respond = (_request, response) => void response.writeHead(503).end();
    bench.snapshots.set([anIntegration(ordered('user'))]);
    bench.start({ retryBaseMs: 3_600_000 });
    await bench.append([of('a1', 'a'), of('a2', 'a'), of('b1', 'b')]);
    await until(async () => (await bench.counts()).retrying === 2);
    bench.snapshots.set([anIntegration(ordered('user'), { enabled: false })]);
    await bench.settled();
    expect(await bench.counts()).toEqual({ retrying: 2, 'dropped:integration_disabled': 3 });
  });
});

test('a driver: rows in a real PostgreSQL, one bad event among them is a dead letter', { tags: ['postgresql'] }, async () => {
  const database = await startDatabase();
  try {
    const config = { url: database.url, tls: 'disable', batch_interval_ms: 50 };
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query("create table events (event_id text primary key, event text check (event <> 'Refused'))");
    bench.snapshots.set([anIntegration(compile(postgresql, config))]);
    bench.start();
    await bench.append([...Array.from({ length: 300 }, (_, i) => anEvent(`e${i}`)), anEvent('bad', { event: 'Refused' })]);
    await bench.settled();
    expect(await bench.counts()).toEqual({ delivered: 300, dead_lettered: 1 });
    expect((await bench.deadLetters())[0]).toMatchObject({ event_id: 'bad', reason: expect.stringMatching(/^postgresql 23514: /) });
    expect((await client.query('select count(*)::int as n, min(event) as event from events')).rows).toEqual([
      { n: 300, event: 'Order Completed' },
    ]);
    await client.end();
  } finally {
    await database.stop();
  }
});

function custom(key: string) {
  return {
    key,
    name: key,
    description: key,
    category: 'other',
    group: 'custom',
    status: 'beta',
    website: 'https://v.example/',
    setup_steps: ['Nothing.'],
    config_fields: [],
    default_action: 'pass_through',
    variants: [{ key: 'default', name: 'Default', description: 'All.', default_config: {} }],
  } as const satisfies Partial<VendorDefinition>;
}

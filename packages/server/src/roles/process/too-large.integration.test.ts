// @module-tag nats-server
import { randomBytes } from 'node:crypto';
import type { DataLayerConfig } from '@firsthand/core/config/resources.ts';
import type { Outcome } from '@firsthand/core/outcome/outcome.ts';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startNats, type TestServer } from '../../../test/servers/index.ts';
import { decodeOutcomes } from '../../outcomes/outcome-log.ts';
import { systemClock } from '../../runtime/clock.ts';
import { createLogger } from '../../runtime/logger.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { encodeBatch, packRecord } from '../../stores/event-log/jetstream/record-batch.ts';
import { connectNats, openJetStreamLog } from '../../stores/event-log/jetstream.ts';
import { embeddedLeases } from '../../stores/leases/embedded.ts';
import { openKvVisitors } from '../../stores/visitors/jetstream-kv.ts';
import { startProcess } from './start.ts';
import { type ClientEvent, ingestAppend, type PipelineSource, SETTINGS, Snapshots } from './testing/bench.ts';

let nats: TestServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats.stop());

/** No compression makes it much shorter. */
const random = (length: number) => randomBytes(length).toString('base64url').slice(0, length);
let runs = 0;

/** Processes these events on NATS, and returns their outcomes by the id of the event. */
async function outcomesOf(
  sent: [id: string, event: ClientEvent][],
  dataLayer: Partial<DataLayerConfig>,
  pipeline: Omit<PipelineSource, 'id'> = {},
  run?: Sandbox['run'],
): Promise<Map<string, Outcome>> {
  const id = `pl_${++runs}`;
  const connection = await connectNats(nats.url);
  onTestFinished(() => connection.close());
  const log = await openJetStreamLog({ connection, dedupWindowMs: 600_000, replicas: 1 });
  onTestFinished(() => log.close());
  const role = startProcess({
    log,
    leases: embeddedLeases(),
    visitors: await openKvVisitors({ connection, replicas: 1 }),
    snapshots: new Snapshots(dataLayer, [{ id, ...pipeline }]),
    sandbox: { run: run ?? (async ({ event }) => ({ kind: 'returned', value: event, logs: [] })) },
    tap: { watched: () => false, emit: () => {} },
    settings: SETTINGS,
    clock: systemClock,
    logger: createLogger('silent'),
  });
  onTestFinished(() => role.stop());
  await log.append(sent.map(([event_id, event]) => ingestAppend(event_id, { anonymousId: 'v1', ...event }, { pipeline_id: id })));
  const found = new Map<string, Outcome>();
  const read = async () => {
    for (const topic of await log.topics('outcomes'))
      for await (const record of log.read(topic, { limit: 1_000 }))
        for (const outcome of decodeOutcomes(record))
          if ('event_id' in outcome && outcome.pipeline_id === id) found.set(outcome.event_id, outcome);
    return found.size;
  };
  await expect.poll(read).toBe(sent.length);
  return found;
}
const CODE = { transformations: [{ kind: 'code' as const, code: 'function transform(e) { return e }' }] };
const failing: Sandbox['run'] = async ({ event }) =>
  event.event === 'After' ? { kind: 'returned', value: event, logs: [] } : { kind: 'failed', reason: 'it threw', logs: [] };
const after: [string, ClientEvent] = ['after', { type: 'track', event: 'After', properties: {} }];

// What NATS cannot store was tried again for ever, and with it every event of its partition, of any organisation.
test('a visitor whose traits are too large to be remembered', async () => {
  const identify = (name: string): ClientEvent => ({
    type: 'identify',
    userId: 'u1',
    traits: { [name]: random(700_000), email: 'a@shop.example' },
  });
  const data = { identity: { remember_traits: ['about', 'more', 'email'], click_id_days: {} } };
  const found = await outcomesOf([['e1', identify('about')], ['e2', identify('more')], after], data);
  expect([...found.values()].map(({ kind }) => kind)).toEqual(['processed', 'processed', 'processed']);
});

test('a large event that fails in user code', async () => {
  // As large as the log takes it. Its dead letter is a little larger.
  const note = random(1_400_000);
  const large = (length: number): ClientEvent => ({ type: 'track', event: 'Large', properties: { note: note.slice(0, length) } });
  const isTooLarge = (length: number) => {
    const { records } = ingestAppend('large', { anonymousId: 'v1', ...large(length) }, { pipeline_id: `pl_${runs + 1}` });
    try {
      return encodeBatch(records.map(packRecord), 1_048_576).data.length === 0;
    } catch {
      return true;
    }
  };
  let [length, most] = [0, note.length];
  while (most - length > 100) {
    const middle = (length + most) >> 1;
    if (isTooLarge(middle)) most = middle;
    else length = middle;
  }
  const found = await outcomesOf([['large', large(length)], after], {}, CODE, failing);
  expect(found.get('large')).toMatchObject({
    kind: 'dead_lettered',
    event: 'Large',
    dead_letter: { stage: 'processing', event_id: 'large' },
  });
  expect(found.get('after')).toMatchObject({ kind: 'processed' });
});

test('a decision about values under a long name', async () => {
  const values = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`v${i}`, 'a@shop.example']));
  const pii_rules = { ip: 'keep', fields: [], detect: ['email'], detect_action: 'redact', url_params: [] } as DataLayerConfig['pii_rules'];
  const tracking_plan = { events: { Long: { type: 'object', additionalProperties: { type: 'string' } } }, on_violation: 'flag' as const };
  const long: ClientEvent = { type: 'track', event: 'Long', properties: { [random(400_000)]: values } };
  const found = await outcomesOf([['long', long], after], { pii_rules }, { tracking_plan });
  expect([...found.values()].map(({ kind }) => kind)).toEqual(['processed', 'processed']);
});

test('names that user code makes very long', async () => {
  const name = random(400_000);
  const renaming: Sandbox['run'] = async ({ event }) =>
    event.event === 'After'
      ? { kind: 'returned', value: event, logs: [] }
      : { kind: 'returned', value: { ...event, event: name, user_id: name, name }, logs: [] };
  const found = await outcomesOf([['long', { type: 'track', event: 'Long' }], after], {}, CODE, renaming);
  expect([...found.values()].map(({ kind }) => kind)).toEqual(['processed', 'processed']);
});

/** What every source must do. Run it against a real broker. */
import { fork } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WebhookSource } from '@firsthand/core/config/resources.ts';
import { describe, type onTestFinished, test } from 'vitest';
import type { SourceStatus, SourceStatusNotice } from '../../../../channels.ts';
import { inProcessEphemeral } from '../../../../stores/ephemeral/in-process.ts';
import { LogUnavailable } from '../../../../stores/event-log/port.ts';
import { driverOptions } from '../../../../transports/testing/conformance.ts';
import { aPipeline, aSnapshot, aSource, type Harness, startIngest, withAppend } from '../../testing/harness.ts';

export interface SourceUnderTest {
  kind: Exclude<WebhookSource['kind'], 'webhook'>;
  /** An empty topic, stream or queue. */
  fresh(): Promise<string>;
  connection(place: string): Record<string, string>;
  secret: string;
  publish(place: string, bodies: (string | Buffer)[]): Promise<void>;
  /** The broker stops and comes back with its messages; absent where it cannot. */
  restart?(): Promise<void>;
}

const order = (id: number) => JSON.stringify({ kind: 'order', id: `o-${id}`, customer: `c-${id % 3}`, total: id });
const PIPELINE = aPipeline();

/** `takeover`: tags of the test that waits until the broker gives the messages of a killed process to another one. */
export function describeSource(name: string, make: () => SourceUnderTest, { takeover = [] }: { takeover?: string[] } = {}): void {
  function sourceOf(place: string, over: Partial<WebhookSource> = {}): WebhookSource {
    const { kind, connection, secret } = make();
    return aSource({
      id: 'whs_broker',
      kind,
      connection: connection(place),
      signing_secret: secret,
      event_type_path: '$.kind',
      mappings: { userId: '$.customer', 'properties.total': '$.total', 'properties.order_id': '$.id' },
      event_name_map: { order: 'Order Completed' },
      ...over,
    });
  }
  async function started(onEnd: typeof onTestFinished, source: WebhookSource, over: Parameters<typeof startIngest>[1] = {}) {
    const ephemeral = inProcessEphemeral();
    let status: SourceStatus | undefined;
    ephemeral.subscribe('source-status', (message) => {
      status = (message as SourceStatusNotice).sources[0];
    });
    const harness = await startIngest(aSnapshot([PIPELINE], [source]), {
      ...over,
      consumers: { ephemeral, driver: driverOptions() },
    });
    onEnd(() => harness.close());
    return { harness, status: () => status };
  }
  const totals = async (harness: Harness) =>
    (await harness.stored()).map(({ event }) => Number((event.properties as { total: number }).total)).sort((a, b) => a - b);
  const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);
  const orders = (from: number, to: number) => upTo(to - from).map((i) => order(from + i));

  // Each test has a place of its own, and most wait for the clocks of the broker or of the source.
  describe.concurrent(`${name}: the source`, () => {
    test('messages become events, and the lag goes to 0', async ({ expect, onTestFinished }) => {
      const place = await make().fresh();
      await make().publish(place, orders(0, 25));
      const { harness, status } = await started(onTestFinished, sourceOf(place));
      await expect.poll(() => totals(harness)).toEqual(upTo(25));
      const [first] = await harness.stored();
      expect(first?.event).toMatchObject({
        type: 'track',
        event: 'Order Completed',
        user_id: expect.stringMatching(/^c-\d$/),
        context: { source: 'webhook', webhook_source: 'custom' },
      });
      await make().publish(place, orders(25, 30));
      await expect.poll(() => totals(harness)).toEqual(upTo(30));
      await expect.poll(() => status()).toMatchObject({ webhook_source_id: 'whs_broker', state: 'running', lag: 0, last_error: null });
    });

    test('messages that cannot be read or mapped are rejected once, and the others go on', async ({ expect, onTestFinished }) => {
      const place = await make().fresh();
      await make().publish(place, [order(0), 'not json', '{"no":"name"}', '[]', order(1)]);
      const { harness } = await started(onTestFinished, sourceOf(place));
      await expect.poll(() => totals(harness)).toEqual([0, 1]);
      const letters = async () =>
        (await harness.outcomes()).flatMap((outcome) => (outcome.kind === 'dead_lettered' ? [outcome.dead_letter] : []));
      await expect.poll(async () => (await letters()).length).toBe(3);
      for (const letter of await letters()) expect(letter).toMatchObject({ stage: 'webhook', webhook_source_id: 'whs_broker' });
    });

    test('nothing is acknowledged before it is durable, and a repeat is the same event', async ({ expect, onTestFinished }) => {
      const place = await make().fresh();
      await make().publish(place, orders(0, 5));
      let failures = 0;
      const failing = withAppend(async (append, isIngest) => {
        if (!isIngest || failures >= 2) return append();
        // The first time nothing is stored; the second time it is, but the process does not learn it.
        if (failures++ > 0) await append();
        throw new LogUnavailable('no log');
      });
      const { harness, status } = await started(onTestFinished, sourceOf(place), { log: failing });
      await expect.poll(() => failures).toBe(2);
      await expect.poll(() => status()?.state, { timeout: 150_000 }).toBe('running');
      await make().publish(place, orders(5, 7));
      await expect.poll(() => totals(harness), { timeout: 150_000 }).toEqual(upTo(7));
    });

    test('wrong credentials are shown, and corrected ones read on', async ({ expect, onTestFinished }) => {
      const place = await make().fresh();
      await make().publish(place, [order(0)]);
      const { harness, status } = await started(onTestFinished, sourceOf(place, { signing_secret: 'wrong' }));
      await expect.poll(() => status()).toMatchObject({ state: 'failing', last_error: expect.any(String) });
      expect(await totals(harness)).toEqual([]);
      harness.use(aSnapshot([PIPELINE], [sourceOf(place)]));
      await expect.poll(() => totals(harness)).toEqual([0]);
    });

    test('a disabled source stops, and starts where it was', async ({ expect, onTestFinished }) => {
      const place = await make().fresh();
      await make().publish(place, [order(0)]);
      const { harness } = await started(onTestFinished, sourceOf(place));
      await expect.poll(() => totals(harness)).toEqual([0]);
      harness.use(aSnapshot([PIPELINE], [sourceOf(place, { enabled: false })]));
      await make().publish(place, [order(1)]);
      harness.use(aSnapshot([PIPELINE], [sourceOf(place)]));
      await expect.poll(() => totals(harness), { timeout: 60_000 }).toEqual([0, 1]);
    });

    test('a private broker is refused where integrations may not reach it', async ({ expect, onTestFinished }) => {
      const place = await make().fresh();
      const ephemeral = inProcessEphemeral();
      let status: SourceStatus | undefined;
      ephemeral.subscribe('source-status', (message) => {
        status = (message as SourceStatusNotice).sources[0];
      });
      const harness = await startIngest(aSnapshot([PIPELINE], [sourceOf(place)]), {
        consumers: { ephemeral, driver: driverOptions(false) },
      });
      onTestFinished(() => harness.close());
      await expect.poll(() => status?.last_error).toContain('not a public address');
    });

    test('a process that is killed is followed by another, and each message becomes one event', { tags: takeover }, async ({
      expect,
      onTestFinished,
    }) => {
      const place = await make().fresh();
      const messages = 1_200;
      await make().publish(place, orders(0, messages));
      const path = await mkdtemp(join(tmpdir(), 'firsthand-takeover-'));
      const task = JSON.stringify({ path, source: sourceOf(place) });
      const first = fork(join(import.meta.dirname, 'source-process.ts'), [task]);
      onTestFinished(() => void first.kill('SIGKILL'));
      await new Promise<void>((resolve, reject) => {
        first.on('message', (stored: number) => stored > 0 && resolve());
        first.once('exit', () => reject(new Error('the first process ended by itself')));
      });
      const ended = new Promise((resolve) => first.once('exit', resolve));
      first.kill('SIGKILL');
      await ended;
      const { harness } = await started(onTestFinished, sourceOf(place), { path });
      await expect.poll(() => totals(harness), { timeout: 150_000, interval: 500 }).toEqual(upTo(messages));
    });

    test('two processes at once, as after a lost lease, make one event of each message', async ({ expect, onTestFinished }) => {
      const place = await make().fresh();
      const { harness } = await started(onTestFinished, sourceOf(place));
      await started(onTestFinished, sourceOf(place), { log: () => harness.log });
      await make().publish(place, orders(0, 300));
      await expect.poll(() => totals(harness), { timeout: 150_000, interval: 500 }).toEqual(upTo(300));
    });

    test('a broker that goes away and comes back loses nothing', { concurrent: false }, async ({ expect, onTestFinished, skip }) => {
      const { restart } = make();
      if (!restart) skip();
      const place = await make().fresh();
      await make().publish(place, orders(0, 10));
      const { harness } = await started(onTestFinished, sourceOf(place));
      await expect.poll(() => totals(harness), { timeout: 60_000 }).toEqual(upTo(10));
      await restart?.();
      await make().publish(place, orders(10, 20));
      await expect.poll(() => totals(harness), { timeout: 90_000 }).toEqual(upTo(20));
    });
  });
}

/** Very large events are decoded, mapped, encoded and sent in separate turns of the event loop. Their order stays, and so does everything else. */
import type { CompiledVendor } from '@firsthand/core/vendor/compiled.ts';
import { describe, expect, test } from 'vitest';
import { VERY_LARGE_BYTES } from '../../runtime/turns.ts';
import { anEvent, anIntegration, compiledWebhook, until } from './testing/bench.ts';
import { bench, openForEachTest, receiver } from './testing/bench-per-test.ts';

openForEachTest();

const MAPPED = { events: { 'Order Completed': { mappings: [{ source: '$', target: '$' }] } } };
const SIZES = [0, 2 * VERY_LARGE_BYTES, 0, 0, 6 * VERY_LARGE_BYTES, 2 * VERY_LARGE_BYTES, 0];
/** Small, large and very large ones of one visitor. */
const events = (count: number) =>
  Array.from({ length: count }, (_, i) =>
    anEvent(`e${i}`, { anonymous_id: 'v', user_id: 'u', properties: { text: 'x'.repeat(SIZES[i % SIZES.length] ?? 0) } }),
  );

describe('order among small events', () => {
  test.each([
    ['lane', {}],
    ['visitor', {}],
    ['user', {}],
    ['lane', { batch_enabled: true, batch_size: 3, batch_interval_ms: 20 }],
  ])('%s, %j, with failures', async (delivery_order, config) => {
    let failures = 0;
    const failed = new Set<number>();
    receiver.respond = (_request, response) => {
      const fails = receiver.requests.length % 4 === 2 && failures++ < 3;
      if (fails) failed.add(receiver.requests.length - 1);
      response.writeHead(fails ? 503 : 200).end('{}');
    };
    bench.snapshots.set([anIntegration(compiledWebhook(receiver.url, { ...MAPPED, delivery_order, ...config }))]);
    bench.start();
    await bench.append(events(21));
    await bench.settled();
    const arrived = receiver.requests.filter((_, i) => !failed.has(i)).flatMap(({ body }) => [JSON.parse(body)].flat());
    expect(failed.size).toBeGreaterThan(0);
    expect(arrived.map(({ event_id }) => event_id)).toEqual(events(21).map(({ event_id }) => event_id));
  });

  test('one request at a time, without an order of its own', async () => {
    bench.snapshots.set([anIntegration({ ...compiledWebhook(receiver.url, MAPPED), concurrency: 1 })]);
    bench.start();
    await bench.append(events(21));
    await bench.settled();
    expect(receiver.eventIds).toEqual(events(21).map(({ event_id }) => event_id));
  });
});

describe('turns', () => {
  /** Calls `at` before the mapping, the vendor's limits, each step of the encoding, and the request of each event. */
  function watched(vendor: CompiledVendor, at: (step: string) => void): CompiledVendor {
    return {
      ...vendor,
      *buildInSteps(event, context) {
        const steps = vendor.buildInSteps(event, context);
        for (let i = 0; ; i++) {
          at(['map', 'limits'][i] ?? 'encode');
          const { done, value } = steps.next();
          if (done) return value;
          yield;
        }
      },
      request(items, context) {
        at('request');
        return vendor.request(items, context);
      },
    };
  }

  /** Notes the turn of the loop in which each step runs. */
  function turnsOfSteps() {
    let turn = 0;
    let counting = setImmediate(function count() {
      turn++;
      counting = setImmediate(count);
    });
    const seen: [step: string, turn: number][] = [];
    return {
      at: (step: string) => void seen.push([step, turn]),
      expectOneEach() {
        clearImmediate(counting);
        expect([...new Set(seen.map(([step]) => step))]).toEqual(['map', 'limits', 'encode', 'request']);
        expect(new Set(seen.map(([, at]) => at)).size).toBe(seen.length);
      },
    };
  }
  const largest = () => anEvent('e', { properties: { text: 'x'.repeat(900_000) } });

  test('mapping, encoding and request of the largest event have one each: together they held the loop for 139 ms', async () => {
    const { at, expectOneEach } = turnsOfSteps();
    bench.snapshots.set([anIntegration(watched(compiledWebhook(receiver.url, MAPPED), at))]);
    bench.start();
    await bench.append([largest()]);
    await bench.settled();
    expectOneEach();
  });

  describe('when the configuration changes while the event waits for a limit', () => {
    /** Delivers a small event, which spends the limit of the day. */
    async function waitForLimit(): Promise<void> {
      bench.snapshots.set([anIntegration(compiledWebhook(receiver.url, MAPPED), { rate_limit_daily: 1 })]);
      bench.start();
      await bench.append([anEvent('small'), largest()]);
      await until(async () => receiver.requests.length === 1 && (await bench.deliver.health('int_1'))?.status === 'paused');
    }

    test('mapping, encoding and request have one each, too', async () => {
      await waitForLimit();
      const { at, expectOneEach } = turnsOfSteps();
      bench.snapshots.set([anIntegration(watched(compiledWebhook(receiver.url, MAPPED), at))]);
      await bench.settled();
      expectOneEach();
      expect(receiver.eventIds).toEqual(['small', 'e']);
    });

    test.each([
      ['replaced', { delivered: 2 }, ['/hook', '/hook?newest']],
      ['switched off', { delivered: 1, 'dropped:integration_disabled': 1 }, ['/hook']],
    ])('an integration that is %s between two of them', async (change, counts, urls) => {
      await waitForLimit();
      const compiled = compiledWebhook(receiver.url, MAPPED);
      const changed = {
        replaced: anIntegration(compiledWebhook(`${receiver.url}?newest`, MAPPED)),
        'switched off': anIntegration(compiled, { enabled: false }),
      }[change];
      const vendor = watched(compiled, (step) => {
        if (step === 'encode' && changed) bench.snapshots.set([changed]);
      });
      bench.snapshots.set([anIntegration(vendor)]);
      await bench.settled();
      expect(await bench.counts()).toEqual(counts);
      expect(receiver.requests.map(({ url }) => url)).toEqual(urls);
    });
  });

  test('an integration that is switched off between two of them drops the event', async () => {
    const compiled = compiledWebhook(receiver.url, MAPPED);
    const vendor = watched(compiled, (step) => {
      if (step === 'encode') bench.snapshots.set([anIntegration(compiled, { enabled: false })]);
    });
    bench.snapshots.set([anIntegration(vendor)]);
    bench.start();
    await bench.append(events(2));
    await bench.settled();
    expect(receiver.eventIds).toEqual(['e0']);
    expect(await bench.counts()).toEqual({ delivered: 1, 'dropped:integration_disabled': 1 });
  });

  test('an event that was mapped when the process stopped is delivered by the next one', async () => {
    let stopped = false;
    const compiled = compiledWebhook(receiver.url, MAPPED);
    const vendor = watched(compiled, (step) => {
      if (step === 'encode' && !stopped) void bench.deliver.stop(0);
      stopped ||= step === 'encode';
    });
    bench.snapshots.set([anIntegration(vendor)]);
    bench.start();
    await bench.append(events(2));
    await until(() => stopped);
    await bench.restart();
    await bench.settled();
    expect(receiver.eventIds).toEqual(['e0', 'e1']);
  });
});

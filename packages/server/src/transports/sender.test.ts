import type { CompiledVendor, VendorItem } from '@firsthand/core/vendor/compiled.ts';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { compiledWebhook } from '../roles/deliver/testing/bench.ts';
import { systemClock } from '../runtime/clock.ts';
import { DRIVERS } from './drivers.ts';
import type { HttpDeps } from './port.ts';
import { createSender, type Sender } from './sender.ts';

const opened: { closed: boolean }[] = [];
let sender: Sender;
beforeEach(() => {
  opened.length = 0;
  vi.spyOn(DRIVERS, 'redis').mockResolvedValue(() => {
    const state = { closed: false };
    opened.push(state);
    return {
      send: async () => ({ kind: 'delivered' }),
      close: async () => {
        state.closed = true;
        throw new Error('the server had closed it');
      },
    };
  });
  const http = {} as Pick<HttpDeps, 'client' | 'tokens'>; // a driver that is a test double uses neither
  sender = createSender({ ...http, clock: systemClock, allowPrivateDestinations: false });
});
afterEach(async () => {
  await sender.close();
  vi.restoreAllMocks();
});

function toHost(host: string): CompiledVendor {
  const transport = { kind: 'redis' as const, connection: { host }, sealed: false, record: (item: VendorItem) => item.payload as never };
  return { ...compiledWebhook('http://127.0.0.1:9/'), transport };
}

test('a trial leaves no connection open, whatever settings it comes with: each was kept for five minutes', async () => {
  for (const host of ['a', 'b', 'b']) await sender.send({ vendor: toHost(host), items: [], attempt: 1 }, 'r');
  expect(opened).toEqual([{ closed: true }, { closed: true }, { closed: true }]);
});

test('an integration keeps its connection, and has none in common with another', async () => {
  for (const integration_id of ['int_a', 'int_a', 'int_b'])
    await sender.send({ vendor: toHost('a'), items: [], attempt: 1, integration_id }, 'r');
  expect(opened).toEqual([{ closed: false }, { closed: false }]);
  await sender.close();
  expect(opened).toEqual([{ closed: true }, { closed: true }]);
});

// An integration with half a character in its client id ended the process, and the next one at the same event.
test('a request that breaks is a failed attempt of its own events', async () => {
  const broken = (): never => {
    throw new URIError('URI malformed');
  };
  const breaking: object[] = [{ token: broken }, { poll: broken }, { poll: undefined }];
  for (const over of breaking) {
    const vendor = { ...compiledWebhook('http://127.0.0.1:9/'), ...over } as CompiledVendor;
    const job = 'poll' in over ? 'job-1' : undefined;
    const { verdict, unbuildable } = await sender.send({ vendor, items: [{} as VendorItem], attempt: 1, job }, 'r');
    expect([verdict.kind, unbuildable]).toEqual(['unavailable', true]);
  }
});

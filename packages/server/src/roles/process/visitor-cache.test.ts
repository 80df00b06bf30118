import { isDeepStrictEqual } from 'node:util';
import type { VisitorState } from '@firsthand/core/process/visitor.ts';
import pino from 'pino';
import { expect, test, vi } from 'vitest';
import { VisitorCache, type VisitorCacheDeps } from './visitor-cache.ts';

const ORG = 'org_1';
const session = (events: number): VisitorState => ({ session: { id: 's', started_at: 1, last_at: 1 + events, number: 1, events } });

function cacheOn(stored: Map<string, VisitorState>, limit: number) {
  let failures = 0;
  const clock = { now: () => 1_000, monotonic: () => 0 } as VisitorCacheDeps['clock'];
  const visitors: VisitorCacheDeps['visitors'] = {
    load: async (_org, ids) => ids.map((id) => stored.get(id)),
    async replace(_org, entries) {
      if (failures-- > 0) throw new Error('away');
      return entries.map(([id, before, state]) => isDeepStrictEqual(stored.get(id) ?? {}, before) && stored.set(id, state) === stored);
    },
  };
  const cache = new VisitorCache({ visitors, clock, logger: pino({ level: 'silent' }) }, limit);
  return { cache, fail: (times: number) => (failures = times) };
}

test.each([0, 1])('what is ahead of the store is saved when it is evicted, also after %d failures', async (failures) => {
  const stored = new Map(Array.from({ length: 30 }, (_, i) => [`v${i}`, session(1)]));
  const { cache, fail } = cacheOn(stored, 10);
  fail(failures);
  for (const [id, saved] of [...stored]) cache.put(ORG, id, { state: session(3), saved });
  await vi.waitFor(() => expect(stored.get('v0')).toEqual(session(3)), { timeout: 5_000 });
  for (let i = 0; i < 30; i++) {
    const known = cache.get(ORG, `v${i}`) ?? (await cache.load(ORG, [`v${i}`]))[0];
    expect(known?.state, `v${i}`).toEqual(session(3));
  }
});

test('a visitor who was erased or belongs to another process meanwhile is left alone', async () => {
  const stored = new Map([['other', session(7)]]);
  const { cache } = cacheOn(stored, 10);
  for (const id of ['erased', 'other']) cache.put(ORG, id, { state: session(3), saved: session(1) });
  await cache.saveAll();
  expect([...stored]).toEqual([['other', session(7)]]);
  expect((await cache.load(ORG, ['erased', 'other'])).map(({ state }) => state)).toEqual([{}, session(7)]);
});

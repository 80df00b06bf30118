import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { inProcessEphemeral } from '../stores/ephemeral/in-process.ts';
import { Audience, TapBudget, TELL_EVERY_MS, Watcher } from './audience.ts';
import { createTap } from './tap.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

/** A watcher whose every frame takes `costMs` of the clock. */
function stage(costMs: number) {
  let now = 0;
  const clock = { now: () => 0, monotonic: () => now };
  const ephemeral = inProcessEphemeral();
  const tap = createTap(ephemeral, clock);
  const audience = new Audience(ephemeral, 'org_1', new TapBudget(clock));
  const join = (...filters: Record<string, string>[]) => {
    const shown: Record<string, unknown>[] = [];
    const outlet = {
      bufferedAmount: 0,
      send: (text: string) => {
        now += costMs;
        shown.push(JSON.parse(text) as Record<string, unknown>);
      },
    };
    const watcher = new Watcher(outlet, filters);
    audience.join(watcher);
    return { shown, outlet, watcher };
  };
  const emit = async (count: number, event: string) => {
    for (let n = 0; n < count; n++) tap.emit('org_1', { stage: 'received', event });
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { join, emit, audience, tap, wait: (ms: number) => (now += ms) };
}
const told = (shown: Record<string, unknown>[]) =>
  shown.filter((frame) => frame.stage === 'skipped').reduce((sum, { count }) => sum + Number(count), 0);

test('frames may use 20 ms of each second and a burst; each watcher learns how many of its frames were skipped', async () => {
  const { join, emit, wait } = stage(5);
  const all = join({});
  const some = join({ event: 'Wanted' });
  await emit(1_000, 'Other');
  const before = all.shown.length;
  expect(before).toBeGreaterThanOrEqual(50);
  expect(before).toBeLessThan(60);
  await emit(10, 'Wanted');
  expect(all.shown.length).toBe(before);
  wait(2_000);
  await emit(1, 'Wanted');
  expect(told(all.shown)).toBe(1_010 - before);
  expect(told(some.shown)).toBe(10);
  expect(all.shown.map(({ seq }) => seq)).toEqual(all.shown.map((_, n) => n + 1));
});

test('a frame is sent to every watcher whose buffer is not full', async () => {
  const { join, emit, audience } = stage(0);
  const [quick, slow] = [join({}), join({})];
  slow.outlet.bufferedAmount = 10_000_000;
  await emit(3, 'Seen');
  expect(quick.shown.length).toBe(3);
  expect(slow.shown.length).toBe(0);
  slow.outlet.bufferedAmount = 0;
  audience.setFilters(slow.watcher, [{ event: 'Seen' }]);
  await emit(1, 'Seen');
  expect(slow.shown).toMatchObject([
    { stage: 'skipped', count: 3 },
    { event: 'Seen', seq: 2 },
  ]);
});

test('a reader that lost frames is told on a quiet pipeline too, as soon as it can receive again', async () => {
  const { join, emit, audience } = stage(0);
  const [slow, idle] = [join({}), join({})];
  slow.outlet.bufferedAmount = 10_000_000;
  await emit(3, 'Seen');
  vi.advanceTimersByTime(10 * TELL_EVERY_MS);
  expect(slow.shown).toEqual([]);
  slow.outlet.bufferedAmount = 0;
  vi.advanceTimersByTime(TELL_EVERY_MS);
  const skipped = { time: '1970-01-01T00:00:00.000Z', seq: 1, stage: 'skipped', count: 3 };
  expect([slow.shown, told(idle.shown)]).toEqual([[skipped], 0]);
  vi.advanceTimersByTime(10 * TELL_EVERY_MS);
  expect(slow.shown.length).toBe(1);
  await emit(1, 'Seen');
  expect(slow.shown[1]).toMatchObject({ seq: 2, event: 'Seen' });
  slow.outlet.bufferedAmount = 10_000_000;
  await emit(1, 'Seen');
  const timers = vi.getTimerCount();
  audience.leave(slow.watcher);
  audience.leave(idle.watcher);
  expect([timers, vi.getTimerCount()], 'the announcement and this one end with the last socket').toEqual([2, 0]);
});

test('frames beyond the time budget are reported without waiting for another frame', async () => {
  const { join, emit } = stage(5);
  const all = join({});
  const some = join({ event: 'Wanted' });
  await emit(1_000, 'Other');
  await emit(10, 'Wanted');
  const before = all.shown.length;
  vi.advanceTimersByTime(TELL_EVERY_MS);
  expect([told(all.shown), told(some.shown)]).toEqual([1_010 - before, 10]);
});

test('a reader gets the frames of any of its filters, without one none, and then misses none either', async () => {
  const { join, emit, audience } = stage(5);
  const both = join({ event: 'One' }, { event: 'Two' });
  const none = join();
  for (const event of ['One', 'Two', 'Three']) await emit(1, event);
  expect([both.shown.map(({ event }) => event), none.shown]).toEqual([['One', 'Two'], []]);
  await emit(1_000, 'One');
  vi.advanceTimersByTime(TELL_EVERY_MS);
  expect([told(both.shown) > 0, none.shown]).toEqual([true, []]);
  audience.setFilters(none.watcher, [{}]);
  audience.setFilters(both.watcher, []);
  vi.advanceTimersByTime(TELL_EVERY_MS);
  expect(none.shown).toEqual([]);
});

test('no frame is built while no reader wants any', async () => {
  const { join, emit, audience, tap, wait } = stage(0);
  const one = join();
  await emit(0, '');
  expect(tap.watched('org_1')).toBe(false);
  audience.setFilters(one.watcher, [{}]);
  await emit(1, 'Seen');
  expect([tap.watched('org_1'), one.shown.length, vi.getTimerCount()]).toEqual([true, 1, 1]);
  audience.setFilters(one.watcher, []);
  wait(10_000);
  await emit(1, 'Seen');
  expect([tap.watched('org_1'), one.shown.length, vi.getTimerCount()]).toEqual([false, 1, 0]);
});

test.each([
  [{ event: '@page' }, ['page', 'screen']],
  [{ event: '@screen' }, ['screen']],
  [{ event: '@alias' }, []],
  [{ event: '@track' }, []],
  [{ event: 'Seen' }, ['track']],
  [{}, ['track', 'page', 'screen', 'identify']],
])('%j shows %j', (filter, expected) => {
  const watcher = new Watcher({ bufferedAmount: 0, send: () => undefined }, [filter]);
  const frames = [{ type: 'track', event: 'Seen' }, { type: 'page' }, { type: 'page', original_type: 'screen' }, { type: 'identify' }];
  const shown = frames.filter((frame) => watcher.passes({ time: '', stage: 'received', ...frame }));
  expect(shown.map(({ type, original_type }) => original_type ?? type)).toEqual(expected);
});

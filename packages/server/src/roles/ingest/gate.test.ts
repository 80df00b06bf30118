import { expect, test, vi } from 'vitest';
import { Gate } from './gate.ts';
import { createShedder, OVERLOADED } from './shedder.ts';

test('a turn of the event loop takes requests for a while, then no more; the next one does again', async () => {
  const gate = new Gate();
  expect([gate.overrun(0), gate.overrun(100), gate.overrun(101), gate.overrun(5_000)]).toEqual([false, false, true, true]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(gate.overrun(5_000)).toBe(false);
});
test('what waits is bounded by number and by bytes', () => {
  const gate = new Gate({ receivingBytes: 1_000, waitingBytes: 100, waitingRequests: 2 });
  gate.wait(10);
  expect(gate.full).toBe(false);
  gate.wait(10);
  expect(gate.full).toBe(true);
  gate.waited(10);
  expect(gate.full).toBe(false);
  gate.wait(95);
  gate.waited(10);
  expect(gate.full).toBe(false);
  gate.wait(5);
  expect(gate.full).toBe(true);
});
test('idle waits for the last request, but not for ever', async () => {
  const gate = new Gate();
  await gate.idle(10);
  gate.enter();
  const waiting = gate.idle(60_000);
  gate.leave(0);
  await waiting;
  gate.enter();
  await gate.idle(10);
});
test('shed requests are refused a little later, or at once when asked', () => {
  vi.useFakeTimers();
  const shedder = createShedder();
  const refused: unknown[] = [];
  const exchange = { refuse: (refusal: unknown) => refused.push(refusal) };
  shedder.shed(exchange);
  vi.advanceTimersByTime(150);
  expect(refused).toEqual([]);
  vi.advanceTimersByTime(100);
  expect(refused).toEqual([OVERLOADED]);
  shedder.shed(exchange);
  shedder.flush();
  expect(refused).toHaveLength(2);
  for (let i = 0; i < 4_001; i++) shedder.shed(exchange);
  expect(refused, 'past the bound at once').toHaveLength(3);
  vi.useRealTimers();
});

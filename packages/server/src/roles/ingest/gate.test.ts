import { expect, test } from 'vitest';
import { Gate } from './gate.ts';

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

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createLogger } from '../runtime/logger.ts';
import { warnWhileWaiting } from './open-stores.ts';
import { outageOf } from './outages.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a start that waits for NATS says so after 5 s, and then once a minute', async () => {
  const said: { at: number; line: unknown }[] = [];
  const began = Date.now();
  const write = (line: string) => void said.push({ at: Date.now() - began, line: JSON.parse(line) });
  const logger = createLogger('info', { outageOf, now: Date.now, destination: { write } });
  const connecting = Promise.withResolvers<string>();
  const connected = warnWhileWaiting(connecting.promise, logger);
  await vi.advanceTimersByTimeAsync(180_000);
  expect(said.map(({ at }) => at)).toEqual([5_000, 65_000, 125_000]);
  expect(said[0]?.line).toMatchObject({ outage: 'event log', msg: 'NATS_URL: no server accepts the connection, waiting' });
  connecting.resolve('connection');
  expect(await connected).toBe('connection');
  await vi.advanceTimersByTimeAsync(180_000);
  expect(said).toHaveLength(3);
});

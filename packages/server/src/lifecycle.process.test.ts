import { afterEach, expect, test, vi } from 'vitest';
import { type Running, runUntilStopped } from './lifecycle.ts';

const logger = { fatal: vi.fn(), error: vi.fn(), warn: vi.fn() };
const signals = ['SIGTERM', 'SIGINT', 'uncaughtException'] as const;
const before = new Map(signals.map((name) => [name, process.listeners(name as 'SIGTERM')]));

afterEach(() => {
  vi.restoreAllMocks();
  for (const [name, listeners] of before)
    for (const listener of process.listeners(name as 'SIGTERM')) if (!listeners.includes(listener)) process.off(name, listener);
});

function service(begun: Promise<void>) {
  const stopped = Promise.withResolvers<void>();
  const running: Running = { begun, greeting: ['ready'], drainDelayMs: 0, logAvailable: () => true, stop: vi.fn(() => stopped.promise) };
  const exit = vi.spyOn(process, 'exit').mockImplementation((() => undefined) as never);
  const said = { log: vi.spyOn(console, 'log').mockReturnValue(), error: vi.spyOn(console, 'error').mockReturnValue() };
  return { running, stopped, exit, said };
}

test('a signal after the listeners opened and before every role has begun drains', async () => {
  const begun = Promise.withResolvers<void>();
  const { running, stopped, exit, said } = service(begun.promise);
  const done = runUntilStopped(logger, async () => running);
  await vi.waitFor(() => expect(process.listenerCount('SIGTERM')).toBeGreaterThan(0));
  process.emit('SIGTERM');
  expect(running.stop).toHaveBeenCalledOnce();
  expect(exit).not.toHaveBeenCalled();
  begun.resolve();
  await done;
  expect(said.log).not.toHaveBeenCalled();
  stopped.resolve();
  await vi.waitFor(() => expect(exit).toHaveBeenCalledExactlyOnceWith(0));
});

test('a role that cannot begin is a failed start', async () => {
  const { running, exit, said } = service(Promise.reject(new Error('no memory')));
  await runUntilStopped(logger, async () => running);
  expect(said.error).toHaveBeenCalledExactlyOnceWith('Firsthand could not start: no memory');
  expect(exit).toHaveBeenCalledExactlyOnceWith(1);
});

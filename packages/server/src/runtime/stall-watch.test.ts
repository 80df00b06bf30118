import { expect, test } from 'vitest';
import { createMetrics } from './metrics.ts';
import { atStep, longestStall, STALL_MS, watchStalls } from './stall-watch.ts';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
/** Holds the event loop with real work, by the processor's clock. */
function hold(ms: number): void {
  const start = process.threadCpuUsage();
  for (let used = 0; used < ms * 1_000; ) {
    const { user, system } = process.threadCpuUsage(start);
    used = user + system;
  }
}

test('a stall is logged with the step that ran, and shown by its length', async () => {
  const lines: [fields: object, message: string][] = [];
  const watch = watchStalls({ warn: (fields: object, message: string) => lines.push([fields, message]) } as never);
  await pause(60);
  atStep('quick');
  atStep('PUT /v1/admin/thing', 'thing_1');
  hold(3 * STALL_MS);
  atStep('quick');
  await expect.poll(() => lines.map(([fields]) => (fields as { step: string }).step)).toContain('PUT /v1/admin/thing');
  const [fields, message] = lines.find(([each]) => (each as { step: string }).step === 'PUT /v1/admin/thing') as [
    Record<string, unknown>,
    string,
  ];
  expect(message).toBe('event loop stalled');
  expect(fields).toMatchObject({ about: 'thing_1' });
  expect(fields.stall_ms).toBeGreaterThan(2 * STALL_MS);
  expect(longestStall().cpu).toBeGreaterThan(STALL_MS);
  watch.stop();
});

test('a stall of a step is noticed in a process that was idle before', async () => {
  const lines: { step: string; stall_ms: number }[] = [];
  const watch = watchStalls({ warn: (fields: { step: string; stall_ms: number }) => lines.push(fields) } as never);
  await pause(500);
  atStep('GET /v1/admin/thing');
  hold(3 * STALL_MS);
  await expect.poll(() => lines.find(({ step }) => step === 'GET /v1/admin/thing')?.stall_ms).toBeGreaterThan(2 * STALL_MS);
  watch.stop();
});

test('the watch shows the lag of the event loop, and starts again after a look', async () => {
  const { registry } = createMetrics();
  const lag = async (which: string) => {
    const metric = registry.getSingleMetric(`nodejs_eventloop_lag_${which}_seconds`);
    return (await metric?.get())?.values[0]?.value;
  };
  await registry.metrics();
  const watch = watchStalls({ warn: () => undefined } as never);
  hold(3 * STALL_MS);
  await expect.poll(() => lag('max')).toBeGreaterThan((2 * STALL_MS) / 1_000);
  expect(await lag('min')).toBeGreaterThanOrEqual(0);
  watch.stop();
  await registry.metrics();
  expect(await lag('max')).toBe(0);
  expect(await registry.metrics()).toContain('nodejs_eventloop_lag_seconds');
});

import { expect, test } from 'vitest';
import { compileEngine, newEngine } from './engine.ts';
import { Vm } from './vm.ts';

const MEMORY = 32 * 1024 * 1024;

test('preparing the engine takes nothing from the time of the code: a slow machine stops the code, not its start', async () => {
  const engine = async () => newEngine(await compileEngine(), MEMORY);
  // No time at all, so that everything the limit applies to is stopped.
  const limits = { soft_ms: 0, hard_ms: 1_000, memory_bytes: MEMORY };
  const loaded = Vm.load(await engine(), 'function transform(event) { for (;;) {} }', limits);
  expect(loaded).toMatchObject({ ok: true });
  if (loaded.ok) expect(loaded.vm.run('{"type":"track"}', '{}')).toMatchObject({ ended: true });
});

import { expect, test } from 'vitest';
import { CpuSamples } from './cpu-samples.ts';

function samples() {
  let user = 0;
  const all = new CpuSamples(() => ({ user: user * 1_000, system: 0 }));
  return { all, use: (ms: number) => (user += ms) };
}

test('work before the timer was due is not part of the stall', () => {
  const { all, use } = samples();
  all.take(0, 0);
  // Busy with short steps until 18 ms, then one step of 62 ms. The timer was due at 20 ms.
  for (let now = 2; now <= 18; now += 2) {
    use(2);
    all.note(now);
  }
  use(62);
  expect(all.take(20, 80).user / 1_000, 'without samples it would be 80').toBeLessThanOrEqual(62 + 5);
});

test('without a step in between, all of it counts', () => {
  const { all, use } = samples();
  all.take(0, 0);
  use(80);
  expect(all.take(20, 80).user).toBe(80_000);
});

test('a sample inside the stall is not its start', () => {
  const { all, use } = samples();
  all.take(0, 0);
  use(10);
  all.note(10);
  use(30);
  all.note(40);
  use(30);
  expect(all.take(20, 70).user).toBe(60_000);
});

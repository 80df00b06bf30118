import { expect, test } from 'vitest';
import { FairAdmission } from './fair-admission.ts';

const TICK_MS = 100;

/** Each tick the loud organisation sends as much as it may, and the quiet one two events. `cost`: share of the loop per event. */
function kit({ offered, cost, quiet = 2 }: { offered: number; cost: number; quiet?: number }) {
  let accepted = 0;
  let time = 0;
  const admission = new FairAdmission(
    () => Math.min(1, accepted * cost),
    () => time,
  );
  function tick(): { loud: number; times: number[]; quietRefused: number } {
    const begin = time;
    const times: number[] = [];
    let quietRefused = 0;
    for (let i = 0; i < offered; i++) {
      time = begin + (i * TICK_MS) / offered;
      if (admission.refuses('loud')) continue;
      admission.charge('loud', 1, 0);
      times.push(time);
    }
    for (let i = 0; i < quiet; i++) {
      if (admission.refuses('quiet')) quietRefused += 1;
      else admission.charge('quiet', 1, 0);
    }
    accepted = times.length;
    time = begin + TICK_MS;
    admission.tick();
    return { loud: times.length, times, quietRefused };
  }
  return { tick, run: (ticks: number) => Array.from({ length: ticks }, tick), stop: () => admission.stop() };
}

test('a flood is limited to half of the loop, and the other organisation is never refused', () => {
  const { run, stop } = kit({ offered: 2_000, cost: 1 / 500 });
  const ticks = run(200);
  stop();
  expect(ticks.reduce((sum, { quietRefused }) => sum + quietRefused, 0)).toBe(0);
  const later = ticks.slice(50).map(({ loud }) => loud);
  expect(Math.max(...later)).toBeLessThanOrEqual(300);
  const average = later.reduce((sum, loud) => sum + loud, 0) / later.length;
  expect(average).toBeGreaterThan(150);
});

test('what a limited organisation may send in a tick does not come at once', () => {
  const { run, stop } = kit({ offered: 2_000, cost: 1 / 500 });
  const times = run(100)
    .slice(50)
    .flatMap((tick) => tick.times);
  stop();
  const per10ms = Map.groupBy(times, (at) => Math.floor(at / 10));
  expect(Math.max(...Array.from(per10ms.values(), ({ length }) => length))).toBeLessThanOrEqual(32);
});

test('large batches on many connections do not pass together', () => {
  let time = 0;
  const admission = new FairAdmission(
    () => 1,
    () => time,
  );
  /** Sixteen requests are admitted before the first of them is read. */
  function offer(): number {
    let admitted = 0;
    for (let i = 0; i < 16; i++) if (!admission.refuses('loud')) admitted += 1;
    for (let i = 0; i < admitted; i++) admission.charge('loud', 20, 0);
    admission.charge('quiet', 1, 0);
    time += 5;
    if (time % TICK_MS === 0) admission.tick();
    return admitted;
  }
  for (let i = 0; i < 1_000; i++) offer();
  const later = Array.from({ length: 1_000 }, offer);
  admission.stop();
  expect(Math.max(...later)).toBe(1);
  // Five seconds at 600 events per second, in batches of 20.
  expect(later.reduce((sum, admitted) => sum + admitted, 0)).toBeGreaterThan(130);
});

test('one organisation alone is never refused', () => {
  const { run, stop } = kit({ offered: 2_000, cost: 1 / 500, quiet: 0 });
  expect(run(50).every(({ loud }) => loud === 2_000)).toBe(true);
  stop();
});

test('nobody is refused while the loop has time', () => {
  const { run, stop } = kit({ offered: 200, cost: 1 / 500 });
  expect(run(50).every(({ loud }) => loud === 200)).toBe(true);
  stop();
});

test('an ordinary rate is never refused, whatever keeps the loop busy', () => {
  const { run, stop } = kit({ offered: 50, cost: 1 });
  expect(run(100).every(({ loud }) => loud === 50)).toBe(true);
  stop();
});

test('a limit ends after the flood, and an idle organisation is forgotten', () => {
  let busy = 1;
  const admission = new FairAdmission(() => busy);
  for (let i = 0; i < 20; i++) {
    for (let n = 0; n < 500 && !admission.refuses('loud'); n++) admission.charge('loud', 1, 0);
    admission.charge('quiet', 1, 0);
    admission.tick();
  }
  admission.charge('loud', 30, 0);
  expect(admission.refuses('loud')).toBe(true);
  busy = 0.2;
  for (let i = 0; i < 60; i++) {
    admission.charge('loud', 10, 0);
    admission.charge('quiet', 1, 0);
    admission.tick();
  }
  admission.charge('loud', 1_000, 0);
  expect(admission.refuses('loud')).toBe(false);
  admission.stop();
});

test('a burst of half a second is accepted whole', () => {
  const { run, stop } = kit({ offered: 2_000, cost: 1 / 500 });
  expect(run(6).every(({ loud }) => loud === 2_000)).toBe(true);
  stop();
});

test('large events count as several', () => {
  const admission = new FairAdmission(() => 1);
  for (let i = 0; i < 6; i++) {
    admission.charge('quiet', 100, 0);
    admission.charge('loud', 5, 5 * 190_000);
    admission.tick();
  }
  admission.charge('loud', 5, 5 * 190_000);
  admission.charge('quiet', 100, 0);
  expect([admission.refuses('loud'), admission.refuses('quiet')]).toEqual([true, false]);
  admission.stop();
});

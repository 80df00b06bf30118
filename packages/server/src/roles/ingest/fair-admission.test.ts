import { expect, test } from 'vitest';
import { FairAdmission } from './fair-admission.ts';

/** Each tick the loud organisation sends as much as it may, and the quiet one two events. `cost`: share of the loop per event. */
function kit({ offered, cost, quiet = 2 }: { offered: number; cost: number; quiet?: number }) {
  let accepted = 0;
  const admission = new FairAdmission(() => Math.min(1, accepted * cost));
  function tick(): { loud: number; quietRefused: number } {
    let loud = 0;
    let quietRefused = 0;
    for (let i = 0; i < offered; i++) {
      if (admission.refuses('loud')) continue;
      admission.charge('loud', 1, 0);
      loud += 1;
    }
    for (let i = 0; i < quiet; i++) {
      if (admission.refuses('quiet')) quietRefused += 1;
      else admission.charge('quiet', 1, 0);
    }
    accepted = loud;
    admission.tick();
    return { loud, quietRefused };
  }
  return { tick, run: (ticks: number) => Array.from({ length: ticks }, tick), stop: () => admission.stop() };
}

test('a flood is limited to what leaves the loop time, and the other organisation is never refused', () => {
  const { run, stop } = kit({ offered: 2_000, cost: 1 / 500 });
  const ticks = run(200);
  stop();
  expect(ticks.reduce((sum, { quietRefused }) => sum + quietRefused, 0)).toBe(0);
  const later = ticks.slice(50).map(({ loud }) => loud);
  expect(Math.max(...later)).toBeLessThanOrEqual(500);
  const average = later.reduce((sum, loud) => sum + loud, 0) / later.length;
  expect(average).toBeGreaterThan(150);
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

test('whatever else keeps the loop busy, a few events are always accepted', () => {
  const { run, stop } = kit({ offered: 2_000, cost: 1 });
  const ticks = run(100);
  stop();
  expect(Math.min(...ticks.map(({ loud }) => loud))).toBeGreaterThanOrEqual(20);
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

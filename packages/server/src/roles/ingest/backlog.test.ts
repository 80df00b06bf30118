import { expect, test } from 'vitest';
import { Backlog } from './backlog.ts';

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A backlog whose time stands still until it is told to move: `work` moves wall and processor time, `wait` only the wall's. */
function stand() {
  let now = 1_000;
  let cpu = 0;
  const backlog = new Backlog({ now: () => now, cpu: () => cpu });
  return {
    sheds: () => backlog.sheds(),
    work(ms: number) {
      now += ms;
      cpu += ms;
    },
    wait(ms: number) {
      now += ms;
    },
    /** One turn in which each request takes `costMs`; how many of them were taken in. */
    async turn(requests: number, costMs: number, refusalMs = costMs / 4): Promise<number> {
      let taken = 0;
      for (let i = 0; i < requests; i++) {
        const refused = backlog.sheds();
        if (!refused) taken++;
        now += refused ? refusalMs : costMs;
        cpu += refused ? refusalMs : costMs;
      }
      await nextTurn();
      return taken;
    },
  };
}

test('short turns take in everything, for ever', async () => {
  const { turn, wait } = stand();
  for (let i = 0; i < 200; i++) {
    expect(await turn(40, 0.1)).toBe(40);
    wait(10_000);
  }
});
test('a burst is taken in whole, however large', async () => {
  const { turn } = stand();
  expect(await turn(15_000, 0.05)).toBe(15_000);
  expect(await turn(1_000, 0.05)).toBe(1_000);
});
test('a pause of the process refuses nobody, however long', async () => {
  const { turn, sheds, wait } = stand();
  expect(sheds()).toBe(false);
  wait(5_000);
  expect(sheds()).toBe(false);
  await nextTurn();
  await nextTurn();
  expect(await turn(100, 0.05)).toBe(100);
});
test('while turns stay long for more than a second a share of each stretch is taken in, and less where turns are very long', async () => {
  const { turn } = stand();
  for (let i = 0; i < 10; i++) expect(await turn(2_000, 0.05), 'a burst').toBe(2_000);
  // 20 ms taken in, 20 ms refused at a quarter of the cost: one stretch.
  await turn(2_000, 0.05);
  expect(Math.abs((await turn(2_000, 0.05)) - 400)).toBeLessThan(5);
  expect(await turn(20_000, 0.05), 'a turn of many stretches').toBeGreaterThan(3_000);
  expect(Math.abs((await turn(2_000, 0.05)) - 200), 'after a very long turn').toBeLessThan(5);
  expect(await turn(50, 0.05), 'less has come than fits').toBe(50);
  expect(await turn(1_200, 0.05), 'and after a short turn it is a burst again').toBe(1_200);
});
test('turns that are long for another reason refuse nobody', async () => {
  const { turn, wait } = stand();
  for (let i = 0; i < 20; i++) {
    const taken = turn(40, 3);
    wait(200);
    expect(await taken).toBe(40);
  }
});
test('being kept waiting by others is no work', async () => {
  const { turn, sheds, wait } = stand();
  for (let i = 0; i < 12; i++) await turn(2_000, 0.05);
  expect(sheds()).toBe(false);
  wait(500);
  expect(sheds(), 'within its share of processor time').toBe(false);
});
test('a sustained overload settles: some are taken in every turn, and turns stay bounded', async () => {
  const { turn } = stand();
  // 3 × of what can be taken in at 0.1 ms a request, refusals at 0.02 ms.
  let lasted = 50;
  let taken = 0;
  let came = 0;
  const lengths: number[] = [];
  for (let i = 0; i < 200; i++) {
    const requests = Math.min(20_000, Math.round(lasted * 30));
    const accepted = await turn(requests, 0.1, 0.02);
    lasted = accepted * 0.1 + (requests - accepted) * 0.02;
    if (i < 100) continue;
    expect(accepted).toBeGreaterThan(0);
    taken += accepted;
    came += requests;
    lengths.push(lasted);
  }
  expect(Math.max(...lengths)).toBeLessThan(600);
  expect(taken / came).toBeGreaterThan(0.05);
});

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
test('a burst is taken in for 100 ms, the rest of that turn is not; the next turn begins anew', async () => {
  const { turn } = stand();
  expect(await turn(3_000, 0.05)).toBe(2_001);
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
test('while turns stay long each takes in a share, less the longer they are, and nothing where one was too long', async () => {
  const { turn } = stand();
  for (let i = 0; i < 3; i++) expect(await turn(2_000, 0.05), 'a burst').toBe(2_000);
  for (let i = 0; i < 5; i++) await turn(4_000, 0.05);
  expect(await turn(4_000, 0.05), 'the least: 8 ms').toBe(161);
  for (let i = 0; i < 40; i++) await turn(1_000, 0.05);
  expect(await turn(1_000, 0.05), 'turns of 40 ms and less: more again').toBeGreaterThan(400);
  await turn(12_000, 0.05);
  expect(await turn(1_000, 0.05), 'the turn before took more than 150 ms').toBe(0);
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
  for (let i = 0; i < 4; i++) await turn(2_000, 0.05);
  await turn(1_000, 0.05);
  expect(sheds()).toBe(false);
  wait(60);
  expect(sheds(), 'within its share of processor time').toBe(false);
  wait(60);
  expect(sheds(), 'but too old').toBe(true);
});
test('a sustained overload settles: some are taken in every turn, and none is older than the bound', async () => {
  const { turn } = stand();
  // 3 × of what can be taken in at 0.1 ms a request, refusals at 0.02 ms.
  let lasted = 50;
  let taken = 0;
  let came = 0;
  const lengths: number[] = [];
  for (let i = 0; i < 200; i++) {
    const requests = Math.round(lasted * 30);
    const accepted = await turn(requests, 0.1, 0.02);
    lasted = accepted * 0.1 + (requests - accepted) * 0.02;
    if (i < 20) continue;
    taken += accepted;
    came += requests;
    lengths.push(lasted);
  }
  expect(Math.max(...lengths)).toBeLessThan(60);
  // 10 a millisecond could be taken in, 30 come: refusing 20 costs 0.4 of the time.
  expect(taken / came).toBeGreaterThan(0.12);
});

import { expect, test } from 'vitest';
import { LoadShedder } from './load-shedder.ts';

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A backlog whose time stands still until it is told to move. */
function stand() {
  let now = 1_000;
  const shedder = new LoadShedder(() => now);
  return {
    sheds: (waiting = 0) => shedder.sheds(waiting),
    wait(ms: number) {
      now += ms;
    },
    /** One turn in which each request takes `costMs`, and is as good as `more` others; how many of them were taken in. */
    async turn(requests: number, costMs: number, refusalMs = costMs / 4, waiting = 0, more = 0): Promise<number> {
      let taken = 0;
      for (let i = 0; i < requests; i++) {
        const refused = shedder.sheds(waiting);
        if (!refused) {
          taken++;
          shedder.addRequests(more);
        }
        now += refused ? refusalMs : costMs;
      }
      await nextTurn();
      return taken;
    },
  };
}

test('short turns accept everything indefinitely', async () => {
  const { turn, wait } = stand();
  for (let i = 0; i < 200; i++) {
    expect(await turn(400, 0.05)).toBe(400);
    wait(10);
  }
});
test('a burst of half a second is accepted completely', async () => {
  const { turn } = stand();
  expect(await turn(9_000, 0.05)).toBe(9_000);
  expect(await turn(1_000, 0.05)).toBe(1_000);
});
test('successive bursts are accepted completely', async () => {
  const { turn, wait } = stand();
  for (let i = 0; i < 20; i++) {
    expect(await turn(9_000, 0.05)).toBe(9_000);
    wait(300);
  }
});
test('a pause of the process causes no rejections, however long', async () => {
  const { turn, sheds, wait } = stand();
  expect(sheds()).toBe(false);
  wait(5_000);
  expect(sheds()).toBe(false);
  await nextTurn();
  expect(await turn(2_000, 0.05)).toBe(2_000);
});
test('when turns are full for over half a second, each accepts a few requests and rejects the rest', async () => {
  const { turn, wait } = stand();
  for (let i = 0; i < 5; i++) expect(await turn(2_000, 0.05), 'a burst').toBe(2_000);
  await turn(2_000, 0.05);
  expect(await turn(2_000, 0.05), 'so many').toBe(150);
  expect(await turn(2_000, 0.02), 'for so long').toBe(251);
  expect(await turn(20_000, 0.05, 0.001), 'however many come').toBe(150);
  expect(await turn(100, 0.05), 'less has come than fits').toBe(100);
  expect(await turn(2_000, 0.05), 'a turn that was not full is no end of it').toBe(150);
  wait(300);
  expect(await turn(2_000, 0.05), 'it is over, and this is a burst').toBe(2_000);
});
test('turns that are long for other reasons cause no rejections', async () => {
  const { turn, wait } = stand();
  for (let i = 0; i < 50; i++) {
    const taken = turn(40, 3);
    wait(200);
    expect(await taken).toBe(40);
  }
});
test('a few large bodies fill a turn like many small ones', async () => {
  const { turn } = stand();
  for (let i = 0; i < 3; i++) expect(await turn(100, 1.5, 0.1, 0, 25), 'a burst').toBe(100);
  await turn(100, 1.5, 0.1, 0, 25);
  expect(await turn(100, 1.5, 0.1, 0, 25), 'an overload').toBe(6);
  expect(await turn(5, 1.5, 0.1, 0, 25), 'as many as fit').toBe(5);
});
test('many requests waiting for the log for long are an overload, too', async () => {
  const { turn } = stand();
  for (let i = 0; i < 10; i++) expect(await turn(100, 0.5, 0.5, 1_001), 'a burst').toBe(100);
  await turn(100, 0.5, 0.5, 1_001);
  expect(await turn(100, 0.5, 0.5, 1_001)).toBe(0);
  expect(await turn(100, 0.5, 0.5, 801), 'until there are fewer').toBe(0);
  expect(await turn(100, 0.5, 0.5, 800)).toBe(100);
});
test('a sustained overload settles: every turn accepts some requests and stays short', async () => {
  const { turn, wait } = stand();
  // 3 × of what can be taken in at 0.1 ms a request, refusals at 0.02 ms, and 10 ms a turn for others.
  let lasted = 50;
  let taken = 0;
  let time = 0;
  const lengths: number[] = [];
  for (let i = 0; i < 300; i++) {
    const requests = Math.min(20_000, Math.round(lasted * 30));
    const accepted = await turn(requests, 0.1, 0.02);
    wait(10);
    lasted = accepted * 0.1 + (requests - accepted) * 0.02 + 10;
    if (i < 100) continue;
    expect(accepted).toBeGreaterThan(0);
    taken += accepted;
    time += lasted;
    lengths.push(lasted);
  }
  expect(Math.max(...lengths)).toBeLessThan(120);
  // Refusing takes 0.6 of the time and the others 0.2: of ten a millisecond two could be taken in.
  expect(taken / time).toBeGreaterThan(2);
});

import { expect, test } from 'vitest';
import { inTurn } from './in-turn.ts';

test('jobs beyond the number wait for one that ends, also by an error', async () => {
  const two = inTurn(2);
  const started: number[] = [];
  const jobs = [0, 1, 2, 3].map(() => Promise.withResolvers<void>());
  const results = jobs.map(({ promise }, i) =>
    two(() => {
      started.push(i);
      return promise;
    }),
  );
  const settled = Promise.allSettled(results);
  await expect.poll(() => started).toEqual([0, 1]);
  jobs[1]!.reject(new Error('broken'));
  await expect.poll(() => started).toEqual([0, 1, 2]);
  jobs[0]!.resolve();
  await expect.poll(() => started).toEqual([0, 1, 2, 3]);
  for (const { resolve } of jobs) resolve();
  expect((await settled).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  await two(async () => void started.push(4));
  expect(started.at(-1)).toBe(4);
});

import { expect, test } from 'vitest';
import { inBatches } from './in-batches.ts';

test('ids that are asked for at once are loaded together, 100 at a time', async () => {
  const asked: number[] = [];
  const name = inBatches(async (ids) => {
    asked.push(ids.length);
    return new Map(ids.map((id) => [id, `name of ${id}`]));
  });
  const ids = Array.from({ length: 130 }, (_, at) => `pl_${at}`);
  expect(await Promise.all(ids.map(name))).toEqual(ids.map((id) => `name of ${id}`));
  expect(asked).toEqual([100, 30]);
  expect(await name('pl_1')).toBe('name of pl_1');
  expect(asked).toEqual([100, 30, 1]);
});
test('an id that the API does not know has no name; a failure reaches everybody who asked', async () => {
  expect(await inBatches(async () => new Map())('pl_1')).toBeNull();
  const fails = inBatches(async () => Promise.reject(new Error('away')));
  const both = await Promise.allSettled([fails('pl_1'), fails('pl_2')]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});

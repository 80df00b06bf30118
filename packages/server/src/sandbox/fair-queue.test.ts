import { expect, test } from 'vitest';
import { FairQueue, type Job } from './fair-queue.ts';

let next = 0;
function job(org: string, line = `${org}/pl`, over: Partial<Job> = {}): Job {
  return { org, line, key: line, code: 'c', parameters: '{}', fresh: false, load_only: false, event: `${org}${next++}`, ...over };
}
function queueOf(...jobs: Job[]): FairQueue<Job> {
  const queue = new FairQueue<Job>();
  for (const one of jobs) queue.push(one);
  return queue;
}
const many = (count: number, org: string, line?: string) => Array.from({ length: count }, () => job(org, line));
const one = () => 1;
/** Serves single jobs and charges what each organisation's job costs. Returns how many jobs each had. */
function serve(queue: FairQueue<Job>, times: number, cost: Record<string, number>): Record<string, number> {
  const served: Record<string, number> = {};
  for (let i = 0; i < times; i++) {
    const [taken] = queue.take(one, 1_000);
    if (taken === undefined) break;
    served[taken.org] = (served[taken.org] ?? 0) + 1;
    queue.charge(taken.org, cost[taken.org] ?? 0);
  }
  return served;
}

test('organisations get the same time, not the same number of jobs', () => {
  const queue = queueOf(...many(300, 'heavy'), ...many(300, 'light'));
  expect(serve(queue, 102, { heavy: 50, light: 1 })).toEqual({ heavy: 2, light: 100 });
});

test('many pipelines of one organisation get no more time than one of another', () => {
  const queue = queueOf(...Array.from({ length: 50 }, (_, i) => many(10, 'wide', `pl_${i}`)).flat(), ...many(50, 'narrow'));
  expect(serve(queue, 40, { wide: 5, narrow: 5 })).toEqual({ wide: 20, narrow: 20 });
});

test('an organisation that was idle for long has its turn next, and no claim on the time before', () => {
  const queue = queueOf(...many(200, 'busy'));
  serve(queue, 100, { busy: 10 });
  for (const late of many(100, 'late')) queue.push(late);
  expect(queue.take(one, 1_000)[0]?.org).toBe('late');
  queue.charge('late', 10);
  expect(serve(queue, 50, { busy: 10, late: 10 })).toEqual({ busy: 25, late: 25 });
});

test('pipelines of one organisation take turns', () => {
  const queue = queueOf(...many(2, 'a', 'x'), ...many(2, 'a', 'y'));
  expect([1, 2, 3, 4].map(() => queue.take(one, 1_000)[0]?.line)).toEqual(['x', 'y', 'x', 'y']);
  expect(queue.size).toBe(0);
});

test('an organisation whose lines may not run is passed over', () => {
  const queue = queueOf(...many(2, 'slow'), job('other'));
  const most = (line: string) => (line.startsWith('slow') ? 0 : 4);
  expect([queue.take(most, 1_000), queue.take(most, 1_000)].map((taken) => taken.map(({ org }) => org))).toEqual([['other'], []]);
  expect(queue.size).toBe(2);
});

test('a message holds jobs of one line with the same code, up to its limits', () => {
  const queue = queueOf(...many(3, 'a'), job('a', 'a/pl', { code: 'other' }), job('a', 'a/pl', { fresh: true }), ...many(2, 'a'));
  const sizes: number[] = [];
  while (queue.size > 0) sizes.push(queue.take(() => 2, 1_000).length);
  expect(sizes).toEqual([2, 1, 1, 1, 2]);
  expect(queueOf(...many(5, 'a')).take(() => 16, 5).length, 'by characters').toBeLessThan(5);
});

test('restored jobs come first, in their order', () => {
  const queue = queueOf(...many(6, 'a'));
  const taken = queue.take(() => 4, 1_000);
  queue.restore(taken.slice(1));
  expect(queue.size).toBe(5);
  expect(queue.take(() => 3, 1_000)).toEqual(taken.slice(1));
  expect(queue.clear()).toHaveLength(2);
});

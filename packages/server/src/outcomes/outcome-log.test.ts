import { expect, test } from 'vitest';
import { PartitionMap } from '../partition.ts';
import { outcomesTopic, outcomesTopicSets } from './outcome-log.ts';

const SHARED = { atomic: false };
const withPartitions = (...counts: number[]) => new PartitionMap(counts.map((count, from) => ({ count, from })));
const numberOf = (...counts: number[]) => outcomesTopicSets(SHARED, withPartitions(...counts)).flat().length - 1;

test('the topic of a source never changes between releases', () => {
  const topics = ['ingest.0', 'ingest.1', 'int_1', 'int_2'].map((source) => outcomesTopic(SHARED, source, withPartitions(16)));
  expect(topics).toEqual(['outcomes.6', 'outcomes.5', 'outcomes.0', 'outcomes.5']);
});

test('topics for outcomes grow with the partitions: as many processes can record', () => {
  expect([1, 16, 31, 32, 64, 96, 128, 1_024].map((count) => numberOf(count))).toEqual([8, 8, 8, 16, 32, 32, 64, 64]);
  const sources = Array.from({ length: 1_000 }, (_, i) => `int_${i}`);
  const used = new Set(sources.map((source) => outcomesTopic(SHARED, source, withPartitions(16, 64))));
  expect([...used].sort()).toEqual(outcomesTopicSets(SHARED, withPartitions(16, 64)).flat().slice(1).sort());
});

test('further topics are a further set: no lease of the others moves, and earlier versions share the first set', () => {
  const [first, ...more] = outcomesTopicSets(SHARED, withPartitions(16));
  expect(first).toEqual(['outcomes', ...Array.from({ length: 8 }, (_, part) => `outcomes.${part}`)]);
  expect(more).toEqual([]);
  const raised = outcomesTopicSets(SHARED, withPartitions(16, 64));
  expect(raised[0]).toEqual(first);
  expect(raised.map(({ length }) => length)).toEqual([9, 8, 16]);
});

test('an embedded log has one topic', () => {
  expect(outcomesTopicSets({ atomic: true }, withPartitions(64))).toEqual([['outcomes']]);
});

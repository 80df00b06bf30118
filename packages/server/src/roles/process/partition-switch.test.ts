import { expect, test } from 'vitest';
import { PartitionMap } from '../../partition.ts';
import { mayRead } from './partition-switch.ts';

const SWITCH = 1_000_000;
const map = new PartitionMap([
  { count: 4, from: 0 },
  { count: 8, from: SWITCH },
  { count: 24, from: 2 * SWITCH },
]);

test.each<[string, Record<string, { waiting: number; oldest?: number }>, number, boolean]>([
  ['before the change', {}, SWITCH - 1, false],
  ['while events of the old map may still arrive', { process: { waiting: 0 } }, SWITCH + 1_000, false],
  ['with an older event unprocessed', { process: { waiting: 3, oldest: SWITCH - 5 } }, SWITCH + 60_000, false],
  [
    'with an older event of a lagging organisation',
    { process: { waiting: 0 }, 'lagging.o.b1': { waiting: 1, oldest: 7 } },
    SWITCH + 60_000,
    false,
  ],
  ['with newer events only', { process: { waiting: 3, oldest: SWITCH + 30_000 } }, SWITCH + 60_000, true],
  ['with everything processed', { process: { waiting: 0 } }, SWITCH + 60_000, true],
  ['where nobody has read the old partition yet', {}, SWITCH + 60_000, false],
])('a new partition is read when the old one is processed: %s', async (_, lags, now, expected) => {
  const log = {
    groups: async () => Object.keys(lags),
    lag: async (_topic: string, group: string) => ({ waiting: 0, oldest: undefined, ...lags[group] }),
    async *read() {
      yield { id: '1', data: new Uint8Array(), position: '1', time: SWITCH - 1 };
    },
  };
  expect(await mayRead(map, 'ingest.5', log, now)).toBe(expected);
  expect(await mayRead(map, 'ingest.1', log, now)).toBe(true);
});

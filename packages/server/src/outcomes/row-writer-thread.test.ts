import { expect, test } from 'vitest';
import type { RowWriterRequest } from './row-writer-messages.ts';
import { takeTogether } from './row-writer-thread.ts';

const MB = 1_048_576;
const records = (id: number, topic: string, { bytes = 1, anew = false } = {}): RowWriterRequest => ({
  id,
  kind: 'record',
  topic,
  records: { entries: [], bytes: new Uint8Array(bytes) },
  anew,
});
const position = (id: number): RowWriterRequest => ({ id, kind: 'position', topic: 'outcomes.1' });
const idsOf = (requests: readonly RowWriterRequest[]) => requests.map(({ id }) => id);

test.each<[name: string, waiting: RowWriterRequest[], together: number[]]>([
  ['topics up to another kind of request', [records(1, 'a'), records(2, 'b'), position(3), records(4, 'c')], [1, 2]],
  ['one topic alone', [records(1, 'a'), position(2)], []],
  ['a topic only once', [records(1, 'a'), records(2, 'b'), records(3, 'a')], [1, 2]],
  ['no topic that is recorded anew', [records(1, 'a'), records(2, 'b', { anew: true })], []],
  ['4 MB', [records(1, 'a', { bytes: 2 * MB }), records(2, 'b', { bytes: 2 * MB }), records(3, 'c')], [1, 2]],
])('one transaction takes %s', (_, waiting, together) => {
  const all = idsOf(waiting);
  expect(idsOf(takeTogether(waiting))).toEqual(together);
  expect(idsOf(waiting)).toEqual(all.filter((id) => !together.includes(id)));
});

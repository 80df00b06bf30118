/** Writes the traces and statistics of the copies, as the recorder's thread does: the log of the next batch is written meanwhile. */
import { parentPort, workerData } from 'node:worker_threads';
import { tally } from '../../packages/server/src/outcomes/tally.ts';
import { openSqliteWriter } from '../../packages/server/src/stores/observe/sqlite-writer.ts';
import { readPosition, writeTally } from '../../packages/server/src/stores/observe/write.ts';
import { type Original, outcomeCopier, type Template } from './copies.ts';

export interface RowThreadData {
  file: string;
  template: Template;
  original: Pick<Original, 'processed' | 'delivered'>;
}
export interface RowBatch {
  at: number;
  parts: { topic: string; ids: string[]; raw: (string | undefined)[]; stored: (string | undefined)[] }[];
}
const { file, template, original } = workerData as RowThreadData;
const writer = openSqliteWriter(file);
const copy = outcomeCopier(template, original);

parentPort?.on('message', async (batch: RowBatch | 'close') => {
  if (batch === 'close') {
    writer.close();
    parentPort?.close();
    return;
  }
  const outcomes = batch.parts.flatMap(({ topic, ids, raw, stored }) =>
    ids.flatMap((id, i) => copy(id, batch.at, { topic, raw: raw[i], stored: stored[i] })),
  );
  await writeTally(writer, tally(outcomes), await readPosition(writer));
  parentPort?.postMessage('written');
});

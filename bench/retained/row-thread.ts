/** Writes the traces and statistics of the copies, as the recorder's thread does: the log of the next batch is written meanwhile. */
import { parentPort, workerData } from 'node:worker_threads';
import { tally } from '../../packages/server/src/outcomes/tally.ts';
import { openSqliteWriter } from '../../packages/server/src/stores/observe/sqlite-writer.ts';
import { readPosition, writeTally } from '../../packages/server/src/stores/observe/write.ts';
import { type Original, outcomeCopier, type Places, type Template } from './copies.ts';

export interface RowThreadData {
  file: string;
  template: Template;
  original: Pick<Original, 'processed' | 'delivered'>;
  total: number;
}
/** Copy number `n`, when it was received, and where its records are. */
export type RowBatch = { n: number; at: number; places: Places }[];
const { file, template, original, total } = workerData as RowThreadData;
const writer = openSqliteWriter(file);
const copy = outcomeCopier(template, original, total);

parentPort?.on('message', async (batch: RowBatch | 'close') => {
  if (batch === 'close') {
    writer.close();
    parentPort?.close();
    return;
  }
  const outcomes = batch.flatMap(({ n, at, places }) => copy(n, at, places));
  await writeTally(writer, [tally(outcomes)], await readPosition(writer));
  parentPort?.postMessage('written');
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ReadThread } from './read-thread.ts';

function startThread(limits: { idleMs?: number; deadlineMs?: number }) {
  const folder = mkdtempSync(join(tmpdir(), 'read-thread-'));
  const thread = new ReadThread(join(folder, 'traces.sqlite'), limits);
  onTestFinished(async () => {
    await thread.close();
    rmSync(folder, { recursive: true });
  });
  return { thread, run: async (sql: string) => (await thread.call('statement', [{ sql, parameters: [] }])).rows };
}

test('the thread never ended once started: it ends without statements, and the next one starts another', async () => {
  const { run } = startThread({ idleMs: 1 });
  await run('create temp table of_this_thread (a)');
  const tables = () => run("select name from temp.sqlite_master where name = 'of_this_thread'");
  await expect.poll(tables, { interval: 100 }).toEqual([]);
});

test('a statement that runs longer than the pause is answered', async () => {
  const { run } = startThread({ idleMs: 1 });
  const slow = 'with recursive n (i) as (select 1 union all select i + 1 from n where i < 300000) select count(*) as counted from n';
  expect(await run(slow)).toEqual([{ counted: 300_000 }]);
});

test('a statement got 503 while the thread loaded the code of a first search: it waits as long as that one', async () => {
  const { thread, run } = startThread({ deadlineMs: 1 });
  await run('select 1 as one');
  // There are no tables: the search is answered with an error, once its code is loaded.
  const search = expect(thread.call('listTraces', [{ org_id: 'org_1', limit: 1, offset: 0 }])).rejects.toThrow('no such table');
  expect(await run('select 2 as two')).toEqual([{ two: 2 }]);
  await search;
});

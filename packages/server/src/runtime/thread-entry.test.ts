import { once } from 'node:events';
import { getPriority } from 'node:os';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { threadEntry } from './thread-entry.ts';

test.runIf(process.platform === 'linux')('a thread has low priority before it loads any code of its own', async () => {
  const code =
    "import { getPriority } from 'node:os'; const atLoad = getPriority(); export const start = (port) => port.postMessage(atLoad);";
  const worker = new Worker(threadEntry(new URL(`data:text/javascript,${encodeURIComponent(code)}`)), { eval: true });
  expect(await once(worker, 'message')).toEqual([Math.max(10, getPriority())]);
  await worker.terminate();
});

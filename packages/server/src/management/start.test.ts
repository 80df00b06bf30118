import { MessageChannel } from 'node:worker_threads';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createLogger } from '../runtime/logger.ts';
import { ThreadLink } from '../runtime/thread-link.ts';
import { startManagement } from './start.ts';

const { threads } = vi.hoisted(() => ({ threads: [] as unknown[] }));
vi.mock('../runtime/role-thread.ts', () => ({ ownRoleThread: () => threads.shift() }));

test('a stop that comes before the thread has begun closes its connections once it has', async () => {
  const { port1, port2 } = new MessageChannel();
  const begun = Promise.withResolvers<void>();
  const told: string[] = [];
  const [link, thread] = [new ThreadLink(port1), new ThreadLink(port2)];
  thread.on('detach', () => told.push('detach'));
  thread.answer('told', () => told);
  threads.push({ link, begin: () => begun.promise });
  onTestFinished(() => {
    port1.close();
    port2.close();
  });
  const management = startManagement({
    settings: {} as never,
    logger: createLogger('silent'),
    reload: async () => undefined,
    onFailed: () => undefined,
    onFatal: () => undefined,
  });
  const beginning = management.begin();
  management.detach();
  expect(await link.call('told')).toEqual([]);
  begun.resolve();
  await beginning;
  expect(await link.call('told')).toEqual(['detach']);
});

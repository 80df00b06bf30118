/**
 * A thread that runs roles. `ownRoleThread` starts one and ends it; `runRoles` is called inside it. Between them: `begin` starts the roles, `stop` lets
 * them finish what they have begun, and `close` closes their stores.
 */
import { type MessagePort, Worker } from 'node:worker_threads';
import type { Logger } from './logger.ts';
import { threadEntry } from './thread-entry.ts';
import { type ErrorClasses, ThreadLink } from './thread-link.ts';

export interface RoleThreadOptions {
  /** For errors: "the thread of …". */
  of: string;
  /** The module with an export `start`, which calls `runRoles`. */
  module: URL;
  data: unknown;
  errors: ErrorClasses;
  /** As of `nice`; 0 is that of the main thread. */
  priority: number;
  youngMb: number;
  /** An exception left the roles in an unknown state. They can still be stopped. */
  onFailed(error: Error): void;
  /** The disk failed, or the thread is gone: the process must exit. */
  onFatal(error: Error): void;
}
export interface RoleThread {
  link: ThreadLink;
  /** Starts the roles. Call when this thread has opened its stores and prepared the database. */
  begin(): Promise<void>;
  /** The roles finish what they have begun. */
  stop(): Promise<void>;
  /** After `stop`, and before this thread closes its stores. */
  close(): Promise<void>;
}

export function ownRoleThread({ of, module, data, errors, priority, youngMb, onFailed, onFatal }: RoleThreadOptions): RoleThread {
  const worker = new Worker(threadEntry(module, priority), {
    eval: true,
    workerData: data,
    resourceLimits: { maxYoungGenerationSizeMb: youngMb },
  });
  worker.unref();
  const link = new ThreadLink(worker, errors);
  link.on('failed', (message: string) => onFailed(new Error(message)));
  link.on('fatal', (message: string) => onFatal(new Error(message)));
  let stopped = false;
  function ended(error: Error): void {
    link.end(error);
    if (!stopped) onFatal(error);
  }
  worker.on('error', (error) => ended(error instanceof Error ? error : new Error(String(error))));
  worker.on('exit', () => ended(new Error(`the thread of ${of} ended`)));
  return {
    link,
    begin: () => link.call('begin'),
    stop: () => link.call('stop'),
    async close() {
      await link.call('close');
      stopped = true;
      await worker.terminate();
    },
  };
}

export interface RunningRoles {
  stop(): Promise<void>;
  /** After `stop`: closes the stores. */
  close(): Promise<void>;
}

/** Inside the thread. Calls that the roles answer themselves may come before they run: `running` resolves with the roles once they do. */
export function runRoles<R extends RunningRoles>(
  port: MessagePort,
  { of, errors, logger, start }: { of: string; errors: ErrorClasses; logger: Logger; start(link: ThreadLink): () => Promise<R> },
): { link: ThreadLink; running(): Promise<R> | undefined } {
  const link = new ThreadLink(port, errors);
  process.on('uncaughtException', (error, origin) => {
    logger.fatal({ err: error, origin }, `uncaught exception in the thread of ${of}`);
    link.tell('failed', error.message);
  });
  const begin = start(link);
  let running: Promise<R> | undefined;
  link.answer('begin', async () => {
    running = begin();
    await running;
  });
  link.answer('stop', async () => (await running)?.stop());
  link.answer('close', async () => (await running)?.close());
  return { link, running: () => running };
}

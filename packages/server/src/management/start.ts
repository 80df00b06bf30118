/**
 * Owns the thread of the management API, on the embedded stores. It has a thread of its own so that no event waits for a management request:
 * the main thread only passes the bytes of requests and answers on, and reads the log for it in small steps.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Settings } from '../config.ts';
import { writeApiError } from '../http/api-error-reply.ts';
import { ApiError } from '../http/errors.ts';
import { forwardRequest, forwardUpgrades } from '../http/forward.ts';
import type { Admin } from '../listeners.ts';
import type { Logger } from '../runtime/logger.ts';
import { ownRoleThread, type RoleThread, type RoleThreadOptions } from '../runtime/role-thread.ts';
import { ThreadSockets } from '../runtime/thread-socket.ts';
import { LOG_ERRORS } from '../stores/event-log/shared.ts';
import type { ManagementData } from './thread.ts';

/** A young generation of 4 MB. */
const YOUNG_MB = 12;
/** On a busy machine events go first. Rows and queries have a lower one. */
const PRIORITY = 5;

/** Whether the management API has a thread of its own. */
export function hasManagement({ threads, databaseUrl, natsUrl, roles }: Settings): boolean {
  return databaseUrl === undefined && natsUrl === undefined && roles.has('admin') && roles.size > 1 && threads !== '1';
}

/** Requests that come before `begin` has resolved wait for it. */
export type Management = RoleThread & Admin;
export interface ManagementDeps extends Pick<RoleThreadOptions, 'onFailed' | 'onFatal'> {
  settings: Settings;
  logger: Logger;
  /** Resolves when the roles outside the thread use the present configuration. */
  reload(): Promise<void>;
}

export function startManagement({ settings, logger, reload, ...ending }: ManagementDeps): Management {
  const thread = ownRoleThread({
    of: 'the management API',
    module: new URL('./thread.ts', import.meta.url),
    data: { settings } satisfies ManagementData,
    errors: LOG_ERRORS,
    priority: PRIORITY,
    youngMb: YOUNG_MB,
    ...ending,
  });
  const { link } = thread;
  link.answer('reload', reload);
  const sockets = new ThreadSockets(link);
  const open = (remoteAddress: string | undefined) => sockets.open(remoteAddress);
  const upgrades: { close(): void }[] = [];
  const begun = Promise.withResolvers<void>();
  let isReady = false;
  function fail(req: IncomingMessage, res: ServerResponse, error: Error): void {
    logger.error({ err: error }, 'management request not answered');
    writeApiError(req, res, new ApiError('INTERNAL_ERROR'));
  }
  const forward = (req: IncomingMessage, res: ServerResponse) => forwardRequest(req, res, open, (error) => fail(req, res, error));
  return {
    ...thread,
    async begin() {
      await thread.begin();
      isReady = true;
      begun.resolve();
    },
    handle(req, res) {
      if (isReady) forward(req, res);
      else begun.promise.then(() => forward(req, res)).catch((error: Error) => fail(req, res, error));
    },
    attach(server) {
      upgrades.push(forwardUpgrades(server, open, begun.promise));
    },
    detach() {
      for (const upgrade of upgrades) upgrade.close();
      // Not before: the thread would not hear it, and connections that waited would stay open.
      void begun.promise.then(() => link.tell('detach', undefined));
    },
  };
}

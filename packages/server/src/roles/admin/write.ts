import type { Json, JsonObject } from '@firsthand/core/json.ts';
import { jsonEqual } from '@firsthand/core/tracking-plan/equal.ts';
import type { FastifyBaseLogger } from 'fastify';
import { ApiError } from '../../http/errors.ts';
import type { Clock } from '../../runtime/clock.ts';
import { turns } from '../../runtime/turns.ts';
import type { AuditCipher } from '../../stores/config/audit-chain.ts';
import { appendAudit } from '../../stores/config/audit-logs.ts';
import type { Db, Stamp } from '../../stores/config/schema.ts';
import { inTransaction, type TransactionDeps, WAIT_MS } from '../../stores/config/transaction.ts';
import { markUrgent, nextConfigVersion } from '../../stores/config/version.ts';
import type { Actor } from './deps.ts';
import type { CheckBudget } from './organisation-budget.ts';

export type Author = Pick<Actor, 'org_id' | 'user_agent'> & { id: string | null; email: string | null; ip: string | null };

interface Audited {
  id: string | null;
  before?: object | undefined;
  after?: object | undefined;
  changes?: JsonObject;
}

/** Second argument of a change, after the transaction. */
export interface Change {
  /** Version for the written rows. */
  stamp: Stamp;
  /**
   * Writes the audit entry. Call it exactly once. `before` and `after` are the resource as the API shows it (secrets masked or omitted);
   * the entry keeps the fields that differ. They are compared after the change, in another turn of the loop: do not alter them.
   */
  audit(resource: Audited): void;
  /** For urgent changes, which every process must apply within a second: disabled, deleted, secret rotated. */
  urgent(): void;
}
export type Write = <T>(author: Author, action: `${string}.${string}`, change: (tx: Db, change: Change) => Promise<T>) => Promise<T>;

/**
 * The only way to write configuration. The change, its audit entry and the new config version are one transaction. When the promise
 * settles, this process has applied the change. An exception rolls everything back. Between the passes over a large document the loop gets a
 * turn.
 *
 * Changes of one process wait for each other in memory: in the database each would take a connection that readers lack. When the process
 * stops, those that wait are answered 503 before their connections are cut. `change` may be called again, as `inTransaction` says.
 */
export function createWrite(
  deps: TransactionDeps & {
    cipher: AuditCipher;
    clock: Clock;
    logger: Pick<FastifyBaseLogger, 'warn'>;
    configChanged(): Promise<void>;
    checkBudget?: CheckBudget;
  },
): Write {
  let last: Promise<unknown> = Promise.resolve();

  async function inTurn<T>(deadline: number, store: () => Promise<T>): Promise<T> {
    const before = last;
    const { promise: done, resolve } = Promise.withResolvers<void>();
    last = done;
    try {
      await unlessAborted(before, deps.closing);
      if (deps.closing?.aborted) throw new ApiError('UNAVAILABLE', { message: 'This process is stopping: try again.', retryAfterS: 2 });
      if (deps.clock.monotonic() > deadline)
        throw new ApiError('UNAVAILABLE', { message: 'Other changes are still being stored: try again soon.', retryAfterS: 2 });
      return await store();
    } finally {
      void before.then(() => resolve());
    }
  }

  return async (author, action, change) => {
    const deadline = deps.clock.monotonic() + WAIT_MS;
    const store = async (tx: Db) => {
      const now = deps.clock.now();
      const stamp = { row_version: await nextConfigVersion(tx), now: new Date(now).toISOString() };
      const audited: Audited[] = [];
      let urgent = false;
      await turns.bulk();
      const value = await change(tx, {
        stamp,
        audit(resource) {
          if (audited.length > 0) throw new Error(`${action} names what it changed twice.`);
          audited.push(resource);
        },
        urgent() {
          urgent = true;
        },
      });
      const [resource] = audited;
      if (resource === undefined) throw new Error(`${action} does not name what it changed.`);
      await turns.bulk();
      const { id, before, after, changes = differences(before, after) } = resource;
      await turns.bulk();
      await deps.checkBudget?.(tx, author.org_id, stamp.row_version);
      if (urgent) await markUrgent(tx, stamp.row_version);
      await appendAudit(
        tx,
        deps.cipher,
        {
          org_id: author.org_id,
          user_id: author.id,
          user_email: author.email,
          action,
          resource_type: action.slice(0, action.indexOf('.')),
          resource_id: id,
          changes,
          ip_address: author.ip,
          user_agent: author.user_agent,
        },
        now,
      );
      await turns.bulk();
      return value;
    };
    const result = await inTurn(deadline, () => inTransaction(deps, store, deadline));
    await turns.bulk();
    // The change is committed. If applying it fails, this process picks it up at its next reload, like every other process.
    await deps.configChanged().catch((error: unknown) => deps.logger.warn({ err: error }, 'a configuration change is not applied yet'));
    return result;
  };
}

/** Waits for `turn`, and no longer once the signal is aborted. */
async function unlessAborted(turn: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const go = () => resolve();
  signal?.addEventListener('abort', go);
  void turn.then(go);
  await promise;
  signal?.removeEventListener('abort', go);
}

/** `{field: {old, new}}` for every field that differs. */
export function differences(before: object = {}, after: object = {}): JsonObject {
  const old = before as Record<string, Json | undefined>;
  const next = after as Record<string, Json | undefined>;
  const fields = new Set([...Object.keys(old), ...Object.keys(next)]);
  fields.delete('updated_at');
  return Object.fromEntries(
    [...fields]
      .filter((field) => !jsonEqual(old[field], next[field]))
      .map((field) => [field, { old: old[field] ?? null, new: next[field] ?? null }]),
  );
}
